//! Reading what the scripts answer, and what a server's errors mean for a lock.

use alloc::string::String;
use core::time::Duration;

use crate::{Refusal, text};

use super::wire::Reply;

/// What `acquire.lua` answered.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Acquired {
    /// Granted, with this fence.
    Yes(u64),
    /// Held by somebody else, for so long; `None`: without end.
    Held(Option<Duration>),
    /// The attempt has been given up.
    GivenUp,
}

/// What `renew.lua` and `release.lua` answered.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Compared {
    /// The lock was the attempt's.
    Own,
    /// It was somebody else's.
    Foreign,
    /// There is none.
    Absent,
}

/// An answer that is no result.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// The reply has not the script's shape.
    Shape,
    /// The server does not know the script: send its text.
    NoScript,
    /// Not executed now, perhaps later.
    Transient(String),
    /// It will not work.
    Final(Refusal, String),
}

pub(super) fn acquired(reply: &Reply) -> Result<Acquired, Trouble> {
    match fields(reply)? {
        (1, Some(fence)) => text(fence)
            .and_then(|fence| fence.parse().ok())
            .map(Acquired::Yes)
            .ok_or(Trouble::Shape),
        (0, Some(Reply::Int(left))) => Ok(Acquired::Held(
            u64::try_from(*left).ok().map(Duration::from_millis),
        )),
        (2, _) => Ok(Acquired::GivenUp),
        _ => Err(Trouble::Shape),
    }
}

pub(super) fn compared(reply: &Reply) -> Result<Compared, Trouble> {
    match fields(reply)? {
        (1, _) => Ok(Compared::Own),
        (0, Some(Reply::Bytes(_))) => Ok(Compared::Foreign),
        (0, Some(Reply::Nil) | None) => Ok(Compared::Absent),
        _ => Err(Trouble::Shape),
    }
}

fn fields(reply: &Reply) -> Result<(i64, Option<&Reply>), Trouble> {
    match reply {
        Reply::Array(items) => match items.as_slice() {
            [Reply::Int(kind)] => Ok((*kind, None)),
            [Reply::Int(kind), rest] => Ok((*kind, Some(rest))),
            _ => Err(Trouble::Shape),
        },
        Reply::Error(error) => Err(judge(error)),
        Reply::Nil | Reply::Int(_) | Reply::Bytes(_) => Err(Trouble::Shape),
    }
}

fn text(reply: &Reply) -> Option<&str> {
    match reply {
        Reply::Bytes(bytes) => core::str::from_utf8(bytes).ok(),
        _ => None,
    }
}

/// Errors that pass: a server that starts, fails over, is busy, or whose cluster is being rearranged.
const TRANSIENT: [&str; 9] = [
    "LOADING",
    "READONLY",
    "BUSY",
    "TRYAGAIN",
    "CLUSTERDOWN",
    "MASTERDOWN",
    "NOREPLICAS",
    "MOVED",
    "ASK",
];

pub(super) fn judge(error: &str) -> Trouble {
    let code = text::split(error, b' ').map_or(error, |(code, _)| code);
    if code == "NOSCRIPT" {
        return Trouble::NoScript;
    }
    if TRANSIENT.contains(&code) {
        return Trouble::Transient(error.into());
    }
    let says = |words| text::find(error, words).is_some();
    let refusal = match code {
        "NOAUTH" | "WRONGPASS" => Refusal::AuthFailed,
        "NOPERM" => Refusal::NoPermission,
        // Before Redis 7 a script's error is wrapped in another one.
        _ if says("WRONGTYPE") => Refusal::WrongType,
        _ if says("unknown command") || says("non deterministic") => Refusal::Unsupported,
        _ => Refusal::ServerError,
    };
    Trouble::Final(refusal, error.into())
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    #[test]
    fn scripts_answers_are_read_exactly() {
        let bytes = |text: &str| Reply::Bytes(text.into());
        let fence = vec![Reply::Int(1), bytes("1790000000000001")];
        assert_eq!(
            acquired(&Reply::Array(fence)),
            Ok(Acquired::Yes(1_790_000_000_000_001))
        );
        let held = vec![Reply::Int(0), Reply::Int(250)];
        assert_eq!(
            acquired(&Reply::Array(held)),
            Ok(Acquired::Held(Some(Duration::from_millis(250))))
        );
        let endless = vec![Reply::Int(0), Reply::Int(-1)];
        assert_eq!(acquired(&Reply::Array(endless)), Ok(Acquired::Held(None)));
        assert_eq!(
            compared(&Reply::Array(vec![Reply::Int(0), bytes("x")])),
            Ok(Compared::Foreign)
        );
        assert_eq!(
            compared(&Reply::Array(vec![Reply::Int(0), Reply::Nil])),
            Ok(Compared::Absent)
        );
        for wrong in [
            Reply::Nil,
            Reply::Int(1),
            Reply::Array(vec![]),
            Reply::Array(vec![bytes("1")]),
        ] {
            assert_eq!(acquired(&wrong), Err(Trouble::Shape));
        }
    }

    #[test]
    fn errors_are_judged_by_their_code() {
        assert_eq!(judge("NOSCRIPT No matching script."), Trouble::NoScript);
        assert!(matches!(judge("LOADING Redis is loading"), Trouble::Transient(_)));
        assert!(matches!(
            judge("ERR Error running script: @user_script:4: WRONGTYPE x"),
            Trouble::Final(Refusal::WrongType, _)
        ));
        assert!(matches!(
            judge("NOAUTH Authentication required."),
            Trouble::Final(Refusal::AuthFailed, _)
        ));
        assert!(matches!(judge(""), Trouble::Final(Refusal::ServerError, _)));
    }
}

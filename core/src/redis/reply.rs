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

/// Whether a server's error says that the server is a replica: it carries out no write, and what it would read may be old.
///
/// On such an answer, a driver drops **this** connection if the driver made it, and resolves the server's address again: after a
/// failover the address may lead to the new primary, and the old connection still leads to the old one. On the caller's own
/// connection the driver does nothing. The answer is a reply in any case.
#[must_use]
pub fn is_from_replica(error: &str) -> bool {
    code(unwrapped(error)) == "READONLY"
}

/// The word that an error begins with.
fn code(error: &str) -> &str {
    text::split(error, b' ').map_or(error, |(code, _)| code)
}

/// The error that stopped a script. Servers before 7.0 wrap it:
/// `ERR Error running script (call to f_<sha>): @user_script:1: @user_script: 1: -READONLY You can't write …`.
fn unwrapped(error: &str) -> &str {
    if !error.starts_with("ERR Error running script") {
        return error;
    }
    let mut rest = error;
    while let Some(at) = text::find(rest, PLACE) {
        let behind = rest.get(at.saturating_add(PLACE.len())..).unwrap_or_default();
        rest = behind.trim_start_matches(|mark: char| matches!(mark, ':' | ' ' | '0'..='9'));
    }
    rest.strip_prefix('-').unwrap_or(rest)
}

/// What stands before the line's number in an error of a script.
const PLACE: &str = "@user_script";

pub(super) fn judge(error: &str) -> Trouble {
    let code = code(unwrapped(error));
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
        "WRONGTYPE" => Refusal::WrongType,
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

    /// What Redis 6.2.14 answers to `EVAL "return redis.call(…)" …`, then what Redis 7.0.15 answers.
    const WRAPPED: [(&str, &str); 6] = [
        (
            "READONLY",
            "ERR Error running script (call to f_bbfa921ef52916eecf62afc6471035a4411917e4): @user_script:1: @user_script: 1: -READONLY You can't write against a read only replica. ",
        ),
        (
            "OOM",
            "ERR Error running script (call to f_897afd4d23ee70efe0ede1685c1c94834429da77): @user_script:12: @user_script: 12: -OOM command not allowed when used memory > 'maxmemory'. ",
        ),
        (
            "WRONGTYPE",
            "ERR Error running script (call to f_d3c21d0c2b9ca22f82737626a27bcaf5d288f99f): @user_script:1: WRONGTYPE Operation against a key holding the wrong kind of value ",
        ),
        (
            "READONLY",
            "READONLY You can't write against a read only replica. script: bbfa921ef52916eecf62afc6471035a4411917e4, on @user_script:1.",
        ),
        (
            "READONLY",
            "READONLY You can't write against a read only replica.",
        ),
        ("ERR", "ERR the value is not READONLY, @user_script: 1: -READONLY"),
    ];

    #[test]
    fn a_wrapped_error_is_judged_by_what_is_inside() {
        for (inside, error) in WRAPPED {
            assert_eq!(code(unwrapped(error)), inside, "{error}");
            assert_eq!(is_from_replica(error), inside == "READONLY", "{error}");
        }
        assert_eq!(unwrapped("ERR Error running script"), "ERR Error running script");
        assert_eq!(unwrapped("ERR Error running script @user_script"), "");
    }
}

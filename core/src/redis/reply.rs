//! Classifies a server's errors by their consequences for a lock or a claim.

use alloc::string::String;

use crate::{Refusal, text};

use super::wire::Reply;

/// A reply without a result.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// The reply does not have the shape of the script's replies.
    Shape,
    /// The server does not know the script, so the machine has to send its text.
    NoScript,
    /// The server did not execute the script. A retry may succeed.
    Transient(String),
    /// The server refuses writes because it lacks memory or cannot save to disk. The script may have been stopped in
    /// the middle.
    Unwritable(String),
    /// A retry would not succeed.
    Final(Refusal, String),
}

/// The items of an array: the reply of every script of a lock has this shape.
pub(super) fn fields(reply: &Reply) -> Result<&[Reply], Trouble> {
    match reply {
        Reply::Array(items) => Ok(items),
        Reply::Error(error) => Err(classify_error(error)),
        Reply::Nil | Reply::Int(_) | Reply::Bytes(_) => Err(Trouble::Shape),
    }
}

/// Temporary errors: the server is starting, failing over or busy, or its cluster is being rearranged.
const TRANSIENT: [&str; 7] = [
    "LOADING",
    "READONLY",
    "BUSY",
    "TRYAGAIN",
    "CLUSTERDOWN",
    "MASTERDOWN",
    "NOREPLICAS",
];

/// The server has no connection left for this client. Its error has no code of its own: `ERR max number of clients
/// reached`.
const FULL: &str = "max number of clients";

/// The errors of a cluster member that does not have the key's slot.
const ELSEWHERE: [&str; 2] = ["MOVED", "ASK"];

const MEMBER: &str = ": this address is a member of a Redis Cluster, and fencepost does not follow its redirections: use the address of a Redis server without cluster mode, or of the cluster's proxy";

/// Whether a server's error shows that the server is a replica. A replica refuses writes (`READONLY`), and its data may
/// be out of date. A replica without its primary may refuse everything (`MASTERDOWN`).
///
/// After this error, a driver that made the connection closes **this** connection and resolves the server's address
/// again: after a failover, the address may already belong to the new primary, while the connection is still to the old
/// one. If the application made the connection, the driver does nothing. In both cases the driver reports the error as
/// a reply.
#[must_use]
pub fn is_from_replica(error: &str) -> bool {
    matches!(code(unwrapped(error)), "READONLY" | "MASTERDOWN")
}

/// The first word of an error.
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

/// The text before the line number in a script's error.
const PLACE: &str = "@user_script";

pub(super) fn classify_error(error: &str) -> Trouble {
    let code = code(unwrapped(error));
    if code == "NOSCRIPT" {
        return Trouble::NoScript;
    }
    let says = |words| text::find(error, words).is_some();
    if TRANSIENT.contains(&code) || says(FULL) {
        return Trouble::Transient(error.into());
    }
    if matches!(code, "OOM" | "MISCONF") {
        return Trouble::Unwritable(error.into());
    }
    if ELSEWHERE.contains(&code) {
        return Trouble::Final(Refusal::ServerError, [error, MEMBER].concat());
    }
    let refusal = match code {
        "NOAUTH" | "WRONGPASS" => Refusal::AuthFailed,
        "NOPERM" => Refusal::NoPermission,
        // The user may run the script, but has no right to one of its commands, keys or channels. The first text is
        // from servers before Redis 7.2, the second from later ones.
        _ if says("The user executing the script can't") || says("ACL failure in script") => {
            Refusal::NoPermission
        }
        "WRONGTYPE" => Refusal::WrongType,
        _ if says("unknown command") || says("non deterministic") => Refusal::Unsupported,
        _ => Refusal::ServerError,
    };
    Trouble::Final(refusal, error.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_classified_by_their_code() {
        assert_eq!(classify_error("NOSCRIPT No matching script."), Trouble::NoScript);
        assert!(matches!(
            classify_error("LOADING Redis is loading"),
            Trouble::Transient(_)
        ));
        assert!(matches!(
            classify_error("ERR max number of clients reached"),
            Trouble::Transient(_)
        ));
        assert!(matches!(
            classify_error("ERR Error running script: @user_script:4: WRONGTYPE x"),
            Trouble::Final(Refusal::WrongType, _)
        ));
        assert!(matches!(
            classify_error(
                "ERR The user executing the script can't run this command or subcommand script: 0fb2, on @user_script:1."
            ),
            Trouble::Final(Refusal::NoPermission, _)
        ));
        assert!(matches!(
            classify_error(
                "ERR ACL failure in script: No permissions to access a key script: 0fb2, on @user_script:1."
            ),
            Trouble::Final(Refusal::NoPermission, _)
        ));
        assert!(matches!(
            classify_error("NOAUTH Authentication required."),
            Trouble::Final(Refusal::AuthFailed, _)
        ));
        assert!(matches!(
            classify_error(""),
            Trouble::Final(Refusal::ServerError, _)
        ));
        assert!(matches!(
            classify_error("OOM command not allowed"),
            Trouble::Unwritable(_)
        ));
        for elsewhere in ["MOVED 3999 127.0.0.1:6381", "ASK 3999 127.0.0.1:6381"] {
            let Trouble::Final(Refusal::ServerError, detail) = classify_error(elsewhere) else {
                panic!("{elsewhere}");
            };
            assert!(
                detail.starts_with(elsewhere) && detail.contains("Redis Cluster"),
                "{detail}"
            );
        }
    }

    /// The replies of Redis 6.2.14 to `EVAL "return redis.call(…)" …`, then those of Redis 7.0.15.
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
    fn a_wrapped_error_is_classified_by_its_content() {
        for (inside, error) in WRAPPED {
            assert_eq!(code(unwrapped(error)), inside, "{error}");
            assert_eq!(is_from_replica(error), inside == "READONLY", "{error}");
        }
        assert!(is_from_replica(
            "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."
        ));
        assert!(!is_from_replica("LOADING Redis is loading the dataset in memory"));
        assert_eq!(unwrapped("ERR Error running script"), "ERR Error running script");
        assert_eq!(unwrapped("ERR Error running script @user_script"), "");
    }
}

//! The table of the library's errors and their outcomes.

use fencepost_core::{
    Failure, SessionId,
    lowered::Outcome,
    zookeeper::{Answer, Reply, code},
};
use zookeeper_client::Error;

/// The outcome of a request that failed with this error.
pub(super) fn outcome(session: SessionId, error: &Error) -> Outcome {
    match answered(error) {
        Some(number) => Outcome::ZooKeeper(Reply {
            session,
            answer: Answer::Error(number),
        }),
        None if matches!(error, Error::NoHosts | Error::Timeout) => Outcome::Failed(Failure::NotSent),
        // The connection ended, broke or was silent, or the session ended: the server may have executed the request.
        // The library returns the same error for requests after the end.
        None => Outcome::Failed(Failure::Unknown),
    }
}

/// The number of the server's error (`KeeperException.Code`).
fn answered(error: &Error) -> Option<i32> {
    Some(match error {
        Error::MarshallingError => -5,
        Error::Unimplemented => code::UNIMPLEMENTED,
        // The library itself refuses this path, and every server would, too.
        Error::BadArguments(_) => -8,
        Error::NoNode => code::NO_NODE,
        Error::NoAuth => code::NO_AUTH,
        Error::BadVersion => code::BAD_VERSION,
        Error::NoChildrenForEphemerals => code::NO_CHILDREN_FOR_EPHEMERALS,
        Error::NodeExists => code::NODE_EXISTS,
        Error::NotEmpty => code::NOT_EMPTY,
        Error::InvalidAcl => -114,
        Error::SessionMoved => code::SESSION_MOVED,
        Error::NotReadOnly => -119,
        Error::NoWatcher => -121,
        Error::ReconfigDisabled => -123,
        Error::QuotaExceeded => -125,
        Error::Throttled => code::THROTTLED,
        Error::UnexpectedErrorCode(number) => *number,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SESSION: SessionId = SessionId(7);

    fn number(error: &Error) -> Option<i32> {
        match outcome(SESSION, error) {
            Outcome::ZooKeeper(Reply {
                session: SESSION,
                answer: Answer::Error(number),
            }) => Some(number),
            _ => None,
        }
    }

    #[test]
    fn what_the_server_says_is_a_reply() {
        for (error, expected) in [
            (Error::MarshallingError, -5),
            (Error::Unimplemented, -6),
            (Error::BadArguments(&"path"), -8),
            (Error::NoNode, -101),
            (Error::NoAuth, -102),
            (Error::BadVersion, -103),
            (Error::NoChildrenForEphemerals, -108),
            (Error::NodeExists, -110),
            (Error::NotEmpty, -111),
            (Error::InvalidAcl, -114),
            (Error::SessionMoved, -118),
            (Error::NotReadOnly, -119),
            (Error::NoWatcher, -121),
            (Error::ReconfigDisabled, -123),
            (Error::QuotaExceeded, -125),
            (Error::Throttled, -127),
            (Error::UnexpectedErrorCode(-7), -7),
        ] {
            assert_eq!(number(&error), Some(expected), "{error:?}");
        }
    }

    #[test]
    fn everything_else_is_in_doubt_except_what_never_left() {
        for error in [
            Error::ConnectionLoss,
            Error::SessionExpired,
            Error::AuthFailed,
            Error::ClientClosed,
            Error::UnexpectedError("gone".into()),
        ] {
            assert_eq!(
                outcome(SESSION, &error),
                Outcome::Failed(Failure::Unknown),
                "{error:?}"
            );
        }
        for error in [Error::NoHosts, Error::Timeout] {
            assert_eq!(
                outcome(SESSION, &error),
                Outcome::Failed(Failure::NotSent),
                "{error:?}"
            );
        }
    }
}

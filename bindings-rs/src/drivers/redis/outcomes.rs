//! The table of the library's results and their outcomes.

use alloc::sync::Arc;
use core::any::Any;

use fencepost_core::{CommandId, Failure, lowered::Outcome, redis::Reply};
use redis::{ErrorKind, RedisError, ServerError, Value};

use crate::{Native, engine::driver::Completed};

/// The result of a command, as the library returns it.
pub(super) type Answer = Result<Value, RedisError>;

/// The outcome of a connection that has panicked. A retry would panic again.
pub(super) fn panicked(panic: &(dyn Any + Send)) -> Completed {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    let text = format!(
        "the connection has panicked: {}",
        text.unwrap_or("without a text")
    );
    Completed::Fault(Arc::new(std::io::Error::other(text)))
}

/// The completed command, from the library's result.
pub(super) fn completed(id: CommandId, answer: Answer) -> Completed {
    let answer = match answer {
        Err(error) if is_fault(&error) => return Completed::Fault(Arc::new(error)),
        answer => answer,
    };
    let (outcome, native) = of(answer);
    Completed::outcome(id, outcome, native)
}

/// Whether the library reports that the call itself or its configuration was wrong. A retry would fail in the same way.
fn is_fault(error: &RedisError) -> bool {
    matches!(
        error.kind(),
        ErrorKind::Client
            | ErrorKind::EmptySentinelList
            | ErrorKind::InvalidClientConfig
            | ErrorKind::RESP3NotSupported
            | ErrorKind::UnexpectedReturnType
    )
}

/// The outcome of a result, with the library's error if there is one.
pub(super) fn of(answer: Answer) -> (Outcome, Option<Native>) {
    match answer {
        Ok(Value::ServerError(error)) => {
            let text = line(&error);
            let native = RedisError::from(error);
            (Outcome::Redis(Reply::Error(text)), Some(Arc::new(native)))
        }
        Ok(value) => (Outcome::Redis(reply(value)), None),
        Err(error) => {
            let outcome = match (error.code(), error.kind()) {
                // Some connections return the server's error reply as an error.
                (Some(code), _) => {
                    let detail = error.detail().unwrap_or_default();
                    Outcome::Redis(Reply::Error(format!("{code} {detail}")))
                }
                // From a connection that reconnects: over RESP2, the library does not report the server's text.
                (None, ErrorKind::AuthenticationFailed) => {
                    Outcome::Redis(Reply::Error(format!("WRONGPASS {error}")))
                }
                (None, ErrorKind::InvalidClientConfig | ErrorKind::Client) => {
                    Outcome::Failed(Failure::NotSent)
                }
                // Broken, timed out, unreadable: the server may have executed the command. A call on a dead connection
                // looks the same.
                (None, _) => Outcome::Failed(Failure::Unknown),
            };
            (outcome, Some(Arc::new(error)))
        }
    }
}

/// Whether the reply is from a replica, which executes no write.
pub(super) fn is_from_replica(answer: &Answer) -> bool {
    let error = match answer {
        Ok(Value::ServerError(error)) => line(error),
        Ok(_) => return false,
        Err(error) => match error.code() {
            Some(code) => format!("{code} {}", error.detail().unwrap_or_default()),
            None => return false,
        },
    };
    fencepost_core::redis::is_from_replica(&error)
}

/// A value in the core's form.
fn reply(value: Value) -> Reply {
    match value {
        Value::Nil => Reply::Nil,
        Value::Int(number) => Reply::Int(number),
        Value::Boolean(truth) => Reply::Int(truth.into()),
        Value::Double(number) => Reply::Bytes(number.to_string().into_bytes()),
        Value::BulkString(bytes) => Reply::Bytes(bytes),
        Value::SimpleString(text) => Reply::Bytes(text.to_string().into_bytes()),
        Value::Okay => Reply::Bytes(b"OK".to_vec()),
        Value::Array(items) | Value::Set(items) => Reply::Array(items.into_iter().map(reply).collect()),
        Value::ServerError(error) => Reply::Error(line(&error)),
        // No script of the core returns anything else, and no command accepts this shape.
        _ => Reply::Array(Vec::new()),
    }
}

/// A server's error, as the server sent it.
fn line(error: &ServerError) -> String {
    match error.details() {
        Some(details) => format!("{} {details}", error.code()),
        None => error.code().into(),
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use redis::ServerErrorKind;

    use super::*;

    #[test]
    fn values_are_replies() {
        let array = Value::Array(vec![Value::Int(1), Value::BulkString(b"9".to_vec()), Value::Nil]);
        let expected = Reply::Array(vec![Reply::Int(1), Reply::Bytes(b"9".to_vec()), Reply::Nil]);
        assert_eq!(of(Ok(array)).0, Outcome::Redis(expected));
        assert_eq!(
            of(Ok(Value::Okay)).0,
            Outcome::Redis(Reply::Bytes(b"OK".to_vec()))
        );
        assert_eq!(of(Ok(Value::Boolean(true))).0, Outcome::Redis(Reply::Int(1)));
    }

    #[test]
    fn what_the_server_says_is_a_reply_also_when_it_is_raised() {
        let raised = redis::make_extension_error("WRONGTYPE".into(), Some("Operation against".into()));
        let (outcome, native) = of(Err(raised));
        assert_eq!(
            outcome,
            Outcome::Redis(Reply::Error("WRONGTYPE Operation against".into()))
        );
        assert!(native.is_some());
        let known = RedisError::from((ErrorKind::Server(ServerErrorKind::NoPerm), "x", "no".into()));
        assert!(matches!(
            of(Err(known)).0,
            Outcome::Redis(Reply::Error(text)) if text.starts_with("NOPERM")
        ));
    }

    #[test]
    fn a_wrong_call_is_no_answer() {
        for kind in [
            ErrorKind::Client,
            ErrorKind::EmptySentinelList,
            ErrorKind::InvalidClientConfig,
            ErrorKind::RESP3NotSupported,
            ErrorKind::UnexpectedReturnType,
        ] {
            let completed = completed(CommandId(1), Err(RedisError::from((kind, "x"))));
            assert!(matches!(completed, Completed::Fault(_)), "{kind:?}");
        }
        for kind in [
            ErrorKind::AuthenticationFailed,
            ErrorKind::ClusterConnectionNotFound,
            ErrorKind::Io,
            ErrorKind::MasterNameNotFoundBySentinel,
            ErrorKind::NoValidReplicasFoundBySentinel,
            ErrorKind::Parse,
            ErrorKind::Server(ServerErrorKind::ReadOnly),
        ] {
            let completed = completed(CommandId(1), Err(RedisError::from((kind, "x"))));
            assert!(matches!(completed, Completed::Outcome { .. }), "{kind:?}");
        }
    }

    #[test]
    fn a_refused_password_is_an_answer() {
        let refused = RedisError::from((ErrorKind::AuthenticationFailed, "Password authentication failed"));
        assert!(matches!(
            of(Err(refused)).0,
            Outcome::Redis(Reply::Error(text)) if text.starts_with("WRONGPASS ")
        ));
    }

    #[test]
    fn everything_else_is_in_doubt_except_what_never_left() {
        for kind in [
            io::ErrorKind::BrokenPipe,
            io::ErrorKind::ConnectionReset,
            io::ErrorKind::TimedOut,
            io::ErrorKind::UnexpectedEof,
        ] {
            let (outcome, native) = of(Err(io::Error::from(kind).into()));
            assert_eq!(outcome, Outcome::Failed(Failure::Unknown), "{kind:?}");
            assert!(native.is_some());
        }
        let garbage = RedisError::from((ErrorKind::Parse, "garbage"));
        assert_eq!(of(Err(garbage)).0, Outcome::Failed(Failure::Unknown));
        for kind in [ErrorKind::InvalidClientConfig, ErrorKind::Client] {
            let unsent = RedisError::from((kind, "x"));
            assert_eq!(of(Err(unsent)).0, Outcome::Failed(Failure::NotSent));
        }
    }
}

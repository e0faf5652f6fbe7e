//! Failures of requests, and their exit codes.

use std::{io, process::ExitCode};

use fencepost::{Error, Refusal};

use crate::output::{complain, unwritten, with_causes};

/// The reason why a step failed, in one line.
#[derive(Debug)]
pub(crate) struct Failure {
    text: String,
    kind: Kind,
}

/// The exit codes of all commands but `demo` and `exec`. Scripts depend on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Missing = 1,
    Usage = 2,
    Refused = 3,
    Unavailable = 4,
}

impl Failure {
    pub(crate) fn missing(text: impl Into<String>) -> Self {
        Self::new(Kind::Missing, text)
    }

    pub(crate) fn usage(text: impl Into<String>) -> Self {
        Self::new(Kind::Usage, text)
    }

    pub(crate) fn refused(text: impl Into<String>) -> Self {
        Self::new(Kind::Refused, text)
    }

    /// The failure to write standard output.
    pub(crate) fn of_output(error: io::Error) -> Self {
        Self::usage(unwritten(&error))
    }

    fn new(kind: Kind, text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            kind,
        }
    }

    /// Ends a command: prints the failure on standard error, and returns the exit code.
    pub(crate) fn end(done: Result<(), Self>) -> ExitCode {
        let Err(failure) = done else {
            return ExitCode::SUCCESS;
        };
        complain(&failure.text);
        ExitCode::from(failure.kind as u8)
    }

    /// Ends a command whose result is yes or no. Returns its exit code.
    pub(crate) fn code(done: Result<bool, Self>) -> ExitCode {
        match done {
            Ok(false) => ExitCode::from(Kind::Missing as u8),
            done => Self::end(done.map(drop)),
        }
    }

    /// The failure of a request that changes the record, if the server may have carried it out.
    pub(crate) fn of_change(error: Error) -> Self {
        let failure = Self::from(error);
        if failure.kind != Kind::Unavailable {
            return failure;
        }
        let text = failure.text + ": it may have been done, so look at the record again";
        Self { text, ..failure }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let kind = match &error {
            Error::Refused(refused) => match refused.reason() {
                Refusal::Unreachable
                | Refusal::ConnectionClosed
                | Refusal::Timeout
                | Refusal::NotAvailable
                | Refusal::GivenUp => Kind::Unavailable,
                _ => Kind::Refused,
            },
            _ => Kind::Usage,
        };
        let text = with_causes(&error);
        Self { text, kind }
    }
}

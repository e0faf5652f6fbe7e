//! Exit codes of `exec`, and the failures that lead to them. Scripts depend on them.

use fencepost::{Error, Refusal};
use nix::errno::Errno;

use crate::output::with_causes;

/// Wrong usage (`EX_USAGE`).
const USAGE: u8 = 64;
/// The record of an operation does not allow a run (`EX_DATAERR`).
const RECORD: u8 = 65;
/// No server replied, or the server refuses (`EX_UNAVAILABLE`).
const UNAVAILABLE: u8 = 69;
/// The lock was lost (`EX_SOFTWARE`).
pub(super) const LOST: u8 = 70;
/// A failure of this computer (`EX_OSERR`).
pub(crate) const SYSTEM: u8 = 71;
/// The report could not be written (`EX_IOERR`).
pub(super) const REPORT: u8 = 74;
/// Another contender holds the lock (`EX_TEMPFAIL`).
pub(super) const CONFLICT: u8 = 75;
/// As shells have it.
const CANNOT_EXECUTE: u8 = 126;
/// As shells have it.
const NOT_FOUND: u8 = 127;
/// The exit code of a signal is this plus its number.
const SIGNAL: u8 = 128;

/// The reason why the command did not run, or not until its end.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) code: u8,
    /// The name in reports.
    pub(super) outcome: &'static str,
    pub(super) text: String,
}

impl Failure {
    fn new(code: u8, outcome: &'static str, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { code, outcome, text }
    }

    pub(super) fn usage(text: impl Into<String>) -> Self {
        Self::new(USAGE, "usage", text)
    }

    pub(super) fn system(text: impl Into<String>) -> Self {
        Self::new(SYSTEM, "system", text)
    }

    pub(super) fn conflict(text: impl Into<String>) -> Self {
        Self::new(CONFLICT, "not-acquired", text)
    }

    pub(super) fn record(text: impl Into<String>) -> Self {
        Self::new(RECORD, "refused", text)
    }

    pub(super) fn lost(text: impl Into<String>) -> Self {
        Self::new(LOST, "lost", text)
    }

    pub(super) fn not_executed(command: &str, error: &std::io::Error) -> Self {
        let number = error.raw_os_error().map(Errno::from_raw);
        let code = match number {
            Some(Errno::ENOENT) => NOT_FOUND,
            // A limit on processes, memory or descriptors: the command itself may be correct.
            Some(Errno::EAGAIN | Errno::ENOMEM | Errno::EMFILE | Errno::ENFILE) => {
                return Self::system(format!("cannot start {command:?}: {error}"));
            }
            _ => CANNOT_EXECUTE,
        };
        Self::new(
            code,
            "not-executed",
            format!("cannot execute {command:?}: {error}"),
        )
    }

    pub(super) fn interrupted(signal: nix::sys::signal::Signal) -> Self {
        let text = format!("{signal} came before the command was started, which was not run");
        Self::new(of_signal(signal as i32), "interrupted", text)
    }

    /// Adds the meaning for the user before the text.
    pub(super) fn because(self, meaning: &str) -> Self {
        Self {
            text: format!("{meaning}: {}", self.text),
            ..self
        }
    }
}

/// The exit code of a process that a signal has ended.
pub(super) fn of_signal(number: i32) -> u8 {
    SIGNAL.saturating_add(u8::try_from(number).unwrap_or_default())
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let text = with_causes(&error);
        match &error {
            Error::Config(_) => Self::usage(text),
            Error::Lost(_) => Self::lost(text),
            Error::NoRuntime | Error::NoRandomness => Self::system(text),
            Error::Refused(refused) => match refused.reason() {
                Refusal::InProgress | Refusal::Timeout | Refusal::NotAvailable => Self::conflict(text),
                Refusal::Mismatch
                | Refusal::Indeterminate
                | Refusal::UnknownToken
                | Refusal::CorruptRecord => Self::record(text),
                _ => Self::new(UNAVAILABLE, "unavailable", text),
            },
            _ => Self::new(UNAVAILABLE, "unavailable", text),
        }
    }
}

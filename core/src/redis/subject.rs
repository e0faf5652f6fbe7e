//! What a contender contends for: a lock or a claim. The subject decides which scripts ask for it, and what their answers
//! mean. All else is the same for both: see [`Contender`](super::Contender).

use alloc::{boxed::Box, string::String, vec::Vec};
use core::time::Duration;

use crate::{
    AttemptId, Loss, Refusal,
    claim::{Content, Record},
};

use super::{
    claim, lock,
    reply::Trouble,
    scripts::Call,
    settings::{ClaimSettings, LeaseSettings, StringSettings},
    wire::Reply,
};

/// The shortest time for which the server keeps a tombstone. A release that a client library sent twice arrives within
/// seconds.
pub(super) const TOMBSTONE: Duration = Duration::from_secs(10);

/// What a contender contends for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Subject {
    /// A lock in the layout `string`.
    Lock(StringSettings),
    /// A claim on an operation.
    Claim(ClaimSettings),
}

/// What a contender asks of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Ask<'a> {
    /// The lock or the claim.
    Acquire,
    /// A full lease from now.
    Renew,
    /// The end of the attempt.
    End(&'a End),
}

/// How an attempt ends. A lock can only be released.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum End {
    /// The lock is free. An operation has not happened.
    Release,
    /// The outcome of an operation is unknown.
    Leave,
    /// An operation has this result.
    Complete(Content),
}

/// An answer to an acquire.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Acquired {
    /// The server granted it.
    Yes { fence: u64, takeovers: u64 },
    /// Another contender holds it.
    Held {
        /// How long the holder's lease still runs; `None` if it has no end, or has ended without freeing it.
        left: Option<Duration>,
        /// The holder's value, if the holder is another program.
        foreign: Option<Vec<u8>>,
    },
    /// The attempt has been given up.
    GivenUp,
    /// The server refuses it.
    No(Refusal, Option<String>),
    /// The operation has a result.
    Replayed(Box<Record>),
}

/// An answer to a renewal or to the end of an attempt.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// This attempt held it.
    Own,
    /// This attempt does not hold it.
    Lost(Loss),
    /// The operation has another attempt's result.
    Replayed(Box<Record>),
    /// The server refuses this end. The attempt still holds the claim, or has ended it otherwise.
    No(Refusal),
}

impl Subject {
    pub(super) const fn lease(&self) -> &LeaseSettings {
        match self {
            Self::Lock(settings) => &settings.lease,
            Self::Claim(settings) => &settings.lease,
        }
    }

    /// The longest hold allowed.
    pub(super) const fn max_hold(&self) -> Option<Duration> {
        match self {
            Self::Lock(settings) => settings.max_hold,
            Self::Claim(_) => None,
        }
    }

    pub(super) const fn is_claim(&self) -> bool {
        matches!(self, Self::Claim(_))
    }

    /// The channel on which waiters hear that the holder has ended.
    pub(super) fn channel(&self) -> Vec<u8> {
        match self {
            Self::Lock(settings) => settings.channel(),
            Self::Claim(settings) => settings.name.redis_channel().into_bytes(),
        }
    }

    /// Why a nonblocking acquire fails while another contender holds it, and why another one fails in the end.
    pub(super) const fn held_by_another(&self, nonblocking: bool) -> Refusal {
        match (self, nonblocking) {
            (Self::Claim(_), _) => Refusal::InProgress,
            (Self::Lock(_), true) => Refusal::NotAvailable,
            (Self::Lock(_), false) => Refusal::Timeout,
        }
    }

    /// The call of an attempt. The server keeps a tombstone for `tombstone`.
    pub(super) fn call(&self, attempt: AttemptId, stored: &str, ask: Ask<'_>, tombstone: Duration) -> Call {
        match self {
            Self::Lock(settings) => lock::call(settings, stored, ask, tombstone),
            Self::Claim(settings) => claim::call_of_claim(settings, attempt, ask, tombstone),
        }
    }

    pub(super) fn acquired(&self, reply: &Reply) -> Result<Acquired, Trouble> {
        match self {
            Self::Lock(settings) => lock::acquired(settings, reply),
            Self::Claim(_) => claim::acquired(reply),
        }
    }

    /// The answer to a renewal or to the end of an attempt.
    pub(super) fn ended(&self, reply: &Reply) -> Result<Ended, Trouble> {
        match self {
            Self::Lock(_) => lock::compared(reply),
            Self::Claim(_) => claim::ended(reply),
        }
    }
}

//! What a contender contends for: a lock or a claim. The subject decides which scripts ask for it, and what their answers
//! mean. All else is the same for both: see [`Contender`](super::Contender).

use alloc::vec::Vec;
use core::time::Duration;

use crate::Refusal;

use super::{
    ask::{Acquired, Ask, Ended},
    claim, lock,
    reply::Trouble,
    scripts::Call,
    settings::{ClaimSettings, LeaseSettings, StringSettings},
    wire::Reply,
};

/// What a contender contends for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Subject {
    /// A lock in the layout `string`.
    Lock(StringSettings),
    /// A claim on an operation.
    Claim(ClaimSettings),
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

    /// The channel on which the server notifies waiters that the holder has ended.
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

    /// The call of an attempt, as the server stores it. The server keeps a tombstone for `tombstone`.
    pub(super) fn call(&self, attempt: &str, ask: Ask<'_>, tombstone: Duration) -> Call {
        match self {
            Self::Lock(settings) => lock::call(settings, attempt, ask, tombstone),
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

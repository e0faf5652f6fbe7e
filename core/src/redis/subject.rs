//! The subject of a contender: a lock or a claim. The subject chooses the scripts, and decides on the meaning of their
//! replies. Everything else is the same for both: see [`Contender`](super::Contender).

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

/// The lock or the claim that a contender wants to acquire.
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

    /// The channel on which the server notifies waiters of the end of the holder's attempt.
    pub(super) fn channel(&self) -> Vec<u8> {
        match self {
            Self::Lock(settings) => settings.channel(),
            Self::Claim(settings) => settings.name.redis_channel().into_bytes(),
        }
    }

    /// The refusal of an acquire while another contender holds the lock or the claim: of a nonblocking acquire, or of
    /// one whose timeout has expired.
    pub(super) const fn held_by_another(&self, nonblocking: bool) -> Refusal {
        match (self, nonblocking) {
            (Self::Claim(_), _) => Refusal::InProgress,
            (Self::Lock(_), true) => Refusal::NotAvailable,
            (Self::Lock(_), false) => Refusal::Timeout,
        }
    }

    /// The call for an attempt, which is given in its stored form. The server keeps a tombstone for `tombstone`.
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

    /// The answer in the reply to a renewal or to the end of an attempt.
    pub(super) fn ended(&self, reply: &Reply) -> Result<Ended, Trouble> {
        match self {
            Self::Lock(_) => lock::compared(reply),
            Self::Claim(_) => claim::ended(reply),
        }
    }
}

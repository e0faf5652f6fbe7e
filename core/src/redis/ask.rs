//! A contender's requests to the server, and the answers: the common form for locks and claims.

use alloc::{boxed::Box, string::String, vec::Vec};
use core::time::Duration;

use crate::{
    Loss, Refusal,
    claim::{Content, Record},
};

/// The shortest time for which the server keeps a tombstone. A release that a client library sent twice arrives within
/// seconds.
pub(super) const TOMBSTONE: Duration = Duration::from_secs(10);

/// A contender's request to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Ask<'a> {
    /// Acquire the lock or the claim.
    Acquire,
    /// Extend the lease: a full lease from now.
    Renew,
    /// End the attempt.
    End(&'a End),
}

/// The way in which an attempt ends. A lock can only be released.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum End {
    /// The lock is free. The operation had no effect.
    Release,
    /// The operation's outcome is unknown.
    Leave,
    /// The operation has this result.
    Complete(Content),
}

/// The answer in the reply to an acquire.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Acquired {
    /// The server has granted the lock or the claim.
    Yes { fence: u64, takeovers: u64 },
    /// Another contender holds the lock or the claim.
    Held {
        /// How long the holder's lease still runs; `None` if it has no end, or if it has ended but still blocks others.
        left: Option<Duration>,
        /// The holder's value, if the holder is another program.
        foreign: Option<Vec<u8>>,
    },
    /// The client has abandoned the attempt.
    GivenUp,
    /// The server refuses the acquire.
    No(Refusal, Option<String>),
    /// The operation has a result.
    Replayed(Box<Record>),
}

/// The answer in the reply to a renewal or to the end of an attempt.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// This attempt held the lock or the claim.
    Own,
    /// This attempt does not hold the lock or the claim.
    Lost(Loss),
    /// The operation has another attempt's result.
    Replayed(Box<Record>),
    /// The server refuses this end. The attempt still holds the claim, or has ended it in another way.
    No(Refusal),
}

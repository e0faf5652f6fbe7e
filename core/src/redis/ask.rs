//! What a contender asks of the server, and the answers, for a lock and a claim alike.

use alloc::{boxed::Box, string::String, vec::Vec};
use core::time::Duration;

use crate::{
    Loss, Refusal,
    claim::{Content, Record},
};

/// The shortest time for which the server keeps a tombstone. A release that a client library sent twice arrives within
/// seconds.
pub(super) const TOMBSTONE: Duration = Duration::from_secs(10);

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

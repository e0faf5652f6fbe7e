//! What can be asked about an operation, and what the answers are.

use alloc::{boxed::Box, vec::Vec};

use super::{
    content::Content,
    name::UpdateId,
    record::{Policy, Record},
};
use crate::{AttemptId, Fence};

/// How long a token may stay unclaimed by default, in ms: ten minutes.
pub const DEFAULT_LIFE: u64 = 600_000;

/// One step of one attempt. A client that sends a request again, because its reply was lost, sends the same
/// attempt.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    /// The attempt that asks.
    pub attempt: AttemptId,
    /// For what.
    pub step: Step,
}

/// The steps. All durations are in ms, and positive.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// Asks to run the operation.
    Claim(Claim),
    /// Extends the lease of a claim to its full length from now. A lease is never shortened.
    Renew {
        /// The length of the lease.
        lease: u64,
    },
    /// Ends a claim: the operation has this result.
    Complete(Content),
    /// Ends a claim: nothing has happened.
    Release,
    /// Ends a claim whose outcome is unknown. The policy decides what follows.
    Leave,
    /// Makes a token.
    Issue(Issue),
    /// Claims and completes in one step: for a result that the program knows beforehand.
    Register(Claim, Content),
    /// Replaces a value, if it has the expected version.
    Update(Update),
    /// Asks for the record.
    Look,
    /// An operator gives the operation a result.
    Settle {
        /// The [guard](Record::guard) of the record that the operator has seen.
        guard: u64,
        /// The result.
        content: Content,
    },
    /// An operator deletes the record.
    Forget {
        /// The [guard](Record::guard) of the record that the operator has seen.
        guard: u64,
    },
}

/// A claim.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Claim {
    /// The binding, if the key is a token that must have been issued.
    pub token: Option<Vec<u8>>,
    /// What the operation is asked to do, in short.
    pub fingerprint: Vec<u8>,
    /// What happens at the end of a lease, if this is the first claim.
    pub policy: Policy,
    /// How long the claim lasts without a renewal.
    pub lease: u64,
    /// How long the record is kept.
    pub retention: u64,
}

/// A token to make.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Issue {
    /// To whom and for what it is issued.
    pub binding: Vec<u8>,
    /// How long it may stay unclaimed.
    pub life: u64,
    /// How long the record is kept if an operator settles it unclaimed.
    pub retention: u64,
}

/// An update of a value. The id that the application gives to the update has a record of its own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Update {
    /// The update's id.
    pub id: UpdateId,
    /// The version that the value must have; 0 if there must be no value.
    pub expected: u64,
    /// What the update is asked to do, in short.
    pub fingerprint: Vec<u8>,
    /// How long the record of the update's id is kept. The value has no end.
    pub retention: u64,
    /// The new value.
    pub content: Content,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// Run the operation.
    Claimed {
        /// The fence of this claim.
        fence: Fence,
        /// How often the operation has been taken over: it may have run that often before.
        takeovers: u64,
    },
    /// The lease has its full length from now.
    Extended,
    /// This attempt's result is stored.
    Completed,
    /// The claim has ended without a result.
    Released,
    /// The operation has had a result before. It is in the record.
    Replayed(Box<Record>),
    /// Another attempt runs the operation.
    InProgress {
        /// How long its lease still lasts, in ms; `None` if it is over, and the policy is to block.
        left: Option<u64>,
    },
    /// The key belongs to an operation with another fingerprint or binding, or to something that is no operation.
    Mismatch,
    /// The operation may have run, or not.
    Indeterminate,
    /// The token was never issued, or has expired.
    UnknownToken,
    /// This attempt has ended the claim that it asks for.
    GivenUp,
    /// This attempt has no claim.
    Lost(Lost),
    /// The token can be claimed.
    Issued,
    /// The value has been replaced.
    Applied {
        /// Its new version.
        version: u64,
    },
    /// The value has another version than expected.
    Conflict {
        /// The value, or `None` if there is none.
        present: Option<Box<Record>>,
    },
    /// The record, if there is one.
    Looked(Option<Box<Record>>),
    /// There is no record.
    Forgotten,
    /// The record cannot be read. Nothing has changed.
    CorruptRecord,
}

/// Why an attempt has no claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lost {
    /// The claim has ended, and no other attempt has claimed the operation since.
    Gone,
    /// Another attempt has claimed the operation, or the operator has seen an older record.
    Superseded,
    /// This attempt has completed the operation.
    Done,
}

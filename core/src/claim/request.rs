//! The requests about an operation, and their answers.

use alloc::{boxed::Box, vec::Vec};

use super::{
    content::Content,
    name::UpdateId,
    record::{Policy, Record},
};
use crate::{AttemptId, Fence};

/// How long a token may stay unclaimed by default, in ms: ten minutes.
pub const DEFAULT_LIFE: u64 = 600_000;

/// One step of one attempt. If a client repeats a request because the reply was lost, it sends the same attempt.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    /// The attempt that sends the request.
    pub attempt: AttemptId,
    /// The step.
    pub step: Step,
}

/// The steps. All durations are in ms, and positive.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// Claims the operation: requests the right to run it.
    Claim(Claim),
    /// Extends the lease of a claim to its full length from now. It never shortens a lease.
    Renew {
        /// The length of the lease.
        lease: u64,
    },
    /// Ends a claim: the operation has this result.
    Complete(Content),
    /// Ends a claim: the operation had no effect.
    Release,
    /// Ends a claim whose outcome is unknown. The policy decides what follows.
    Leave,
    /// Makes a token.
    Issue(Issue),
    /// Claims and completes in one step: for a result that the program already knows.
    Register(Claim, Content),
    /// Replaces a value, if it has the expected version.
    Update(Update),
    /// Reads the record.
    Look,
    /// An operator stores a result of the operation.
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
    /// A digest of the operation's arguments.
    pub fingerprint: Vec<u8>,
    /// The policy for the end of a lease. Only the first claim sets it.
    pub policy: Policy,
    /// How long the claim lasts without a renewal.
    pub lease: u64,
    /// How long the server keeps the record.
    pub retention: u64,
}

/// A token to make.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Issue {
    /// The user and the purpose for which the token is issued.
    pub binding: Vec<u8>,
    /// How long the token may stay unclaimed.
    pub life: u64,
    /// How long the server keeps the record if an operator settles it before it is claimed.
    pub retention: u64,
}

/// An update of a value. The application chooses an id for the update, and this id has its own record.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Update {
    /// The update's id.
    pub id: UpdateId,
    /// The version that the value must have; 0 if there must be no value.
    pub expected: u64,
    /// A digest of the update's arguments.
    pub fingerprint: Vec<u8>,
    /// How long the server keeps the record of the update's id. The value has no end.
    pub retention: u64,
    /// The new value.
    pub content: Content,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// The claim succeeded, so the attempt runs the operation.
    Claimed {
        /// The fence of this claim.
        fence: Fence,
        /// The number of takeovers of the operation. The operation may have run that often before.
        takeovers: u64,
    },
    /// The lease is extended to its full length from now.
    Extended,
    /// The server has stored this attempt's result.
    Completed,
    /// The claim has ended without a result.
    Released,
    /// The operation already has a result, which is in the record.
    Replayed(Box<Record>),
    /// Another attempt runs the operation.
    InProgress {
        /// How long its lease still lasts, in ms; `None` if the lease has ended and the policy is to block.
        left: Option<u64>,
    },
    /// The key belongs to an operation with another fingerprint or binding, or to a record of another kind.
    Mismatch,
    /// The lease of an earlier attempt has ended without a result. The operation may have run or not.
    Indeterminate,
    /// The token was never issued, or has expired.
    UnknownToken,
    /// This attempt has already ended this claim, so it cannot get it any more.
    GivenUp,
    /// This attempt has no claim.
    Lost(Lost),
    /// The token can be claimed.
    Issued,
    /// The value has been replaced.
    Applied {
        /// The value's new version.
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
    /// The record cannot be parsed. The request has changed nothing.
    CorruptRecord,
}

/// Why an attempt has no claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lost {
    /// The claim has ended, and no other attempt has claimed the operation after it.
    Gone,
    /// Another attempt has claimed the operation. Or, for an operator's request: the operator has read an older record.
    Superseded,
    /// This attempt has completed the operation.
    Done,
}

//! The record of one operation: what the server knows of it.

use alloc::{string::String, vec::Vec};

use crate::{AttemptId, Fence};

use super::content::Content;

/// The greatest number in a record: Lua and JavaScript represent all numbers up to it exactly.
pub const MAX_NUMBER: u64 = (1 << 53) - 1;

/// A time by the server's clock, in microseconds since its epoch. It alone decides when leases and retentions end. (An
/// [`Instant`](crate::Instant) is a time by the client's clock.)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerTime(pub u64);

impl ServerTime {
    /// In whole milliseconds, the unit of a record.
    #[must_use]
    pub const fn millis(self) -> u64 {
        self.0 / 1000
    }
}

/// How far an operation has come. An operation without a record has not begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// A token has been issued and not been claimed.
    Issued,
    /// An attempt has claimed the operation and not settled it. Its lease may be over.
    Running,
    /// The operation has a result.
    Done,
    /// No operation: a value with a version, for updates.
    Value,
}

impl State {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Issued, Self::Running, Self::Done, Self::Value];

    /// The name, the same in every language and on the servers.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Issued => "issued",
            Self::Running => "running",
            Self::Done => "done",
            Self::Value => "value",
        }
    }
}

/// What a claim gets that finds the lease of another attempt over. The first claim of an operation decides it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Policy {
    /// The claim takes the operation over. It may run once more for each takeover.
    #[default]
    Retake,
    /// The claim returns in-progress. The operation runs at most once.
    Block,
    /// The claim returns indeterminate: the operation may have run. It runs at most once.
    Indeterminate,
}

impl Policy {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Retake, Self::Block, Self::Indeterminate];

    /// The name, the same in every language.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Retake => "retake",
            Self::Block => "block",
            Self::Indeterminate => "indeterminate",
        }
    }

    /// The policy with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|policy| policy.name() == name)
    }
}

/// What only a token's record has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Token {
    /// To whom and for what it was issued. A claim has to have the same binding.
    pub binding: Vec<u8>,
    /// How long it may stay unclaimed, in ms; positive.
    pub life: u64,
}

/// The record of one operation. Times are the server's, in milliseconds.
///
/// Some servers keep a part of it by other means: ZooKeeper has no lease in a record but a node that lives as long as
/// the lease does, and that node's number is the fence. The machine adds such members after it has read a record.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Record {
    /// How far the operation has come.
    pub state: State,
    /// The attempt that brought it there: the issuer, the runner, or who stored the result or the value.
    pub attempt: AttemptId,
    /// The fence of the last claim; 0 before the first one.
    pub fence: Fence,
    /// How often a claim has taken the operation over.
    pub takeovers: u64,
    /// What the operation is asked to do, in short: a digest. A key stands for one operation only.
    pub fingerprint: Vec<u8>,
    /// Whether the operation's key is a token that was issued, and to whom.
    pub token: Option<Token>,
    /// What happens at the end of a lease.
    pub policy: Policy,
    /// The lease lasts until just before this moment; 0 if there is none, or if it has ended on ZooKeeper.
    /// [`LEASE_OF_SESSION`](Self::LEASE_OF_SESSION) if its end is not known.
    pub lease_end: u64,
    /// How long the record is kept after it was last written; positive.
    pub retention: u64,
    /// The last millisecond in which the record counts; 0 if it has no end.
    pub kept_until: u64,
    /// The version of a value, or the version that an update made; otherwise 0.
    pub version: u64,
    /// What the result is: a short text of the client's.
    pub tag: String,
    /// The result, or the value.
    pub result: Vec<u8>,
}

impl Record {
    /// The end of a lease that lasts as long as the session of its process, on ZooKeeper: no server knows that moment.
    pub const LEASE_OF_SESSION: u64 = u64::MAX;

    /// A record that says nothing but its state and its attempt.
    #[must_use]
    pub const fn new(state: State, attempt: AttemptId) -> Self {
        Self {
            state,
            attempt,
            fence: Fence(0),
            takeovers: 0,
            fingerprint: Vec::new(),
            token: None,
            policy: Policy::Retake,
            lease_end: 0,
            retention: 0,
            kept_until: 0,
            version: 0,
            tag: String::new(),
            result: Vec::new(),
        }
    }

    /// How long the lease still lasts, in ms; `None` if it is over.
    #[must_use]
    pub fn lease_left(&self, now: ServerTime) -> Option<u64> {
        let left = self.lease_end.checked_sub(now.millis())?;
        (self.state == State::Running && left > 0).then_some(left)
    }

    /// Whether the record's retention has ended. Then it counts as no record. It does not end during a lease.
    #[must_use]
    pub fn is_past_retention(&self, now: ServerTime) -> bool {
        self.kept_until > 0 && now.millis() > self.kept_until && self.lease_left(now).is_none()
    }

    /// The record has this result or value.
    pub(crate) fn set_content(&mut self, content: Content) {
        (self.tag, self.result) = content.into_parts();
    }

    /// Whether the record has this result or value.
    pub(super) fn has_content(&self, content: &Content) -> bool {
        self.tag == content.tag() && self.result == content.bytes()
    }

    /// The number that grows with every change of hands: a value's version, an operation's fence, and one more once the
    /// operation is done. An operator names it, so that the operator's request affects only what the operator has seen.
    #[must_use]
    pub const fn guard(&self) -> u64 {
        match self.state {
            State::Value => self.version,
            State::Issued | State::Running => self.fence.0,
            State::Done => following(self.fence.0),
        }
    }

    /// The fence of the next claim, by the same formula as the fence of a lock: greater than the last one, and, if the
    /// record is gone, greater than all earlier ones, provided that the server's clock has not gone back.
    #[must_use]
    pub(super) fn next_fence(&self, now: ServerTime) -> Fence {
        Fence(following(self.fence.0).max(now.0).min(MAX_NUMBER))
    }
}

/// The next number, up to [`MAX_NUMBER`].
pub(super) const fn following(number: u64) -> u64 {
    let next = number.saturating_add(1);
    if next < MAX_NUMBER { next } else { MAX_NUMBER }
}

/// What the server stores cannot be read: it is damaged, of a later format, or not ours. Nothing may run then, and
/// nothing may be overwritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[error("the record cannot be read: it is damaged, of a later format, or of another program")]
pub struct Corrupt;

//! The record of one operation, as the server stores it.

use alloc::{string::String, vec::Vec};

use crate::{AttemptId, Fence};

use super::content::Content;

/// The greatest number in a record: Lua and JavaScript represent all numbers up to it exactly.
pub const MAX_NUMBER: u64 = (1 << 53) - 1;

/// A time by the server's clock, in microseconds since its epoch. Only the server's clock decides when leases and
/// retentions end. (An [`Instant`](crate::Instant) is a time by the client's clock.)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerTime(pub u64);

impl ServerTime {
    /// In whole milliseconds, the unit of a record.
    #[must_use]
    pub const fn millis(self) -> u64 {
        self.0 / 1000
    }
}

/// The state of an operation. An operation without a record has not begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// A token has been issued, and not claimed yet.
    Issued,
    /// An attempt has claimed the operation, and stored no result yet. Its lease may have ended.
    Running,
    /// The operation has a result.
    Done,
    /// This is not an operation, but a value with a version, for updates.
    Value,
}

impl State {
    /// All states.
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

/// The answer to a claim if the lease of another attempt has ended without a result. The first claim of an operation
/// sets the policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Policy {
    /// The claim takes the operation over. The operation may run once more for each takeover.
    #[default]
    Retake,
    /// The claim returns in-progress. The operation runs at most once.
    Block,
    /// The claim returns indeterminate: the operation may have run. The operation runs at most once.
    Indeterminate,
}

impl Policy {
    /// All policies.
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

/// The part of a record that only a token has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Token {
    /// The user and the purpose for which the token was issued. A claim must have the same binding.
    pub binding: Vec<u8>,
    /// How long the token may stay unclaimed, in ms; positive.
    pub life: u64,
}

/// The record of one operation. Times are by the server's clock, in milliseconds.
///
/// Some servers store a part of the record in another way: on ZooKeeper, the lease is not in the record but is a
/// separate node, and the number of that node is the fence. The machine adds such members after it has read a record.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Record {
    /// The state of the operation.
    pub state: State,
    /// The attempt that set this state: it issued the token, claimed the operation, or stored the result or the value.
    pub attempt: AttemptId,
    /// The fence of the last claim; 0 before the first one.
    pub fence: Fence,
    /// The number of takeovers of the operation.
    pub takeovers: u64,
    /// A digest of the operation's arguments. It detects a key that is used for two different operations.
    pub fingerprint: Vec<u8>,
    /// The token, if the operation's key is an issued token.
    pub token: Option<Token>,
    /// The policy for the end of a lease.
    pub policy: Policy,
    /// The lease lasts until just before this moment; 0 if there is no lease, or if it has ended on ZooKeeper.
    /// [`LEASE_OF_SESSION`](Self::LEASE_OF_SESSION) if its end is unknown.
    pub lease_end: u64,
    /// How long the server keeps the record after the last write; positive.
    pub retention: u64,
    /// The last millisecond in which the record is valid; 0 if it has no end.
    pub kept_until: u64,
    /// The version of a value, or the version that an update made; otherwise 0.
    pub version: u64,
    /// A short text of the application that describes the result's format.
    pub tag: String,
    /// The result, or the value.
    pub result: Vec<u8>,
}

impl Record {
    /// On ZooKeeper, a lease lasts as long as the session of its process, so its end is unknown. This value stands for
    /// that end.
    pub const LEASE_OF_SESSION: u64 = u64::MAX;

    /// A record that contains only a state and an attempt.
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

    /// How long the lease still lasts, in ms; `None` if it has ended.
    #[must_use]
    pub fn lease_left(&self, now: ServerTime) -> Option<u64> {
        let left = self.lease_end.checked_sub(now.millis())?;
        (self.state == State::Running && left > 0).then_some(left)
    }

    /// Whether the record's retention has ended. The record then counts as absent. A retention does not end during a
    /// lease.
    #[must_use]
    pub fn is_past_retention(&self, now: ServerTime) -> bool {
        self.kept_until > 0 && now.millis() > self.kept_until && self.lease_left(now).is_none()
    }

    /// Sets the result or the value.
    pub(crate) fn set_content(&mut self, content: Content) {
        (self.tag, self.result) = content.into_parts();
    }

    /// Whether the record has this result or value.
    pub(super) fn has_content(&self, content: &Content) -> bool {
        self.tag == content.tag() && self.result == content.bytes()
    }

    /// A number that grows with every update, claim and completion: a value's version, an operation's fence, or the
    /// fence plus one after the operation is done. An operator's request contains the guard of the record that the
    /// operator has read, so the request does not change a newer record.
    #[must_use]
    pub const fn guard(&self) -> u64 {
        match self.state {
            State::Value => self.version,
            State::Issued | State::Running => self.fence.0,
            State::Done => following(self.fence.0),
        }
    }

    /// The fence of the next claim, by the same formula as the fence of a lock: greater than the last one. If the
    /// record was deleted, it is still greater than all earlier ones, unless the server's clock has gone back.
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

/// The record on the server cannot be parsed: it is damaged, has a later format, or belongs to another program. Then
/// the operation must not run, and no client may overwrite the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[error("the record cannot be read: it is damaged, of a later format, or of another program")]
pub struct Corrupt;

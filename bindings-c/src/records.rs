//! Records of idempotent operations, as C sees them.

use std::ffi::{CStr, c_char};

use fencepost_core::{
    Event,
    claim::{Policy, Record, State},
};

use crate::{names::words, view::fencepost_view};

/// The state of an operation. An operation without a record has not begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum fencepost_record_state {
    /// A token has been issued, and no attempt has claimed it.
    Issued = 1,
    /// An attempt has claimed the operation, and has neither completed nor released it. Its lease may have
    /// ended.
    Running = 2,
    /// The operation has a result.
    Done = 3,
    /// The record is not an operation, but a value with a version, for updates.
    Value = 4,
}

words!(fencepost_record_state: Issued c"issued", Running c"running", Done c"done", Value c"value");

/// Returns the name of a `fencepost_record_state`; NULL if there is none with this number.
#[unsafe(no_mangle)]
pub extern "C" fn fencepost_record_state_name(number: u32) -> *const c_char {
    fencepost_record_state::from_number(number).map_or(std::ptr::null(), |value| value.word().as_ptr())
}

/// The rule for a claim that finds that the lease of another attempt has ended. The first claim of an
/// operation sets the policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum fencepost_policy {
    /// The claim takes the operation over. The operation may run once more for each takeover.
    Retake = 1,
    /// The claim is refused as in-progress. The operation runs at most once.
    Block = 2,
    /// The claim is refused as indeterminate, because the operation may have run. The operation runs at most
    /// once.
    Indeterminate = 3,
}

words!(fencepost_policy: Retake c"retake", Block c"block", Indeterminate c"indeterminate");

/// Returns the name of a `fencepost_policy`; NULL if there is none with this number.
#[unsafe(no_mangle)]
pub extern "C" fn fencepost_policy_name(number: u32) -> *const c_char {
    fencepost_policy::from_number(number).map_or(std::ptr::null(), |value| value.word().as_ptr())
}

/// The record that the server stores for one operation, or a value. Times are in milliseconds by the server's
/// clock.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct fencepost_record {
    /// The state of the operation.
    pub state: fencepost_record_state,
    /// The policy of the operation.
    pub policy: fencepost_policy,
    /// The attempt that wrote the record: it issued the token, claimed the operation, or stored the result or
    /// the value.
    pub attempt: fencepost_view,
    /// The fence of the last claim; 0 before the first claim.
    pub fence: u64,
    /// The number of takeovers of the operation.
    pub takeovers: u64,
    /// The lease ends at this time; 0 if there is none, or if it has ended on ZooKeeper. `UINT64_MAX` on
    /// ZooKeeper before its end, which is the end of its client's session.
    pub lease_end: u64,
    /// The last millisecond of the record's retention; 0 if the retention has no end, or if the server has
    /// not reported it.
    pub kept_until: u64,
    /// The version of a value, or the version that an update made; otherwise 0.
    pub version: u64,
    /// Identifies this state of the record. An operator passes it to `fencepost_scope_settle` or
    /// `fencepost_scope_forget`, which then affect this record and no later one.
    pub guard: u64,
    /// The tag of the result: a short text of the application that says what the result is.
    pub tag: fencepost_view,
    /// The result, or the value.
    pub result: fencepost_view,
}

/// The record in an event.
pub(crate) fn record_of(event: &Event) -> Option<&Record> {
    match event {
        Event::Completed { record } | Event::Replayed { record } => Some(record),
        Event::Looked { record } => record.as_deref(),
        Event::Lost { cause, .. } | Event::Refused { cause, .. } => cause.record.as_deref(),
        _ => None,
    }
}

/// `attempt` is the attempt of the record, as text.
pub(crate) fn show_record(record: &Record, attempt: &str) -> fencepost_record {
    fencepost_record {
        state: record.state.into(),
        policy: record.policy.into(),
        attempt: fencepost_view::of(attempt.as_bytes()),
        fence: record.fence.0,
        takeovers: record.takeovers,
        lease_end: record.lease_end,
        kept_until: record.kept_until,
        version: record.version,
        guard: record.guard(),
        tag: fencepost_view::of(record.tag.as_bytes()),
        result: fencepost_view::of(&record.result),
    }
}

impl From<State> for fencepost_record_state {
    fn from(state: State) -> Self {
        match state {
            State::Issued => Self::Issued,
            State::Running => Self::Running,
            State::Done => Self::Done,
            State::Value => Self::Value,
        }
    }
}

impl From<Policy> for fencepost_policy {
    fn from(policy: Policy) -> Self {
        match policy {
            Policy::Retake => Self::Retake,
            Policy::Block => Self::Block,
            Policy::Indeterminate => Self::Indeterminate,
        }
    }
}

//! Records of idempotent operations, as C sees them.

use std::ffi::{CStr, c_char};

use fencepost_core::{
    Event,
    claim::{Policy, Record, State},
};

use crate::{names::words, view::fencepost_view};

/// How far an operation has come. An operation without a record has not begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum fencepost_record_state {
    /// A token has been issued and not been claimed.
    Issued = 1,
    /// An attempt has claimed the operation and not settled it. Its lease may be over.
    Running = 2,
    /// The operation has a result.
    Done = 3,
    /// No operation: a value with a version, for updates.
    Value = 4,
}

words!(fencepost_record_state: Issued c"issued", Running c"running", Done c"done", Value c"value");

/// The name of a `fencepost_record_state`; NULL for a number that is none.
#[unsafe(no_mangle)]
pub extern "C" fn fencepost_record_state_name(number: u32) -> *const c_char {
    fencepost_record_state::from_number(number).map_or(std::ptr::null(), |value| value.word().as_ptr())
}

/// What a claim gets that finds the lease of another attempt over. The first claim of an operation decides it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum fencepost_policy {
    /// The claim takes the operation over. It may run once more for each takeover.
    Retake = 1,
    /// The claim returns in-progress. The operation runs at most once.
    Block = 2,
    /// The claim returns indeterminate: the operation may have run. It runs at most once.
    Indeterminate = 3,
}

words!(fencepost_policy: Retake c"retake", Block c"block", Indeterminate c"indeterminate");

/// The name of a `fencepost_policy`; NULL for a number that is none.
#[unsafe(no_mangle)]
pub extern "C" fn fencepost_policy_name(number: u32) -> *const c_char {
    fencepost_policy::from_number(number).map_or(std::ptr::null(), |value| value.word().as_ptr())
}

/// What the server has stored for one operation, or a value. Times are milliseconds by the server's clock.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct fencepost_record {
    /// How far the operation has come.
    pub state: fencepost_record_state,
    /// What happens at the end of a lease.
    pub policy: fencepost_policy,
    /// The attempt that brought it there: the issuer, the runner, or who stored the result or the value.
    pub attempt: fencepost_view,
    /// The fence of the last claim; 0 before the first one.
    pub fence: u64,
    /// How often a claim has taken the operation over.
    pub takeovers: u64,
    /// The lease lasts until just before this moment; 0 if there is none.
    pub lease_end: u64,
    /// The last millisecond in which the record counts; 0 if it has no end, or if the server has not said.
    pub kept_until: u64,
    /// The version of a value, or the version that an update made; otherwise 0.
    pub version: u64,
    /// What an operator passes to `fencepost_scope_settle` and `fencepost_scope_forget`, to hit this record and no later one.
    pub guard: u64,
    /// What the result is: a short text of the client's.
    pub tag: fencepost_view,
    /// The result, or the value.
    pub result: fencepost_view,
}

/// The record that an event has.
pub(crate) fn record_of(event: &Event) -> Option<&Record> {
    match event {
        Event::Completed { record } | Event::Replayed { record } => Some(record),
        Event::Looked { record } => record.as_deref(),
        Event::Lost { cause, .. } | Event::Refused { cause, .. } => cause.record.as_deref(),
        _ => None,
    }
}

/// `attempt` is the record's, as text.
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

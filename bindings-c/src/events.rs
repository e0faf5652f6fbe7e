//! Events, as C sees them.

use fencepost_core::{Cause, Event, Found, Grant};

use crate::{
    moments::{FENCEPOST_NEVER, micros, time},
    names::fencepost_event_kind,
    records::fencepost_record,
    result::fencepost_result,
    view::fencepost_view,
};

/// Something for the application. What an event does not use is zero, or `FENCEPOST_NEVER`, or empty.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct fencepost_event {
    /// What has happened.
    pub kind: fencepost_event_kind,
    /// Why, of a lost or refused one.
    pub reason: fencepost_result,
    /// Until when the grant is valid, or `FENCEPOST_NEVER`: there is no lease, or none is spoken of.
    pub valid_until: u64,
    /// The grant's fence, if `has_fence`.
    pub fence: u64,
    /// The command that brought a loss or refusal to light; 0 if none did.
    pub cause_command: u64,
    /// What the server said, or which value is in the way; for people; may be empty. Of mixed layouts, the name of a node.
    pub detail: fencepost_view,
    /// The grant's owner.
    pub owner: [u8; 16],
    /// Which of the owner's attempts was granted.
    pub attempt: u32,
    /// How many come first, if `has_ahead`.
    pub ahead: u32,
    /// Whether there is a fence: some backends cannot give one.
    pub has_fence: bool,
    /// Whether somebody knows how many come first.
    pub has_ahead: bool,
    /// Whether there is a detail: it may be empty.
    pub has_detail: bool,
    /// The contenders that an inspection has found: where each of them is.
    pub found: *const *const fencepost_found,
    /// How many there are.
    pub found_count: usize,
    /// A claim: how often the operation had been taken over before this grant. It may have run that often.
    pub takeovers: u64,
    /// How long the lease of the contender that holds the lock or the claim still runs, in microseconds; `FENCEPOST_NEVER` if the server has not reported it.
    pub retry_after: u64,
    /// What is stored, of a completed, replayed or looked one; of a refused one, the present value, if an update expected another version. Or NULL.
    pub record: *const fencepost_record,
    /// How many records a sweep has deleted.
    pub deleted: u64,
}

/// A contender, as an inspection has found it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct fencepost_found {
    /// Its node's path.
    pub node: fencepost_view,
    /// What its node says: a host's name, for example.
    pub identifier: fencepost_view,
    /// The session that its node goes with.
    pub session: i64,
    /// Since when it contends, by the server's clock: milliseconds since 1970.
    pub since: i64,
    /// The fence that it has, or would have.
    pub fence: u64,
    /// Whether it held when the list was made.
    pub holds: bool,
    /// Whether it shares the lock with others of its kind: a reader.
    pub shared: bool,
}

pub(crate) fn show_found(found: &Found) -> fencepost_found {
    fencepost_found {
        node: fencepost_view::of(found.node.as_bytes()),
        identifier: fencepost_view::of(found.identifier.as_bytes()),
        session: found.session.0,
        since: found.since,
        fence: found.fence.0,
        holds: found.holds,
        shared: found.shared,
    }
}

pub(crate) fn show_event(
    event: &Event,
    found: &[*const fencepost_found],
    record: *const fencepost_record,
) -> fencepost_event {
    match event {
        Event::Queued { ahead } => fencepost_event {
            kind: fencepost_event_kind::Queued,
            ahead: ahead.unwrap_or(0),
            has_ahead: ahead.is_some(),
            ..BLANK
        },
        Event::Acquired { grant } => show_grant(grant),
        Event::Extended { valid_until } => fencepost_event {
            kind: fencepost_event_kind::Extended,
            valid_until: time(*valid_until),
            ..BLANK
        },
        Event::Suspended => fencepost_event {
            kind: fencepost_event_kind::Suspended,
            ..BLANK
        },
        Event::Resumed { valid_until } => fencepost_event {
            kind: fencepost_event_kind::Resumed,
            valid_until: time(*valid_until),
            ..BLANK
        },
        Event::Completed { .. } => show_record(fencepost_event_kind::Completed, record),
        Event::Replayed { .. } => show_record(fencepost_event_kind::Replayed, record),
        Event::Looked { .. } => show_record(fencepost_event_kind::Looked, record),
        Event::Swept { deleted } => fencepost_event {
            kind: fencepost_event_kind::Swept,
            deleted: *deleted,
            ..BLANK
        },
        Event::Lost { reason, cause } => show_end(fencepost_event_kind::Lost, reason.code(), cause, record),
        Event::Released => fencepost_event {
            kind: fencepost_event_kind::Released,
            ..BLANK
        },
        Event::Downgraded => fencepost_event {
            kind: fencepost_event_kind::Downgraded,
            ..BLANK
        },
        Event::RevokeRequested => fencepost_event {
            kind: fencepost_event_kind::RevokeRequested,
            ..BLANK
        },
        Event::MixedLayouts { node } => fencepost_event {
            kind: fencepost_event_kind::MixedLayouts,
            detail: fencepost_view::of(node.as_bytes()),
            has_detail: true,
            ..BLANK
        },
        Event::Found { .. } => fencepost_event {
            kind: fencepost_event_kind::Found,
            found: found.as_ptr(),
            found_count: found.len(),
            ..BLANK
        },
        Event::Refused { reason, cause } => {
            show_end(fencepost_event_kind::Refused, reason.code(), cause, record)
        }
        // An event of a later core: the next header will have a number for it.
        _ => BLANK,
    }
}

fn show_grant(grant: &Grant) -> fencepost_event {
    fencepost_event {
        kind: fencepost_event_kind::Acquired,
        valid_until: time(grant.valid_until),
        fence: grant.fence.map_or(0, |fence| fence.0),
        has_fence: grant.fence.is_some(),
        owner: grant.attempt.contender.0,
        attempt: grant.attempt.number,
        takeovers: grant.takeovers,
        ..BLANK
    }
}

fn show_record(kind: fencepost_event_kind, record: *const fencepost_record) -> fencepost_event {
    fencepost_event {
        kind,
        record,
        ..BLANK
    }
}

fn show_end(
    kind: fencepost_event_kind,
    code: u16,
    cause: &Cause,
    record: *const fencepost_record,
) -> fencepost_event {
    fencepost_event {
        kind,
        reason: fencepost_result::from_code(code.into()).unwrap_or(fencepost_result::ServerError),
        cause_command: cause.command.map_or(0, |id| id.0),
        detail: cause.detail.as_ref().map_or(fencepost_view::EMPTY, |detail| {
            fencepost_view::of(detail.as_bytes())
        }),
        has_detail: cause.detail.is_some(),
        retry_after: micros(cause.retry_after),
        record,
        ..BLANK
    }
}

/// An event without anything.
const BLANK: fencepost_event = fencepost_event {
    kind: fencepost_event_kind::Queued,
    reason: fencepost_result::Ok,
    valid_until: FENCEPOST_NEVER,
    fence: 0,
    cause_command: 0,
    detail: fencepost_view::EMPTY,
    owner: [0; 16],
    attempt: 0,
    ahead: 0,
    has_fence: false,
    has_ahead: false,
    has_detail: false,
    found: std::ptr::null(),
    found_count: 0,
    takeovers: 0,
    retry_after: FENCEPOST_NEVER,
    record: std::ptr::null(),
    deleted: 0,
};

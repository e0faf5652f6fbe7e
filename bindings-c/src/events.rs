//! Events, as C sees them.

use fencepost_core::{Cause, Event, Found, Grant};

use crate::{
    moments::{FENCEPOST_NEVER, micros, time},
    names::fencepost_event_kind,
    records::fencepost_record,
    result::fencepost_result,
    view::fencepost_view,
};

/// An event for the application. A member that the event does not use is zero, `FENCEPOST_NEVER` or empty.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct fencepost_event {
    /// Which event it is.
    pub kind: fencepost_event_kind,
    /// Lost and refused: the reason, a 3xx or 4xx.
    pub reason: fencepost_result,
    /// Until when the grant is valid, in microseconds of the caller's clock. `FENCEPOST_NEVER` if there is no
    /// lease, or if the event has no such time.
    pub valid_until: u64,
    /// The fence of the grant, if `has_fence`.
    pub fence: u64,
    /// Lost and refused: the command whose outcome or watch was the cause; 0 if no command was.
    pub cause_command: u64,
    /// Lost and refused: the server's message, or the value that is wrong, for people to read; may be empty.
    /// Mixed layouts: the name of the foreign contender's node.
    pub detail: fencepost_view,
    /// Acquired: the contender id of the machine that got the grant, as the caller passed it to
    /// `fencepost_hub_open`.
    pub contender: [u8; 16],
    /// Acquired: the number of the attempt that got the grant. Each attempt of a contender has a different
    /// number.
    pub attempt: u32,
    /// Queued: the number of contenders that come first, if `has_ahead`.
    pub ahead: u32,
    /// Whether the grant has a fence. Some servers provide none.
    pub has_fence: bool,
    /// Whether the number of contenders that come first is known: the server keeps a queue.
    pub has_ahead: bool,
    /// Whether there is a detail. A detail may be empty.
    pub has_detail: bool,
    /// Found: pointers to the contenders, in no particular order.
    pub found: *const *const fencepost_found,
    /// The number of contenders found.
    pub found_count: usize,
    /// Acquired, for a claim: the number of takeovers of the operation before this grant. The operation may
    /// already have run that many times.
    pub takeovers: u64,
    /// Refused: the remaining lease of the contender that holds the lock or the claim, in microseconds.
    /// `FENCEPOST_NEVER` if the server has not reported it.
    pub retry_after: u64,
    /// Completed, replayed and looked: the stored record. Refused as a conflict: the present value. NULL in
    /// other events, and if the server stores nothing.
    pub record: *const fencepost_record,
    /// Swept: the number of records that the sweep deleted.
    pub deleted: u64,
}

/// A contender that an inspection found.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct fencepost_found {
    /// Identifies the contender on the server. ZooKeeper: the path of its node. Redis: the value of the
    /// lock's key.
    pub node: fencepost_view,
    /// ZooKeeper: the text in the node, a host name, for example.
    pub identifier: fencepost_view,
    /// ZooKeeper: the session that owns the node; otherwise 0.
    pub session: i64,
    /// ZooKeeper: when the contender's node was created, in milliseconds since 1970, by the server's clock;
    /// otherwise -1.
    pub since: i64,
    /// Redis: the remaining lease, in microseconds, if the holder does not renew it. `FENCEPOST_NEVER` if the
    /// lease has no end, and on ZooKeeper.
    pub expires_in: u64,
    /// The fence of its grant, or the fence that it would get. Redis: 0 for a holder of another library.
    pub fence: u64,
    /// Whether the contender held the lock when the server listed the directory.
    pub holds: bool,
    /// Whether the contender is a reader, which shares the lock with other readers.
    pub shared: bool,
}

pub(crate) fn show_found(found: &Found) -> fencepost_found {
    fencepost_found {
        node: fencepost_view::of(found.node.as_bytes()),
        identifier: fencepost_view::of(found.identifier.as_bytes()),
        session: found.session.map_or(0, |session| session.0),
        since: found.since.unwrap_or(-1),
        expires_in: micros(found.expires_in),
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
        // This header has no number for an event of a later core.
        _ => BLANK,
    }
}

fn show_grant(grant: &Grant) -> fencepost_event {
    fencepost_event {
        kind: fencepost_event_kind::Acquired,
        valid_until: time(grant.valid_until),
        fence: grant.fence.map_or(0, |fence| fence.0),
        has_fence: grant.fence.is_some(),
        contender: grant.attempt.contender.0,
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

/// An event in which no member is set.
const BLANK: fencepost_event = fencepost_event {
    kind: fencepost_event_kind::Queued,
    reason: fencepost_result::Ok,
    valid_until: FENCEPOST_NEVER,
    fence: 0,
    cause_command: 0,
    detail: fencepost_view::EMPTY,
    contender: [0; 16],
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

//! What a server or connection says unasked.

use core::time::Duration;

use fencepost_core::{CommandId, SessionId, lowered::Notice, redis, zookeeper};

use crate::{
    boundary::{Fault, exclusive, guard},
    hub::fencepost_hub,
    names::{fencepost_session_state, fencepost_watch_event},
    result::fencepost_result,
};

/// ZooKeeper: the session's state, a `fencepost_session_state`; its number; the timeout in microseconds that the server has agreed to. Given
/// before the first command, and at every change.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_hub_session(
    hub: *mut fencepost_hub,
    now: u64,
    state: u32,
    session: i64,
    timeout: u64,
) -> fencepost_result {
    guard(|| {
        let state = fencepost_session_state::from_number(state)
            .ok_or_else(|| Fault::bad_argument(format!("there is no session state {state}")))?;
        let notice = zookeeper::Notice::Session {
            state: state.into(),
            session: SessionId(session),
            timeout: Duration::from_micros(timeout),
        };
        // SAFETY: the header asks for a valid hub or NULL.
        unsafe { exclusive(hub) }?.notice(now, Notice::ZooKeeper(notice))
    })
}

/// ZooKeeper: the watch that the command `id` set in `session` has seen something, a `fencepost_watch_event`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_hub_watch(
    hub: *mut fencepost_hub,
    now: u64,
    id: u64,
    session: i64,
    event: u32,
) -> fencepost_result {
    guard(|| {
        let event = fencepost_watch_event::from_number(event)
            .ok_or_else(|| Fault::bad_argument(format!("there is no watch event {event}")))?;
        let notice = zookeeper::Notice::Watch {
            id: CommandId(id),
            session: SessionId(session),
            event: event.into(),
        };
        // SAFETY: the header asks for a valid hub or NULL.
        unsafe { exclusive(hub) }?.notice(now, Notice::ZooKeeper(notice))
    })
}

/// Redis: a message has arrived on the subscription that the command `id` made.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_hub_message(
    hub: *mut fencepost_hub,
    now: u64,
    id: u64,
) -> fencepost_result {
    guard(|| {
        let id = CommandId(id);
        // SAFETY: the header asks for a valid hub or NULL.
        unsafe { exclusive(hub) }?.notice(now, Notice::Redis(redis::Notice::Message { id }))
    })
}

/// Redis: the subscription that the command `id` made is gone, with its connection for example.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_hub_gone(hub: *mut fencepost_hub, now: u64, id: u64) -> fencepost_result {
    guard(|| {
        let id = CommandId(id);
        // SAFETY: the header asks for a valid hub or NULL.
        unsafe { exclusive(hub) }?.notice(now, Notice::Redis(redis::Notice::Gone { id }))
    })
}

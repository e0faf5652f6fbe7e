//! Notices: a server or connection sends them without a command.

use core::time::Duration;

use fencepost_core::{CommandId, SessionId, lowered::Notice, redis, zookeeper};

use crate::{
    boundary::{Fault, exclusive, guard},
    hub::fencepost_hub,
    names::{fencepost_session_state, fencepost_watch_event},
    result::fencepost_result,
};

/// ZooKeeper: reports the state of the session. `state` is a `fencepost_session_state`, `session` is the
/// session's id, and `timeout` is the timeout that the server agreed to, in microseconds. Call it before the
/// hub's first command, and at every change. Errors: `BAD_ARGUMENT` if there is no such state;
/// `WRONG_FAMILY`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_hub_session(
    hub: *mut fencepost_hub,
    now: u64,
    state: u32,
    session: i64,
    timeout: u64,
) -> fencepost_result {
    guard(|| {
        let state = fencepost_session_state::from_number(state).ok_or_else(|| {
            Fault::bad_argument(format!(
                "there is no session state {state}: pass a fencepost_session_state"
            ))
        })?;
        let notice = zookeeper::Notice::Session {
            state: state.into(),
            session: SessionId(session),
            timeout: Duration::from_micros(timeout),
        };
        // SAFETY: the header requires a valid hub or NULL.
        unsafe { exclusive(hub) }?.notice(now, Notice::ZooKeeper(notice))
    })
}

/// ZooKeeper: reports that the watch which the command `id` set in `session` has fired or is lost. `event` is
/// a `fencepost_watch_event`. A notice may come before the answer to its command, twice, or never. Errors:
/// `BAD_ARGUMENT` if there is no such event; `UNKNOWN_COMMAND`; `WRONG_FAMILY`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_hub_watch(
    hub: *mut fencepost_hub,
    now: u64,
    id: u64,
    session: i64,
    event: u32,
) -> fencepost_result {
    guard(|| {
        let event = fencepost_watch_event::from_number(event).ok_or_else(|| {
            Fault::bad_argument(format!(
                "there is no watch event {event}: pass a fencepost_watch_event"
            ))
        })?;
        let notice = zookeeper::Notice::Watch {
            id: CommandId(id),
            session: SessionId(session),
            event: event.into(),
        };
        // SAFETY: the header requires a valid hub or NULL.
        unsafe { exclusive(hub) }?.notice(now, Notice::ZooKeeper(notice))
    })
}

/// Redis: reports a message on the subscription of the command `id`. Errors: `UNKNOWN_COMMAND`,
/// `WRONG_FAMILY`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_hub_message(
    hub: *mut fencepost_hub,
    now: u64,
    id: u64,
) -> fencepost_result {
    guard(|| {
        let id = CommandId(id);
        // SAFETY: the header requires a valid hub or NULL.
        unsafe { exclusive(hub) }?.notice(now, Notice::Redis(redis::Notice::Message { id }))
    })
}

/// Redis: reports that the subscription of the command `id` is lost, for example because its connection
/// ended. The hub subscribes again if a machine needs it. Errors: `UNKNOWN_COMMAND`, `WRONG_FAMILY`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_hub_gone(hub: *mut fencepost_hub, now: u64, id: u64) -> fencepost_result {
    guard(|| {
        let id = CommandId(id);
        // SAFETY: the header requires a valid hub or NULL.
        unsafe { exclusive(hub) }?.notice(now, Notice::Redis(redis::Notice::Gone { id }))
    })
}

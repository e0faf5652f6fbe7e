//! A server in the memory of this process, for hubs without a driver.

use core::time::Duration;

use fencepost_core::{ConfigError, Instant};
use fencepost_models::{hub::MemoryServer, memory::SESSION_TIMEOUT};

use crate::{
    boundary::{give, guard, quietly, require, shared, take_back},
    hub::fencepost_hub,
    result::fencepost_result,
};

/// A server in the memory of this process, for demonstrations and tests. Any thread may use it at any time.
#[derive(Debug)]
pub struct fencepost_memory(pub(crate) MemoryServer);

/// Makes an empty server. The caller frees it with `fencepost_memory_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_memory_new(memory: *mut *mut fencepost_memory) -> fencepost_result {
    guard(|| {
        require(memory)?;
        // SAFETY: checked above.
        unsafe { give(memory, fencepost_memory(MemoryServer::default())) };
        Ok(())
    })
}

/// Frees a server, and ignores NULL. The server exists until its last hub has been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_memory_free(memory: *mut fencepost_memory) {
    // SAFETY: the header requires a server that is not used again.
    unsafe { take_back(memory) }
}

/// Makes a hub of the family ZooKeeper on this server. The hub has no driver: `fencepost_hub_poll_output`
/// carries out the commands itself, and returns only events and waits. A call on one hub may cause outputs of
/// other hubs. So call `fencepost_memory_take_woken` after each call on a hub, and poll the hubs that it
/// names. `seed` is any number. The hub calculates with `session_timeout`, in microseconds; 0 means 60 s. The
/// server does not enforce it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_memory_hub(
    memory: *mut fencepost_memory,
    now: u64,
    seed: u64,
    session_timeout: u64,
    hub: *mut *mut fencepost_hub,
) -> fencepost_result {
    guard(|| {
        require(hub)?;
        let timeout = match session_timeout {
            0 => SESSION_TIMEOUT,
            given => Duration::from_micros(given),
        };
        // SAFETY: the header requires a valid server or NULL.
        let connected = unsafe { shared(memory) }?
            .0
            .connect(Instant::from_micros(now), seed, timeout);
        // SAFETY: checked above.
        unsafe { give(hub, connected.into()) };
        Ok(())
    })
}

/// Writes the numbers (`fencepost_hub_id`) of the hubs that have outputs, at most `capacity` of them, and
/// returns how many it has written. For each of them, call `fencepost_hub_handle_timeout` with the present
/// time, and then poll. Until a hub has been polled, each call of this function returns its number again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_memory_take_woken(
    memory: *mut fencepost_memory,
    ids: *mut u64,
    capacity: usize,
) -> usize {
    quietly(|| {
        if capacity == 0 || require(ids).is_err() {
            return 0;
        }
        // SAFETY: the header requires a valid server or NULL.
        let Ok(memory) = (unsafe { shared(memory) }) else {
            return 0;
        };
        let woken = memory.0.take_woken();
        let count = woken.len().min(capacity);
        // SAFETY: the header requires room for `capacity` numbers.
        unsafe { std::ptr::copy_nonoverlapping(woken.as_ptr(), ids, count) };
        count
    })
}

/// Ends the session of the hub with this id (`fencepost_hub_id`), as a server does when it receives nothing
/// from a client for the session timeout. The server deletes its ephemeral nodes. A connected hub is notified
/// at once, a suspended hub when it reconnects, and a paused hub when it resumes. The hub then gets a new
/// session.
///
/// The server has no clock: a session ends when its hub disconnects, or by this function, and never by
/// itself. This function and the following ones change nothing if the hub is already in the requested state.
/// After the call, poll the hubs that `fencepost_memory_take_woken` names. Errors: `INVALID_OPTION` if the
/// server has no such hub.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_memory_expire(
    memory: *mut fencepost_memory,
    hub: u64,
) -> fencepost_result {
    // SAFETY: the header requires a valid server or NULL.
    unsafe { control(memory, hub, MemoryServer::expire) }
}

/// Cuts the hub's connection. The server keeps the session until it is expired. Errors: as for
/// `fencepost_memory_expire`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_memory_suspend(
    memory: *mut fencepost_memory,
    hub: u64,
) -> fencepost_result {
    // SAFETY: the header requires a valid server or NULL.
    unsafe { control(memory, hub, MemoryServer::suspend) }
}

/// Lets the hub connect again: in its session, or in a new one if the server has ended the session. Errors:
/// as for `fencepost_memory_expire`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_memory_reconnect(
    memory: *mut fencepost_memory,
    hub: u64,
) -> fencepost_result {
    // SAFETY: the header requires a valid server or NULL.
    unsafe { control(memory, hub, MemoryServer::reconnect) }
}

/// Pauses the hub, as if its process were stopped. It gets no notices and sends no requests, and no time
/// passes for it: `fencepost_hub_poll_output` returns a wait. It still accepts calls, but returns their
/// outputs only after it has resumed. A shutdown resumes it. Errors: as for `fencepost_memory_expire`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_memory_pause(memory: *mut fencepost_memory, hub: u64) -> fencepost_result {
    // SAFETY: the header requires a valid server or NULL.
    unsafe { control(memory, hub, MemoryServer::pause) }
}

/// Resumes the hub. It then receives the notices and replies that it has missed. Errors: as for
/// `fencepost_memory_expire`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_memory_resume(
    memory: *mut fencepost_memory,
    hub: u64,
) -> fencepost_result {
    // SAFETY: the header requires a valid server or NULL.
    unsafe { control(memory, hub, MemoryServer::resume) }
}

/// Starts or stops recording all messages between hubs and the server. A start empties the list of messages;
/// a stop keeps it. A new server does not record. The list grows until the next start.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_memory_record(
    memory: *mut fencepost_memory,
    on: bool,
) -> fencepost_result {
    guard(|| {
        // SAFETY: the header requires a valid server or NULL.
        unsafe { shared(memory) }?.0.with(|server| server.record(on));
        Ok(())
    })
}

/// # Safety
/// The server is valid or NULL.
unsafe fn control(
    memory: *const fencepost_memory,
    hub: u64,
    control: fn(&MemoryServer, u64) -> Result<(), ConfigError>,
) -> fencepost_result {
    // SAFETY: by the caller's promise.
    guard(|| Ok(control(&unsafe { shared(memory) }?.0, hub)?))
}

//! A server inside the process, for hubs without a driver.

use fencepost_core::Instant;
use fencepost_models::hub::MemoryServer;

use crate::{
    boundary::{exclusive, give, guard, quietly, require, shared, take_back},
    hub::fencepost_hub,
    result::fencepost_result,
};

/// A server inside the process: for demonstrations and tests. It may be used from any thread.
#[derive(Debug)]
pub struct fencepost_memory(MemoryServer);

/// Makes an empty server.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_memory_new(memory: *mut *mut fencepost_memory) -> fencepost_result {
    guard(|| {
        require(memory)?;
        // SAFETY: checked above.
        unsafe { give(memory, fencepost_memory(MemoryServer::default())) };
        Ok(())
    })
}

/// Frees the server once its last hub has been freed too. NULL is ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_memory_free(memory: *mut fencepost_memory) {
    // SAFETY: the header asks for a server that is not used again.
    unsafe { take_back(memory) }
}

/// Makes a hub on the server, of the family `zookeeper`. It has no driver: `fencepost_hub_poll_output` carries its commands out itself and
/// gives events and waits only. After each call on a hub, ask `fencepost_memory_take_woken` which others have something to poll.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_memory_hub(
    memory: *mut fencepost_memory,
    now: u64,
    seed: u64,
    hub: *mut *mut fencepost_hub,
) -> fencepost_result {
    guard(|| {
        require(hub)?;
        // SAFETY: the header asks for a valid server or NULL.
        let connected = unsafe { shared(memory) }?
            .0
            .connect(Instant::from_micros(now), seed);
        // SAFETY: checked above.
        unsafe { give(hub, connected.into()) };
        Ok(())
    })
}

/// Writes the numbers (`fencepost_hub_id`) of the hubs that have something to poll, at most `capacity` of them; says how many it has written.
/// Asking again gives them again until they have been polled: call `fencepost_hub_handle_timeout` with the present time, then poll.
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
        // SAFETY: the header asks for a valid server or NULL.
        let Ok(memory) = (unsafe { exclusive(memory) }) else {
            return 0;
        };
        let woken = memory.0.take_woken();
        let count = woken.len().min(capacity);
        // SAFETY: the header asks for room for `capacity` numbers.
        unsafe { std::ptr::copy_nonoverlapping(woken.as_ptr(), ids, count) };
        count
    })
}

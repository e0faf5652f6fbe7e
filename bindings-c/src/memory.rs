//! A server in the memory of this process, for hubs without a driver.

use fencepost_core::Instant;
use fencepost_models::hub::MemoryServer;

use crate::{
    boundary::{exclusive, give, guard, quietly, require, shared, take_back},
    hub::fencepost_hub,
    result::fencepost_result,
};

/// A server in the memory of this process, for demonstrations and tests. Any thread may use it at any time.
#[derive(Debug)]
pub struct fencepost_memory(MemoryServer);

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
    // SAFETY: the header asks for a server that is not used again.
    unsafe { take_back(memory) }
}

/// Makes a hub of the family ZooKeeper on this server. The hub has no driver: `fencepost_hub_poll_output`
/// carries out the commands itself, and returns only events and waits. A call on one hub may cause outputs of
/// other hubs. So call `fencepost_memory_take_woken` after each call on a hub, and poll the hubs that it
/// names. `seed` is any number.
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
        let connected = unsafe { shared(memory) }?.0.connect(
            Instant::from_micros(now),
            seed,
            fencepost_models::memory::SESSION_TIMEOUT,
        );
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

//! A check of a Redis server's answer, for a driver.

use fencepost_core::redis;

use crate::view;

/// Returns whether an error of a Redis server shows that the server is a replica. `error` begins with the
/// error's code. If so, and if the driver made the connection, the driver ends this connection and resolves
/// the server's address again. On a connection that the program made, the driver does nothing. In both cases,
/// the driver reports the answer to the hub.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_is_from_replica(error: *const u8, error_size: usize) -> bool {
    // SAFETY: the header requires a readable view.
    unsafe { view::bytes(error, error_size) }
        .is_ok_and(|error| redis::is_from_replica(&String::from_utf8_lossy(error)))
}

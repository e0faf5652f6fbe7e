//! What drivers of Redis ask about a server's answer.

use fencepost_core::redis;

use crate::view;

/// Whether an error of a Redis server, from its code on, says that the server is a replica. On such an answer a driver drops this
/// connection and resolves the server's address again, if the driver made the connection; on the caller's own connection it does
/// nothing. The hub gets the answer in any case.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_is_from_replica(error: *const u8, error_size: usize) -> bool {
    // SAFETY: the header asks for a readable view.
    unsafe { view::bytes(error, error_size) }
        .is_ok_and(|error| redis::is_from_replica(&String::from_utf8_lossy(error)))
}

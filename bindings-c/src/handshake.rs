//! The timeout of a ZooKeeper connection's handshake.

use std::time::Duration;

use fencepost_core::zookeeper;

/// Returns how long the driver waits for a ZooKeeper server to answer the handshake of a connection, in
/// microseconds. `session_timeout` is the session's timeout in microseconds. `failures` is the number of
/// connections that have failed since the last one that worked. The limit is necessary because a server that
/// is starting accepts connections and never answers them.
#[unsafe(no_mangle)]
pub extern "C" fn fencepost_handshake_timeout(session_timeout: u64, failures: u32) -> u64 {
    let timeout = zookeeper::handshake_timeout(Duration::from_micros(session_timeout), failures);
    u64::try_from(timeout.as_micros()).unwrap_or(u64::MAX)
}

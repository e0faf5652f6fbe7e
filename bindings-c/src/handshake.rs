//! What drivers of ZooKeeper ask about a connection.

use std::time::Duration;

use fencepost_core::zookeeper;

/// How long a ZooKeeper server may take to answer the handshake of a connection, in microseconds: of a session's timeout in microseconds, after
/// so many failures in a row. A server that starts accepts connections that it never answers.
#[unsafe(no_mangle)]
pub extern "C" fn fencepost_handshake_timeout(session_timeout: u64, failures: u32) -> u64 {
    let timeout = zookeeper::handshake_timeout(Duration::from_micros(session_timeout), failures);
    u64::try_from(timeout.as_micros()).unwrap_or(u64::MAX)
}

//! A function of the core for ZooKeeper drivers: the timeout of a handshake.

use core::time::Duration;

use fencepost_core::zookeeper;
use pyo3::prelude::*;

/// How long a driver waits for the reply to the handshake, in microseconds.
#[pyfunction]
pub(crate) fn handshake_timeout(session_timeout: u64, failures: u32) -> u64 {
    let timeout = zookeeper::handshake_timeout(Duration::from_micros(session_timeout), failures);
    u64::try_from(timeout.as_micros()).unwrap_or(u64::MAX)
}

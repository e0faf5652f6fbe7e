//! What a Redis driver asks the core about a server's answer.

use fencepost_core::redis;
use pyo3::prelude::*;

/// Whether a server's error says that the server is a replica.
#[pyfunction]
pub(crate) fn is_from_replica(error: &str) -> bool {
    redis::is_from_replica(error)
}

//! A function of the core for Redis drivers: it classifies a server's error.

use fencepost_core::redis;
use pyo3::prelude::*;

/// Whether a server's error means that the server is a replica.
#[pyfunction]
pub(crate) fn is_from_replica(error: &str) -> bool {
    redis::is_from_replica(error)
}

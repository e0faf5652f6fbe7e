//! What carries out commands: one module for each client library.

pub(crate) mod memory;
#[cfg(feature = "redis")]
pub(crate) mod redis;
#[cfg(feature = "zookeeper")]
pub(crate) mod zookeeper;

/// A number that spreads retries, and decides nothing.
pub(crate) fn seed() -> u64 {
    // Without randomness clients retry in step; who contends is told apart elsewhere.
    getrandom::u64().unwrap_or_default()
}

//! The drivers carry out commands: one module for each client library.

pub(crate) mod memory;
#[cfg(feature = "redis")]
pub(crate) mod redis;
#[cfg(feature = "zookeeper")]
pub(crate) mod zookeeper;

/// A random seed. It only spreads retries over time.
pub(crate) fn seed() -> u64 {
    // Without random bytes, all clients retry at the same time. Contender ids have another source.
    getrandom::u64().unwrap_or_default()
}

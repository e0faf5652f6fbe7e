//! Checked settings for [`Hub::open`](super::Hub::open).

use core::time::Duration;

use fencepost_core::{ConfigError, RawSettings, Settings};

/// A fair mutex on ZooKeeper, with its contenders below `prefix`/`name`.
///
/// # Errors
/// [`ConfigError`] for a name that the server would refuse.
pub fn zookeeper_mutex(prefix: &str, name: &str) -> Result<Settings, ConfigError> {
    let raw = RawSettings::machine("zookeeper-mutex");
    Settings::try_from(raw.with("name", name).with("prefix", prefix))
}

/// A lock on Redis at the key `name`, with leases of `ttl`.
///
/// # Errors
/// [`ConfigError`] for a name that is empty or too long, and for a lease that is too short or too long.
pub fn redis_string(name: &str, ttl: Duration) -> Result<Settings, ConfigError> {
    Settings::try_from(
        RawSettings::machine("redis-string")
            .with("name", name)
            .with("ttl", ttl),
    )
}

/// Whole microseconds. The conversion saturates: the check of the settings refuses a duration that is too long.
pub(crate) fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

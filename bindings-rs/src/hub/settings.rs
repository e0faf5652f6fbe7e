//! Checked settings for [`Hub::open`](super::Hub::open).

use core::time::Duration;

use fencepost_core::{ConfigError, RawSettings, Settings, zookeeper::RawZooKeeper};

/// A fair mutex on ZooKeeper, with its contenders below `prefix`/`name`.
///
/// # Errors
/// [`ConfigError`] for a name that the server would not take.
pub fn zookeeper_mutex(prefix: &str, name: &str) -> Result<Settings, ConfigError> {
    Settings::try_from(RawSettings::ZookeeperMutex(RawZooKeeper {
        name: name.into(),
        prefix: prefix.into(),
        ..RawZooKeeper::default()
    }))
}

/// A lock on Redis at the key `name`, with leases of `ttl`.
///
/// # Errors
/// [`ConfigError`] for an empty or overlong name, or a lease too short or too long.
pub fn redis_string(name: &str, ttl: Duration) -> Result<Settings, ConfigError> {
    Settings::try_from(RawSettings::RedisString {
        name: name.into(),
        ttl: Some(micros(ttl)),
        margin: None,
        renew: None,
        poll: None,
        answer_within: None,
        max_hold: None,
        owner: None,
    })
}

/// Whole microseconds, saturating: what is too long is refused by the settings' own check.
pub(crate) fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

//! Checked settings, and the checks of durations.

use core::time::Duration;

use crate::{ConfigError, lease, redis, time::micros, zookeeper};

/// The checked settings of one lock. One value can be used for any number of contenders. It is made from
/// [`RawSettings`](crate::RawSettings), which can be deserialized (feature `serde`).
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize),
    serde(try_from = "crate::RawSettings")
)]
#[non_exhaustive]
pub enum Settings {
    /// For a hub that is connected to ZooKeeper (or to `memory:`).
    ZooKeeper(zookeeper::LockSettings),
    /// For a hub that is connected to Redis.
    Redis(redis::LockSettings),
}

impl Settings {
    /// The family that these settings are for.
    #[must_use]
    pub const fn family(&self) -> &'static str {
        match self {
            Self::ZooKeeper(_) => "zookeeper",
            Self::Redis(_) => "redis",
        }
    }
}

/// Checks a duration in microseconds. `hint` is appended to the error's message.
///
/// # Errors
/// [`ConfigError::NotPositive`] for zero or a negative value, [`ConfigError::TooLong`] for more than a year.
pub fn positive(what: &'static str, given: i64, hint: &'static str) -> Result<Duration, ConfigError> {
    match u64::try_from(given) {
        Ok(0) | Err(_) => Err(ConfigError::NotPositive {
            what,
            micros: given,
            hint,
        }),
        Ok(given) if given > micros(lease::MAX_TTL) => Err(ConfigError::TooLong {
            what,
            micros: given,
            most: micros(lease::MAX_TTL),
        }),
        Ok(given) => Ok(Duration::from_micros(given)),
    }
}

pub(crate) fn duration(what: &'static str, given: Option<i64>) -> Result<Option<Duration>, ConfigError> {
    given.map(|given| positive(what, given, "")).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_may_be_as_long_as_the_longest_and_no_longer() {
        let longest = i64::try_from(micros(lease::MAX_TTL)).unwrap();
        assert_eq!(positive("max_hold", longest, ""), Ok(lease::MAX_TTL));
        let error = positive("max_hold", longest + 1, "").unwrap_err();
        assert_eq!(error.name(), "too-long");
    }
}

//! Settings as data: one tagged form for every kind of lock. A new kind needs no new function in any binding.

use core::time::Duration;

use alloc::string::String;

use crate::{
    ConfigError, Owner, lease, redis,
    time::micros,
    zookeeper::{self, Kind, RawZooKeeper},
};

/// The checked settings of one lock. One value serves any number of contenders.
///
/// As data (feature `serde`) it is a map with the key `kind`, durations in whole microseconds:
///
/// ```json
/// {"kind": "zookeeper-mutex", "name": "stock/42", "prefix": "/shop", "layout": "curator", "identifier": "till-7", "revocable": false,
///  "answer_within": 5000000, "max_hold": 60000000}
/// {"kind": "zookeeper-semaphore", "name": "presses", "permits": 3}
/// {"kind": "zookeeper-multi-lock", "names": ["stock/42", "stock/43"], "prefix": "/shop"}
/// {"kind": "zookeeper-inspection", "name": "stock/42", "of": "mutex", "action": "break", "node": "/stock/42/_c_…-lock-0000000007", "fence": "4711"}
/// {"kind": "redis-string", "name": "stock/42", "ttl": 10000000, "margin": 2000, "renew": true, "poll": 100000,
///  "answer_within": 5000000, "max_hold": null, "owner": "request-17"}
/// ```
///
/// `zookeeper-reader`, `zookeeper-writer` and `zookeeper-election` have the same keys as `zookeeper-mutex`. So has
/// `zookeeper-single`, except `layout`. Only `kind` and `name` are required (`names` for a multi-lock). An unknown key
/// is an error.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize),
    serde(try_from = "RawSettings")
)]
#[non_exhaustive]
pub enum Settings {
    /// For a hub that speaks to ZooKeeper (or to `memory:`).
    ZooKeeper(zookeeper::LockSettings),
    /// For a hub that speaks to Redis.
    Redis(redis::LockSettings),
}

/// Settings before the check: signed durations in microseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize),
    serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)
)]
#[non_exhaustive]
pub enum RawSettings {
    /// A fair mutex.
    ZookeeperMutex(RawZooKeeper),
    /// The shared side of a read/write lock.
    ZookeeperReader(RawZooKeeper),
    /// The exclusive side of a read/write lock.
    ZookeeperWriter(RawZooKeeper),
    /// A candidate in an election.
    ZookeeperElection(RawZooKeeper),
    /// A permit of a semaphore.
    ZookeeperSemaphore(RawZooKeeper),
    /// A lock that is a single node: unfair and cheap.
    ZookeeperSingle(RawZooKeeper),
    /// Several locks at once: the contender gets all of them or none.
    ZookeeperMultiLock(RawZooKeeper),
    /// An inspection of a lock: reads its contenders, requests a revocation, or breaks a contender's place.
    ZookeeperInspection(RawZooKeeper),
    /// The lock in the layout `string`.
    RedisString {
        /// The lock's name, which is its key.
        name: String,
        /// See [`redis::StringSettings::ttl`].
        #[cfg_attr(feature = "serde", serde(default))]
        ttl: Option<i64>,
        /// See [`redis::StringSettings::margin`].
        #[cfg_attr(feature = "serde", serde(default))]
        margin: Option<i64>,
        /// See [`redis::StringSettings::renew`].
        #[cfg_attr(feature = "serde", serde(default))]
        renew: Option<bool>,
        /// See [`redis::StringSettings::poll`].
        #[cfg_attr(feature = "serde", serde(default))]
        poll: Option<i64>,
        /// See [`redis::StringSettings::answer_within`].
        #[cfg_attr(feature = "serde", serde(default))]
        answer_within: Option<i64>,
        /// See [`redis::StringSettings::max_hold`].
        #[cfg_attr(feature = "serde", serde(default))]
        max_hold: Option<i64>,
        /// See [`redis::StringSettings::owner`].
        #[cfg_attr(feature = "serde", serde(default))]
        owner: Option<String>,
    },
}

impl TryFrom<RawSettings> for Settings {
    type Error = ConfigError;

    fn try_from(raw: RawSettings) -> Result<Self, ConfigError> {
        let (raw, kind) = match &raw {
            RawSettings::ZookeeperMutex(raw) => (raw, Kind::Mutex),
            RawSettings::ZookeeperReader(raw) => (raw, Kind::Reader),
            RawSettings::ZookeeperWriter(raw) => (raw, Kind::Writer),
            RawSettings::ZookeeperElection(raw) => (raw, Kind::Election),
            RawSettings::ZookeeperSingle(raw) => (raw, Kind::Single),
            RawSettings::ZookeeperMultiLock(raw) => (raw, Kind::MultiLock),
            RawSettings::ZookeeperInspection(raw) => (raw, Kind::Inspection),
            RawSettings::ZookeeperSemaphore(raw) => (raw, Kind::Semaphore),
            RawSettings::RedisString {
                name,
                ttl,
                margin,
                renew,
                poll,
                answer_within,
                max_hold,
                owner,
            } => {
                let ttl = duration("ttl", *ttl)?.unwrap_or(lease::DEFAULT_TTL);
                let margin = duration("margin", *margin)?.unwrap_or(lease::DEFAULT_MARGIN);
                let mut settings = redis::StringSettings::new(name, ttl, margin)?;
                settings.renew = renew.unwrap_or(true);
                if let Some(poll) = duration("poll", *poll)? {
                    settings.poll = poll;
                }
                if let Some(limit) = duration("answer_within", *answer_within)? {
                    settings.answer_within = limit;
                }
                settings.max_hold = duration("max_hold", *max_hold)?;
                settings.owner = owner.as_deref().map(Owner::new).transpose()?;
                return Ok(Self::Redis(redis::LockSettings::String(settings)));
            }
        };
        raw.check(kind).map(Self::ZooKeeper)
    }
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

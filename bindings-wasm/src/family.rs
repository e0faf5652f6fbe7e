//! The machines that a module has: one family's, so that a program loads what its server needs.

use fencepost_core::{
    ConfigError, RawSettings, Settings, hub,
    lowered::Request,
    options::Scope,
    redis::{self, Redis},
    zookeeper::{self, ZooKeeper},
};

use crate::error::Kept;

/// The family of this module.
#[cfg(not(feature = "redis"))]
pub(crate) type Chosen = ZooKeeper;
/// The family of this module.
#[cfg(feature = "redis")]
pub(crate) type Chosen = Redis;

/// A family, as far as plain values go: `None` for those of the other one. A module never makes the other family's values,
/// so it does not have the code that would.
pub(crate) trait Family: hub::Family<Request: Into<Request>> {
    fn checked(raw: RawSettings) -> Result<Settings, ConfigError>;
    fn scope(raw: RawSettings) -> Result<Scope, ConfigError>;
    fn settings(settings: &Settings) -> Option<&Self::Settings>;

    fn zookeeper_reply(_reply: impl FnOnce() -> zookeeper::Reply) -> Option<Self::Reply> {
        None
    }

    fn redis_reply(_reply: impl FnOnce() -> redis::Reply) -> Option<Self::Reply> {
        None
    }

    fn zookeeper_notice(
        _notice: impl FnOnce() -> Result<zookeeper::Notice, Kept>,
    ) -> Option<Result<Self::Notice, Kept>> {
        None
    }

    fn redis_notice(
        _notice: impl FnOnce() -> Result<redis::Notice, Kept>,
    ) -> Option<Result<Self::Notice, Kept>> {
        None
    }
}

impl Family for ZooKeeper {
    fn checked(raw: RawSettings) -> Result<Settings, ConfigError> {
        raw.for_zookeeper()
    }

    fn scope(raw: RawSettings) -> Result<Scope, ConfigError> {
        Scope::for_zookeeper(raw)
    }

    fn settings(settings: &Settings) -> Option<&zookeeper::LockSettings> {
        match settings {
            Settings::ZooKeeper(settings) => Some(settings),
            _ => None,
        }
    }

    fn zookeeper_reply(reply: impl FnOnce() -> zookeeper::Reply) -> Option<zookeeper::Reply> {
        Some(reply())
    }

    fn zookeeper_notice(
        notice: impl FnOnce() -> Result<zookeeper::Notice, Kept>,
    ) -> Option<Result<zookeeper::Notice, Kept>> {
        Some(notice())
    }
}

impl Family for Redis {
    fn checked(raw: RawSettings) -> Result<Settings, ConfigError> {
        raw.for_redis()
    }

    fn scope(raw: RawSettings) -> Result<Scope, ConfigError> {
        Scope::for_redis(raw)
    }

    fn settings(settings: &Settings) -> Option<&redis::LockSettings> {
        match settings {
            Settings::Redis(settings) => Some(settings),
            _ => None,
        }
    }

    fn redis_reply(reply: impl FnOnce() -> redis::Reply) -> Option<redis::Reply> {
        Some(reply())
    }

    fn redis_notice(
        notice: impl FnOnce() -> Result<redis::Notice, Kept>,
    ) -> Option<Result<redis::Notice, Kept>> {
        Some(notice())
    }
}

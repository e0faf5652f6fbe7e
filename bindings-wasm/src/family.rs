//! The machines of a module: those of one family, so that a program loads only the code for its server.

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

/// A family, with conversions of plain values: `None` for values of the other family. A module never makes
/// those, so it does not contain the code for them.
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

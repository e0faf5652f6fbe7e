//! The machines that a module has: one family's, so that a program loads what its server needs.

use fencepost_core::{
    ConfigError, Outcome, RawSettings, Settings, hub,
    lowered::{self, Request},
    options::Scope,
    redis::{self, Redis},
    zookeeper::{self, ZooKeeper},
};

/// The family of this module.
#[cfg(not(feature = "redis"))]
pub(crate) type Chosen = ZooKeeper;
/// The family of this module.
#[cfg(feature = "redis")]
pub(crate) type Chosen = Redis;

/// A family, as far as plain values go: `None` for those of the other one.
pub(crate) trait Family: hub::Family<Request: Into<Request>> {
    fn checked(raw: RawSettings) -> Result<Settings, ConfigError>;
    fn scope(raw: RawSettings) -> Result<Scope, ConfigError>;
    fn settings(settings: &Settings) -> Option<&Self::Settings>;
    fn outcome(outcome: lowered::Outcome) -> Option<Outcome<Self::Reply>>;
    fn notice(notice: lowered::Notice) -> Option<Self::Notice>;
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

    fn outcome(outcome: lowered::Outcome) -> Option<Outcome<zookeeper::Reply>> {
        match outcome {
            lowered::Outcome::ZooKeeper(reply) => Some(Outcome::Reply(reply)),
            lowered::Outcome::Failed(failure) => Some(Outcome::Failed(failure)),
            _ => None,
        }
    }

    fn notice(notice: lowered::Notice) -> Option<zookeeper::Notice> {
        match notice {
            lowered::Notice::ZooKeeper(notice) => Some(notice),
            _ => None,
        }
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

    fn outcome(outcome: lowered::Outcome) -> Option<Outcome<redis::Reply>> {
        match outcome {
            lowered::Outcome::Redis(reply) => Some(Outcome::Reply(reply)),
            lowered::Outcome::Failed(failure) => Some(Outcome::Failed(failure)),
            _ => None,
        }
    }

    fn notice(notice: lowered::Notice) -> Option<redis::Notice> {
        match notice {
            lowered::Notice::Redis(notice) => Some(notice),
            _ => None,
        }
    }
}

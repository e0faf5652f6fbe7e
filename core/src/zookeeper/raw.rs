//! Settings as somebody has written them, and what is made of them.

use alloc::string::{String, ToString};

use crate::{ConfigError, settings::duration};

use super::{
    ContenderSettings, Machine,
    layout::{Layout, Role},
};

/// What the settings of a ZooKeeper machine may say. Signed durations in microseconds, nothing checked; what is not given has its default, and
/// what a kind does not have is refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize),
    serde(deny_unknown_fields, default)
)]
#[expect(
    clippy::exhaustive_structs,
    reason = "it is written out with ..Default::default()"
)]
pub struct RawZooKeeper {
    /// The lock's name: a path below the prefix.
    pub name: String,
    /// Where the client's locks lie; the root if it is empty.
    pub prefix: String,
    /// `curator`, `kazoo` or `plain`: see [`Layout`].
    pub layout: Option<String>,
    /// With the layout `plain`: what a contender's name begins with (`node_`).
    pub node_prefix: Option<String>,
    /// What the contender's node says, for people and peers (its attempt).
    pub identifier: Option<String>,
    /// See [`ContenderSettings::revocable`].
    pub revocable: Option<bool>,
    /// How many permits a semaphore has.
    pub permits: Option<i64>,
    /// See [`ContenderSettings::answer_within`].
    pub answer_within: Option<i64>,
    /// See [`ContenderSettings::max_hold`].
    pub max_hold: Option<i64>,
}

/// The kinds of ZooKeeper machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Mutex,
    Reader,
    Writer,
    Election,
    Semaphore,
}

impl RawZooKeeper {
    pub(crate) fn check(self, kind: Kind) -> Result<Machine, ConfigError> {
        let foreign = [("permits", self.permits.is_some() && kind != Kind::Semaphore)];
        if let Some((option, _)) = foreign.into_iter().find(|(_, given)| *given) {
            return Err(ConfigError::UnknownOption {
                option: option.into(),
                known: "only a semaphore has permits",
            });
        }
        let role = match kind {
            Kind::Mutex => Role::Mutex,
            Kind::Reader => Role::Reader,
            Kind::Writer => Role::Writer,
            Kind::Election => Role::Candidate,
            Kind::Semaphore => Role::Permit {
                permits: self.permits()?,
            },
        };
        let mut settings = ContenderSettings::new(&self.prefix, &self.name, self.layout()?, role)?;
        if let Some(identifier) = self.identifier {
            settings.set_identifier(identifier)?;
        }
        settings.revocable = self.revocable.unwrap_or_default();
        if let Some(limit) = duration("answer_within", self.answer_within)? {
            settings.answer_within = limit;
        }
        settings.max_hold = duration("max_hold", self.max_hold)?;
        Ok(Machine::Contender(settings))
    }

    fn layout(&self) -> Result<Layout, ConfigError> {
        let layout = match self.layout.as_deref() {
            None | Some("curator") => Layout::Curator,
            Some("kazoo") => Layout::Kazoo,
            Some("plain") => {
                return Ok(Layout::Plain {
                    prefix: self.node_prefix.clone().unwrap_or_else(|| "node_".into()),
                });
            }
            Some(other) => {
                return Err(ConfigError::InvalidOption {
                    option: "layout",
                    value: other.into(),
                    why: "the layouts are \"curator\", \"kazoo\" and \"plain\"",
                });
            }
        };
        match &self.node_prefix {
            None => Ok(layout),
            Some(prefix) => Err(ConfigError::InvalidOption {
                option: "node_prefix",
                value: prefix.clone(),
                why: "only the layout \"plain\" has one",
            }),
        }
    }

    fn permits(&self) -> Result<u32, ConfigError> {
        let given = self.permits.unwrap_or(1);
        u32::try_from(given)
            .ok()
            .filter(|permits| *permits > 0)
            .ok_or_else(|| ConfigError::InvalidOption {
                option: "permits",
                value: given.to_string(),
                why: "a semaphore has from 1 to 4294967295",
            })
    }
}

//! The settings as the application gives them, and their checks.

use alloc::{string::String, vec::Vec};

use crate::{
    ConfigError, Fence, Owner,
    settings::duration,
    text::{decimal, signed},
};

use super::{
    Action, ContenderSettings, InspectionSettings, LockSettings,
    layout::{Layout, Role},
};

/// The settings of a ZooKeeper machine, unchecked. Durations are signed and in microseconds. A setting that is not
/// given has its default. A setting that the kind of machine does not have is an error.
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
    /// The names of the locks of a multi-lock, instead of a name.
    pub names: Option<Vec<String>>,
    /// The path below which the client's locks lie; empty for the root.
    pub prefix: String,
    /// `curator`, `kazoo` or `plain`: see [`Layout`].
    pub layout: Option<String>,
    /// With the layout `plain`: the beginning of the contenders' names (default: `node_`).
    pub node_prefix: Option<String>,
    /// The data of the contender's node, for people and other clients (default: the attempt).
    pub identifier: Option<String>,
    /// See [`ContenderSettings::revocable`].
    pub revocable: Option<bool>,
    /// How many permits a semaphore has.
    pub permits: Option<i64>,
    /// The kind of lock to inspect: `mutex`, `read-write`, `election`, `semaphore` or `single`.
    pub of: Option<String>,
    /// The action of an inspection: `list`, `break` or `revoke`.
    pub action: Option<String>,
    /// The path of the contender's node to break, or to request the lock from.
    pub node: Option<String>,
    /// That contender's fence, in decimal.
    pub fence: Option<String>,
    /// See [`ContenderSettings::answer_within`].
    pub answer_within: Option<i64>,
    /// See [`ContenderSettings::max_hold`].
    pub max_hold: Option<i64>,
    /// See [`ContenderSettings::owner`].
    pub owner: Option<String>,
}

/// Each lock costs a node, a list and two watches.
const MOST_LOCKS: usize = 64;

/// The kinds of ZooKeeper machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Mutex,
    Reader,
    Writer,
    Election,
    Semaphore,
    Single,
    MultiLock,
    Inspection,
}

impl Kind {
    /// Whether an owner may acquire such a lock again.
    const fn has_owner(self) -> bool {
        matches!(self, Self::Mutex | Self::Single | Self::Reader | Self::Writer)
    }
}

impl RawZooKeeper {
    pub(crate) fn check(&self, kind: Kind) -> Result<LockSettings, ConfigError> {
        self.refuse_foreign(kind)?;
        let role = match kind {
            Kind::Inspection => return self.inspection(),
            Kind::MultiLock => return self.multi_lock(),
            Kind::Single => Role::Single,
            Kind::Mutex => Role::Mutex,
            Kind::Reader => Role::Reader,
            Kind::Writer => Role::Writer,
            Kind::Election => Role::Candidate,
            Kind::Semaphore => Role::Permit {
                permits: self.permits()?,
            },
        };
        self.contender(&self.name, role).map(LockSettings::Contender)
    }

    fn contender(&self, name: &str, role: Role) -> Result<ContenderSettings, ConfigError> {
        let mut settings = ContenderSettings::new(&self.prefix, name, self.layout()?, role)?;
        if let Some(identifier) = &self.identifier {
            settings.set_identifier(identifier.clone())?;
        }
        settings.revocable = self.revocable.unwrap_or_default();
        if let Some(limit) = duration("answer_within", self.answer_within)? {
            settings.answer_within = limit;
        }
        settings.max_hold = duration("max_hold", self.max_hold)?;
        settings.owner = self.owner.as_deref().map(Owner::new).transpose()?;
        Ok(settings)
    }

    /// All locks have the same settings. Each lock has its own wait queue, and no lock may be named twice.
    fn multi_lock(&self) -> Result<LockSettings, ConfigError> {
        let names = self.names.as_deref().unwrap_or_default();
        if names.is_empty() || names.len() > MOST_LOCKS {
            return Err(ConfigError::InvalidOption {
                option: "names",
                value: [&decimal(names.len()), " names"].concat(),
                why: "a multi-lock takes from 1 to 64 names",
            });
        }
        let mut settings: Vec<ContenderSettings> = Vec::new();
        for name in names {
            let one = self.contender(name, Role::Mutex)?;
            if settings.iter().any(|other| other.directory() == one.directory()) {
                return Err(ConfigError::InvalidOption {
                    option: "names",
                    value: name.clone(),
                    why: "this lock is named twice and would wait for itself: name each lock once",
                });
            }
            settings.push(one);
        }
        Ok(LockSettings::MultiLock(settings))
    }

    fn inspection(&self) -> Result<LockSettings, ConfigError> {
        let invalid = |option, value: &str, why| {
            let value = value.into();
            Err(ConfigError::InvalidOption { option, value, why })
        };
        let of = match self.of.as_deref() {
            None | Some("mutex") => Role::Mutex,
            Some("read-write") => Role::Writer,
            Some("election") => Role::Candidate,
            Some("single") => Role::Single,
            Some("semaphore") => Role::Permit {
                permits: self.permits()?,
            },
            Some(other) => {
                let why =
                    "it is one of \"mutex\", \"read-write\", \"election\", \"semaphore\" and \"single\"";
                return invalid("of", other, why);
            }
        };
        let node = self.node.clone().unwrap_or_default();
        let given = self.fence.as_deref().unwrap_or_default();
        let fence = given.parse().map(Fence);
        let action = match (self.action.as_deref(), fence) {
            (None | Some("list"), _) => Action::List,
            (Some("break" | "revoke"), Err(_)) => {
                return invalid("fence", given, "give the contender's fence as a decimal number");
            }
            (Some("break"), Ok(fence)) => Action::Break { node, fence },
            (Some("revoke"), Ok(fence)) => Action::Revoke { node, fence },
            (Some(other), _) => {
                let why = "it is one of \"list\", \"break\" and \"revoke\"";
                return invalid("action", other, why);
            }
        };
        let mut settings = InspectionSettings::new(&self.prefix, &self.name, self.layout()?, of, action)?;
        if let Some(limit) = duration("answer_within", self.answer_within)? {
            settings.answer_within = limit;
        }
        Ok(LockSettings::Inspection(settings))
    }

    /// Rejects settings that the kind does not have. Without this check they would silently have no effect.
    fn refuse_foreign(&self, kind: Kind) -> Result<(), ConfigError> {
        let inspects = kind == Kind::Inspection;
        let many = kind == Kind::MultiLock;
        let foreign = [
            ("name", many && !self.name.is_empty()),
            ("layout", self.layout.is_some() && kind == Kind::Single),
            ("node_prefix", self.node_prefix.is_some() && kind == Kind::Single),
            ("names", self.names.is_some() && !many),
            (
                "permits",
                self.permits.is_some() && !inspects && kind != Kind::Semaphore,
            ),
            ("identifier", self.identifier.is_some() && inspects),
            (
                "revocable",
                self.revocable.is_some() && (inspects || kind == Kind::Single),
            ),
            ("max_hold", self.max_hold.is_some() && inspects),
            ("owner", self.owner.is_some() && !kind.has_owner()),
            ("of", self.of.is_some() && !inspects),
            ("action", self.action.is_some() && !inspects),
            ("node", self.node.is_some() && !inspects),
            ("fence", self.fence.is_some() && !inspects),
        ];
        match foreign.into_iter().find(|(_, given)| *given) {
            None => Ok(()),
            Some((option, _)) => Err(ConfigError::UnknownOption {
                option: option.into(),
                known: "multi-locks have names, all other kinds have name; all kinds but single nodes have layout and node_prefix; all kinds but inspections have identifier and max_hold; all kinds but inspections and single nodes have revocable; semaphores have permits; mutexes, single nodes, readers and writers have owner; inspections have of, action, node, fence and permits",
            }),
        }
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
                why: "only the layout \"plain\" has this option: remove it, or use that layout",
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
                value: signed(given),
                why: "a semaphore has from 1 to 4294967295 permits",
            })
    }
}

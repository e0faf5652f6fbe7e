//! The settings of a ZooKeeper machine.

use alloc::vec::Vec;

use crate::{
    ConfigError, Owner,
    settings::duration,
    text::{decimal, signed},
    zookeeper::{Action, ContenderSettings, InspectionSettings, Layout, LockSettings, Role},
};

use super::{
    Draft, Kind,
    draft::{invalid, unknown_action},
    unknown,
};

/// Each lock costs a node, a list and two watches.
const MOST_LOCKS: usize = 64;

impl Draft {
    /// The settings of a contender for a lock, or of an inspection of the lock.
    pub(super) fn zookeeper(&self, kind: Kind, inspects: bool) -> Result<LockSettings, ConfigError> {
        let role = match kind {
            Kind::Inspection => return self.inspection(self.inspected()?),
            Kind::MultiLock => return self.multi_lock(),
            // A scope makes the settings of these kinds.
            Kind::Claim | Kind::SingleStep => return Err(unknown::kind(kind)),
            Kind::Single => Role::Single,
            Kind::Mutex => Role::Mutex,
            Kind::Reader => Role::Reader,
            Kind::Writer => Role::Writer,
            Kind::Election => Role::Candidate,
            Kind::Semaphore => Role::Permit {
                permits: self.permits()?,
            },
        };
        if inspects {
            return self.inspection(role);
        }
        self.contender(self.name(), role).map(LockSettings::Contender)
    }

    fn contender(&self, name: &str, role: Role) -> Result<ContenderSettings, ConfigError> {
        let mut settings = ContenderSettings::new(self.prefix(), name, self.layout()?, role)?;
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

    /// The settings of a multi-lock. All its locks have the same settings. Each lock has its own wait queue, so no lock
    /// may be named twice.
    fn multi_lock(&self) -> Result<LockSettings, ConfigError> {
        let names = self.names.as_deref().unwrap_or_default();
        if names.is_empty() || names.len() > MOST_LOCKS {
            return Err(ConfigError::InvalidOption {
                option: "names",
                value: [&decimal(names.len()), " names"].concat(),
                why: "a multi-lock has from 1 to 64 names",
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

    /// The kind of lock that a machine inspects, by any of its roles.
    fn inspected(&self) -> Result<Role, ConfigError> {
        Ok(match self.of.as_deref() {
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
        })
    }

    fn inspection(&self, of: Role) -> Result<LockSettings, ConfigError> {
        let action = match self.action.as_deref() {
            None | Some("list") => Action::List,
            Some("break") => {
                let (node, fence) = self.named_contender()?;
                Action::Break { node, fence }
            }
            Some("revoke") => {
                let (node, fence) = self.named_contender()?;
                Action::Revoke { node, fence }
            }
            Some(other) => return unknown_action(other),
        };
        let mut settings = InspectionSettings::new(self.prefix(), self.name(), self.layout()?, of, action)?;
        if let Some(limit) = duration("answer_within", self.answer_within)? {
            settings.answer_within = limit;
        }
        Ok(LockSettings::Inspection(settings))
    }

    fn prefix(&self) -> &str {
        self.prefix.as_deref().unwrap_or_default()
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

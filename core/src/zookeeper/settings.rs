//! The settings of ZooKeeper's machines.

use alloc::{collections::VecDeque, string::String};
use core::time::Duration;

use crate::{
    ConfigError, Fence, Owner,
    hub::{LockKind, Mode, Ownership, Reentry},
    text,
};

use super::{
    layout::{Layout, Role},
    path,
};

/// The default of [`ContenderSettings::answer_within`]: how long the server's replies may take before a try fails with
/// an unreachable server.
pub const DEFAULT_ANSWER_WITHIN: Duration = Duration::from_secs(5);

/// The longest identifier of a contender, in bytes.
pub const MAX_IDENTIFIER: usize = 1024;

/// The settings of a contender, checked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ContenderSettings {
    pub(super) directory: String,
    pub(super) layout: Layout,
    pub(super) role: Role,
    pub(super) identifier: Option<String>,
    /// Whether the holder receives revocation requests from the grant on. If not, it receives them from the session's
    /// next confirmation on.
    pub revocable: bool,
    /// How long a try waits for the server's replies.
    pub answer_within: Duration,
    /// The longest hold allowed; `None` for no limit.
    pub max_hold: Option<Duration>,
    /// The owner that acquires the lock, for re-entry; `None` if each acquire is a separate contender. Only mutexes,
    /// single nodes, readers and writers have owners.
    pub owner: Option<Owner>,
}

impl ContenderSettings {
    /// The settings of a contender for the lock at `prefix`/`name`. For [`Role::Single`], which has no layout, that
    /// path is the node itself.
    ///
    /// # Errors
    /// [`ConfigError`] for a name that is not a valid path on a server, for a role that the layout does not have, and
    /// for zero permits.
    pub fn new(prefix: &str, name: &str, layout: Layout, role: Role) -> Result<Self, ConfigError> {
        if let Layout::Plain { prefix } = &layout
            && role != Role::Single
        {
            path::check_part(prefix)?;
            if !matches!(role, Role::Mutex | Role::Candidate) {
                return Err(ConfigError::InvalidOption {
                    option: "layout",
                    value: "plain".into(),
                    why: "this layout has mutexes and elections only: use \"curator\" or \"kazoo\"",
                });
            }
        }
        if let Role::Permit { permits: 0 } = role {
            return Err(ConfigError::InvalidOption {
                option: "permits",
                value: "0".into(),
                why: "a semaphore has at least one permit",
            });
        }
        let path = path::directory(prefix, name)?;
        let (directory, layout) = match (role, text::split_last(&path, b'/')) {
            // The node's name is only the prefix. No number follows.
            (Role::Single, Some((above, name))) => (above.into(), Layout::Plain { prefix: name.into() }),
            _ => (path, layout),
        };
        Ok(Self {
            directory,
            layout,
            role,
            identifier: None,
            revocable: false,
            answer_within: DEFAULT_ANSWER_WITHIN,
            max_hold: None,
            owner: None,
        })
    }

    /// Whether the names of nodes contain their attempts. Other contenders' nodes then never have the same name.
    pub(super) const fn names_attempts(&self) -> bool {
        !matches!(self.layout, Layout::Plain { .. })
    }

    /// The path that identifies the lock: its directory, or the single node.
    pub(super) fn lock_path(&self) -> String {
        single_path(&self.directory, &self.layout, self.role).unwrap_or_else(|| self.directory.clone())
    }

    /// The lock and the mode that the owner acquires; `None` without an owner.
    pub(super) fn reentry(&self) -> Option<Reentry> {
        let owner = self.owner.clone()?;
        let (kind, mode) = match self.role {
            Role::Mutex => (LockKind::Mutex, Mode::Exclusive),
            Role::Single => (LockKind::Single, Mode::Exclusive),
            Role::Reader => (LockKind::ReadWrite, Mode::Reader),
            Role::Writer => (LockKind::ReadWrite, Mode::Writer),
            Role::Candidate | Role::Permit { .. } => return None,
        };
        let lock = self.lock_path().into();
        let ownership = Ownership { owner, kind, lock };
        Some(Reentry { ownership, mode })
    }

    /// Sets the identifier that the contender writes into its node, for people and other clients: a host's name, for
    /// example.
    ///
    /// # Errors
    /// [`ConfigError`] for more than [`MAX_IDENTIFIER`] bytes.
    pub fn set_identifier(&mut self, identifier: String) -> Result<(), ConfigError> {
        if identifier.len() > MAX_IDENTIFIER {
            return Err(ConfigError::InvalidOption {
                option: "identifier",
                value: identifier.chars().take(32).chain("…".chars()).collect(),
                why: "it is longer than 1024 bytes",
            });
        }
        self.identifier = Some(identifier);
        Ok(())
    }

    /// The path of the lock's directory.
    #[must_use]
    pub fn directory(&self) -> &str {
        &self.directory
    }

    /// The names and values that the contender writes.
    #[must_use]
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The kind of hold that the contender requests.
    #[must_use]
    pub const fn role(&self) -> Role {
        self.role
    }
}

/// The settings of an inspection, checked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct InspectionSettings {
    pub(super) directory: String,
    pub(super) layout: Layout,
    pub(super) of: Role,
    pub(super) action: Action,
    /// How long an inspection without another limit waits for the server's replies.
    pub answer_within: Duration,
}

/// The action of an inspection.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Action {
    /// List the holders and the waiters.
    List,
    /// Delete a contender's node. A holder loses its lock, and a waiter loses its place.
    Break {
        /// The node's path.
        node: String,
        /// The fence that the contender has, or would get with the lock.
        fence: Fence,
    },
    /// Request the lock from a contender. The contender gets the event `revoke-requested`, and may release the lock or
    /// keep it.
    Revoke {
        /// The node's path.
        node: String,
        /// The fence that the contender has, or would get with the lock.
        fence: Fence,
    },
}

impl InspectionSettings {
    /// The settings of an inspection of the lock at `prefix`/`name`. `of` is any of the lock's roles, and determines
    /// the kind of lock.
    ///
    /// # Errors
    /// [`ConfigError`] as for a contender, for a node outside the lock's directories, and for a revocation request to a
    /// single node.
    pub fn new(
        prefix: &str,
        name: &str,
        layout: Layout,
        of: Role,
        action: Action,
    ) -> Result<Self, ConfigError> {
        let ContenderSettings {
            directory,
            layout,
            role: of,
            answer_within,
            ..
        } = ContenderSettings::new(prefix, name, layout, of)?;
        let settings = Self {
            directory,
            layout,
            of,
            action,
            answer_within,
        };
        if let Action::Break { node, .. } | Action::Revoke { node, .. } = &settings.action {
            let parent = text::split_last(node, b'/').map_or("", |(parent, _)| parent);
            let why = match (settings.single(), &settings.action) {
                // A revocation request would overwrite the data that identify the owner.
                (Some(_), Action::Revoke { .. }) => Some("a single node is not revocable"),
                (Some(path), _) if *node == path => None,
                (None, _) if settings.directories().iter().any(|directory| directory == parent) => None,
                _ => Some("this is not a node of the lock: use the path that contenders() returns"),
            };
            if let Some(why) = why {
                return Err(ConfigError::InvalidOption {
                    option: "node",
                    value: node.clone(),
                    why,
                });
            }
        }
        Ok(settings)
    }

    /// The path of the single node, if the lock is one.
    pub(super) fn single(&self) -> Option<String> {
        single_path(&self.directory, &self.layout, self.of)
    }

    /// The directories that contain the contenders' nodes.
    pub(super) fn directories(&self) -> VecDeque<String> {
        match (self.of, &self.layout) {
            (Role::Permit { .. }, layout) => semaphore_directories(&self.directory, layout).into(),
            _ => [self.directory.clone()].into(),
        }
    }

    pub(super) fn permits_lie_in(&self, directory: &str) -> bool {
        let [permits, _] = semaphore_directories(&self.directory, &self.layout);
        permits == directory
    }
}

/// The path of the single node, if the role is [`Role::Single`].
fn single_path(directory: &str, layout: &Layout, role: Role) -> Option<String> {
    match (layout, role) {
        (Layout::Plain { prefix }, Role::Single) => Some(path::child_of(directory, prefix)),
        _ => None,
    }
}

/// The directories of a semaphore's permits and of its queue.
pub(super) fn semaphore_directories(directory: &str, layout: &Layout) -> [String; 2] {
    match layout {
        Layout::Kazoo => [directory.into(), [directory, "-__lock__"].concat()],
        Layout::Curator | Layout::Plain { .. } => {
            ["/leases", "/locks"].map(|part| [directory, part].concat())
        }
    }
}

//! The settings of ZooKeeper's machines.

use alloc::{collections::VecDeque, string::String};
use core::time::Duration;

use crate::{ConfigError, Fence, text};

use super::{
    layout::{Layout, Role},
    path,
};

/// How long an answer may take before a try counts as unreachable, by default.
pub const DEFAULT_ANSWER_WITHIN: Duration = Duration::from_secs(5);

/// What somebody may say of a contender in its node: at most so many bytes.
pub const MAX_IDENTIFIER: usize = 1024;

/// The settings of a contender, checked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ContenderSettings {
    pub(super) directory: String,
    pub(super) layout: Layout,
    pub(super) role: Role,
    pub(super) identifier: Option<String>,
    /// Whether a wish for the lock is to be heard of from the grant on, and not only from the session's next confirmation.
    pub revocable: bool,
    /// How long a try waits for the server's answers.
    pub answer_within: Duration,
    /// The longest hold allowed, if there is one.
    pub max_hold: Option<Duration>,
}

impl ContenderSettings {
    /// A contender below `prefix`/`name`; for a single node, which has no layout, the contender for that node.
    ///
    /// # Errors
    /// [`ConfigError`] for a name that a server would not take as a path, a role that the layout does not have, no permits.
    pub fn new(prefix: &str, name: &str, layout: Layout, role: Role) -> Result<Self, ConfigError> {
        if let Layout::Plain { prefix } = &layout
            && role != Role::Single
        {
            path::check_part(prefix)?;
            if !matches!(role, Role::Mutex | Role::Candidate) {
                return Err(ConfigError::InvalidOption {
                    option: "layout",
                    value: "plain".into(),
                    why: "it has mutexes and elections only: take \"curator\" or \"kazoo\"",
                });
            }
        }
        if let Role::Permit { permits: 0 } = role {
            return Err(ConfigError::InvalidOption {
                option: "permits",
                value: "0".into(),
                why: "a semaphore has at least one",
            });
        }
        let path = path::directory(prefix, name)?;
        let (directory, layout) = match (role, text::split_last(&path, b'/')) {
            // Its whole name is the prefix, and no number follows.
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
        })
    }

    /// The path that stands for the lock: its directory, or the single node that it is.
    pub(super) fn lock_path(&self) -> String {
        single_path(&self.directory, &self.layout, self.role).unwrap_or_else(|| self.directory.clone())
    }

    /// Has the contender's node say this, for people and peers: a host's name, for example.
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

    /// The names and values it writes.
    #[must_use]
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// What it wants to hold.
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
    /// How long one that has no other limit waits for the server's answers.
    pub answer_within: Duration,
}

/// What an inspection does.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Action {
    /// Say who holds and who waits.
    List,
    /// Delete a contender's node: a holder has lost its lock then, and a waiter its place.
    Break {
        /// The node's path.
        node: String,
        /// The fence that the contender has or would have.
        fence: Fence,
    },
    /// Ask a contender for the lock: it is told `revoke-requested`, and may give the lock back or keep it.
    Revoke {
        /// The node's path.
        node: String,
        /// The fence that the contender has or would have.
        fence: Fence,
    },
}

impl InspectionSettings {
    /// Of the lock below `prefix`/`name`, of which `of` says what kind it is: any role of a lock stands for the lock.
    ///
    /// # Errors
    /// [`ConfigError`] as for a contender, and for a node that does not lie in the lock's directories,
    /// and to ask for a single node.
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
                // A wish would overwrite whose it is.
                (Some(_), Action::Revoke { .. }) => Some("a single node is not revocable"),
                (Some(path), _) if *node == path => None,
                (None, _) if settings.directories().iter().any(|directory| directory == parent) => None,
                _ => Some("it is no node of this lock: take the path that contenders() gives"),
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

    /// The path of the lock's node, where that is the lock.
    pub(super) fn single(&self) -> Option<String> {
        single_path(&self.directory, &self.layout, self.of)
    }

    /// Where contenders' nodes lie.
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

/// The path of the node that is the lock, where there is no line.
fn single_path(directory: &str, layout: &Layout, role: Role) -> Option<String> {
    match (layout, role) {
        (Layout::Plain { prefix }, Role::Single) => Some(path::child_of(directory, prefix)),
        _ => None,
    }
}

/// Where a semaphore keeps its permits and its line.
pub(super) fn semaphore_directories(directory: &str, layout: &Layout) -> [String; 2] {
    match layout {
        Layout::Kazoo => [directory.into(), [directory, "-__lock__"].concat()],
        Layout::Curator | Layout::Plain { .. } => {
            ["/leases", "/locks"].map(|part| [directory, part].concat())
        }
    }
}

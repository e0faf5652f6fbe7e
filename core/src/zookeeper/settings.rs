//! The settings of a ZooKeeper mutex.

use alloc::string::String;
use core::time::Duration;

use crate::ConfigError;

use super::name;

/// How long an answer may take before a try counts as unreachable, by default.
pub const DEFAULT_ANSWER_WITHIN: Duration = Duration::from_secs(5);

/// The settings of a mutex in the layout `curator`, checked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MutexSettings {
    directory: String,
    /// How long a try waits for the server's answers.
    pub answer_within: Duration,
    /// The longest hold allowed, if there is one.
    pub max_hold: Option<Duration>,
}

impl MutexSettings {
    /// A mutex with contenders below `prefix`/`name`.
    ///
    /// # Errors
    /// [`ConfigError`] for a name that a server would not take as a path.
    pub fn new(prefix: &str, name: &str) -> Result<Self, ConfigError> {
        Ok(Self {
            directory: name::directory(prefix, name)?,
            answer_within: DEFAULT_ANSWER_WITHIN,
            max_hold: None,
        })
    }

    /// The path of the lock's directory.
    #[must_use]
    pub fn directory(&self) -> &str {
        &self.directory
    }
}

//! The settings of a claim, of another request, and of a sweep.

use alloc::string::String;
use core::time::Duration;

use crate::{
    ConfigError,
    claim::{Claim, Name, Step},
};

use super::paths::Paths;

/// The checked settings of a claim on one operation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ClaimSettings {
    pub(super) paths: Paths,
    pub(super) claim: Claim,
    /// How long a nonblocking claim waits for the server's replies.
    pub answer_within: Duration,
}

impl ClaimSettings {
    /// A claim on the operation with this name, below the prefix of the address.
    ///
    /// # Errors
    /// [`ConfigError::InvalidName`] for a path that the server does not accept.
    pub fn new(
        prefix: &str,
        name: &Name,
        claim: Claim,
        answer_within: Duration,
    ) -> Result<Self, ConfigError> {
        let paths = Paths::new(prefix, name)?;
        Ok(Self {
            paths,
            claim,
            answer_within,
        })
    }
}

/// The checked settings of a request about one operation or value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StepSettings {
    pub(super) paths: Paths,
    pub(super) step: Step,
    /// How long a nonblocking request waits for the server's replies.
    pub answer_within: Duration,
}

impl StepSettings {
    /// One step about the operation or value with this name, below the prefix of the address.
    ///
    /// # Errors
    /// [`ConfigError::InvalidName`] for a path that the server does not accept.
    pub fn new(prefix: &str, name: &Name, step: Step, answer_within: Duration) -> Result<Self, ConfigError> {
        let paths = Paths::new(prefix, name)?;
        Ok(Self {
            paths,
            step,
            answer_within,
        })
    }
}

/// The checked settings of a sweep.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SweepSettings {
    pub(super) directory: String,
    /// How long one step of a nonblocking sweep may take.
    pub answer_within: Duration,
}

impl SweepSettings {
    /// A sweep of this scope, below the prefix of the address.
    ///
    /// # Errors
    /// [`ConfigError::InvalidOption`] for a scope that is empty or too long, [`ConfigError::InvalidName`] for a path
    /// that the server does not accept.
    pub fn new(prefix: &str, scope: &str, answer_within: Duration) -> Result<Self, ConfigError> {
        let directory = Paths::of_scope(prefix, scope)?;
        Ok(Self {
            directory,
            answer_within,
        })
    }
}

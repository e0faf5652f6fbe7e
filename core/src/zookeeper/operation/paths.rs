//! The nodes of one operation.

use alloc::{string::String, vec::Vec};

use crate::{
    AttemptId, ConfigError,
    claim::{Name, UpdateId, name},
};

use super::super::path;

/// The directory of all scopes, below the prefix of the address.
const ROOT: &str = "fencepost";

/// The child that marks a value, so that an update cannot replace the record of an operation.
pub(super) const VALUE: &str = "value";

/// The paths of the nodes of one operation or value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Paths {
    record: String,
}

impl Paths {
    pub(super) fn new(prefix: &str, name: &Name) -> Result<Self, ConfigError> {
        let below = [ROOT, "/", &name.path()].concat();
        let record = path::directory(prefix, &below)?;
        Ok(Self { record })
    }

    /// The directory of a scope.
    pub(super) fn of_scope(prefix: &str, scope: &str) -> Result<String, ConfigError> {
        let below = [ROOT, "/", &name::scope_path(scope)?].concat();
        path::directory(prefix, &below)
    }

    pub(super) fn record(&self) -> String {
        self.record.clone()
    }

    /// The directory of the record.
    pub(super) fn bucket(&self) -> String {
        match self.record.rsplit_once('/') {
            Some((bucket, _)) => bucket.into(),
            None => String::new(),
        }
    }

    /// The directories above the record, the outermost first.
    pub(super) fn parents(&self) -> Vec<String> {
        path::ancestors(&self.bucket())
    }

    /// The lease of an attempt.
    pub(super) fn lease(&self, attempt: &AttemptId) -> String {
        self.child(&attempt.text())
    }

    /// The record of an update's id, below the value.
    pub(super) fn operation(&self, id: &UpdateId) -> String {
        self.child(&id.node())
    }

    pub(super) fn child(&self, name: &str) -> String {
        path::child_of(&self.record, name)
    }
}

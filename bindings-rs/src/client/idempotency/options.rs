//! Options of idempotent operations.

#[path = "options/generated.rs"]
mod generated;

use fencepost_core::{RawSettings, options::Value};

/// Options of idempotent operations. Options that are not set have the core's defaults. The core checks them when the
/// client makes the scope.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct IdempotencyOptions {
    values: Vec<(&'static str, Value)>,
}

impl IdempotencyOptions {
    /// The core's defaults.
    pub const fn new() -> Self {
        Self { values: Vec::new() }
    }

    fn with(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.values.push((name, value.into()));
        self
    }

    pub(super) fn add_to(self, mut raw: RawSettings) -> RawSettings {
        for (name, value) in self.values {
            raw.set(name, value);
        }
        raw
    }
}

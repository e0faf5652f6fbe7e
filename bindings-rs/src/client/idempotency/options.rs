//! Options of idempotent operations.

use core::time::Duration;

use fencepost_core::{RawSettings, options::Value};

use crate::OnLeaseEnd;

/// Options of idempotent operations. What is not given has the core's default. The core checks them when the client
/// makes the scope.
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

    /// How long a claim lasts without a renewal. The client renews it after each third. Range: 5 ms and three times
    /// `margin`, to 365 days. Default: 30 s.
    pub fn lease(self, lease: Duration) -> Self {
        self.with("lease", lease)
    }

    /// How long the server keeps a record after it was last written: within this time a repeated operation gets its
    /// first result. Range: more than 0, to 365 days. Default: 24 h.
    pub fn retention(self, retention: Duration) -> Self {
        self.with("retention", retention)
    }

    /// What a claim gets that finds the lease of an earlier attempt over: the operation, which may then run twice; or a
    /// refusal. The first claim of an operation decides. Default: [`OnLeaseEnd::Retake`].
    pub fn on_lease_end(self, policy: OnLeaseEnd) -> Self {
        self.with("on_lease_end", policy.name())
    }

    /// Whether the client renews a claim after each third of its lease. Default: yes.
    pub fn renew(self, renew: bool) -> Self {
        self.with("renew", renew)
    }

    /// How much earlier than the lease a claim ends, besides 1 % for clock drift. Range: more than 0, to a third of
    /// `lease`. Default: 2 ms.
    pub fn margin(self, margin: Duration) -> Self {
        self.with("margin", margin)
    }

    /// The longest time between two requests of a claim that waits. Default: 100 ms.
    pub fn poll(self, poll: Duration) -> Self {
        self.with("poll", poll)
    }

    /// How long an answer of the server may take before the client repeats the request. Default: 5 s.
    pub fn answer_within(self, answer_within: Duration) -> Self {
        self.with("answer_within", answer_within)
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

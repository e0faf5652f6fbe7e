//! Written by `make options` from the core's table.

use core::time::Duration;

use super::IdempotencyOptions;
use crate::OnLeaseEnd;

impl IdempotencyOptions {
    /// Redis (`memory:` checks and ignores it): whether the client renews the lease after each
    /// third of it, until the release. Default: yes.
    pub fn renew(self, renew: bool) -> Self {
        self.with("renew", renew)
    }

    /// Redis (`memory:` checks and ignores it): the client ends a grant this much, plus 1 % of the
    /// lease, before the lease ends. Range: more than 0, to a third of the lease. Default: 2 ms.
    pub fn margin(self, margin: Duration) -> Self {
        self.with("margin", margin)
    }

    /// Redis (`memory:` checks and ignores it): the longest mean time between two requests of a
    /// waiter; each time is random, from half to one and a half of the mean. Range: more than 0, to
    /// 365 days. Default: 100 ms.
    pub fn poll(self, poll: Duration) -> Self {
        self.with("poll", poll)
    }

    /// How long a try waits for an answer of the server; on Redis, also the time after which the
    /// client repeats a request. Range: more than 0, to 365 days. Default: 5 s.
    pub fn answer_within(self, answer_within: Duration) -> Self {
        self.with("answer_within", answer_within)
    }

    /// Redis (`memory:` checks and ignores it): how long a claim lasts without a renewal. Range: at
    /// least 5 ms and three times `margin`, at most 365 days. Default: 30 s.
    pub fn lease(self, lease: Duration) -> Self {
        self.with("lease", lease)
    }

    /// How long the server keeps a record after it was last written: within this time a repeated
    /// operation gets its first result. Range: more than 0, to 365 days. Default: 24 h.
    pub fn retention(self, retention: Duration) -> Self {
        self.with("retention", retention)
    }

    /// What a claim gets after the lease of an earlier attempt has ended: the operation, which may
    /// then run twice; `in-progress`; or `indeterminate`. Range: `retake`, `block`,
    /// `indeterminate`. Default: retake.
    pub fn on_lease_end(self, on_lease_end: OnLeaseEnd) -> Self {
        self.with("on_lease_end", on_lease_end.name())
    }
}

//! Written by `make options` from the core's table.

use core::time::Duration;

use super::LockOptions;

impl LockOptions {
    /// Redis (`memory:` checks and ignores it): the lease: how long the server keeps the lock
    /// without a renewal. Range: at least 5 ms and three times `margin`, at most 365 days. Default:
    /// 10 s.
    pub fn ttl(self, ttl: Duration) -> Self {
        self.with("ttl", ttl)
    }

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

    /// The longest time that a grant lasts; then it is lost with `max-hold`. Range: more than 0, to
    /// 365 days. Default: none.
    pub fn max_hold(self, max_hold: Duration) -> Self {
        self.with("max_hold", max_hold)
    }

    /// How long a try waits for an answer of the server; on Redis, also the time after which the
    /// client repeats a request. Range: more than 0, to 365 days. Default: 5 s.
    pub fn answer_within(self, answer_within: Duration) -> Self {
        self.with("answer_within", answer_within)
    }

    /// ZooKeeper and `memory:`: text in the node, for people and other programs: a host's name, for
    /// example. Range: at most 1024 bytes. Default: none.
    pub fn identifier(self, identifier: impl Into<String>) -> Self {
        self.with("identifier", identifier.into())
    }

    /// ZooKeeper and `memory:`: whether a holder sees a revocation request at once, or only with
    /// the next confirmation of its session. Default: no.
    pub fn revocable(self, revocable: bool) -> Self {
        self.with("revocable", revocable)
    }

    /// Makes the lock re-entrant: each acquire of an owner on one client gets its own grant; the
    /// owner's grants have one fence and are lost together. Range: 1 to 1024 bytes. Default: none.
    pub fn owner(self, owner: impl Into<String>) -> Self {
        self.with("owner", owner.into())
    }

    /// ZooKeeper and `memory:`: whether waiters get the lock in order; `no` makes one node and no
    /// queue. Default: yes.
    pub fn fair(self, fair: bool) -> Self {
        self.with("fair", fair)
    }
}

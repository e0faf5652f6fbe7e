//! A session, as the leader and its client know it.

use alloc::{collections::VecDeque, string::String, vec::Vec};
use core::time::Duration;

use fencepost_core::Instant;

use super::{ask::Told, watches::Watch};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Session {
    /// The server it is connected to.
    pub(super) at: Option<usize>,
    pub(super) timeout: Duration,
    /// When the leader last learnt that it lives.
    pub(super) heard: Instant,
    /// Whether its server has heard it, and has not yet told the leader.
    pub(super) touched: bool,
    /// Whether its server has told the leader so, and the leader has not got that yet.
    pub(super) reported: bool,
    /// The last transaction that its client knows of.
    pub(super) seen: i64,
    /// The transaction that has ended it, until all servers have applied that.
    pub(super) ended: Option<i64>,
    /// What it has been told, and has not taken.
    pub(super) told: VecDeque<Told>,
    /// The watches that its client will set again, while it is not connected.
    pub(super) waiting: Vec<(String, Watch)>,
}

impl Session {
    pub(super) const fn new(at: usize, timeout: Duration, now: Instant) -> Self {
        Self {
            at: Some(at),
            timeout,
            heard: now,
            touched: false,
            reported: false,
            seen: 0,
            ended: None,
            told: VecDeque::new(),
            waiting: Vec::new(),
        }
    }

    /// Whether a server that has come so far knows that it is over.
    pub(super) fn is_over(&self, applied: i64) -> bool {
        self.ended.is_some_and(|ended| ended <= applied)
    }
}

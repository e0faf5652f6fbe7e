//! A session, as the leader and its client know it.

use alloc::{collections::VecDeque, string::String, vec::Vec};
use core::time::Duration;

use fencepost_core::{Instant, SessionId};

use super::{Server, ask::FiredWatch, watches::Watch};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Session {
    /// The server that the session is connected to.
    pub(super) at: Option<usize>,
    /// The timeout with which the session was created. The servers have stored it.
    pub(super) created: Duration,
    /// The timeout that the last connection has negotiated. The leader counts with it.
    pub(super) timeout: Duration,
    /// When the leader last received something from the session.
    pub(super) heard: Instant,
    /// Whether the session's server has received something from the session, and has not reported this to the leader
    /// yet.
    pub(super) touched: bool,
    /// Whether the server's report about the session is in flight to the leader.
    pub(super) reported: bool,
    /// The last transaction that the client has seen.
    pub(super) seen: i64,
    /// The transaction that ended the session. The model drops the session when all servers have applied this
    /// transaction.
    pub(super) ended: Option<i64>,
    /// The fired watches that the client has not taken.
    pub(super) fired: VecDeque<FiredWatch>,
    /// While the session is not connected: the watches that its client will set again.
    pub(super) waiting: Vec<(String, Watch)>,
}

impl Session {
    pub(super) const fn new(at: usize, timeout: Duration, now: Instant) -> Self {
        Self {
            at: Some(at),
            created: timeout,
            timeout,
            heard: now,
            touched: false,
            reported: false,
            seen: 0,
            ended: None,
            fired: VecDeque::new(),
            waiting: Vec::new(),
        }
    }

    /// Whether a server that has applied the transaction `applied` knows that the session has ended.
    pub(super) fn is_over(&self, applied: i64) -> bool {
        self.ended.is_some_and(|ended| ended <= applied)
    }
}

impl Server {
    /// The connection of a session has negotiated another timeout, because the servers' limits have changed.
    pub fn negotiate(&mut self, session: SessionId, timeout: Duration) {
        if let Some(known) = self.sessions.get_mut(&session) {
            known.timeout = timeout;
        }
    }
}

//! The proof that a session is still alive, and the reasons for it.
//!
//! A working connection to ZooKeeper does not prove that the session is alive. A follower without a connection to its
//! leader still answers reads and pings after the leader has ended the session. A deposed leader even answers `sync`,
//! until it detects the loss of its followers (after `syncLimit` ticks). So the client has to prove two moments, on one
//! connection: a moment from which the leader of this connection counts the session's time, and a moment at which no
//! other leader had been elected.
//!
//! The facts, from ZooKeeper's sources (3.3 to 3.10):
//!
//! - While a client's connection to a server lasts, the server follows the same leader: it closes all connections when
//!   it follows another leader (`Follower.shutdown`, `closeAllConnections`).
//! - A follower records every session from which it receives a packet (`touch`), and reports these records when it
//!   answers a ping of its leader (`Learner.ping`). The leader pings every half tick (`Leader.lead`), and restarts its
//!   count of a session's time at each report (`LearnerHandler`, PING). A request that the follower forwards does not
//!   restart the count (`submitLearnerRequest`).
//! - Pings, `sync` answers and commits come from the leader through one queue. Reports and requests go to the leader
//!   through one stream. Neither changes its order.
//! - When a session is created, or resumed on a new connection, the leader restarts its count (`trackSession`,
//!   `REVALIDATE`). Each restart of the count uses the timeout that the connection has negotiated.
//! - Only the leader answers `sync` (`Leader.processSync`). A `multi` is always a proposal, even if its parts are only
//!   checks. An error in a part does not change this: `PrepRequestProcessor` gives the request a header before it
//!   processes the parts. Three replies show that a `multi` was not proposed: throttled (-127), read-only server
//!   (-119), and request unknown to the server (-6). The first part checks the session before the path, so a reply
//!   NoNode or NoAuth shows that the session is alive.
//! - When a new leader starts, it gives every session its whole timeout again (`SessionTrackerImpl`): the timeout with
//!   which the session was created. No server stores the timeout of a later connection. A leader starts only with a
//!   quorum of servers that have left its predecessor (`waitForNewLeaderAck`). The end of a session is itself a
//!   proposal.
//!
//! Therefore:
//!
//! - **Counted.** The *first probe* is the probe whose time the later ones prove: when the follower answers it, the
//!   follower has recorded the session. The *second probe* starts when the leader must have sent a ping since then (a
//!   session's timeout is two ticks or more, so the client waits for a quarter of it). The reply to the second probe
//!   comes after that ping, so the follower has sent its report by then. The report may still be in flight, if packets
//!   are lost. The *confirming probe* starts after the reply to the second one, and reaches the leader after that
//!   report. Its reply proves that the leader counts from no earlier than the first probe's start. A `sync` is enough
//!   for this.
//! - **Led.** After the check's start, a quorum has acknowledged the check (a `multi` with one check). At least one
//!   member of that quorum also belongs to the quorum of any later leader, and had not left the present leader at that
//!   time. So a later leader starts, and counts, from no earlier than the check's start.
//! - **Proved**: the session lasts until the earlier of two ends, if both moments are from the same connection. If the
//!   present leader ends the session, it has counted the connection's timeout from the counted moment on. If a later
//!   leader ends it, that leader has counted the timeout of the session's creation from the check's start on. A deposed
//!   leader cannot end the session, and does not answer the check.
//! - **A reply may belong to another request.** A server matches a commit to a request by the session and the request's
//!   number. Some client libraries count from 1 again after a move. Then the server can answer the first check on the
//!   new connection with the commit of a request from before the move, which was proposed earlier than the check. So
//!   the first reply to a check on such a connection proves nothing, and a second check follows at once. Commits from
//!   before the move come in the order of their proposals, and before the first check's commit. To answer both checks,
//!   they would have to match both numbers. A reply with names of nodes is not a reply to a check. If a server matches
//!   the commit of a request other than a `multi` to a check, it fails to construct the reply.
//! - **After the creation of a session**: the leader and all later leaders have counted its time from no earlier than
//!   the attempt to connect.
//! - **After a reconnect in the same session**: the leader has restarted its count after the driver began to make the
//!   connection, and after the start of every probe that was answered before. If the new connection's timeout is
//!   shorter, the earlier proof also ends earlier, by the difference.
//!
//! Several probes at the same time prove no more than one: after a pause of the whole process, the session's server may
//! still answer all of them although the leader ends the session a moment later.
//!
//! The proof does not hold in three cases, which a client cannot detect: a timeout shorter than two ticks
//! (`minSessionTimeout` set lower, or another `tickTime` of the leader); an observer that follows another server than
//! the leader (`observerMasterPort`), because its reports take two pings; and a session that the program made, whose
//! timeout had become longer before the hub got its first notice. docs/how-to/operate-zookeeper.md documents this.

use core::time::Duration;

use crate::{Instant, lease};

use super::{Probe, Timeouts};

/// The present state of the proof for one session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Proof {
    /// No leader ends the session before this moment.
    valid_until: Option<Instant>,
    /// The leader of this connection counts the session's time from no earlier than this moment.
    counted: Option<Instant>,
    /// The start of the last check on this connection that a quorum has acknowledged.
    led: Option<Instant>,
    /// Whether the session has moved to this connection, and the server has not answered a check on it yet.
    moved: bool,
    /// An answered probe whose time later probes will prove.
    first: Option<FirstProbe>,
    /// The start of the last answered probe.
    latest: Option<Instant>,
}

/// An answered probe whose time is not proved yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct FirstProbe {
    start: Instant,
    answered: Instant,
    /// Whether the server has answered the second probe.
    seconded: bool,
}

/// The probes that have to follow a reply at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Follow {
    /// The confirming probe, because this was the reply to a second probe.
    pub(super) confirming: bool,
    /// Another check, because this reply may belong to another request.
    pub(super) check: bool,
}

impl Proof {
    /// The proof of a new session. `began`: when the driver began to connect for it, if the driver knows that moment.
    pub(super) fn made(began: Option<Instant>, timeout: Duration) -> Self {
        Self {
            valid_until: began.map(|began| valid_until(began, timeout)),
            counted: began,
            ..Self::default()
        }
    }

    /// The same session has another connection, and the driver began to make it at `began`.
    pub(super) fn moved(&mut self, began: Option<Instant>, before: Duration, negotiated: Duration) {
        self.moved = true;
        self.counted = self.latest.max(began);
        // The leader has restarted its count since the moment that was proved, with the new timeout.
        if let Some(shorter) = before.checked_sub(negotiated) {
            self.valid_until = self.valid_until.map(|until| until.minus(shorter));
        }
        self.led = None;
        self.first = None;
    }

    /// Whether the session has moved to this connection, and the server has not answered a check on it yet.
    pub(super) const fn has_moved(&self) -> bool {
        self.moved
    }

    /// Adds an answered probe to the proof.
    pub(super) fn answered(&mut self, now: Instant, probe: Probe, timeouts: Timeouts) -> Follow {
        let start = probe.start;
        self.latest = Some(start);
        let mut check = false;
        if probe.check && core::mem::take(&mut self.moved) {
            check = true;
        } else if probe.check {
            self.led = Some(start);
        }
        let confirming = self.placed(now, start, timeouts.negotiated);
        // Neither of the two proves anything alone.
        if let (Some(counted), Some(led)) = (self.counted, self.led) {
            let by_this_leader = valid_until(counted, timeouts.negotiated);
            let by_a_later_one = valid_until(led, timeouts.created);
            self.valid_until = self.valid_until.max(Some(by_this_leader.min(by_a_later_one)));
        }
        Follow { confirming, check }
    }

    /// Uses an answered probe as a first, second or confirming probe. Returns whether it was a second one.
    fn placed(&mut self, now: Instant, start: Instant, negotiated: Duration) -> bool {
        let fresh = FirstProbe {
            start,
            answered: now,
            seconded: false,
        };
        match &mut self.first {
            Some(confirmed) if confirmed.seconded => {
                self.counted = self.counted.max(Some(confirmed.start));
                self.first = Some(fresh);
            }
            Some(earlier) if start >= reported_by(earlier.answered, negotiated) => {
                earlier.seconded = true;
                return true;
            }
            Some(_) => {}
            None => self.first = Some(fresh),
        }
        false
    }

    /// Whether a check can prove something now. Before the first confirming probe it cannot.
    pub(super) fn needs_quorum(&self) -> bool {
        self.counted.is_some() || self.first.is_some_and(|first| first.seconded)
    }

    /// When to send the next probe. If the client could grant no lock until the usual time, it sends the probe as soon
    /// as the probe can prove something.
    pub(super) fn next(&self, start: Instant, timeouts: Timeouts) -> Instant {
        let (least, negotiated) = (timeouts.least(), timeouts.negotiated);
        let usual = lease::renew_at(start, least);
        match self.first {
            Some(first)
                if self.counted.is_none_or(|counted| {
                    valid_until(counted, negotiated) <= usual.plus(lease::least_left(least))
                }) =>
            {
                reported_by(first.answered, negotiated).min(usual)
            }
            _ => usual,
        }
    }

    /// Until when a grant is valid.
    pub(super) const fn valid_until(&self) -> Option<Instant> {
        self.valid_until
    }
}

fn valid_until(counted: Instant, timeout: Duration) -> Instant {
    lease::valid_until(counted, timeout, lease::DEFAULT_MARGIN)
}

/// When a leader must have pinged its followers since `heard`, by any clock: half a tick later. A timeout has at least
/// four half ticks, so a quarter of the timeout is enough.
fn reported_by(heard: Instant, timeout: Duration) -> Instant {
    lease::ended_by(
        heard,
        timeout.checked_div(4).unwrap_or(timeout),
        lease::DEFAULT_MARGIN,
    )
}

//! What is proved of a session's time, and why.
//!
//! ZooKeeper has no lease that a client can read off its connection. A follower that is cut off from its leader still
//! answers reads and pings after the leader has ended the session. A deposed leader even answers `sync`, until it
//! notices that its followers are missing (`syncLimit` ticks). So two things have to be proved, on one connection: the
//! leader behind it counts the session's time from some moment on, and no other leader had been elected at that moment.
//!
//! The facts, from ZooKeeper's sources (3.3 to 3.10):
//!
//! - A server follows one leader for as long as its connections last: it closes all of them when it follows another
//!   leader (`Follower.shutdown`, `closeAllConnections`).
//! - A follower records every session from which it receives a packet (`touch`), and reports these records when it
//!   answers a ping of its leader (`Learner.ping`). The leader pings every half tick (`Leader.lead`), and restarts its
//!   count of a session's time at each report (`LearnerHandler`, PING). A request that the follower forwards does not
//!   restart the count (`submitLearnerRequest`).
//! - Pings, `sync` answers and commits come from the leader through one queue. Reports and requests go to the leader
//!   through one stream. Neither changes its order.
//! - When a session is created, or resumed on a new connection, the leader restarts its count (`trackSession`,
//!   `REVALIDATE`). Each restart of the count takes the timeout that the connection has negotiated.
//! - Only the leader answers `sync` (`Leader.processSync`). A `multi` is always a proposal, even if its parts only
//!   check. An error in a part does not change this: `PrepRequestProcessor` gives the request a header before it looks
//!   at the parts. Three answers show that a `multi` was not proposed: throttled (-127), read-only server (-119), and
//!   request unknown to the server (-6). The first part checks the session before the path, so NoNode and NoAuth are
//!   answers to a session that is alive.
//! - A new leader gives every session its whole timeout again when it starts (`SessionTrackerImpl`): the one with which
//!   the session was created. No server stores the timeout of a later connection. A leader starts only behind a quorum
//!   that has left its predecessor (`waitForNewLeaderAck`). The end of a session is itself a proposal.
//!
//! Therefore:
//!
//! - **Counted.** The *first probe* is the one that the later ones prove: when it is answered, its follower has
//!   recorded the session. The *second probe* starts when the leader must have sent a ping since then (a session's
//!   timeout is two ticks or more, so a quarter of it is enough). Its answer comes behind that ping, so the follower
//!   has sent its report by then. The report may still be under way, if packets are lost. The *confirming probe* starts
//!   after the second one was answered, and goes to the leader behind that report. Its answer proves that the leader
//!   counts from no earlier than the first probe's start. A `sync` is enough for this.
//! - **Led.** A quorum has acknowledged a `multi` of one check after the check's start. At least one member of that
//!   quorum also belongs to the quorum of any later leader, and had not left its leader then. So a later leader starts,
//!   and counts, from no earlier than the check's start.
//! - **Proved** are the two moments, if both are of the same connection. The leader that ends the session has counted
//!   the connection's timeout from the first one on, or is a later leader, and has counted the session's own timeout
//!   from the second one on. So the session lasts until the earlier of the two ends. A deposed leader cannot end the
//!   session, and does not answer the check.
//! - **An answer may be another request's.** A server matches a commit to a request by the session and the request's
//!   number. Some client libraries count from 1 again after a move. Then the first check on the new connection can be
//!   answered by the commit of a request from before the move, which was proposed earlier than the check. So the first
//!   answer to a check on such a connection proves nothing, and a second check follows at once. Commits from before the
//!   move come in the order of their proposals, and before the first check's commit. To answer both checks, they would
//!   have to match both numbers. An answer that names nodes is no answer to a check. If a server matches the commit of
//!   a request other than a `multi` to a check, it fails to make the answer.
//! - **A session that was created**: the leader and all later leaders have counted its time from no earlier than the
//!   attempt to connect.
//! - **A connection that was made again**, in the same session: the leader has restarted its count after the driver
//!   began to make the connection, and after everything that was answered before. If the new connection's timeout is
//!   shorter, what was proved before may end with it.
//!
//! Several probes at once prove no more than one: after a pause of the whole process, the leader may be about to end a
//! session that still answers.
//!
//! The proof does not hold in three cases, which a client cannot detect: a timeout shorter than two ticks
//! (`minSessionTimeout` set lower, or another `tickTime` of the leader); an observer that follows another server than
//! the leader (`observerMasterPort`), because its reports take two pings; and a session of the program's own whose
//! timeout had grown before the hub learnt of it. docs/how-to/operate-zookeeper.md says so.

use core::time::Duration;

use crate::{Instant, lease};

use super::{Probe, Timeouts};

/// The proof of one session, as far as it has come.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Proof {
    /// No leader ends the session before this moment.
    valid_until: Option<Instant>,
    /// The leader behind this connection counts the session's time from no earlier than this moment.
    counted: Option<Instant>,
    /// The start of the last check on this connection that a quorum has acknowledged.
    led: Option<Instant>,
    /// Whether the session has moved to this connection, and no check has been answered on it yet.
    moved: bool,
    /// An answered probe that later ones will prove.
    first: Option<FirstProbe>,
    /// The start of the last answered probe.
    latest: Option<Instant>,
}

/// An answered probe that is to be proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct FirstProbe {
    start: Instant,
    answered: Instant,
    /// Whether the second probe has been answered.
    seconded: bool,
}

/// Which probe has to follow an answer at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Follow {
    /// The confirming probe, because this answer was that of a second probe.
    pub(super) confirming: bool,
    /// Another check, because this answer may have been another request's.
    pub(super) check: bool,
}

impl Proof {
    /// The proof of a new session. The attempt to connect for it began at `began`, if the driver knows.
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

    /// Whether the session has moved to this connection, and no check has been answered on it yet.
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

    /// Uses an answered probe as a first, second or confirming one. Returns whether it was a second one.
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

    /// Whether a check could prove anything now. Before the first confirming probe it cannot.
    pub(super) fn needs_quorum(&self) -> bool {
        self.counted.is_some() || self.first.is_some_and(|first| first.seconded)
    }

    /// When to send the next probe. If nothing could be granted until the usual time, the probe comes as soon as it
    /// proves something.
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
/// four half ticks.
fn reported_by(heard: Instant, timeout: Duration) -> Instant {
    lease::ended_by(
        heard,
        timeout.checked_div(4).unwrap_or(timeout),
        lease::DEFAULT_MARGIN,
    )
}

//! The session's keeper: one confirmation for all machines of a hub.
//!
//! ZooKeeper has no lease that a client can read off its connection. A follower that is cut off from its leader goes on
//! answering reads and pings after the leader has ended the session. A leader that has been deposed goes on answering `sync` too,
//! until it misses its followers (`syncLimit` ticks). So two things have to be proved, on one connection: that the leader behind it
//! counts the session's time from a moment on, and that no other leader had been elected at that moment.
//!
//! The facts, from ZooKeeper's sources (3.3 to 3.10):
//!
//! - A server follows one leader as long as its connections last: it closes all of them when it follows another one
//!   (`Follower.shutdown`, `closeAllConnections`).
//! - A follower notes every session that it hears (`touch`), and reports the notes in answer to a ping of its leader (`Learner.ping`). The
//!   leader pings every half tick (`Leader.lead`), and counts a session's time anew at each report (`LearnerHandler`, PING). A request that is
//!   passed on does not make it count anew (`submitLearnerRequest`).
//! - Pings, `sync` answers and commits come down one queue; reports and requests go up one stream. Neither changes its order.
//! - A session that is made, or found again by a new connection, is counted anew by the leader then (`trackSession`, `REVALIDATE`).
//! - `sync` is answered by the leader alone (`Leader.processSync`), and a `multi` is always a proposal, with parts that only check, too. An error
//!   of a part makes it no less: `PrepRequestProcessor` gives it a header before it looks at the parts. Not proposed are a throttled one (-127), and
//!   one at a read-only server (-119) or at a server that does not know it (-6). The first part looks at the session before it looks
//!   at the path, so NoNode and NoAuth are answers to a session that lives.
//! - A new leader gives every session its whole timeout again when it starts (`SessionTrackerImpl`), and it starts behind a quorum that has left
//!   its predecessor (`waitForNewLeaderAck`). The end of a session is itself a proposal.
//!
//! Therefore:
//!
//! - **Counted.** The *candidate* is the probe that will be proved: its follower has heard the session when it is answered. The *witness* starts
//!   when a ping must have been sent since then (a session's timeout is two ticks or more, so a quarter of it is enough). Its answer comes
//!   behind that ping, so the report has been sent by then, though it may be stuck on its way, where packets are lost. The *seal* starts after
//!   the witness was answered, and goes to the leader behind that report: its answer proves that the leader counts from no earlier than the
//!   candidate's start. For this a `sync` will do.
//! - **Led.** A `multi` of one check was acknowledged by a quorum after its start. Some member of it also belongs to the quorum of any later
//!   leader, and had not left then: so a later leader starts, and counts, from no earlier than the check's start.
//! - **Proved** is the earlier of the two, if both are of the same connection: whoever ends the session has counted its time from then on. A
//!   deposed leader cannot end it, and does not answer the check.
//! - **An answer may be another request's.** A server matches a commit to a request by the session and the request's number. Where a client
//!   library counts from 1 again after a move, the first check there can be answered by the commit of a request of before the move, which
//!   was proposed earlier than the check. So the first answer to a check on such a connection proves nothing, and a second check follows at once: such
//!   commits come in the order of their proposals, before that of the first check, and would have to match both numbers. A check that names
//!   nodes is none, and a server fails over the answer to a request that is no transaction.
//! - **A session that was made** has been counted from no earlier than the attempt to connect, by the leader and by those after it.
//! - **A connection that was made again**, in the same session, has had the leader count anew after the driver began to make it, and after
//!   everything that was answered before.
//!
//! The keeper sends a witness every third of the timeout, and the seal at once behind it, which is the next candidate. The first of them is a check
//! if the last one is a third of the timeout old and something is held or may soon be; the others are syncs. So a session costs at most one
//! proposal in a third of its timeout, and none at rest.
//!
//! A grant is valid until the latest time so proved + timeout − drift − margin. Confirmations in one breath prove nothing more
//! than one: after a pause of the whole process the leader may be about to end a session that answers.
//!
//! It does not hold where a timeout may be shorter than two ticks (`minSessionTimeout` set lower), or behind an observer that follows another server
//! than the leader (`observerMasterPort`), whose reports take two pings: a client cannot see either. docs/clients.md says so.

use core::time::Duration;

use alloc::{string::String, vec::Vec};

use crate::{
    CommandId, Event, Failure, Instant, Misuse, Outcome, Output, SessionId, Timer, jitter::Jitter, lease,
    outbox::Outbox,
};

use super::wire::{Answer, Notice, Reply, Request, SessionState, Write, code};

/// Keeps one session confirmed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Keeper {
    out: Outbox<Request>,
    jitter: Jitter,
    session: Option<(SessionId, Duration)>,
    connected: bool,
    /// The last word on the session, if nothing will come after it.
    ended: Option<Notice>,
    /// When the driver began to make a new session.
    began: Option<Instant>,
    /// Whoever ends the session has begun to count its time no earlier than here.
    proved: Option<Instant>,
    /// The leader behind this connection has begun to count no earlier than here.
    counted: Option<Instant>,
    /// The start of the last check on this connection that a quorum has acknowledged.
    led: Option<Instant>,
    /// Whether the session has moved to this connection, and no check has been answered on it.
    moved: bool,
    /// The start of the last check: the next one comes a third of the timeout later.
    checked: Option<Instant>,
    /// Whether something is held, or may soon be.
    wanted: bool,
    /// An answered confirmation that later ones will prove.
    candidate: Option<Candidate>,
    /// The start of the last answered confirmation.
    latest: Option<Instant>,
    under_way: Option<Probe>,
    /// Whether a further confirmation is wanted as soon as the one under way has been answered.
    again: bool,
    failures: u32,
}

/// A confirmation that has not been answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Probe {
    id: CommandId,
    start: Instant,
    /// Whether a quorum has to acknowledge it.
    check: bool,
}

/// An answered confirmation, on its way to be a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Candidate {
    start: Instant,
    answered: Instant,
    /// Whether its witness has been answered.
    witnessed: bool,
}

impl Keeper {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            out: Outbox::new(),
            jitter: Jitter::new(seed),
            session: None,
            connected: false,
            ended: None,
            began: None,
            proved: None,
            counted: None,
            led: None,
            moved: false,
            checked: None,
            wanted: false,
            candidate: None,
            latest: None,
            under_way: None,
            again: false,
            failures: 0,
        }
    }

    pub(crate) const fn next_id(&mut self) -> &mut u64 {
        self.out.next_id()
    }

    pub(crate) fn poll_output(&mut self) -> Output<Request, Event> {
        self.out.poll()
    }

    /// The session as a machine opened now has to see it, as notices.
    pub(crate) fn present(&self) -> [Option<Notice>; 2] {
        let state = if self.connected {
            SessionState::Connected
        } else {
            SessionState::Suspended
        };
        let seen = self.session.map(|(session, timeout)| Notice::Session {
            state,
            session,
            timeout,
        });
        [seen.or_else(|| self.ended.clone()), self.confirmed()]
    }

    /// Confirms now: somebody wants to know.
    pub(crate) fn confirm(&mut self, now: Instant) {
        if !self.connected {
            return;
        }
        if self.under_way.is_some() {
            self.again = true;
            return;
        }
        // Who may not read it, or has a root that is not there, gets an error that a quorum has acknowledged.
        let path = String::from("/");
        let check = self.check_is_due(now);
        let request = if check {
            self.checked = Some(now);
            Request::Multi {
                writes: Vec::from([Write::Check { path }]),
            }
        } else {
            Request::Sync { path }
        };
        let id = self.out.command(request, None);
        self.under_way = Some(Probe {
            id,
            start: now,
            check,
        });
        // An answer that does not come is none: real servers have been seen to owe one for ten seconds.
        self.out.set(Timer::Renew, lease::renew_at(now, self.timeout()));
    }

    /// Something is held or may soon be, or nothing any more.
    pub(crate) fn want(&mut self, now: Instant, wanted: bool) {
        self.wanted = wanted;
        if self.check_is_due(now) {
            self.confirm(now);
        }
    }

    fn check_is_due(&self, now: Instant) -> bool {
        let due = |last| lease::renew_at(last, self.timeout()) <= now;
        // Before the first seal there is nothing that it could prove.
        let useful = self.counted.is_some() || self.candidate.is_some_and(|candidate| candidate.witnessed);
        useful && self.wanted && self.checked.is_none_or(due)
    }

    fn timeout(&self) -> Duration {
        let negotiated = self.session.map(|(_, timeout)| timeout);
        negotiated.unwrap_or_default().max(LEAST)
    }

    /// Takes the outcome of a confirmation; gives what the machines have to know.
    pub(crate) fn handle_outcome(
        &mut self,
        now: Instant,
        id: CommandId,
        outcome: Outcome<Reply>,
    ) -> Result<Option<Notice>, Misuse> {
        let Some(probe) = self.under_way.take_if(|probe| probe.id == id) else {
            return Ok(None);
        };
        let Some((session, _)) = self.session else {
            return Ok(None);
        };
        let timeout = self.timeout();
        let mut misuse = Ok(None);
        let answered = match outcome {
            // The one under way was sent in this session, as no driver sends later what it was given before a session notice, and a session's
            // change forgets it. So this is the second line, against drivers that take one session for the other.
            Outcome::Reply(reply) if reply.session == session => match reply.answer {
                Answer::Done if !probe.check => true,
                // A check makes no nodes: that would be the answer to another transaction.
                Answer::Children(names) if probe.check => names.is_empty(),
                Answer::Error(code::NO_NODE | code::NO_AUTH) => probe.check,
                Answer::Error(_) => false,
                Answer::Done | Answer::Created { .. } | Answer::Children(_) | Answer::Data { .. } => {
                    let expected = if probe.check { "children" } else { "done" };
                    misuse = Err(Misuse::WrongReply { id: id.0, expected });
                    false
                }
            },
            Outcome::Reply(_) | Outcome::Failed(Failure::NotSent | Failure::Unknown | Failure::Closed) => {
                false
            }
        };
        if !answered {
            self.failures = self.failures.saturating_add(1);
            if probe.check {
                self.checked = None;
            }
            if self.connected {
                let wait = self.jitter.backoff(self.failures);
                self.out.set_after(Timer::Renew, now, wait);
            }
            return misuse;
        }
        self.failures = 0;
        let witness = self.answered(now, probe, timeout);
        if core::mem::take(&mut self.again) || witness {
            self.confirm(now);
        } else {
            self.out.set(Timer::Renew, self.next(probe.start, timeout));
        }
        // The seal, which comes at once, has more to say.
        Ok(self.confirmed().filter(|_| !witness))
    }

    /// Takes an answered confirmation into account; says whether it was a witness.
    fn answered(&mut self, now: Instant, probe: Probe, timeout: Duration) -> bool {
        let start = probe.start;
        self.latest = Some(start);
        if probe.check && core::mem::take(&mut self.moved) {
            self.checked = None;
            self.again = true;
        } else if probe.check {
            self.led = Some(start);
        }
        let witness = self.listed(now, start, timeout);
        // Nothing is proved by one of the two alone.
        if let (Some(counted), Some(led)) = (self.counted, self.led) {
            self.proved = self.proved.max(Some(counted.min(led)));
        }
        witness
    }

    /// Takes an answered confirmation for a candidate, a witness or a seal; says whether it was a witness.
    fn listed(&mut self, now: Instant, start: Instant, timeout: Duration) -> bool {
        let fresh = Candidate {
            start,
            answered: now,
            witnessed: false,
        };
        match &mut self.candidate {
            Some(sealed) if sealed.witnessed => {
                self.counted = self.counted.max(Some(sealed.start));
                self.candidate = Some(fresh);
            }
            Some(earlier) if start >= reported_by(earlier.answered, timeout) => {
                earlier.witnessed = true;
                return true;
            }
            Some(_) => {}
            None => self.candidate = Some(fresh),
        }
        false
    }

    /// When to confirm next: as soon as it proves something, if nobody could be granted anything until then.
    fn next(&self, start: Instant, timeout: Duration) -> Instant {
        let usual = lease::renew_at(start, timeout);
        match self.candidate {
            Some(candidate)
                if self.counted.is_none_or(|counted| {
                    valid_until(counted, timeout) <= usual.plus(lease::least_told(timeout))
                }) =>
            {
                reported_by(candidate.answered, timeout).min(usual)
            }
            _ => usual,
        }
    }

    /// Takes a notice of the session.
    pub(crate) fn handle_session(
        &mut self,
        now: Instant,
        state: SessionState,
        session: SessionId,
        timeout: Duration,
    ) {
        match state {
            SessionState::Connecting => {
                self.disconnected();
                self.began = Some(now);
            }
            SessionState::Connected => {
                let began = self.began.take();
                self.moved = self.session.is_some_and(|(known, _)| known == session);
                if self.moved {
                    self.counted = self.latest.max(began);
                    self.checked = None;
                } else {
                    self.proved = began;
                    self.counted = began;
                    self.checked = began;
                    self.latest = None;
                }
                self.led = None;
                self.candidate = None;
                self.session = Some((session, timeout));
                self.connected = true;
                self.ended = None;
                self.under_way = None;
                self.failures = 0;
                self.confirm(now);
            }
            SessionState::Suspended => self.disconnected(),
            SessionState::Expired | SessionState::AuthFailed | SessionState::Closed => {
                self.disconnected();
                self.session = None;
                self.ended = (state != SessionState::Expired).then_some(Notice::Session {
                    state,
                    session,
                    timeout,
                });
                self.proved = None;
                self.latest = None;
            }
        }
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        if self.out.expired(Timer::Renew, now) {
            self.under_way = None;
            self.confirm(now);
        }
    }

    fn disconnected(&mut self) {
        self.connected = false;
        self.under_way = None;
        self.again = false;
        self.out.stop_all();
        self.out.purge_commands();
    }

    /// Until when a grant is valid, as far as anything is proved.
    pub(crate) fn confirmed(&self) -> Option<Notice> {
        let (session, timeout) = self.session?;
        let valid_until = valid_until(self.proved?, timeout);
        Some(Notice::Confirmed { session, valid_until })
    }
}

/// A timeout that no server would agree to must not make a confirmation follow the other without a pause.
const LEAST: Duration = Duration::from_millis(30);

fn valid_until(proved: Instant, timeout: Duration) -> Instant {
    lease::valid_until(proved, timeout, lease::DEFAULT_MARGIN)
}

/// When a leader must have pinged its followers since `heard`, by any clock: half a tick, of which a timeout has four at least.
fn reported_by(heard: Instant, timeout: Duration) -> Instant {
    lease::ended_by(
        heard,
        timeout.checked_div(4).unwrap_or(timeout),
        lease::DEFAULT_MARGIN,
    )
}

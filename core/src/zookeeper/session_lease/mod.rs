//! The session lease: the hub sends a series of probes, and their replies prove the session for all machines of the
//! hub. [`proof`] explains why.
//!
//! There are first, second and confirming probes. The hub sends a second probe in every third of the timeout. Directly
//! after the reply it sends the confirming probe, which is also the next first probe. The second probe is a check if
//! the last check is a third of the timeout old and a machine holds a lock or may soon hold one. All other probes are
//! syncs. So a session costs at most one proposal in a third of its timeout, and none while no machine contends. A
//! grant is valid until the latest proved time + timeout − drift − margin.
//!
//! **Two timeouts.** A reconnect can negotiate another timeout, for example after a change of the servers' limits. The
//! leader of the present connection counts with the negotiated timeout. A later leader counts with the timeout with
//! which the session was created. So the shorter timeout determines all pauses.
//!
//! `states.rs` has the table of the states and transitions, which is the specification.
//!
//! **Servers that stop answering.** A server can stop answering without closing its connections: its machine has lost
//! power, or a firewall drops packets. When a probe has no reply after an eighth of the timeout, the hub requests from
//! the driver another connection in the same session. This saves the grant. At the probe's start the last proved moment
//! is two thirds of the timeout old, so a third remains, less drift and margin. An eighth passes before the probe is
//! overdue. A twelfth remains for one server that does not answer the handshake either
//! ([`handshake_timeout`](super::handshake_timeout)), and a tenth for the next server. On a new connection the leader
//! restarts its count at the attempt to connect, and two checks prove that it leads.
//!
//! The next probe without a reply gets twice the time. For the third one the hub requests no connection, because this
//! would give a busy server even more work. A reply within an eighth resets this count, except the first reply to a
//! check after a move to another connection. If every reply reset it, the hub would reconnect again and again, and no
//! acquire would end, in two cases (both measured): the server needs longer than an eighth for each reply; or it
//! answers the first check at once, and the second one only after it has sent the lists of thousands of waiters. If the
//! leader itself stops answering, the grant is lost in spite of a reconnect: the leader's followers answer no probe
//! until they have elected another leader, which takes them `syncLimit` ticks.

mod proof;
#[cfg(feature = "states")]
mod states;

use core::time::Duration;

use alloc::string::String;

use crate::{
    CommandId, Event, Failure, Instant, Misuse, Outcome, Output, SessionId, Timer, jitter::Jitter, lease,
    outbox::Outbox,
};

use super::{
    quorum,
    wire::{Answer, Notice, Reply, Request, SessionState},
};
use proof::{Follow, Proof};

/// Proves one session, again and again.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SessionLease {
    out: Outbox<Request>,
    jitter: Jitter,
    session: Option<(SessionId, Timeouts)>,
    connected: bool,
    /// The last notice of the session, if no notice follows it.
    ended: Option<Notice>,
    /// When the driver began to make a new session.
    began: Option<Instant>,
    proof: Proof,
    /// The start of the last check: the next check comes a third of the timeout later.
    checked: Option<Instant>,
    /// Whether a machine holds a lock, or may soon hold one.
    wanted: bool,
    under_way: Option<Probe>,
    /// Whether another probe has to follow as soon as the server has answered the probe in flight.
    again: bool,
    failures: u32,
    #[cfg(feature = "states")]
    trail: crate::states::Trail<states::State>,
    /// How many probes were overdue since a reply last reset this number: see [`answered`](Self::answered).
    overdue: u32,
}

/// The timeouts of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Timeouts {
    /// The timeout of the session's creation. A new leader counts with it. If the program made the session, it is the
    /// first timeout that the hub knows.
    created: Duration,
    /// The timeout of the present connection. The connection's leader counts with it.
    negotiated: Duration,
}

impl Timeouts {
    const fn new(timeout: Duration) -> Self {
        Self {
            created: timeout,
            negotiated: timeout,
        }
    }

    fn least(self) -> Duration {
        self.created.min(self.negotiated)
    }
}

/// A probe in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Probe {
    id: CommandId,
    start: Instant,
    /// Whether a quorum has to acknowledge the probe.
    check: bool,
}

impl SessionLease {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            out: Outbox::new(),
            jitter: Jitter::new(seed),
            session: None,
            connected: false,
            ended: None,
            began: None,
            proof: Proof::default(),
            checked: None,
            wanted: false,
            under_way: None,
            again: false,
            failures: 0,
            #[cfg(feature = "states")]
            trail: crate::states::Trail::NEW,
            overdue: 0,
        }
    }

    pub(crate) const fn next_id(&mut self) -> &mut u64 {
        self.out.next_id()
    }

    pub(crate) fn poll_output(&mut self) -> Output<Request, Event> {
        self.out.poll()
    }

    /// The notices that report the session's present state to a new machine. If the session has just moved to this
    /// connection, they also report the move, because a reply may belong to a request from before it.
    pub(crate) fn present(&self) -> [Option<Notice>; 3] {
        let seen = |state| {
            self.session.map(|(session, timeouts)| Notice::Session {
                state,
                session,
                timeout: timeouts.least(),
            })
        };
        let present = if self.connected {
            SessionState::Connected
        } else {
            SessionState::Suspended
        };
        let before = (self.connected && self.proof.has_moved()).then(|| seen(SessionState::Suspended));
        [
            before.flatten(),
            seen(present).or_else(|| self.ended.clone()),
            self.confirmed(),
        ]
    }

    /// Sends a probe now, or directly after the reply to the probe in flight.
    pub(crate) fn confirm(&mut self, now: Instant) {
        if !self.connected {
            return;
        }
        if self.under_way.is_some() {
            self.again = true;
            return;
        }
        let check = self.check_is_due(now);
        let request = if check {
            self.checked = Some(now);
            quorum::check()
        } else {
            let path = String::from("/");
            Request::Sync { path }
        };
        let id = self.out.command(request, None);
        self.under_way = Some(Probe {
            id,
            start: now,
            check,
        });
        let overdue = self.overdue_at(now, self.overdue);
        self.out
            .set(Timer::Renew, overdue.min(lease::renew_at(now, self.timeout())));
    }

    /// Stores whether a machine holds a lock, or may soon hold one.
    pub(crate) fn want(&mut self, now: Instant, wanted: bool) {
        self.wanted = wanted;
        if self.check_is_due(now) {
            self.confirm(now);
        }
    }

    fn check_is_due(&self, now: Instant) -> bool {
        let due = |last| lease::renew_at(last, self.timeout()) <= now;
        self.proof.needs_quorum() && self.wanted && self.checked.is_none_or(due)
    }

    fn timeout(&self) -> Duration {
        let least = self.session.map(|(_, timeouts)| timeouts.least());
        least.unwrap_or(LEAST)
    }

    /// When a probe that was sent at `start` is overdue, if `before` earlier probes in a row were overdue.
    fn overdue_at(&self, start: Instant, before: u32) -> Instant {
        let first = self.timeout().checked_div(OVERDUE_PARTS).unwrap_or_default();
        start.plus(first.saturating_mul(before.saturating_add(1)))
    }

    /// Handles the outcome of a probe. Returns the notice for the machines, if there is one.
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
        let mut misuse = Ok(None);
        let answered = match outcome {
            // The driver sent this probe in the present session: no driver sends a command in a later session than the
            // one in which it got the command, and the hub forgets the probe when the session changes. So this
            // comparison is a second safeguard, against drivers that confuse two sessions.
            Outcome::Reply(reply) if reply.session == session => match reply.answer {
                Answer::Done if !probe.check => true,
                answer @ (Answer::Children(_) | Answer::Error(_)) if probe.check => {
                    quorum::is_acknowledged(&answer)
                }
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
        if answered {
            return Ok(self.answered(now, probe));
        }
        self.failures = self.failures.saturating_add(1);
        if probe.check {
            self.checked = None;
        }
        if self.connected {
            let wait = self.jitter.backoff(self.failures);
            self.out.set_after(Timer::Renew, now, wait);
        }
        misuse
    }

    fn answered(&mut self, now: Instant, probe: Probe) -> Option<Notice> {
        let (_, timeouts) = self.session?;
        self.failures = 0;
        let Follow { confirming, check } = self.proof.answered(now, probe, timeouts);
        if check {
            self.checked = None;
        } else if now < self.overdue_at(probe.start, 0) {
            self.overdue = 0;
        }
        if core::mem::take(&mut self.again) || check || confirming {
            self.confirm(now);
        } else {
            self.out.set(Timer::Renew, self.proof.next(probe.start, timeouts));
        }
        // The confirming probe follows at once, and its reply proves more.
        self.confirmed().filter(|_| !confirming)
    }

    /// Handles a notice of the session. Returns the timeout for the machines: no leader ends the session before this
    /// time.
    pub(crate) fn handle_session(
        &mut self,
        now: Instant,
        state: SessionState,
        session: SessionId,
        timeout: Duration,
    ) -> Duration {
        match state {
            SessionState::Connecting => {
                self.disconnected();
                self.ended = None;
                self.began = Some(now);
            }
            SessionState::Connected => {
                let began = self.began.take();
                let negotiated = timeout.max(LEAST);
                let known = self.session.filter(|(known, _)| *known == session);
                let timeouts = if let Some((_, before)) = known {
                    let created = before.created;
                    self.proof.moved(began, before.negotiated, negotiated);
                    self.checked = None;
                    Timeouts { created, negotiated }
                } else {
                    self.proof = Proof::made(began, negotiated);
                    self.checked = began;
                    Timeouts::new(negotiated)
                };
                self.session = Some((session, timeouts));
                self.connected = true;
                self.ended = None;
                self.under_way = None;
                self.failures = 0;
                self.confirm(now);
                return timeouts.least();
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
                self.proof = Proof::default();
            }
        }
        timeout
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        if !self.out.expired(Timer::Renew, now) {
            return;
        }
        match self.under_way {
            Some(Probe { start, .. }) if now < lease::renew_at(start, self.timeout()) => {
                self.out.command(Request::Reconnect, None);
                self.overdue = self.overdue.saturating_add(1);
                self.out.set(Timer::Renew, lease::renew_at(start, self.timeout()));
            }
            // The driver cannot make another connection if the program made this one. So the hub sends another probe.
            // (Real servers have taken ten seconds for a reply.)
            _ => {
                self.under_way = None;
                self.confirm(now);
            }
        }
    }

    /// Records the state after an input.
    pub(super) fn record(&mut self) {
        #[cfg(feature = "states")]
        self.trail.follow(&self.state());
    }

    fn disconnected(&mut self) {
        self.connected = false;
        self.under_way = None;
        self.again = false;
        self.out.stop_all();
        self.out.purge_commands();
    }

    /// The notice of the end of a grant's validity. `None` while nothing is proved.
    pub(crate) fn confirmed(&self) -> Option<Notice> {
        let (session, _) = self.session?;
        let valid_until = self.proof.valid_until()?;
        Some(Notice::Confirmed { session, valid_until })
    }
}

/// The shortest timeout with which the hub calculates. With a shorter one, to which no server would agree, the hub
/// would send probes without a pause.
const LEAST: Duration = Duration::from_millis(30);

/// A probe is overdue after this part of the timeout.
const OVERDUE_PARTS: u32 = 8;

//! The session's keeper: one confirmation for all machines of a hub.
//!
//! ZooKeeper has no lease that a client can read off its connection: a follower cut off from its leader goes on answering
//! reads and pings after the leader has expired the session. Only what has been through the leader proves anything.
//!
//! - **A session that was made** has been counted by the leader from then on, so from no earlier than the attempt to connect.
//! - **A `sync` that was answered** proves that the session lives, but not that its time has started anew: the leader learns of a session's
//!   life from what its follower reports, in answer to the pings that the leader sends it every half tick. So it takes three. The
//!   *candidate* is the one that will be proved: its follower has heard the session when it is answered. The *witness* starts when
//!   a ping must have been sent since then (a session's timeout is two ticks or more, so a quarter of it is enough): its answer comes behind that ping,
//!   so the report has been sent by then, though it may be stuck on its way, where packets are lost. The *seal* starts after the
//!   witness was answered, and goes to the leader behind that report: its answer proves that the leader has it. The keeper sends a witness
//!   every third of the timeout, and the seal at once behind it, which is the next candidate.
//! - **A connection that was made again**, in the same session, has had the leader count anew after everything that was answered before.
//!
//! A grant is valid until the latest time so proved + timeout − drift − margin. Confirmations in one breath prove nothing more
//! than one: after a pause of the whole process the leader may be about to end a session that answers.

use core::time::Duration;

use alloc::string::String;

use crate::{
    CommandId, Event, Failure, Instant, Misuse, Outcome, Output, SessionId, Timer, jitter::Jitter, lease,
    outbox::Outbox,
};

use super::wire::{Answer, Notice, Reply, Request, SessionState};

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
    /// The leader has begun to count the session's time no earlier than here.
    proved: Option<Instant>,
    /// An answered confirmation that later ones will prove.
    candidate: Option<Candidate>,
    /// The start of the last answered confirmation.
    latest: Option<Instant>,
    under_way: Option<(CommandId, Instant)>,
    /// Whether a further confirmation is wanted as soon as the one under way has been answered.
    again: bool,
    failures: u32,
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
        let id = self.out.command(
            Request::Sync {
                path: String::from("/"),
            },
            None,
        );
        self.under_way = Some((id, now));
        // An answer that does not come is none: real servers have been seen to owe one for ten seconds.
        let timeout = self
            .session
            .map_or(Duration::ZERO, |(_, timeout)| timeout.max(LEAST));
        self.out.set(Timer::Renew, lease::renew_at(now, timeout));
    }

    /// Takes the outcome of a confirmation; gives what the machines have to know.
    pub(crate) fn handle_outcome(
        &mut self,
        now: Instant,
        id: CommandId,
        outcome: Outcome<Reply>,
    ) -> Result<Option<Notice>, Misuse> {
        let Some((_, start)) = self.under_way.take_if(|(waiting, _)| *waiting == id) else {
            return Ok(None);
        };
        let Some((session, timeout)) = self.session else {
            return Ok(None);
        };
        let timeout = timeout.max(LEAST);
        let mut misuse = Ok(None);
        let answered = match outcome {
            // The one under way was sent in this session, as no driver sends later what it was given before a session notice, and a session's
            // change forgets it. So this is the second line, against drivers that take one session for the other.
            Outcome::Reply(reply) if reply.session == session => match reply.answer {
                Answer::Done => true,
                Answer::Error(_) => false,
                Answer::Created { .. } | Answer::Children(_) | Answer::Data { .. } => {
                    misuse = Err(Misuse::WrongReply {
                        id: id.0,
                        expected: "done",
                    });
                    false
                }
            },
            Outcome::Reply(_) | Outcome::Failed(Failure::NotSent | Failure::Unknown | Failure::Closed) => {
                false
            }
        };
        if !answered {
            self.failures = self.failures.saturating_add(1);
            if self.connected {
                let wait = self.jitter.backoff(self.failures);
                self.out.set_after(Timer::Renew, now, wait);
            }
            return misuse;
        }
        self.failures = 0;
        let witness = self.answered(now, start, timeout);
        if core::mem::take(&mut self.again) || witness {
            self.confirm(now);
        } else {
            self.out.set(Timer::Renew, self.next(start, timeout));
        }
        // The seal, which comes at once, has more to say.
        Ok(self.confirmed().filter(|_| !witness))
    }

    /// Takes an answered confirmation into account; says whether it was a witness.
    fn answered(&mut self, now: Instant, start: Instant, timeout: Duration) -> bool {
        self.latest = Some(start);
        let fresh = Candidate {
            start,
            answered: now,
            witnessed: false,
        };
        match &mut self.candidate {
            Some(sealed) if sealed.witnessed => {
                self.proved = self.proved.max(Some(sealed.start));
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
                if self.proved.is_none_or(|proved| {
                    valid_until(proved, timeout) <= usual.plus(lease::least_told(timeout))
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
                if self.session.is_some_and(|(known, _)| known == session) {
                    self.proved = self.proved.max(self.latest);
                } else {
                    self.proved = began;
                    self.latest = None;
                }
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

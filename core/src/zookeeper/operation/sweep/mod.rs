//! A machine that deletes the nodes of a scope that no request needs any more: freed records, records past their
//! retention, tokens past their life, and old records of updates' ids. On Redis, the server expires all of them without
//! a sweep.
//!
//! ```text
//!        acquire                                bucket        some may go
//!   Idle ───────▶ Timing ───────▶ Listing ───────────▶ Reading ─────────▶ Deleting
//!     ▲                           │    ▲                 │ ▲                │  │
//!     └─── swept: no bucket left ─┘    └── bucket done ──┴─│────────────────┘  │
//!                                                          └───── more ────────┘
//! ```
//!
//! - **The sweep knows a lower bound of the server's time**, from one write at the start. So a record that seems to be
//!   past its retention is also past it by the server's clock.
//! - **A delete checks the versions of the node and of its bucket**, which the sweep has read before. So it deletes
//!   only the node that the sweep has read, and no later node with the same version. It changes the bucket, as every
//!   delete does.
//! - **If the process of a claim was killed, the retention of its record starts again.** The last write of such a
//!   record was the claim, and the lease may have lasted longer than the retention. The next claim of such a record is
//!   blocked or takes over the operation, so a sweep must not delete the record too early. Instead, the first sweep
//!   after the retention writes the record, as a leave does. A later sweep deletes it.
//! - **A record with a child stays**: the child may be a lease. Values stay, and records that cannot be parsed stay,
//!   too.
//! - **One transaction deletes several nodes.** After a conflict, the sweep reads and deletes each of them alone, once.
//!   A node with another conflict stays: it is in use, or another sweep deletes it.
//!
//! If a request gets no reply, the machine reads again. It has nothing to clean up, and any number of sweeps may run at
//! the same time.

mod answers;
mod flight;
#[cfg(feature = "states")]
mod states;
mod walk;

use core::time::Duration;

use crate::{
    AcquireTimeout, Cause, CommandId, Event, Instant, Intent, Machine, Misuse, Outcome, Output, Refusal,
    Timer, intent::OfOneRequest, io::sealed, jitter::Jitter, outbox::Outbox, states::Trail,
};

use super::{
    super::{
        session::{Session, SessionChange},
        setback::Setback,
        wire::{Notice, Reply, Request},
    },
    flight::Written,
    settings::SweepSettings,
};
use answers::Answers;
use flight::Flight;
use walk::Walk;

/// A machine that deletes the nodes of a scope that no request needs any more.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sweep {
    settings: SweepSettings,
    out: Outbox<Request>,
    jitter: Jitter,
    session: Session,
    phase: Phase,
    trail: Trail<Phase>,
    walk: Walk,
    flight: Option<Flight>,
    /// How long one step of a nonblocking sweep may take.
    answer_within: Option<Duration>,
    /// The last failure of a command. The machine reports it with the refusal that it causes.
    trouble: Cause,
    /// How many retries in a row have failed.
    failures: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Phase {
    Idle,
    Timing,
    Listing,
    Reading,
    Deleting,
}

impl Sweep {
    pub(in crate::zookeeper) fn new(settings: SweepSettings, seed: u64) -> Self {
        Self {
            settings,
            out: Outbox::new(),
            jitter: Jitter::new(seed),
            session: Session::UNKNOWN,
            phase: Phase::Idle,
            trail: Trail::NEW,
            walk: Walk::default(),
            flight: None,
            answer_within: None,
            trouble: Cause::none(),
            failures: 0,
        }
    }

    /// Handles an intent of the application: acquire begins the sweep, cancel ends it.
    ///
    /// # Errors
    /// [`Misuse`] for an intent that the present state does not allow. The call then changes nothing.
    pub fn intent(&mut self, now: Instant, intent: Intent) -> Result<(), Misuse> {
        match intent.of_one_request(self.is_idle())? {
            OfOneRequest::Begin(acquire_timeout) => self.begin(now, acquire_timeout),
            OfOneRequest::Cancel => self.refuse(Refusal::Cancelled, Cause::none()),
        }
        Ok(())
    }

    /// Whether no sweep is in progress.
    #[must_use]
    pub const fn is_idle(&self) -> bool {
        matches!(self.phase, Phase::Idle)
    }

    pub(crate) const fn outbox(&mut self) -> &mut Outbox<Request> {
        &mut self.out
    }

    /// Every change of the phase is one of the transitions in `states.rs`.
    fn go_to(&mut self, phase: Phase) {
        self.trail.follow(&phase);
        self.phase = phase;
    }

    fn begin(&mut self, now: Instant, acquire_timeout: AcquireTimeout) {
        let within = self.settings.answer_within;
        self.answer_within = (acquire_timeout == AcquireTimeout::Try).then_some(within);
        self.failures = 0;
        self.trouble = Cause::none();
        self.out.set_acquire_timeout(now, acquire_timeout, within);
        self.walk = Walk::new(&self.settings.directory);
        self.go_to(Phase::Timing);
        match self.session.ended {
            Some(reason) => self.refuse(reason, Cause::none()),
            None => self.go(),
        }
    }

    /// Sends the next requests, if none are in flight.
    fn go(&mut self) {
        if self.flight.is_some() || !self.session.connected {
            return;
        }
        let send = match self.phase {
            Phase::Timing => Flight::time,
            Phase::Listing => Flight::list,
            Phase::Reading => Flight::read,
            // The machine sends a delete at once when it enters that phase.
            Phase::Idle | Phase::Deleting => return,
        };
        self.flight = Some(send(&self.walk, &mut self.out));
    }

    fn answered(&mut self, now: Instant, id: CommandId, mut answers: Answers) {
        self.flight = None;
        match core::mem::take(&mut answers.setback) {
            Setback::None => {}
            Setback::Final(reason, cause) => return self.refuse(reason, cause),
            Setback::Retry | Setback::NoDirectory => return self.retry(now, id),
        }
        match self.phase {
            Phase::Idle => {}
            Phase::Timing => match answers.time {
                Some(time) => {
                    self.walk.now = time;
                    self.go_on(now, Phase::Listing);
                }
                None => self.finish(),
            },
            Phase::Listing => {
                self.walk.listed(answers.names);
                self.next(now);
            }
            Phase::Reading => {
                let writes = self.walk.deletes(&mut answers);
                if writes.is_empty() {
                    return self.next(now);
                }
                self.go_on(now, Phase::Deleting);
                self.flight = Some(Flight::delete(writes, &mut self.out));
            }
            Phase::Deleting => self.deleted(now, id, answers.written),
        }
    }

    fn deleted(&mut self, now: Instant, id: CommandId, written: Option<Written>) {
        match written {
            // The reply may belong to a request from before the move: see the session lease.
            Some(Written::Yes) if self.session.moved => {
                self.walk.doubt();
                self.go_on(now, Phase::Reading);
            }
            Some(Written::Yes) => {
                self.walk.done();
                self.next(now);
            }
            Some(Written::Conflict { .. }) => {
                self.walk.conflict();
                self.next(now);
            }
            Some(Written::No(Setback::Final(reason, cause))) => self.refuse(reason, cause),
            Some(Written::No(_)) => {
                self.go_to(Phase::Reading);
                self.retry(now, id);
            }
            Some(Written::Unknown) | None => {
                self.walk.doubt();
                self.go_to(Phase::Reading);
                self.retry(now, id);
            }
        }
    }

    /// A step is done. The next step reads more of this bucket, or lists the next bucket.
    fn next(&mut self, now: Instant) {
        if self.walk.next_batch() {
            self.go_on(now, Phase::Reading);
        } else if self.walk.next_bucket() {
            self.go_on(now, Phase::Listing);
        } else {
            self.finish();
        }
    }

    fn go_on(&mut self, now: Instant, phase: Phase) {
        self.failures = 0;
        if let Some(answer_within) = self.answer_within {
            self.out.set_after(Timer::AcquireTimeout, now, answer_within);
        }
        self.go_to(phase);
        self.go();
    }

    fn retry(&mut self, now: Instant, id: CommandId) {
        self.trouble = Cause::command(id);
        if self.session.connected {
            let wait = self.jitter.backoff(self.failures);
            self.out.set_after(Timer::Retry, now, wait);
        }
        self.failures = self.failures.saturating_add(1);
    }

    fn refuse(&mut self, reason: Refusal, cause: Cause) {
        self.end(Event::Refused { reason, cause });
    }

    fn finish(&mut self) {
        let deleted = self.walk.deleted;
        self.end(Event::Swept { deleted });
    }

    fn end(&mut self, event: Event) {
        self.out.event(event);
        self.out.stop_all();
        self.flight = None;
        self.walk = Walk::default();
        self.go_to(Phase::Idle);
    }

    fn session_changed(&mut self, change: SessionChange) {
        match change {
            SessionChange::None => {}
            SessionChange::Connected { is_new } => {
                if is_new {
                    self.session_over();
                }
                self.failures = 0;
                self.go();
            }
            SessionChange::Suspended => {
                self.out.stop(Timer::Retry);
                self.forget_flight();
            }
            SessionChange::Over => self.session_over(),
            SessionChange::Ended(reason) => {
                self.session_over();
                if !self.is_idle() {
                    self.refuse(reason, Cause::none());
                }
            }
        }
    }

    /// Ignores the replies to all requests in flight. The server may still execute a delete later. That is safe,
    /// because a delete checks versions.
    fn forget_flight(&mut self) {
        self.flight = None;
        if self.phase == Phase::Deleting {
            self.walk.doubt();
            self.go_to(Phase::Reading);
        }
    }

    /// The session has ended, so no reply to requests in flight can arrive any more.
    fn session_over(&mut self) {
        self.out.purge_commands();
        self.forget_flight();
    }
}

impl sealed::Sealed for Sweep {}

impl Machine for Sweep {
    type Request = Request;
    type Reply = Reply;
    type Notice = Notice;
    type Event = Event;

    fn handle_outcome(&mut self, now: Instant, id: CommandId, outcome: Outcome<Reply>) -> Result<(), Misuse> {
        let Some(flight) = &mut self.flight else {
            return Ok(());
        };
        let Some(expected) = flight.expects(id) else {
            return Ok(());
        };
        let (result, verdict) = self.session.read(id, outcome, expected);
        if let Some(answers) = flight.answered(id, result) {
            self.answered(now, id, answers);
        }
        verdict
    }

    /// Handles notices of the session. The machine sets no watches.
    fn handle_notice(&mut self, _now: Instant, notice: Notice) -> Result<(), Misuse> {
        if let Notice::Session {
            state,
            session,
            timeout,
        } = notice
        {
            let change = self.session.change(state, session, timeout);
            self.session_changed(change);
        }
        Ok(())
    }

    fn handle_timeout(&mut self, now: Instant) {
        if self.out.expired(Timer::AcquireTimeout, now) && !self.is_idle() {
            let trouble = core::mem::take(&mut self.trouble);
            self.refuse(Refusal::Unreachable, trouble);
        }
        if self.out.expired(Timer::Retry, now) {
            self.go();
        }
    }

    fn poll_output(&mut self) -> Output<Request, Event> {
        self.out.poll()
    }
}

//! A machine that makes one request about an operation or a value: issue, register, update, look, settle, forget.
//!
//! ```text
//!        acquire            answer, refusal
//!   Idle ───────────▶ Asking ──────────────────▶ Idle
//! ```
//!
//! After a write without a reply, the machine reads the record, so a repeated request finds its own effect. The machine
//! never gets a grant, and has nothing to clean up.

#[cfg(feature = "states")]
mod states;

use alloc::boxed::Box;

use crate::{
    AttemptId, Cause, CommandId, ContenderId, Event, Instant, Intent, Machine, Misuse, Outcome, Output,
    Refusal, Timer,
    claim::{self, outcome},
    intent::OfOneRequest,
    io::sealed,
    jitter::Jitter,
    outbox::Outbox,
    states::Trail,
};

use super::{
    super::{
        session::{Session, SessionChange},
        wire::{Notice, Reply, Request},
    },
    exchange::{Exchange, Progress, Wire},
    settings::StepSettings,
    stored,
};

/// A machine that makes one request about an operation or a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SingleStep {
    settings: StepSettings,
    out: Outbox<Request>,
    jitter: Jitter,
    attempt: AttemptId,
    session: Session,
    phase: Phase,
    trail: Trail<Phase>,
    /// The last failure of a command. The machine reports it with the refusal that it causes.
    trouble: Cause,
    /// How many retries in a row have failed.
    failures: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Phase {
    Idle,
    Asking(Box<Exchange>),
}

impl SingleStep {
    pub(in crate::zookeeper) const fn new(settings: StepSettings, contender: ContenderId, seed: u64) -> Self {
        Self {
            settings,
            out: Outbox::new(),
            jitter: Jitter::new(seed),
            attempt: AttemptId { contender, number: 0 },
            session: Session::UNKNOWN,
            phase: Phase::Idle,
            trail: Trail::NEW,
            trouble: Cause::none(),
            failures: 0,
        }
    }

    /// Handles an intent of the application: acquire begins the request, cancel ends it.
    ///
    /// # Errors
    /// [`Misuse`] for an intent that the present state does not allow. The call then changes nothing.
    pub fn intent(&mut self, now: Instant, intent: Intent) -> Result<(), Misuse> {
        match intent.of_one_request(self.is_idle())? {
            OfOneRequest::Begin(acquire_timeout) => {
                self.attempt.number = self.attempt.number.saturating_add(1);
                self.failures = 0;
                self.trouble = Cause::none();
                self.out
                    .set_acquire_timeout(now, acquire_timeout, self.settings.answer_within);
                self.begin(now);
            }
            OfOneRequest::Cancel => self.refuse(Refusal::Cancelled, Cause::none()),
        }
        Ok(())
    }

    /// Whether no request is in progress.
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

    fn begin(&mut self, now: Instant) {
        let request = claim::Request {
            attempt: self.attempt,
            step: self.settings.step.clone(),
        };
        let known = Exchange::assumed(&request);
        self.go_to(Phase::Asking(Box::new(Exchange::new(request, known, false))));
        match self.session.ended {
            Some(reason) => self.refuse(reason, Cause::none()),
            None => self.go(now),
        }
    }

    fn go(&mut self, now: Instant) {
        if let Phase::Asking(exchange) = &mut self.phase {
            let progress = exchange.go(&mut Wire {
                paths: &self.settings.paths,
                session: &self.session,
                out: &mut self.out,
            });
            self.advance(now, progress);
        }
    }

    fn advance(&mut self, now: Instant, progress: Progress) {
        match progress {
            Progress::Pending => {}
            Progress::Retry(trouble) => {
                self.trouble = trouble;
                if self.session.connected {
                    let wait = self.jitter.backoff(self.failures);
                    self.out.set_after(Timer::Retry, now, wait);
                }
                self.failures = self.failures.saturating_add(1);
            }
            Progress::Answered(answer) => match outcome::of_step(answer, &self.settings.step, self.attempt) {
                Ok(mut event) => {
                    if let Event::Looked { record: Some(record) } = &mut event {
                        stored::hide_lease_end(record);
                    }
                    self.finish(event);
                }
                Err((reason, cause)) => self.refuse(reason, cause),
            },
            Progress::Refused(reason, cause) => self.refuse(reason, cause),
            // Not possible: a single step does not claim.
            Progress::Claimed(_) => self.refuse(Refusal::GivenUp, Cause::none()),
        }
    }

    fn refuse(&mut self, reason: Refusal, cause: Cause) {
        self.finish(Event::Refused { reason, cause });
    }

    fn finish(&mut self, event: Event) {
        self.out.event(event);
        self.out.stop_all();
        self.go_to(Phase::Idle);
    }

    fn session_changed(&mut self, now: Instant, change: SessionChange) {
        match change {
            SessionChange::None => {}
            SessionChange::Connected { is_new } => {
                if is_new {
                    self.session_over();
                }
                self.failures = 0;
                self.go(now);
            }
            SessionChange::Suspended => {
                self.out.stop(Timer::Retry);
                if let Phase::Asking(exchange) = &mut self.phase {
                    exchange.suspended();
                }
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

    /// The session has ended, so no reply to requests in flight can arrive any more.
    fn session_over(&mut self) {
        self.out.purge_commands();
        if let Phase::Asking(exchange) = &mut self.phase {
            exchange.session_over();
        }
    }
}

impl sealed::Sealed for SingleStep {}

impl Machine for SingleStep {
    type Request = Request;
    type Reply = Reply;
    type Notice = Notice;
    type Event = Event;

    fn handle_outcome(&mut self, now: Instant, id: CommandId, outcome: Outcome<Reply>) -> Result<(), Misuse> {
        let Phase::Asking(exchange) = &mut self.phase else {
            return Ok(());
        };
        let Some(expected) = exchange.expects(id) else {
            return Ok(());
        };
        let (result, verdict) = self.session.read(id, outcome, expected);
        let progress = exchange.answered(
            id,
            result,
            &mut Wire {
                paths: &self.settings.paths,
                session: &self.session,
                out: &mut self.out,
            },
        );
        self.advance(now, progress);
        verdict
    }

    /// Handles notices of the session. The machine sets no watches.
    fn handle_notice(&mut self, now: Instant, notice: Notice) -> Result<(), Misuse> {
        if let Notice::Session {
            state,
            session,
            timeout,
        } = notice
        {
            let change = self.session.change(state, session, timeout);
            self.session_changed(now, change);
        }
        Ok(())
    }

    fn handle_timeout(&mut self, now: Instant) {
        if self.out.expired(Timer::AcquireTimeout, now) && !self.is_idle() {
            let trouble = core::mem::take(&mut self.trouble);
            self.refuse(Refusal::Unreachable, trouble);
        }
        if self.out.expired(Timer::Retry, now) {
            self.go(now);
        }
    }

    fn poll_output(&mut self) -> Output<Request, Event> {
        self.out.poll()
    }
}

//! One request that is not an acquire. It is about an operation or a value (issue, register, update, look, settle,
//! forget), or it is an inspection of a lock (find the holder, or take the lock from it).
//!
//! ```text
//!           acquire            answer, refusal
//!   Idle ───────────▶ Asking ──────────────────▶ Idle
//! ```
//!
//! Each step is one script. If a script gets no reply, the machine sends it again for the same attempt, so the script
//! finds its own effects. The machine never gets a grant, and has nothing to clean up.
//!
//! A sweep ends at once, because the server expires records without it. It exists so that a program can sweep in the
//! same way on every server.

#[cfg(feature = "states")]
mod states;

use crate::{
    AttemptId, Cause, CommandId, ContenderId, Event, Failure, Instant, Intent, Machine, Misuse, Outcome,
    Output, Refusal, Timer,
    claim::{self, outcome},
    intent::OfOneRequest,
    io::sealed,
    jitter::Jitter,
    outbox::Outbox,
    states::Trail,
};

use super::{
    ask::TOMBSTONE,
    claim as scripts, inspection,
    reply::Trouble,
    scripts::Call,
    settings::{Question, StepSettings},
    wire::{Notice, Reply, Request},
};

/// A machine that makes one request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SingleStep {
    settings: StepSettings,
    out: Outbox<Request>,
    jitter: Jitter,
    attempt: AttemptId,
    phase: Phase,
    trail: Trail<Phase>,
    /// The script in flight.
    running: Option<CommandId>,
    /// The last failure of a command. The machine reports it with the refusal that it causes.
    trouble: Cause,
    /// How many retries in a row have failed.
    failures: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Phase {
    Idle,
    Asking,
}

impl SingleStep {
    pub(super) const fn new(settings: StepSettings, contender: ContenderId, seed: u64) -> Self {
        Self {
            settings,
            out: Outbox::new(),
            jitter: Jitter::new(seed),
            attempt: AttemptId { contender, number: 0 },
            phase: Phase::Idle,
            trail: Trail::NEW,
            running: None,
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
            OfOneRequest::Begin(_) if self.settings.question == Question::Nothing => {
                self.out.event(Event::Swept { deleted: 0 });
            }
            OfOneRequest::Begin(acquire_timeout) => {
                self.attempt.number = self.attempt.number.saturating_add(1);
                self.failures = 0;
                self.trouble = Cause::none();
                self.out
                    .set_acquire_timeout(now, acquire_timeout, self.settings.answer_within);
                self.go_to(Phase::Asking);
                self.ask(now, false);
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

    fn ask(&mut self, now: Instant, with_text: bool) {
        let Some(call) = self.call() else {
            return;
        };
        let limit = now.plus(self.settings.answer_within);
        let id = self.out.command(Request::script(call, with_text), Some(limit));
        self.running = Some(id);
        self.out.set(Timer::Retry, limit);
    }

    /// The script to run; `None` if there is no request to send.
    fn call(&self) -> Option<Call> {
        let attempt = self.attempt;
        Some(match &self.settings.question {
            Question::Operation(name, step) => {
                let step = step.clone();
                scripts::call(name, &claim::Request { attempt, step }, TOMBSTONE)
            }
            Question::Holder(lock) => inspection::find(lock, attempt),
            Question::Break { lock, token, fence } => inspection::take(lock, token, *fence, attempt),
            Question::Nothing => return None,
        })
    }

    /// The event or the refusal for the server's reply.
    fn meaning(&self, reply: &Reply) -> Result<Result<Event, (Refusal, Cause)>, Trouble> {
        match &self.settings.question {
            Question::Operation(_, step) => {
                scripts::answer(reply).map(|answer| outcome::of_step(answer, step, self.attempt))
            }
            Question::Holder(_) => inspection::found(reply).map(Ok),
            Question::Break { token, fence, .. } => inspection::taken(reply, token, *fence),
            Question::Nothing => Err(Trouble::Shape),
        }
    }

    fn ask_later(&mut self, now: Instant, trouble: Cause) {
        self.trouble = trouble;
        let wait = self.jitter.backoff(self.failures);
        self.failures = self.failures.saturating_add(1);
        self.out.set_after(Timer::Retry, now, wait);
    }

    /// Handles the outcome of the script in flight. Returns whether the reply has the shape that the script requires.
    fn answered(&mut self, now: Instant, id: CommandId, result: Result<Reply, Failure>) -> bool {
        let answer = match result {
            Ok(reply) => self.meaning(&reply),
            Err(Failure::NotSent | Failure::Unknown) => {
                self.ask_later(now, Cause::command(id));
                return true;
            }
            Err(Failure::Closed) => {
                self.refuse(Refusal::ConnectionClosed, Cause::command(id));
                return true;
            }
        };
        match answer {
            Ok(Ok(event)) => self.finish(event),
            Ok(Err((reason, cause))) => {
                let command = Some(id);
                self.refuse(reason, Cause { command, ..cause });
            }
            Err(Trouble::NoScript) => self.ask(now, true),
            Err(Trouble::Transient(detail)) => self.ask_later(now, Cause::answer(id, detail)),
            Err(Trouble::Unwritable(detail)) => {
                self.refuse(Refusal::ServerError, Cause::answer(id, detail));
            }
            Err(Trouble::Final(reason, detail)) => self.refuse(reason, Cause::answer(id, detail)),
            Err(Trouble::Shape) => {
                self.ask_later(now, Cause::command(id));
                return false;
            }
        }
        true
    }

    fn refuse(&mut self, reason: Refusal, cause: Cause) {
        self.finish(Event::Refused { reason, cause });
    }

    fn finish(&mut self, event: Event) {
        self.out.event(event);
        self.out.stop_all();
        self.running = None;
        self.go_to(Phase::Idle);
    }
}

impl sealed::Sealed for SingleStep {}

impl Machine for SingleStep {
    type Request = Request;
    type Reply = Reply;
    type Notice = Notice;
    type Event = Event;

    fn handle_outcome(&mut self, now: Instant, id: CommandId, outcome: Outcome<Reply>) -> Result<(), Misuse> {
        if self.running.take_if(|running| *running == id).is_none() {
            return Ok(());
        }
        self.out.stop(Timer::Retry);
        let result = match outcome {
            Outcome::Reply(reply) => Ok(reply),
            Outcome::Failed(failure) => Err(failure),
        };
        if self.answered(now, id, result) {
            Ok(())
        } else {
            Err(Misuse::WrongReply {
                id: id.0,
                expected: "the script's answer",
            })
        }
    }

    /// Ignores notices, because the machine has no subscriptions.
    fn handle_notice(&mut self, _now: Instant, _notice: Notice) -> Result<(), Misuse> {
        Ok(())
    }

    fn handle_timeout(&mut self, now: Instant) {
        if self.out.expired(Timer::AcquireTimeout, now) && self.phase == Phase::Asking {
            let trouble = core::mem::take(&mut self.trouble);
            self.refuse(Refusal::Unreachable, trouble);
        }
        if self.out.expired(Timer::Retry, now) && self.phase == Phase::Asking {
            self.ask(now, false);
        }
    }

    fn poll_output(&mut self) -> Output<Request, Event> {
        self.out.poll()
    }
}

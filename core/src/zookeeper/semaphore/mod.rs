//! A semaphore: a wait queue, and permits that the contenders of the queue take one after the other.
//!
//! ```text
//!            acquire                first in the queue          permit taken
//!   Idle ──────────────▶ Queueing ────────────────────▶ Taking ─────────────▶ Held
//!    ▲                      ▲     place or session lost  │                     │ release,
//!    │                      └──────── Restarting ◀───────┤                     │ loss
//!    │                                                   ▼                     ▼
//!    └────────────────────────────────────────────── Leaving ◀─────────────────┘
//! ```
//!
//! The diagram has the usual transitions. `states.rs` has the table of all states and transitions, which is the
//! specification.
//!
//! Both halves are contenders. One contends for a mutex, which is the wait queue. The other contends for a permit: the
//! permits' directory may contain as many nodes as there are permits. Only the first contender of the queue creates a
//! node there and watches the directory, so a released permit notifies one waiter. A waiter that leaves the queue
//! blocks no other waiter, because no contender waits for a permit with a certain index. Curator's
//! `InterProcessSemaphoreV2` and Kazoo's `Semaphore` work in the same way.

mod inputs;
mod nonblocking;
mod number;
#[cfg(feature = "states")]
mod states;

use core::{mem, time::Duration};

use alloc::string::String;

use crate::{
    AcquireTimeout, Cause, CommandId, ContenderId, Event, Instant, Intent, Misuse, Refusal, Timer,
    outbox::Outbox, states::Trail,
};

use super::grace::Grace;
use super::{
    Contender, ContenderSettings, deferred::Deferred, layout::Role, settings::semaphore_directories,
    wire::Request,
};
use nonblocking::Nonblocking;
use number::Number;

/// How long the client pauses if the server has not answered the read of the number of permits.
const PAUSE: Duration = Duration::from_millis(100);

/// One contender for a permit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Semaphore {
    out: Outbox<Request>,
    wait_queue: Contender,
    permit: Contender,
    phase: Phase,
    trail: Trail<Phase>,
    number: Number,
    /// The directory of the permits.
    permits_directory: String,
    /// The list that a try in the queue has sent to find out whether all permits are taken.
    count: Option<CommandId>,
    /// How long a try waits for the server's replies.
    answer_within: Duration,
    nonblocking: Option<Nonblocking>,
    /// Whether the contender has received a revocation request. It reports this once per grant.
    revocation_requested: bool,
    /// The last event of an acquire or a grant, which the contender reports when the cleanup of both halves is done.
    deferred: Deferred,
    /// Whether a reply has shown the contender's place in the queue. If none has, and the acquire's timeout expires,
    /// the contender reports an unreachable server.
    was_queued: bool,
    grace: Grace,
}

/// The state: `states.rs` describes each state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Phase {
    Idle,
    Queueing,
    Taking,
    Restarting,
    Held,
    Leaving,
}

impl Semaphore {
    /// A contender without an acquire. The role of `settings` is [`Role::Permit`].
    #[must_use]
    pub fn new(settings: ContenderSettings, contender: ContenderId, seed: u64) -> Self {
        let path = settings.directory.clone();
        let [permits, wait_queue] = semaphore_directories(&path, &settings.layout);
        let number = match settings.role {
            Role::Permit { permits } => permits,
            _ => 1,
        };
        let wait_queue = ContenderSettings {
            directory: wait_queue,
            role: Role::Mutex,
            max_hold: None,
            ..settings.clone()
        };
        let answer_within = settings.answer_within;
        let permit = ContenderSettings {
            directory: permits.clone(),
            ..settings
        };
        Self {
            out: Outbox::new(),
            wait_queue: Contender::component(wait_queue, contender, seed),
            permit: Contender::component(permit, contender, seed),
            phase: Phase::Idle,
            trail: Trail::NEW,
            number: Number::new(path, number),
            permits_directory: permits,
            count: None,
            answer_within,
            nonblocking: None,
            revocation_requested: false,
            deferred: Deferred::NOTHING,
            was_queued: false,
            grace: Grace::UNUSED,
        }
    }

    /// Handles an intent of the application.
    ///
    /// # Errors
    /// [`Misuse`] for an intent that the present state does not allow. It changes nothing.
    pub fn intent(&mut self, now: Instant, intent: Intent) -> Result<(), Misuse> {
        let releases = intent == Intent::Release;
        match (intent, self.phase) {
            (Intent::Acquire(acquire_timeout), Phase::Idle) => self.acquire(now, acquire_timeout),
            (Intent::Acquire(_), _) => return Err(Misuse::Busy),
            (intent @ (Intent::Extend | Intent::Release), Phase::Held) => {
                self.permit(|permit| permit.intent(now, intent))?
            }
            (Intent::Downgrade, Phase::Held) => return Err(Misuse::NotAWriter),
            (Intent::Extend | Intent::Release | Intent::Downgrade, _) => return Err(Misuse::NotHeld),
            (Intent::Complete(_) | Intent::Leave, _) => return Err(Misuse::NotAClaim),
            (Intent::Cancel, Phase::Queueing | Phase::Taking | Phase::Restarting) => {
                self.refuse(now, Refusal::Cancelled, Cause::none());
            }
            (Intent::Cancel, Phase::Leaving) if self.deferred.flush(&mut self.out) => {}
            (Intent::Cancel, _) => return Err(Misuse::NotWaiting),
        }
        if releases {
            self.deferred.release();
            self.go_to(Phase::Leaving);
        }
        self.drain_events(now);
        Ok(())
    }

    /// Whether the contender holds no permit, waits for nothing, and has nothing to clean up.
    #[must_use]
    pub const fn is_idle(&self) -> bool {
        matches!(self.phase, Phase::Idle)
    }

    pub(crate) const fn outbox(&mut self) -> &mut Outbox<Request> {
        &mut self.out
    }

    fn acquire(&mut self, now: Instant, acquire_timeout: AcquireTimeout) {
        self.was_queued = false;
        self.grace = Grace::UNUSED;
        // This timer is for the whole acquire, so it starts here, once.
        self.out
            .set_acquire_timeout(now, acquire_timeout, self.answer_within);
        let limit = self
            .out
            .at(Timer::AcquireTimeout)
            .filter(|_| acquire_timeout == AcquireTimeout::Try);
        self.nonblocking = limit.map(|until| Nonblocking::new(now, until));
        self.queue(now);
    }

    /// Every change of the phase is one of the transitions in `states.rs`.
    fn go_to(&mut self, phase: Phase) {
        self.trail.follow(&phase);
        self.phase = phase;
    }

    fn queue(&mut self, now: Instant) {
        self.go_to(Phase::Queueing);
        self.revocation_requested = false;
        self.number.forget();
        // The half is idle, so it accepts the intent. A try waits in the queue, too, because the contenders before it
        // may take their permits within a short time.
        let _accepted =
            self.wait_queue(|wait_queue| wait_queue.intent(now, Intent::Acquire(AcquireTimeout::Forever)));
        self.ask_number();
    }

    fn wait_queue<T>(&mut self, put: impl FnOnce(&mut Contender) -> T) -> T {
        self.wait_queue.with_command_ids(&mut self.out, put)
    }

    fn permit<T>(&mut self, put: impl FnOnce(&mut Contender) -> T) -> T {
        self.permit.with_command_ids(&mut self.out, put)
    }

    /// Ends an acquire that has failed. The contender reports the refusal after the cleanup of both halves, or at once
    /// if it cannot expect the server to answer soon.
    fn refuse(&mut self, now: Instant, reason: Refusal, cause: Cause) {
        self.deferred.refuse(now, reason, cause, &mut self.out);
        self.leave(now);
        if !self.permit.expects_answers() || !self.wait_queue.expects_answers() {
            self.deferred.flush(&mut self.out);
        }
    }

    fn leave(&mut self, now: Instant) {
        self.out.stop_all_but_acquire_timeout();
        self.number.forget();
        self.count = None;
        self.go_to(Phase::Leaving);
        self.withdraw(now);
    }

    /// Releases what the two halves hold, and cancels what they wait for.
    fn withdraw(&mut self, now: Instant) {
        self.permit(|permit| permit.give_up(now));
        self.wait_queue(|wait_queue| wait_queue.give_up(now));
    }

    /// Handles the events of the two halves until none is left.
    fn drain_events(&mut self, now: Instant) {
        loop {
            let (wait_queue, permit) = (
                self.wait_queue.outbox().take_event(),
                self.permit.outbox().take_event(),
            );
            if wait_queue.is_none() && permit.is_none() {
                break;
            }
            if let Some(event) = wait_queue {
                self.on_queue_event(now, event);
            }
            if let Some(event) = permit {
                self.on_permit_event(now, event);
            }
        }
        let at_rest = self.wait_queue.is_idle() && self.permit.is_idle();
        match self.phase {
            Phase::Restarting if at_rest && self.out.at(Timer::Retry).is_none() => {
                match self.complaint() {
                    None => self.queue(now),
                    // The server refuses to delete a node. It would stay ahead of every new place of this contender,
                    // and block it without end.
                    Some((reason, cause)) => self.refuse(now, reason, cause),
                }
                self.drain_events(now);
            }
            Phase::Leaving if at_rest => {
                self.go_to(Phase::Idle);
                self.out.stop_all();
                let complaint = self.complaint();
                self.deferred.report(complaint, &mut self.out);
            }
            _ => {}
        }
    }

    fn complaint(&mut self) -> Option<(Refusal, Cause)> {
        self.permit.complaint().or_else(|| self.wait_queue.complaint())
    }

    fn on_queue_event(&mut self, now: Instant, event: Event) {
        match (self.phase, event) {
            (Phase::Queueing, Event::Acquired { .. }) => self.take(now),
            (Phase::Queueing, Event::Queued { .. }) if self.nonblocking.is_some() => self.try_behind(now),
            (Phase::Queueing, event @ (Event::Queued { .. } | Event::MixedLayouts { .. })) => {
                self.was_queued = true;
                self.out.event(event);
            }
            (Phase::Queueing, Event::Refused { reason, cause }) => self.refuse(now, reason, cause),
            // The next contender in the queue may take permits now. This one may not, until it is first again.
            (Phase::Taking, Event::Lost { .. }) => self.restart(now),
            (Phase::Taking, Event::RevokeRequested) => self.revocation_requested = true,
            _ => {}
        }
    }

    fn restart(&mut self, now: Instant) {
        self.go_to(Phase::Restarting);
        self.withdraw(now);
    }

    fn on_permit_event(&mut self, now: Instant, event: Event) {
        match (self.phase, event) {
            // The semaphore on the server may have another number of permits. So the contender gives up a permit that
            // it took before it has compared the numbers.
            (Phase::Taking, Event::Acquired { .. }) if !self.number.is_ours() => {
                self.out.set_after(Timer::Retry, now, PAUSE);
                self.restart(now);
            }
            (Phase::Taking, Event::Acquired { grant }) => {
                self.write_number();
                self.go_to(Phase::Held);
                self.out.stop_all();
                self.out.event(Event::Acquired { grant });
                if self.revocation_requested {
                    self.out.event(Event::RevokeRequested);
                }
                let _was_held = self.wait_queue(|wait_queue| wait_queue.intent(now, Intent::Release));
            }
            (Phase::Taking, Event::Refused { reason, cause }) => self.refuse(now, reason, cause),
            (Phase::Held, event @ Event::Lost { .. }) => {
                self.out.event(event);
                self.leave(now);
            }
            (Phase::Taking, event @ Event::Queued { .. }) => {
                self.write_number();
                self.ask_number();
                self.out.event(event);
            }
            (Phase::Leaving, Event::Lost { reason, cause }) => {
                self.deferred.lose(reason, cause, &mut self.out);
            }
            (Phase::Held, Event::RevokeRequested) if mem::replace(&mut self.revocation_requested, true) => {}
            (Phase::Held, event) => self.out.event(event),
            _ => {}
        }
    }

    /// This contender is first in the queue: takes a permit.
    fn take(&mut self, now: Instant) {
        self.was_queued = true;
        self.count = None;
        self.go_to(Phase::Taking);
        self.ask_number();
        let acquire_timeout = if self.try_at_the_head() {
            AcquireTimeout::Try
        } else {
            AcquireTimeout::Forever
        };
        let _accepted = self.permit(|permit| permit.intent(now, Intent::Acquire(acquire_timeout)));
    }
}

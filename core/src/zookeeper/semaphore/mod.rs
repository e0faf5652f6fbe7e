//! A semaphore: a line in which one after the other takes a permit.
//!
//! ```text
//!            acquire               first in the line          permit taken
//!   Idle ──────────────▶ Lining ─────────────────────▶ Taking ─────────────▶ Held
//!    ▲                     ▲     line or session lost    │                     │ release,
//!    │                     └──────── Restarting ◀────────┤                     │ loss
//!    │                                                   ▼                     ▼
//!    └────────────────────────────────────────────── Leaving ◀─────────────────┘
//! ```
//!
//! Both halves are contenders: one for a mutex, the line; one for a permit, of which there are as many as nodes in a directory may be. Only the
//! head of the line makes a node there and watches the directory, so a permit that comes back wakes one waiter; and a waiter that leaves the line
//! strands nobody, because nobody waits for a permit by its index (Curator's `InterProcessSemaphoreV2`, Kazoo's `Semaphore`).

mod inputs;
mod number;
mod trying;

use core::{mem, time::Duration};

use alloc::string::String;

use crate::{
    Cause, CommandId, Event, Instant, Intent, Misuse, OwnerId, Patience, Refusal, Timer, outbox::Outbox,
};

use super::grace::Grace;
use super::{
    Contender, ContenderSettings, farewell::Farewell, layout::Role, settings::semaphore_directories,
    wire::Request,
};
use number::Number;
use trying::Trying;

/// How long a server that does not say how many permits there are is left alone.
const PAUSE: Duration = Duration::from_millis(100);

/// One contender for a permit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Semaphore {
    out: Outbox<Request>,
    line: Contender,
    permit: Contender,
    phase: Phase,
    number: Number,
    /// Where the permits lie.
    room: String,
    /// The list that tells a try in the line whether all permits are taken.
    count: Option<CommandId>,
    /// How long a try waits for the server's answers.
    answer_within: Duration,
    trying: Option<Trying>,
    /// Whether somebody wants the permit back: told once a grant.
    wanted: bool,
    /// What is said when both halves have left.
    farewell: Farewell,
    /// Whether a server has ever shown us a place: then a timeout is a timeout, and before it the server was unreachable.
    placed: bool,
    grace: Grace,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Phase {
    Idle,
    /// In the line.
    Lining,
    /// At the head of the line, which is kept until there is a permit.
    Taking,
    /// The head of the line was lost: all is given back, and then begins anew.
    Restarting,
    /// The permit is ours; the line goes on without us.
    Held,
    /// What was created has to go.
    Leaving,
}

impl Semaphore {
    /// A contender that has not asked for anything yet. `settings` have the role [`Role::Permit`].
    #[must_use]
    pub fn new(settings: ContenderSettings, owner: OwnerId, seed: u64) -> Self {
        let path = settings.directory.clone();
        let [permits, line] = semaphore_directories(&path, &settings.layout);
        let number = match settings.role {
            Role::Permit { permits } => permits,
            _ => 1,
        };
        let line = ContenderSettings {
            directory: line,
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
            line: Contender::part(line, owner, seed),
            permit: Contender::part(permit, owner, seed),
            phase: Phase::Idle,
            number: Number::new(path, number),
            room: permits,
            count: None,
            answer_within,
            trying: None,
            wanted: false,
            farewell: Farewell::NOTHING,
            placed: false,
            grace: Grace::UNUSED,
        }
    }

    /// The application's intents.
    ///
    /// # Errors
    /// [`Misuse`] for one that makes no sense now; nothing has changed then.
    pub fn intent(&mut self, now: Instant, intent: Intent) -> Result<(), Misuse> {
        match (intent, self.phase) {
            (Intent::Acquire(patience), Phase::Idle) => self.acquire(now, patience),
            (Intent::Acquire(_), _) => return Err(Misuse::Busy),
            (Intent::Extend | Intent::Release, Phase::Held) => {
                self.permit(|permit| permit.intent(now, intent))?
            }
            (Intent::Downgrade, Phase::Held) => return Err(Misuse::NotAWriter),
            (Intent::Extend | Intent::Release | Intent::Downgrade, _) => return Err(Misuse::NotHeld),
            (Intent::Cancel, Phase::Lining | Phase::Taking | Phase::Restarting) => {
                self.refuse(now, Refusal::Cancelled, Cause::none());
            }
            (Intent::Cancel, Phase::Leaving) if self.farewell.hurry(&mut self.out) => {}
            (Intent::Cancel, _) => return Err(Misuse::NotWaiting),
        }
        if intent == Intent::Release {
            self.farewell.release();
            self.phase = Phase::Leaving;
        }
        self.heed(now);
        Ok(())
    }

    /// Whether nothing is held, wanted or left to clean up.
    #[must_use]
    pub const fn is_idle(&self) -> bool {
        matches!(self.phase, Phase::Idle)
    }

    pub(crate) const fn outbox(&mut self) -> &mut Outbox<Request> {
        &mut self.out
    }

    fn acquire(&mut self, now: Instant, patience: Patience) {
        self.placed = false;
        self.grace = Grace::UNUSED;
        // The patience of the whole is counted here, once.
        self.out.set_patience(now, patience, self.answer_within);
        let limit = self.out.at(Timer::Patience).filter(|_| patience == Patience::Try);
        self.trying = limit.map(|until| Trying::new(now, until));
        self.queue(now);
    }

    fn queue(&mut self, now: Instant) {
        self.phase = Phase::Lining;
        self.wanted = false;
        self.number.forget();
        // It rests: it cannot refuse. A try waits in the line, too: whoever is before it may just be being served.
        let _accepted = self.line(|line| line.intent(now, Intent::Acquire(Patience::Forever)));
        self.ask_number();
    }

    fn line<T>(&mut self, put: impl FnOnce(&mut Contender) -> T) -> T {
        self.line.lent(&mut self.out, put)
    }

    fn permit<T>(&mut self, put: impl FnOnce(&mut Contender) -> T) -> T {
        self.permit.lent(&mut self.out, put)
    }

    /// The end of an acquire that has come to nothing: told when both halves have cleaned up, if an answer to that is to be expected.
    fn refuse(&mut self, now: Instant, reason: Refusal, cause: Cause) {
        self.farewell.refuse(now, reason, cause, &mut self.out);
        self.leave(now);
        if !self.permit.expects_answers() || !self.line.expects_answers() {
            self.farewell.hurry(&mut self.out);
        }
    }

    fn leave(&mut self, now: Instant) {
        self.out.stop_all_but_patience();
        self.number.forget();
        self.count = None;
        self.phase = Phase::Leaving;
        self.withdraw(now);
    }

    /// Gives back whatever the two halves hold or wait for.
    fn withdraw(&mut self, now: Instant) {
        self.permit(|permit| permit.give_up(now));
        self.line(|line| line.give_up(now));
    }

    /// Hears what the two halves have to say, until they have said all.
    fn heed(&mut self, now: Instant) {
        loop {
            let (line, permit) = (self.line.outbox().take_event(), self.permit.outbox().take_event());
            if line.is_none() && permit.is_none() {
                break;
            }
            if let Some(event) = line {
                self.line_says(now, event);
            }
            if let Some(event) = permit {
                self.permit_says(now, event);
            }
        }
        let at_rest = self.line.is_idle() && self.permit.is_idle();
        match self.phase {
            Phase::Restarting if at_rest && self.out.at(Timer::Retry).is_none() => {
                match self.complaint() {
                    None => self.queue(now),
                    // It stays before us: nobody would ever make way.
                    Some((reason, cause)) => self.refuse(now, reason, cause),
                }
                self.heed(now);
            }
            Phase::Leaving if at_rest => {
                self.phase = Phase::Idle;
                self.out.stop_all();
                let complaint = self.complaint();
                self.farewell.say(complaint, &mut self.out);
            }
            _ => {}
        }
    }

    fn complaint(&mut self) -> Option<(Refusal, Cause)> {
        self.permit.complaint().or_else(|| self.line.complaint())
    }

    fn line_says(&mut self, now: Instant, event: Event) {
        match (self.phase, event) {
            (Phase::Lining, Event::Acquired { .. }) => self.take(now),
            (Phase::Lining, Event::Queued { .. }) if self.trying.is_some() => self.try_behind(now),
            (Phase::Lining, event @ (Event::Queued { .. } | Event::MixedLayouts { .. })) => {
                self.placed = true;
                self.out.event(event);
            }
            (Phase::Lining, Event::Refused { reason, cause }) => self.refuse(now, reason, cause),
            // Whoever comes next may take permits now: nothing is ours before it is our turn again.
            (Phase::Taking, Event::Lost { .. }) => self.restart(now),
            (Phase::Taking, Event::RevokeRequested) => self.wanted = true,
            _ => {}
        }
    }

    fn restart(&mut self, now: Instant) {
        self.phase = Phase::Restarting;
        self.withdraw(now);
    }

    fn permit_says(&mut self, now: Instant, event: Event) {
        match (self.phase, event) {
            // A permit of another number of them is none.
            (Phase::Taking, Event::Acquired { .. }) if !self.number.is_ours() => {
                self.out.set_after(Timer::Retry, now, PAUSE);
                self.restart(now);
            }
            (Phase::Taking, Event::Acquired { grant }) => {
                self.write_number();
                self.phase = Phase::Held;
                self.out.stop_all();
                self.out.event(Event::Acquired { grant });
                if self.wanted {
                    self.out.event(Event::RevokeRequested);
                }
                let _was_held = self.line(|line| line.intent(now, Intent::Release));
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
                self.farewell.lose(reason, cause, &mut self.out);
            }
            (Phase::Held, Event::RevokeRequested) if mem::replace(&mut self.wanted, true) => {}
            (Phase::Held, event) => self.out.event(event),
            _ => {}
        }
    }

    /// At the head of the line a permit is taken.
    fn take(&mut self, now: Instant) {
        self.placed = true;
        self.count = None;
        self.phase = Phase::Taking;
        self.ask_number();
        let patience = if self.try_at_the_head() {
            Patience::Try
        } else {
            Patience::Forever
        };
        let _accepted = self.permit(|permit| permit.intent(now, Intent::Acquire(patience)));
    }
}

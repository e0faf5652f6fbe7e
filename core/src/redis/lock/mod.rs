//! The lock in the layout `string`: unfair, cheap, and shared with everybody who speaks `SET key token NX PX`.
//!
//! ```text
//!           acquire            granted                 release, loss
//!   Idle ───────────▶ Asking ───────────▶ Held ───────────────────────▶ Leaving ──▶ Idle
//!                      │  ▲                                               ▲
//!                held  ▼  │ hint, poll, end of the holder's lease         │
//!                     Waiting ────────────────────────────────────────────┘ timeout, cancel: if an acquire is in doubt
//! ```

mod asking;
mod holding;
mod inputs;
mod leaving;

use alloc::{string::String, vec::Vec};
use core::time::Duration;

use crate::{
    AttemptId, Cause, CommandId, Instant, Intent, Misuse, OwnerId, Patience, Refusal, Timer, jitter::Jitter,
    outbox::Outbox,
};

use super::{scripts::Script, settings::StringSettings, wire::Request};

/// One contender for a lock in the layout `string`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StringLock {
    settings: StringSettings,
    out: Outbox<Request>,
    jitter: Jitter,
    attempt: AttemptId,
    /// The attempt as the server has it.
    stored: String,
    phase: Phase,
    /// The script under way and when it was asked for; there is never more than one that counts.
    running: Option<Running>,
    /// Renewals that were not answered in time, and may be still: the last is the newest.
    renewals: Vec<Running>,
    subscription: Subscription,
    /// A hint that came while an acquire was under way.
    hinted: bool,
    /// Whether an acquire of this attempt may still be on its way to the server.
    doubt: bool,
    /// Acquires of this attempt that the machine does not wait for any more, and of which no driver has said what came of them.
    overdue: Vec<CommandId>,
    /// Whether a renewal may be, so that nobody knows when the lease will have ended by itself.
    late_renewal: bool,
    /// The last trouble with the server, told with the loss or refusal that it leads to.
    trouble: Cause,
    failures: u32,
    /// The value of a foreign holder, and since when it has been seen.
    foreign: Option<(Vec<u8>, Instant)>,
    trying: bool,
    /// Whether the server has ever answered that somebody else holds: then a timeout is a timeout.
    placed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Phase {
    /// Nothing to do.
    Idle,
    /// Wants the lock; an acquire is under way, or about to be.
    Asking,
    /// Somebody else holds it.
    Waiting,
    /// The lock is ours.
    Held,
    /// The lock has to be given back, or a doubtful acquire buried.
    Leaving {
        /// Whether the application waits for the answer.
        release: bool,
        /// What an earlier release may have left behind.
        earlier: Earlier,
    },
}

/// Whether an earlier release of the attempt may have been executed: then "not yours" may be its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Earlier {
    /// No.
    No,
    /// Perhaps, and not before this time. If it was, it has left a tombstone, which says so.
    Marked(Instant),
    /// Perhaps only in part: without a tombstone.
    Unmarked,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Running {
    id: CommandId,
    script: Script,
    start: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Subscription {
    /// None.
    No,
    /// Asked for.
    Wanted(CommandId),
    /// Confirmed.
    Live(CommandId),
    /// The server does not let us: there remains the poll.
    Refused,
}

impl StringLock {
    /// A contender that has not asked for anything yet.
    #[must_use]
    pub const fn new(settings: StringSettings, owner: OwnerId, seed: u64) -> Self {
        Self {
            settings,
            out: Outbox::new(),
            jitter: Jitter::new(seed),
            attempt: AttemptId { owner, number: 0 },
            stored: String::new(),
            phase: Phase::Idle,
            running: None,
            renewals: Vec::new(),
            subscription: Subscription::No,
            hinted: false,
            doubt: false,
            overdue: Vec::new(),
            late_renewal: false,
            trouble: Cause::none(),
            failures: 0,
            foreign: None,
            trying: false,
            placed: false,
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
            (Intent::Extend, Phase::Held) => self.renew(now),
            // The grant has ended by its holder's clock before its time was looked at.
            (Intent::Release, Phase::Held) if self.out.expired(Timer::Validity, now) => self.lease_ended(now),
            (Intent::Release, Phase::Held) => self.leave(now, true),
            (Intent::Downgrade, Phase::Held) => return Err(Misuse::NotAWriter),
            (Intent::Extend | Intent::Release | Intent::Downgrade, _) => return Err(Misuse::NotHeld),
            (Intent::Cancel, Phase::Asking | Phase::Waiting) => {
                self.refuse(now, Refusal::Cancelled, Cause::none());
            }
            (Intent::Cancel, _) => return Err(Misuse::NotWaiting),
        }
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
        self.attempt.number = self.attempt.number.saturating_add(1);
        self.stored = self.attempt.text();
        self.trying = patience == Patience::Try;
        self.placed = false;
        self.doubt = false;
        self.overdue.clear();
        self.late_renewal = false;
        self.hinted = false;
        self.failures = 0;
        self.foreign = None;
        self.renewals.clear();
        self.trouble = Cause::none();
        self.out.set_patience(now, patience, self.settings.answer_within);
        self.ask(now);
    }

    /// Runs a script; the one before it, if it has not been answered, counts no more.
    fn run(&mut self, now: Instant, script: Script, with_text: bool) {
        let (keys, arguments) = self.arguments(script);
        let limit = now.plus(self.patience_with(script));
        let patience = self.out.at(Timer::Patience).filter(|_| script == Script::Acquire);
        let deadline = patience.map_or(limit, |patience| patience.min(limit));
        let request = Request::Script {
            script,
            with_text,
            keys,
            arguments,
        };
        let id = self.out.command(request, Some(deadline));
        self.running = Some(Running {
            id,
            script,
            start: now,
        });
        // An answer that does not come is none: then the script is sent again, and finds what the first one did.
        self.out.set(Timer::Retry, limit);
    }

    /// How long an answer is waited for. A lease leaves time for a second renewal, however short it is.
    fn patience_with(&self, script: Script) -> Duration {
        let third = self.settings.ttl.checked_div(3).unwrap_or_default();
        match script {
            Script::Renew => self.settings.answer_within.min(third),
            Script::Acquire | Script::Release => self.settings.answer_within,
        }
    }

    /// Sends again what has failed, after a while.
    fn retry_later(&mut self, now: Instant) {
        self.running = None;
        let wait = self.jitter.backoff(self.failures);
        self.failures = self.failures.saturating_add(1);
        self.out.set_after(Timer::Retry, now, wait);
    }

    fn stop_listening(&mut self) {
        if matches!(self.subscription, Subscription::Wanted(_) | Subscription::Live(_)) {
            self.out.command(
                Request::Unsubscribe {
                    channel: self.settings.channel(),
                },
                None,
            );
        }
        self.subscription = Subscription::No;
    }
}

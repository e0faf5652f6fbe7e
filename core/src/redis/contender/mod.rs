//! One contender for a lock or a claim. Its grant lasts as long as its lease on the server.
//!
//! ```text
//!           acquire            granted                 release, loss
//!   Idle ───────────▶ Asking ───────────▶ Held ───────────────────────▶ Leaving ──▶ Idle
//!                      │  ▲                                               ▲
//!                held  ▼  │ hint, poll, end of the holder's lease         │
//!                     Waiting ────────────────────────────────────────────┘ timeout, cancel: if an acquire is in doubt
//! ```
//!
//! A lock and a claim differ in the scripts and in the meaning of their replies, which [`Subject`] contains, and in
//! these rules:
//!
//! | | lock | claim |
//! |---|---|---|
//! | ends | release | complete, release (*the operation had no effect*), leave (*its outcome is unknown*) |
//! | an acquire may find | the lock free or held | also a result: [`Event::Replayed`](crate::Event) |
//! | after a loss | the machine releases the lock, if it may still have it | the machine is `Lapsed`: the application may still end the claim, and the server decides |
//!
//! The diagram has the usual transitions. `states.rs` has the table of all states and transitions, which is the
//! specification.

mod acquiring;
mod holding;
mod inputs;
mod leaving;
#[cfg(feature = "states")]
mod states;

use alloc::{string::String, vec::Vec};
use core::time::Duration;

use crate::{
    AcquireTimeout, AttemptId, Cause, CommandId, ContenderId, Fence, Instant, Intent, Loss, Misuse, Refusal,
    Timer, jitter::Jitter, outbox::Outbox, states::Trail,
};

use super::{
    ask::{Ask, End, TOMBSTONE},
    subject::Subject,
    wire::Request,
};

/// One contender for a lock or a claim.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Contender {
    subject: Subject,
    out: Outbox<Request>,
    jitter: Jitter,
    attempt: AttemptId,
    /// The attempt as the server stores it.
    stored: String,
    phase: Phase,
    trail: Trail<Phase>,
    /// The script in flight, at most one. `overdue` and `renewals` contain earlier scripts without a reply.
    running: Option<Running>,
    subscription: Subscription,
    acquire: Acquire,
}

/// The state of one acquire and its grant. The next acquire replaces it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Acquire {
    /// Whether the acquire ends at once when another contender holds the lock.
    nonblocking: bool,
    /// Whether the server has reported another holder. Then an expired timeout ends in [`Refusal::Timeout`], otherwise
    /// in [`Refusal::Unreachable`].
    was_queued: bool,
    /// When the holder's lease ends, if the server has reported it.
    held_until: Option<Instant>,
    /// The fence of the grant, and the number of takeovers of the operation.
    fence: Fence,
    takeovers: u64,
    /// The value of a foreign holder, and the time at which this waiter first saw it.
    foreign: Option<(Vec<u8>, Instant)>,
    /// Whether a hint that the lock may be free arrived while an acquire was in flight.
    hinted: bool,
    /// Whether the server may have executed an acquire of this attempt, or may still execute it.
    in_doubt: bool,
    /// Acquires of this attempt for which the machine no longer waits, and whose outcomes the driver has not reported
    /// yet.
    overdue: Vec<CommandId>,
    /// Renewals whose replies are overdue and may still arrive. The last one is the newest.
    renewals: Vec<Running>,
    /// Whether a renewal may still reach the server. If so, the client does not know when the lease ends on the server.
    late_renewal: bool,
    /// The last failure of a command. The machine reports it with the loss or the refusal that it causes.
    trouble: Cause,
    /// How many retries in a row have failed.
    failures: u32,
    /// How many subscriptions have ended since the last message.
    lost_subscriptions: u32,
}

impl Acquire {
    const fn new(nonblocking: bool) -> Self {
        Self {
            nonblocking,
            was_queued: false,
            held_until: None,
            fence: Fence(0),
            takeovers: 0,
            foreign: None,
            hinted: false,
            in_doubt: false,
            overdue: Vec::new(),
            renewals: Vec::new(),
            late_renewal: false,
            trouble: Cause::none(),
            failures: 0,
            lost_subscriptions: 0,
        }
    }
}

/// The state, with the data that the machine stores only in that state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Phase {
    Idle,
    Asking,
    Waiting,
    Held,
    Leaving(Leaving),
    /// A claim's grant is lost. The application may still end the claim.
    Lapsed,
}

/// The end of an attempt, until the server has answered.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Leaving {
    end: End,
    /// Whether the application waits for an event about this end.
    reported: bool,
    /// Whether the server may have executed an earlier release of this attempt.
    earlier: Earlier,
    /// The end of the grant's validity. If the server refuses to end a claim, the grant continues until then.
    valid_until: Option<Instant>,
}

/// Whether the server may have executed an earlier release of the attempt. If so, and the server answers that this
/// attempt does not hold the lock, that release may be the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Earlier {
    /// The server has not executed one.
    No,
    /// The server may have executed one, at this time or later. If so, the release has written a tombstone, by which
    /// the server recognizes it.
    Marked(Instant),
    /// The server may have executed a part of one: the release may have freed the lock without writing a tombstone.
    Unmarked,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Running {
    id: CommandId,
    purpose: Purpose,
    /// Whether the request contained the script's text.
    with_text: bool,
    start: Instant,
}

/// The purpose of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Purpose {
    Acquire,
    Renew,
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Subscription {
    /// There is no subscription.
    No,
    /// The subscription is requested, but not confirmed yet.
    Wanted(CommandId),
    /// The server has confirmed the subscription.
    Live(CommandId),
    /// The subscription has ended. The machine subscribes again after its next poll.
    Gone,
    /// The server refuses the subscription, so the waiter only polls.
    Refused,
}

impl Contender {
    pub(super) const fn new(subject: Subject, contender: ContenderId, seed: u64) -> Self {
        Self {
            subject,
            out: Outbox::new(),
            jitter: Jitter::new(seed),
            attempt: AttemptId { contender, number: 0 },
            stored: String::new(),
            phase: Phase::Idle,
            trail: Trail::NEW,
            running: None,
            subscription: Subscription::No,
            acquire: Acquire::new(false),
        }
    }

    /// Handles an intent of the application.
    ///
    /// # Errors
    /// [`Misuse`] for an intent that the present state does not allow. The call then changes nothing.
    pub fn intent(&mut self, now: Instant, intent: Intent) -> Result<(), Misuse> {
        let is_claim = self.subject.is_claim();
        match (intent, &self.phase) {
            (Intent::Acquire(acquire_timeout), Phase::Idle | Phase::Lapsed) => {
                self.acquire(now, acquire_timeout);
            }
            (Intent::Acquire(_), _) => return Err(Misuse::Busy),
            (Intent::Complete(_) | Intent::Leave, _) if !is_claim => return Err(Misuse::NotAClaim),
            (Intent::Downgrade, _) if is_claim => return Err(Misuse::NotAWriter),
            // The grant has ended by the holder's own clock, but the driver has not passed in that timeout yet. A claim
            // has no `max_hold`.
            (Intent::Extend | Intent::Release, Phase::Held) if self.out.expired(Timer::MaxHold, now) => {
                self.lose(now, Loss::MaxHold, Cause::none());
            }
            (Intent::Extend, Phase::Held) if self.out.expired(Timer::Validity, now) => self.lease_ended(now),
            (Intent::Release, Phase::Held) if !is_claim && self.out.expired(Timer::Validity, now) => {
                self.lease_ended(now);
            }
            (Intent::Extend, Phase::Held) => self.renew(now),
            (Intent::Release, Phase::Held | Phase::Lapsed) => self.end(now, End::Release, true),
            (Intent::Leave, Phase::Held | Phase::Lapsed) => self.end(now, End::Leave, true),
            (Intent::Complete(content), Phase::Held | Phase::Lapsed) => {
                self.end(now, End::Complete(content), true);
            }
            (Intent::Downgrade, Phase::Held) => return Err(Misuse::NotAWriter),
            (
                Intent::Extend | Intent::Release | Intent::Downgrade | Intent::Complete(_) | Intent::Leave,
                _,
            ) => return Err(Misuse::NotHeld),
            (Intent::Cancel, Phase::Asking | Phase::Waiting) => {
                self.refuse(now, Refusal::Cancelled, Cause::none());
            }
            (Intent::Cancel, _) => return Err(Misuse::NotWaiting),
        }
        Ok(())
    }

    /// Whether the machine holds no lock or claim, waits for nothing and has nothing to clean up. A lost claim does not
    /// count: the record's policy decides what happens to the operation.
    #[must_use]
    pub const fn is_idle(&self) -> bool {
        matches!(self.phase, Phase::Idle | Phase::Lapsed)
    }

    pub(crate) const fn outbox(&mut self) -> &mut Outbox<Request> {
        &mut self.out
    }

    fn acquire(&mut self, now: Instant, acquire_timeout: AcquireTimeout) {
        self.attempt.number = self.attempt.number.saturating_add(1);
        self.stored = self.attempt.text();
        self.acquire = Acquire::new(acquire_timeout == AcquireTimeout::Try);
        self.out
            .set_acquire_timeout(now, acquire_timeout, self.subject.lease().answer_within);
        self.ask(now);
    }

    /// Every change of the phase is one of the transitions in `states.rs`.
    fn go_to(&mut self, phase: Phase) {
        self.trail.follow(&phase);
        self.phase = phase;
    }

    /// Sends the script of the present phase. The machine no longer waits for an earlier script in flight.
    fn run(&mut self, now: Instant, with_text: bool) {
        let (purpose, ask) = match &self.phase {
            Phase::Held => (Purpose::Renew, Ask::Renew),
            Phase::Leaving(leaving) => (Purpose::End, Ask::End(&leaving.end)),
            Phase::Idle | Phase::Asking | Phase::Waiting | Phase::Lapsed => (Purpose::Acquire, Ask::Acquire),
        };
        let call = self.subject.call(&self.stored, ask, self.tombstone_life());
        let limit = now.plus(self.answer_limit(purpose));
        let acquire_timeout = self
            .out
            .at(Timer::AcquireTimeout)
            .filter(|_| purpose == Purpose::Acquire);
        let deadline = acquire_timeout.map_or(limit, |acquire_timeout| acquire_timeout.min(limit));
        let id = self.out.command(Request::script(call, with_text), Some(deadline));
        self.running = Some(Running {
            id,
            purpose,
            with_text,
            start: now,
        });
        // If no reply arrives in time, the machine sends the script again. The repeated script finds the effects of the
        // first one.
        self.out.set(Timer::Retry, limit);
    }

    /// How long the server keeps a tombstone of this attempt. An acquire in doubt may arrive as late as one lease after
    /// it was sent.
    fn tombstone_life(&self) -> Duration {
        if self.in_doubt() {
            self.subject.lease().ttl.max(TOMBSTONE)
        } else {
            TOMBSTONE
        }
    }

    /// How long the machine waits for a reply. For a renewal this is at most a third of the lease, so that there is
    /// time for a second one.
    fn answer_limit(&self, purpose: Purpose) -> Duration {
        let lease = self.subject.lease();
        let third = lease.ttl.checked_div(3).unwrap_or_default();
        match purpose {
            Purpose::Renew => lease.answer_within.min(third),
            Purpose::Acquire | Purpose::End => lease.answer_within,
        }
    }

    /// Sends the script again after a delay. A holder waits at most an eighth of its lease, because a short lease would
    /// end during a longer delay.
    fn retry_later(&mut self, now: Instant) {
        self.running = None;
        let mut wait = self.jitter.backoff(self.acquire.failures);
        if self.is_held() {
            let eighth = self.subject.lease().ttl.checked_div(8).unwrap_or_default();
            wait = wait.min(eighth);
        }
        self.acquire.failures = self.acquire.failures.saturating_add(1);
        self.out.set_after(Timer::Retry, now, wait);
    }

    fn stop_listening(&mut self) {
        if matches!(self.subscription, Subscription::Wanted(_) | Subscription::Live(_)) {
            self.out.command(
                Request::Unsubscribe {
                    channel: self.subject.channel(),
                },
                None,
            );
        }
        self.subscription = Subscription::No;
    }
}

//! A claim on an operation: the right to run it, which lasts as long as the session.
//!
//! ```text
//!          acquire            claimed             session confirmed            complete, release, leave
//!   Idle ───────────▶ Asking ─────────▶ Proving ────────────────────▶ Held ─────────────────────────────▶ Leaving ──▶ Idle
//!                      │  ▲                                             │                                    ▲
//!          in progress ▼  │ the lease is deleted                        ▼ loss                               │
//!                     Waiting                                         Lapsed ────────────────────────────────┘
//! ```
//!
//! The diagram has the usual transitions. `states.rs` has the table of all states and transitions, which is the
//! specification.

mod asking;
mod holding;
mod inputs;
mod leaving;
#[cfg(feature = "states")]
mod states;

use alloc::{boxed::Box, vec::Vec};
use core::time::Duration;

use crate::{
    AcquireTimeout, AttemptId, Cause, CommandId, ContenderId, Fence, Instant, Intent, Loss, Misuse, Refusal,
    Timer, claim::Content, jitter::Jitter, outbox::Outbox, states::Trail,
};

use super::{
    super::{grace::Grace, session::Session, wire::Request},
    exchange::{Exchange, Progress, Wire},
    settings::ClaimSettings,
    snapshot::Own,
};

/// A machine that claims an operation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Claimant {
    settings: ClaimSettings,
    out: Outbox<Request>,
    jitter: Jitter,
    attempt: AttemptId,
    session: Session,
    phase: Phase,
    trail: Trail<Phase>,
    /// The reads of the claimant's lease, and of the record that a waiter watches. The exchange has its own commands.
    pending: Vec<(CommandId, Purpose)>,
    acquire: Acquire,
}

/// The state of one acquire and its grant. The next acquire replaces it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Acquire {
    /// Whether the acquire ends at once when another attempt runs the operation.
    nonblocking: bool,
    /// Whether the client has seen that another attempt runs the operation.
    was_queued: bool,
    /// How long that attempt's lease may still last.
    left: Option<Duration>,
    /// The watches on the record's leases and on the record itself, while they may still fire.
    leases: Option<CommandId>,
    record: Option<CommandId>,
    /// A watch that has fired before the reply to the request that set it.
    early: Option<CommandId>,
    /// The fence of the claim, and the number of takeovers of the operation.
    fence: Fence,
    takeovers: u64,
    /// The last failure of a command. The machine reports it with the loss or the refusal that it causes.
    trouble: Cause,
    /// How many retries in a row have failed.
    failures: u32,
    grace: Grace,
}

impl Acquire {
    const fn new(nonblocking: bool) -> Self {
        Self {
            nonblocking,
            was_queued: false,
            left: None,
            leases: None,
            record: None,
            early: None,
            fence: Fence(0),
            takeovers: 0,
            trouble: Cause::none(),
            failures: 0,
            grace: Grace::UNUSED,
        }
    }
}

/// The state, with the data that the machine stores only in that state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Phase {
    Idle,
    Asking(Box<Exchange>),
    Waiting,
    /// The server has granted the claim. The session's proof is missing.
    Proving(Box<Own>),
    Held(Hold),
    Leaving(Box<Leaving>),
    /// The grant is lost. The application may still end the claim. If the claimant's lease may still exist, the machine
    /// leaves the claim.
    Lapsed(Option<Box<Exchange>>),
}

impl Phase {
    /// The exchange in progress.
    const fn exchange(&mut self) -> Option<&mut Exchange> {
        match self {
            Self::Asking(exchange) | Self::Lapsed(Some(exchange)) => Some(exchange),
            Self::Leaving(leaving) => Some(&mut leaving.exchange),
            Self::Idle | Self::Waiting | Self::Proving(_) | Self::Held(_) | Self::Lapsed(None) => None,
        }
    }
}

/// The part of the state that only a grant has.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Hold {
    own: Box<Own>,
    /// Whether the connection is lost at present.
    suspended: bool,
    /// The request that watches the claimant's lease, while its watch may still fire.
    watch: Option<CommandId>,
    /// Whether the claimant's lease was deleted. The machine then reads the record, which shows the reason.
    gone: bool,
}

/// The end of a claim, until the server has answered.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Leaving {
    exchange: Exchange,
    end: End,
    /// Whether the application waits for an event about this end.
    reported: bool,
    /// The claim and the end of its validity. If the server refuses to end the claim, the claim continues.
    before: Option<(Box<Own>, Instant)>,
}

/// The way in which a claim ends.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum End {
    /// The operation had no effect.
    Release,
    /// The operation's outcome is unknown.
    Leave,
    /// The operation has this result.
    Complete(Content),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Purpose {
    /// Read the claimant's lease, and watch it.
    WatchOwn,
    /// Read the claimant's lease again, without a watch.
    RecheckOwn,
    /// Read the record, because the claimant's lease was deleted.
    WhyGone,
    /// Watch the record, which had this version.
    WatchRecord(Option<i32>),
}

impl Claimant {
    pub(in crate::zookeeper) const fn new(
        settings: ClaimSettings,
        contender: ContenderId,
        seed: u64,
    ) -> Self {
        Self {
            settings,
            out: Outbox::new(),
            jitter: Jitter::new(seed),
            attempt: AttemptId { contender, number: 0 },
            session: Session::UNKNOWN,
            phase: Phase::Idle,
            trail: Trail::NEW,
            pending: Vec::new(),
            acquire: Acquire::new(false),
        }
    }

    /// Handles an intent of the application.
    ///
    /// # Errors
    /// [`Misuse`] for an intent that the present state does not allow. It changes nothing.
    pub fn intent(&mut self, now: Instant, intent: Intent) -> Result<(), Misuse> {
        match (intent, &self.phase) {
            (Intent::Acquire(acquire_timeout), Phase::Idle | Phase::Lapsed(None)) => {
                self.acquire(now, acquire_timeout);
            }
            (Intent::Acquire(_), _) => return Err(Misuse::Busy),
            (Intent::Downgrade, _) => return Err(Misuse::NotAWriter),
            // The grant has ended by its holder's own clock, but the driver has not passed in that timeout yet.
            (Intent::Extend, Phase::Held(_)) if self.out.expired(Timer::Validity, now) => {
                self.lose(now, Loss::LeaseEnded, Cause::none());
            }
            // The hub has requested a probe. Its confirmation extends the grant.
            (Intent::Extend, Phase::Held(_)) => {}
            (Intent::Release, Phase::Held(_) | Phase::Lapsed(_)) => self.end(now, End::Release),
            (Intent::Leave, Phase::Held(_) | Phase::Lapsed(_)) => self.end(now, End::Leave),
            (Intent::Complete(content), Phase::Held(_) | Phase::Lapsed(_)) => {
                self.end(now, End::Complete(content));
            }
            (Intent::Extend | Intent::Release | Intent::Complete(_) | Intent::Leave, _) => {
                return Err(Misuse::NotHeld);
            }
            (Intent::Cancel, Phase::Asking(_) | Phase::Waiting | Phase::Proving(_)) => {
                self.refuse(now, Refusal::Cancelled, Cause::none());
            }
            (Intent::Cancel, _) => return Err(Misuse::NotWaiting),
        }
        Ok(())
    }

    /// Whether the machine holds no claim, waits for nothing and has nothing to clean up. A lost claim whose lease was
    /// deleted does not count: the record's policy decides what happens to the operation.
    #[must_use]
    pub const fn is_idle(&self) -> bool {
        matches!(self.phase, Phase::Idle | Phase::Lapsed(None))
    }

    pub(crate) const fn outbox(&mut self) -> &mut Outbox<Request> {
        &mut self.out
    }

    fn acquire(&mut self, now: Instant, acquire_timeout: AcquireTimeout) {
        self.attempt.number = self.attempt.number.saturating_add(1);
        self.acquire = Acquire::new(acquire_timeout == AcquireTimeout::Try);
        self.out
            .set_acquire_timeout(now, acquire_timeout, self.settings.answer_within);
        self.ask_first(now);
    }

    /// Every change of the phase is one of the transitions in `states.rs`.
    fn go_to(&mut self, phase: Phase) {
        self.trail.follow(&phase);
        self.phase = phase;
    }

    /// Sends the exchange's next requests.
    fn go(&mut self, now: Instant) {
        let progress = self.with_exchange(|exchange, wire| exchange.go(wire));
        if let Some(progress) = progress {
            self.advance(now, progress);
        }
    }

    fn with_exchange<T>(&mut self, call: impl FnOnce(&mut Exchange, &mut Wire<'_>) -> T) -> Option<T> {
        let exchange = self.phase.exchange()?;
        let mut wire = Wire {
            paths: &self.settings.paths,
            session: &self.session,
            out: &mut self.out,
        };
        Some(call(exchange, &mut wire))
    }

    fn advance(&mut self, now: Instant, progress: Progress) {
        match (progress, &self.phase) {
            (Progress::Pending, _) => {}
            (Progress::Retry(trouble), _) => {
                self.acquire.trouble = trouble;
                self.retry_later(now);
            }
            (Progress::Claimed(own), Phase::Asking(_)) => self.claimed(now, own),
            (Progress::Answered(answer), Phase::Asking(_)) => self.asked(now, answer),
            (Progress::Refused(reason, cause), Phase::Asking(_)) => self.refuse(now, reason, cause),
            (Progress::Answered(answer), Phase::Leaving(_)) => self.ended(now, answer),
            (Progress::Refused(reason, cause), Phase::Leaving(_)) => self.end_refused(now, reason, cause),
            (Progress::Answered(_) | Progress::Refused(..), Phase::Lapsed(_)) => {
                self.stop_in(Phase::Lapsed(None));
            }
            // Not possible: only the exchange of a claim returns `Claimed`, and only the phases above have an exchange.
            (Progress::Claimed(_) | Progress::Answered(_) | Progress::Refused(..), _) => {}
        }
    }

    /// Schedules a retry. If the connection is lost, the retry begins after the reconnect.
    fn retry_later(&mut self, now: Instant) {
        if self.session.connected {
            let wait = self.jitter.backoff(self.acquire.failures);
            self.out.set_after(Timer::Retry, now, wait);
        }
        self.acquire.failures = self.acquire.failures.saturating_add(1);
    }

    fn send(&mut self, purpose: Purpose, request: Request) {
        let id = self.out.command(request, None);
        self.pending.push((id, purpose));
    }
}

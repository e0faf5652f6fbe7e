//! A contender in a queue: for a mutex, for the reader or the writer of a read/write lock, for an election, or for a
//! permit.
//!
//! The roles differ in the rules of the queue, which are in [`wait_queue`](super::wait_queue). Everything else is the
//! same.
//!
//! ```text
//!            acquire                listed: first          session confirmed
//!   Idle ──────────────▶ Entering ─────────────────▶ First ─────────────────▶ Held
//!    ▲                    ▲    │ listed: behind        ▲                        │
//!    │     own node gone, │    ▼                       │ predecessor gone         │ release,
//!    │        new session └─ Queued ───────────────────┘                        │ loss
//!    │                         │ timeout, cancel                                ▼
//!    └─────────────────────────┴────────────── all nodes are deleted ───── Leaving
//! ```
//!
//! The diagram has the usual transitions. `states.rs` has the table of all states and transitions, which is the
//! specification.

mod component;
mod create_recovery;
mod downgrade;
mod entering;
mod held;
mod inputs;
mod leaving;
mod queued;
mod recheck;
mod single;
#[cfg(feature = "states")]
mod states;

use alloc::{string::String, vec::Vec};

use crate::{
    AcquireTimeout, AttemptId, Cause, CommandId, ContenderId, Fence, Instant, Intent, Loss, Misuse, Refusal,
    Timer, jitter::Jitter, outbox::Outbox, states::Trail,
};

use super::grace::Grace;
use super::{
    ContenderSettings,
    cleanup::Cleanup,
    deferred::Deferred,
    session::Session,
    wire::{CreateMode, Request},
};
use downgrade::Downgrading;
use entering::Entering;
pub(super) use held::REVOKE;
use queued::Queued;

/// One contender in a queue.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Contender {
    settings: ContenderSettings,
    out: Outbox<Request>,
    jitter: Jitter,
    attempt: AttemptId,
    session: Session,
    phase: Phase,
    trail: Trail<Phase>,
    /// The commands in flight, with their purposes. The cleanup has its own list.
    pending: Vec<(CommandId, Purpose)>,
    own: OwnNode,
    acquire: Acquire,
    cleanup: Cleanup,
    /// The last event of an acquire or a grant, which the contender reports when the cleanup is done.
    deferred: Deferred,
    /// Whether this contender is a part of another machine, which reports the events.
    component: bool,
    /// Whether the server has container nodes.
    containers: bool,
}

/// The options and the state of one acquire. [`Contender::begin`] replaces them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Acquire {
    /// Whether the acquire is a try, which succeeds at once or fails.
    nonblocking: bool,
    /// Whether another machine has created the contender's node, for one of several locks that are not all held yet.
    pre_enqueued: bool,
    /// Whether a list has shown a contender before this one. If no list has, and the acquire's timeout expires, the
    /// contender reports an unreachable server.
    was_queued: bool,
    /// Whether the contender has reported a foreign contender, whose layout ignores this contender.
    mixed: bool,
    /// Whether another client has requested the lock, and whether the contender has reported the request.
    revocation: Revocation,
    /// The list whose watch has fired before the list's reply.
    stale: Option<CommandId>,
    /// How many retries in a row have failed.
    failures: u32,
    grace: Grace,
}

impl Acquire {
    const fn new(nonblocking: bool, pre_enqueued: bool) -> Self {
        Self {
            nonblocking,
            pre_enqueued,
            was_queued: false,
            mixed: false,
            revocation: Revocation::None,
            stale: None,
            failures: 0,
            grace: Grace::UNUSED,
        }
    }
}

/// The contender's knowledge of its own node. The end of the session resets it, because the server then deletes the
/// node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct OwnNode {
    /// The node, as soon as the client has the reply to its create.
    node: Option<Node>,
    /// Whether a create of this attempt got no reply. Then a list may contain a node of this attempt that the client
    /// does not know yet.
    in_doubt: bool,
    /// The request that watches the node, while its watch may still fire.
    watch: Option<CommandId>,
    /// The node that a create without a reply may have made, while the client reads it.
    duplicate: Option<String>,
}

impl OwnNode {
    const NONE: Self = Self {
        node: None,
        in_doubt: false,
        watch: None,
        duplicate: None,
    };
}

/// The contender's node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Node {
    name: String,
    /// The transaction that created the node. Transaction numbers grow with every change on the server, so this one is
    /// the fence.
    czxid: i64,
}

impl Node {
    /// An unknown transaction: no transaction has this number.
    const UNKNOWN: i64 = 0;
}

/// The state, with the data that the contender stores only in that state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Phase {
    Idle,
    Entering(Entering),
    Queued(Queued),
    First,
    Held(Hold),
    Leaving,
}

/// The part of the state that only a grant has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Hold {
    /// Whether the connection is lost at present.
    suspended: bool,
    downgrading: Downgrading,
}

/// Whether another client has requested the lock (Curator's revocation).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Revocation {
    None,
    Requested,
    /// The contender has reported the request to the application.
    Reported,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Purpose {
    /// Create one of the directories above the contender's node.
    Parent(CreateMode),
    /// Create the contender's node.
    Create,
    /// A barrier before a list.
    Barrier,
    /// List the directory.
    List,
    /// Read the single node, and watch it.
    Look,
    /// Watch the predecessor.
    WatchPredecessor,
    /// Read again, without a watch, the node that blocks this contender.
    Recheck,
    /// List the permits again, without a watch.
    RecheckPermits,
    /// Read again, without a watch, the contender's node.
    RecheckOwn,
    /// Watch the contender's node.
    WatchOwn,
    /// Read a node that a create without a reply may have made.
    Adopt,
    /// Replace a writer's node with a reader's node.
    Downgrade,
}

const CREATED: &str = "created";
const CREATED_OWN: &str = "created, at the path asked for, numbered";

impl Purpose {
    const fn expects(self) -> &'static str {
        match self {
            Self::Parent(_) => CREATED,
            Self::Create => CREATED_OWN,
            Self::Barrier => "done",
            Self::List | Self::RecheckPermits | Self::Downgrade => "children",
            Self::Look
            | Self::WatchPredecessor
            | Self::Recheck
            | Self::WatchOwn
            | Self::RecheckOwn
            | Self::Adopt => "data",
        }
    }
}

impl Contender {
    /// A contender without an acquire.
    #[must_use]
    pub const fn new(settings: ContenderSettings, contender: ContenderId, seed: u64) -> Self {
        Self {
            settings,
            out: Outbox::new(),
            jitter: Jitter::new(seed),
            attempt: AttemptId { contender, number: 0 },
            session: Session::UNKNOWN,
            phase: Phase::Idle,
            trail: Trail::NEW,
            pending: Vec::new(),
            own: OwnNode::NONE,
            acquire: Acquire::new(false, false),
            cleanup: Cleanup::new(),
            deferred: Deferred::NOTHING,
            component: false,
            containers: true,
        }
    }

    /// Handles an intent of the application.
    ///
    /// # Errors
    /// [`Misuse`] for an intent that the present state does not allow. It changes nothing.
    pub fn intent(&mut self, now: Instant, intent: Intent) -> Result<(), Misuse> {
        match (intent, &self.phase) {
            (Intent::Acquire(acquire_timeout), Phase::Idle) => self.acquire(now, acquire_timeout),
            (Intent::Acquire(_), _) => return Err(Misuse::Busy),
            // The grant has ended by its holder's own clock, but the driver has not passed in that timeout yet. So any
            // of these intents finds the grant lost.
            (Intent::Extend | Intent::Release | Intent::Downgrade, Phase::Held(_))
                if self.out.expired(Timer::Validity, now) =>
            {
                self.lose(Loss::LeaseEnded, Cause::none());
            }
            (Intent::Extend | Intent::Release | Intent::Downgrade, Phase::Held(_))
                if self.out.expired(Timer::MaxHold, now) =>
            {
                self.lose(Loss::MaxHold, Cause::none());
            }
            // The hub has requested a probe. Its confirmation extends the grant.
            (Intent::Extend, Phase::Held(_)) => {}
            (Intent::Release, Phase::Held(_)) => self.release(),
            (Intent::Downgrade, Phase::Held(_)) => return self.downgrade(),
            (Intent::Extend | Intent::Release | Intent::Downgrade, _) => return Err(Misuse::NotHeld),
            (Intent::Complete(_) | Intent::Leave, _) => return Err(Misuse::NotAClaim),
            (Intent::Cancel, Phase::Entering(_) | Phase::Queued(_) | Phase::First) => {
                self.refuse(now, Refusal::Cancelled, Cause::none());
            }
            (Intent::Cancel, Phase::Leaving) if self.deferred.flush(&mut self.out) => {}
            (Intent::Cancel, _) => return Err(Misuse::NotWaiting),
        }
        Ok(())
    }

    /// Whether the contender holds no lock, waits for nothing, and has nothing to clean up.
    #[must_use]
    pub const fn is_idle(&self) -> bool {
        matches!(self.phase, Phase::Idle)
    }

    pub(crate) const fn outbox(&mut self) -> &mut Outbox<Request> {
        &mut self.out
    }

    fn acquire(&mut self, now: Instant, acquire_timeout: AcquireTimeout) {
        self.begin(acquire_timeout == AcquireTimeout::Try, false);
        self.out
            .set_acquire_timeout(now, acquire_timeout, self.settings.answer_within);
        match self.session.ended {
            Some(reason) => self.refuse(now, reason, Cause::none()),
            None => self.enter(),
        }
    }

    fn begin(&mut self, nonblocking: bool, pre_enqueued: bool) {
        self.cleanup.refused = None;
        self.acquire = Acquire::new(nonblocking, pre_enqueued);
    }

    /// Every change of the phase is one of the transitions in `states.rs`.
    fn go_to(&mut self, phase: Phase) {
        self.trail.follow(&phase);
        self.phase = phase;
    }

    /// Sends a request and stores its purpose.
    fn send(&mut self, purpose: Purpose, request: Request) -> CommandId {
        let deadline = self.out.at(Timer::AcquireTimeout);
        let id = self.out.command(request, deadline);
        self.pending.push((id, purpose));
        id
    }

    /// Stops waiting for the outcome of this command.
    fn forget(&mut self, id: CommandId) {
        self.pending.retain(|(waiting, _)| *waiting != id);
    }

    fn forget_all_but_creates(&mut self) {
        self.pending.retain(|(_, purpose)| *purpose == Purpose::Create);
    }

    fn waits_for(&self, purpose: Purpose) -> bool {
        self.pending.iter().any(|(_, pending)| *pending == purpose)
    }

    /// Schedules a retry. If the connection is lost, the retry begins after the reconnect.
    fn retry_later(&mut self, now: Instant) {
        if self.session.connected {
            let wait = self.jitter.backoff(self.acquire.failures);
            self.out.set_after(Timer::Retry, now, wait);
        }
        self.acquire.failures = self.acquire.failures.saturating_add(1);
    }

    /// The state of a downgrade of the grant.
    const fn downgrading(&self) -> Downgrading {
        match self.phase {
            Phase::Held(hold) => hold.downgrading,
            _ => Downgrading::No,
        }
    }

    const fn is_suspended(&self) -> bool {
        matches!(self.phase, Phase::Held(Hold { suspended: true, .. }))
    }

    fn fence(&self) -> Option<Fence> {
        self.own
            .node
            .as_ref()
            .and_then(|node| u64::try_from(node.czxid).ok())
            .map(Fence)
    }
}

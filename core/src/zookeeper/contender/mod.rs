//! A contender in a line: for a mutex, for a share of a read/write lock or all of it, for an election, for a permit.
//!
//! The rules of the line differ, and are in [`line`](super::line); everything else is the same.
//!
//! ```text
//!            acquire                listed: first          session confirmed
//!   Idle ──────────────▶ Entering ─────────────────▶ First ─────────────────▶ Held
//!    ▲                    ▲    │ listed: behind        ▲                        │
//!    │     own node gone, │    ▼                       │ neighbour gone         │ release,
//!    │        new session └─ Queued ───────────────────┘                        │ loss
//!    │                         │ timeout, cancel                                ▼
//!    └─────────────────────────┴──────────── what was created is gone ──── Leaving
//! ```

mod downgrade;
mod entering;
mod held;
mod inputs;
mod leaving;
mod queued;
mod seat;
mod second_look;
mod setback;
mod single;
mod twins;

use alloc::{string::String, vec::Vec};
use core::time::Duration;

use crate::{
    AttemptId, Cause, CommandId, Fence, Instant, Intent, Loss, Misuse, OwnerId, Patience, Refusal, SessionId,
    Timer, jitter::Jitter, outbox::Outbox,
};

use super::grace::Grace;
use super::{
    ContenderSettings,
    disposal::Disposal,
    farewell::Farewell,
    wire::{CreateMode, Request},
};
use downgrade::Turning;
use entering::Entering;
pub(super) use held::REVOKE;
use queued::Queued;

/// One contender in a line.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Contender {
    settings: ContenderSettings,
    out: Outbox<Request>,
    jitter: Jitter,
    attempt: AttemptId,
    session: Session,
    phase: Phase,
    /// What the commands under way are for; the disposal knows its own.
    pending: Vec<(CommandId, Purpose)>,
    /// The own node, from its create's reply on.
    node: Option<Node>,
    /// Whether a create of this attempt has had no answer, so that the list may hold a node that nobody told us of.
    doubt: bool,
    /// The request that watches the own node, while its watch may still fire.
    own_watch: Option<CommandId>,
    /// The node that a doubtful create may have made, while it is being looked at.
    twin: Option<String>,
    disposal: Disposal,
    /// What is said when it has left.
    farewell: Farewell,
    /// Whether it is a part of a machine, which says what is to be said.
    part: bool,
    /// How many retries in a row have failed.
    failures: u32,
    /// Whether the acquire has to succeed at once or not at all.
    trying: bool,
    /// Whether its place was taken for it, as one of many, not all of which are held yet.
    seated: bool,
    /// Whether a contender that cannot see us has been reported.
    mixed: bool,
    /// Whether somebody wants the lock back, and whether that has been told.
    wanted: Wanted,
    /// Whether a writer turns into a reader, or has.
    turning: Turning,
    /// The list whose watch has fired before its reply.
    stale: Option<CommandId>,
    /// Whether a list has ever put us behind somebody: then a timeout is a timeout, and before it the server was unreachable.
    placed: bool,
    /// Whether the server can make container nodes.
    containers: bool,
    grace: Grace,
}

/// What is known of the session.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Session {
    id: Option<SessionId>,
    connected: bool,
    timeout: Duration,
    /// Until when the keeper has it confirmed.
    valid_until: Option<Instant>,
    /// Why there will be none any more, if so.
    ended: Option<Refusal>,
    /// Whether it has moved to another connection: an answer may be that of a request of before then.
    moved: bool,
}

/// The own node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Node {
    name: String,
    /// The transaction that created it: it grows with every change of the tree, so it is the fence.
    czxid: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Phase {
    /// Nothing to do.
    Idle,
    /// The own node is being made and listed.
    Entering(Entering),
    /// Behind somebody else.
    Queued(Queued),
    /// First in the line; the session still has to be confirmed.
    First,
    /// The lock is ours; perhaps the connection is gone at present.
    Held { suspended: bool },
    /// What was created has to go.
    Leaving,
}

/// Whether somebody wants the lock back (Curator's revocation).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Wanted {
    No,
    Yes,
    Told,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Purpose {
    /// Make one of the directories above the own node.
    Parent(CreateMode),
    /// Make the own node.
    Create,
    /// A barrier before a list.
    Barrier,
    /// List the directory.
    List,
    /// Look at the node that is the lock, and watch it.
    Look,
    /// Watch the nearest earlier contender.
    WatchNeighbour,
    /// See whether who is in the way is there still.
    LookAgain,
    /// See whether permits are there now.
    CountAgain,
    /// See whether the own node is there still.
    LookOwn,
    /// Watch the own node.
    WatchOwn,
    /// Look at a node that an unanswered create may have made.
    Adopt,
    /// Put a reader's node in the place of a writer's.
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
            Self::List | Self::CountAgain | Self::Downgrade => "children",
            Self::Look
            | Self::WatchNeighbour
            | Self::LookAgain
            | Self::WatchOwn
            | Self::LookOwn
            | Self::Adopt => "data",
        }
    }
}

impl Contender {
    /// A contender that has not asked for anything yet.
    #[must_use]
    pub const fn new(settings: ContenderSettings, owner: OwnerId, seed: u64) -> Self {
        Self {
            settings,
            out: Outbox::new(),
            jitter: Jitter::new(seed),
            attempt: AttemptId { owner, number: 0 },
            session: Session {
                id: None,
                connected: false,
                timeout: Duration::ZERO,
                valid_until: None,
                ended: None,
                moved: false,
            },
            phase: Phase::Idle,
            pending: Vec::new(),
            node: None,
            doubt: false,
            own_watch: None,
            twin: None,
            disposal: Disposal::new(),
            farewell: Farewell::NOTHING,
            part: false,
            failures: 0,
            trying: false,
            seated: false,
            mixed: false,
            wanted: Wanted::No,
            turning: Turning::No,
            stale: None,
            placed: false,
            containers: true,
            grace: Grace::UNUSED,
        }
    }

    /// The application's intents.
    ///
    /// # Errors
    /// [`Misuse`] for one that makes no sense now; nothing has changed then.
    pub fn intent(&mut self, now: Instant, intent: Intent) -> Result<(), Misuse> {
        match (intent, &self.phase) {
            (Intent::Acquire(patience), Phase::Idle) => self.acquire(now, patience),
            (Intent::Acquire(_), _) => return Err(Misuse::Busy),
            // Whatever is asked for, the grant has ended by its holder's own clock, and nobody has looked at it since.
            (Intent::Extend | Intent::Release | Intent::Downgrade, Phase::Held { .. })
                if self.out.expired(Timer::Validity, now) =>
            {
                self.lose(Loss::LeaseEnded, Cause::none());
            }
            // The hub has asked the keeper: its confirmation extends the grant.
            (Intent::Extend, Phase::Held { .. }) => {}
            (Intent::Release, Phase::Held { .. }) => self.release(),
            (Intent::Downgrade, Phase::Held { .. }) => return self.downgrade(),
            (Intent::Extend | Intent::Release | Intent::Downgrade, _) => return Err(Misuse::NotHeld),
            (Intent::Cancel, Phase::Entering(_) | Phase::Queued(_) | Phase::First) => {
                self.refuse(now, Refusal::Cancelled, Cause::none());
            }
            (Intent::Cancel, Phase::Leaving) if self.farewell.hurry(&mut self.out) => {}
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
        self.begin(patience == Patience::Try);
        self.out.set_patience(now, patience, self.settings.answer_within);
        match self.session.ended {
            Some(reason) => self.refuse(now, reason, Cause::none()),
            None => self.enter(),
        }
    }

    fn begin(&mut self, trying: bool) {
        self.disposal.refused = None;
        self.trying = trying;
        self.placed = false;
        self.mixed = false;
        self.wanted = Wanted::No;
        self.turning = Turning::No;
        self.failures = 0;
        self.grace = Grace::UNUSED;
    }

    /// Sends a request and remembers what for.
    fn send(&mut self, purpose: Purpose, request: Request) -> CommandId {
        let deadline = self.out.at(Timer::Patience);
        let id = self.out.command(request, deadline);
        self.pending.push((id, purpose));
        id
    }

    /// No answer to this is waited for any more.
    fn forget(&mut self, id: CommandId) {
        self.pending.retain(|(waiting, _)| *waiting != id);
    }

    fn forget_all_but_creates(&mut self) {
        self.pending.retain(|(_, purpose)| *purpose == Purpose::Create);
    }

    fn waits_for(&self, purpose: Purpose) -> bool {
        self.pending.iter().any(|(_, pending)| *pending == purpose)
    }

    /// Tries again what has failed: later, if the connection is there; else when it is back.
    fn retry_later(&mut self, now: Instant) {
        if self.session.connected {
            let wait = self.jitter.backoff(self.failures);
            self.out.set_after(Timer::Retry, now, wait);
        }
        self.failures = self.failures.saturating_add(1);
    }

    fn fence(&self) -> Option<Fence> {
        self.node
            .as_ref()
            .and_then(|node| u64::try_from(node.czxid).ok())
            .map(Fence)
    }

    /// How long a session is confirmed for, if it is at all.
    fn confirmed(&self, now: Instant) -> Option<Instant> {
        self.session
            .valid_until
            .filter(|until| self.session.connected && *until > now)
    }
}

//! A small lock on ZooKeeper, as found in many programs, and its known mistakes.
//!
//! Without a defect it is correct: numbered nodes, the nearest lower one watched by get, its session confirmed through the leader. It
//! is simple and slow: after every change of the queue and every reconnect, it reads the queue again behind a `sync`.

mod both;
mod confirm;
mod inputs;
mod leaving;
mod looker;
mod roles;
mod single;

use core::time::Duration;
use std::collections::VecDeque;

use fencepost_core::{
    AttemptId, Command, CommandId, ContenderId, Event, Fence, Grant, Instant, Output, Refusal, SessionId,
    Target,
    zookeeper::{CreateMode, Request},
};

use crate::zookeeper::{Ask, DIRECTORY};

pub use both::Both;
use confirm::FirstProbe;
pub use looker::{Looker, Oversight, Unwatching};
pub use roles::{Role, small};

/// The possible mistakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Defect {
    /// The client repeats a create without an answer, and does not search for the node of the first one.
    CreateAgain,
    /// The client sorts the nodes by their whole names.
    WholeNames,
    /// Every waiter watches the first of the queue.
    WatchFirst,
    /// The client treats the deletion of its predecessor's node as a release.
    PredecessorGone,
    /// The client watches its predecessor by `exists`, and ignores the answer.
    ExistsWatch,
    /// The client does not recheck its predecessor while the watch is silent.
    WatchOnly,
    /// The client deletes nothing when its acquire timeout ends.
    LeakOnTimeout,
    /// The holder notices the end of its session only when the client library reports it.
    NoConfirmation,
    /// The release deletes the first node of the queue.
    DeleteFirst,
    /// A list counts without a `sync` before it.
    NoBarrier,
    /// A list counts behind a `sync` that has failed.
    RefusedBarrier,
    /// Two confirmations, one right after the other, count as a proof of the whole session timeout.
    OneBreath,
    /// A `sync` counts as a proof that the leader still leads.
    SyncProves,
    /// The client treats a delete without an answer as done.
    DeleteOnce,
    /// Every list of the queue restarts the acquire timeout.
    TimeoutAnew,
    /// A reader also waits for later writers.
    LaterWriters,
    /// A writer waits only for earlier writers.
    WritersOnly,
    /// A reader watches the first writer of the queue.
    FirstWriter,
    /// A writer that becomes a reader gets a new number.
    FreshNumber,
    /// A waiter for a permit watches one of the holders.
    ByIndex,
    /// The single node: the client repeats a delete without an answer, although the node may already belong
    /// to another client.
    DeleteAgain,
    /// The single node: the client treats every existing node as another client's.
    NeverMine,
}

/// A small lock.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Small {
    role: Role,
    directory: &'static str,
    defect: Option<Defect>,
    attempt: AttemptId,
    phase: Phase,
    out: VecDeque<Output<Ask, Event>>,
    last: u64,
    pending: Vec<(CommandId, What)>,
    session: Option<SessionId>,
    /// Whether the session has been on another connection before.
    moved: bool,
    connected: bool,
    node: Option<(String, i64)>,
    /// A create or a delete got no answer.
    in_doubt: bool,
    watched: Option<CommandId>,
    /// An answered confirmation, which two later ones prove.
    first_probe: Option<FirstProbe>,
    /// The start of the last proved confirmation.
    proved: Option<Instant>,
    confirming: Option<(CommandId, Instant)>,
    confirm_at: Option<Instant>,
    acquire_timeout: Option<Duration>,
    deadline: Option<Instant>,
    retry: Option<Instant>,
    look: Option<Instant>,
    nonblocking: bool,
    was_queued: bool,
    shut: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Phase {
    Idle,
    Wants,
    First,
    Holds,
    Leaves { release: bool },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum What {
    Parent,
    Create,
    Barrier,
    List,
    Watch,
    Look,
    Own,
    Reader,
    Delete,
}

/// How long it waits before it tries again.
const PAUSE: Duration = Duration::from_millis(25);

/// How long it waits for an event before it rechecks.
const LOOK: Duration = Duration::from_secs(2);

/// Sends a request to a server; `last` counts the requests.
fn command(out: &mut VecDeque<Output<Ask, Event>>, last: &mut u64, request: Ask) -> CommandId {
    *last += 1;
    let id = CommandId(*last);
    out.push_back(Output::Command(Command {
        id,
        target: Target::Any,
        deadline: None,
        request,
    }));
    id
}

impl Small {
    /// A lock that has not sent a request yet.
    #[must_use]
    pub const fn new(owner: ContenderId, role: Role, defect: Option<Defect>) -> Self {
        Self {
            role,
            directory: DIRECTORY,
            defect,
            attempt: AttemptId {
                contender: owner,
                number: 0,
            },
            phase: Phase::Idle,
            out: VecDeque::new(),
            last: 0,
            pending: Vec::new(),
            session: None,
            moved: false,
            connected: false,
            node: None,
            in_doubt: false,
            watched: None,
            first_probe: None,
            proved: None,
            confirming: None,
            confirm_at: None,
            acquire_timeout: None,
            deadline: None,
            retry: None,
            look: None,
            nonblocking: false,
            was_queued: false,
            shut: false,
        }
    }

    /// The same in another directory.
    pub(super) fn inside(self, directory: &'static str) -> Self {
        Self { directory, ..self }
    }

    fn has(&self, defect: Defect) -> bool {
        self.defect == Some(defect)
    }

    fn emit(&mut self, event: Event) {
        if !self.shut {
            self.out.push_back(Output::Event(event));
        }
    }

    fn command(&mut self, request: Ask) -> CommandId {
        command(&mut self.out, &mut self.last, request)
    }

    fn send(&mut self, what: What, request: impl Into<Ask>) -> CommandId {
        let id = self.command(request.into());
        self.pending.push((id, what));
        id
    }

    fn waits_for(&self, what: What) -> bool {
        self.pending.iter().any(|(_, pending)| *pending == what)
    }

    fn own(&self) -> String {
        format!("_c_{}-", self.attempt.uuid())
    }

    /// Creates a node, or searches for the node of an earlier create.
    fn enter(&mut self) {
        if !self.connected || !self.pending.is_empty() {
            return;
        }
        if self.has(Defect::CreateAgain) {
            self.in_doubt = false;
        }
        if self.node.is_some() || self.in_doubt {
            return self.list();
        }
        self.attempt.number += 1;
        self.create();
    }

    fn make_parents(&mut self) {
        for path in ["/shop", self.directory] {
            let (path, data, mode) = (path.into(), Vec::new(), CreateMode::Container);
            self.send(What::Parent, Request::Create { path, data, mode });
        }
        self.create();
    }

    fn create(&mut self) {
        if self.role == Role::Single {
            return self.create_single();
        }
        self.create_in_queue(What::Create, self.role.node());
        self.list();
    }

    fn create_in_queue(&mut self, what: What, kind: &str) {
        let path = format!("{}/{}{kind}", self.directory, self.own());
        let mode = CreateMode::EphemeralSequential;
        let data = Vec::new();
        self.send(what, Request::Create { path, data, mode });
    }

    fn list(&mut self) {
        if self.role == Role::Single {
            return self.look();
        }
        let path = self.directory.to_owned();
        if !self.has(Defect::NoBarrier) {
            self.send(What::Barrier, Request::Sync { path: path.clone() });
        }
        self.send(What::List, Request::Children { path, watch: false });
    }

    fn listed(&mut self, now: Instant, names: &[String]) {
        if self.has(Defect::TimeoutAnew) && self.deadline.is_some() {
            self.deadline = self.acquire_timeout.map(|limit| now.plus(limit));
        }
        let prefix = self.own();
        let mut queue: Vec<&String> = names.iter().collect();
        if self.has(Defect::WholeNames) {
            queue.sort_unstable();
        } else {
            queue.sort_unstable_by_key(|name| name.rsplit_once('-').map(|(_, number)| number.to_owned()));
        }
        if self.node.is_none() && self.in_doubt {
            let found = queue.iter().find(|name| name.starts_with(&prefix));
            // The transaction that created the node is not known yet.
            self.node = found.map(|name| ((*name).clone(), 0));
            self.in_doubt = false;
        }
        let own = self.node.as_ref().map(|(name, _)| name.clone());
        match self.phase {
            Phase::Leaves { .. } => self.delete_listed(names),
            Phase::Wants => {
                let place = queue.iter().position(|name| Some(*name) == own.as_ref());
                match place.map(|place| self.waits_behind(&queue, place)) {
                    Some(None) => self.first(now),
                    Some(Some(_)) if self.nonblocking => self.refuse(Refusal::NotAvailable),
                    Some(Some(watched)) => {
                        self.was_queued = true;
                        let path = format!("{}/{}", self.directory, queue[watched]);
                        let ask = if self.has(Defect::ExistsWatch) {
                            Ask::Exists { path, watch: true }
                        } else {
                            Request::Get { path, watch: true }.into()
                        };
                        self.watched = Some(self.send(What::Watch, ask));
                        self.look_later(now);
                    }
                    None => {
                        self.node = None;
                        self.enter();
                    }
                }
            }
            Phase::Idle | Phase::First | Phase::Holds => {}
        }
    }

    fn look_later(&mut self, now: Instant) {
        self.look = Some(now.plus(LOOK)).filter(|_| !self.has(Defect::WatchOnly));
    }

    fn first(&mut self, now: Instant) {
        if let Some((name, 0)) = &self.node {
            let path = format!("{}/{name}", self.directory);
            self.send(What::Own, Request::Get { path, watch: false });
            return;
        }
        self.phase = Phase::First;
        self.hold(now);
    }

    /// Holds once the session is confirmed.
    fn hold(&mut self, now: Instant) {
        let until = self.valid_until();
        let unconfirmed = self.has(Defect::NoConfirmation);
        if self.phase != Phase::First || !unconfirmed && until.is_none_or(|until| until <= now) {
            if self.confirm_at.is_none() || self.has(Defect::OneBreath) {
                self.confirm(now);
            }
            return;
        }
        self.phase = Phase::Holds;
        self.deadline = None;
        let czxid = self.node.as_ref().map(|(_, czxid)| *czxid);
        let fence = czxid
            .filter(|czxid| *czxid > 0)
            .and_then(|czxid| u64::try_from(czxid).ok());
        self.emit(Event::Acquired {
            grant: Grant {
                attempt: self.attempt,
                fence: fence.map(Fence),
                takeovers: 0,
                valid_until: until.filter(|_| !unconfirmed),
            },
        });
    }
}

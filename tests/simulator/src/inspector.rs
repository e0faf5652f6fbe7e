//! Inspectors: clients that inspect a lock, and do not contend for it.
//!
//! An [`Inspector`] first lists the contenders. Then it breaks one of them or sends it a revocation request, and the contender may have left
//! meanwhile. Sometimes it uses the fence of another contender, or one that it found long ago. [`Lock`] has
//! the differences between servers.

mod redis;
mod zookeeper;

use core::{fmt::Debug, hash::Hash};

use fencepost_core::{
    CommandId, ContenderId, Event, Found, Instant, Intent, Key, Misuse, Outcome, Output,
    hub::{Family, Hub},
    states::Observer,
};

use crate::{
    backend::{Backend, NoticeOf, ReplyOf, Subject},
    checker::{Aim, Mode, Task},
};

pub use redis::OnRedis;
pub use zookeeper::OnZooKeeper;

/// A lock that is inspected.
pub trait Lock: Clone + Debug + Eq + Hash {
    /// The family of its machines.
    type Family: Family;

    /// The tasks that inspections of it can have.
    fn tasks(&self) -> Tasks;

    /// The settings of the machine for this task.
    fn settings(&self, task: &Task) -> <Self::Family as Family>::Settings;
}

/// The tasks that inspections of a lock can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tasks {
    /// List its contenders.
    Lists,
    /// Also break them. A name belongs to only one attempt, so it identifies its contender without a fence.
    ListsAndBreaks,
    /// Also send revocation requests. A name may later belong to another contender, and only the fence shows
    /// that.
    All,
}

/// The plan of an inspector: its next task, depending on the found contenders. Correct and wrong inspectors
/// have the same plan.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Plan {
    tasks: Tasks,
    task: Task,
    /// The contenders that the last list has found, by their fences.
    found: Vec<Aim>,
    /// The first contender that it found, to break it much later.
    old: Option<Aim>,
    turn: u64,
}

impl Plan {
    /// The plan at the beginning; `turn` chooses the first task.
    #[must_use]
    pub const fn new(tasks: Tasks, turn: u64) -> Self {
        Self {
            tasks,
            task: Task::List,
            found: Vec::new(),
            old: None,
            turn,
        }
    }

    /// The last or current task.
    #[must_use]
    pub const fn task(&self) -> &Task {
        &self.task
    }

    /// Whether a list comes next.
    #[must_use]
    pub const fn looks_next(&self) -> bool {
        matches!(self.tasks, Tasks::Lists) || self.found.is_empty()
    }

    /// Advances to the next task.
    pub fn go_on(&mut self) -> &Task {
        self.task = self.next();
        &self.task
    }

    fn next(&mut self) -> Task {
        if self.looks_next() {
            return Task::List;
        }
        let found = core::mem::take(&mut self.found);
        let turn = self.turn;
        self.turn += 1;
        let at = usize::try_from(turn >> 2).unwrap_or_default() % found.len();
        let aim = found[at].clone();
        match (turn % 4, self.tasks) {
            (0, _) => Task::Break(aim),
            (1, Tasks::All) => Task::Revoke(aim),
            // The fence of the next contender, or one that no contender has.
            (2, Tasks::All) => Task::Break(Aim {
                fence: found.get(at + 1).map_or(aim.fence + 1, |next| next.fence),
                ..aim
            }),
            _ => Task::Break(self.old.take().unwrap_or(aim)),
        }
    }

    /// The result of a list.
    pub fn has_found(&mut self, list: &[Found]) {
        if self.task != Task::List {
            return;
        }
        let found = list.iter().map(|found| Aim {
            node: found.node.clone(),
            fence: found.fence.0,
        });
        self.found = found.collect();
        self.found.sort_by_key(|aim| aim.fence);
        if self.old.is_none() {
            self.old = self.found.first().cloned();
        }
    }
}

/// Inspections of a lock, one after the other, in a separate hub.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Inspector<L: Lock> {
    hub: Hub<L::Family>,
    owner: ContenderId,
    seed: u64,
    lock: L,
    plan: Plan,
    /// The last inspection.
    key: Option<Key>,
    /// The number of inspections so far. Each has its own contender id, so its attempts have their own names.
    opened: u16,
}

impl<L: Lock> Inspector<L> {
    /// An idle inspector; `turn` chooses its first task.
    #[must_use]
    pub fn new(lock: L, owner: ContenderId, seed: u64, turn: u64) -> Self {
        Self {
            hub: Hub::new(seed),
            owner,
            seed,
            plan: Plan::new(lock.tasks(), turn),
            lock,
            key: None,
            opened: 0,
        }
    }

    fn open(&mut self, now: Instant) -> Result<Key, Misuse> {
        if let Some(last) = self.key.take() {
            self.hub.close(now, last);
        }
        let machine = self.lock.settings(self.plan.go_on());
        self.opened = self.opened.wrapping_add(1);
        let mut contender = self.owner;
        contender.0[14..].copy_from_slice(&self.opened.to_be_bytes());
        self.hub.open(now, machine, contender, self.seed)
    }
}

impl<B: Backend, L: Lock<Family = B::Family>> Subject<B> for Inspector<L> {
    fn intent(&mut self, now: Instant, intent: Intent) -> Result<(), Misuse> {
        if let Intent::Acquire(_) = intent {
            self.key = Some(self.open(now)?);
        }
        let key = self.key.ok_or(Misuse::NotWaiting)?;
        self.hub.intent(now, key, intent)
    }

    fn handle_outcome(
        &mut self,
        now: Instant,
        id: CommandId,
        outcome: Outcome<ReplyOf<B>>,
    ) -> Result<(), Misuse> {
        self.hub.handle_outcome(now, id, outcome)
    }

    fn handle_notice(&mut self, now: Instant, notice: NoticeOf<B>) -> Result<(), Misuse> {
        self.hub.handle_notice(now, notice)
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.hub.handle_timeout(now);
    }

    fn poll_output(&mut self) -> Output<B::Ask, Event> {
        let output = self.hub.poll_output(None).1.with_request();
        if let Output::Event(Event::Found { contenders }) = &output {
            self.plan.has_found(contenders);
        }
        output
    }

    fn shutdown(&mut self, now: Instant) {
        self.hub.shutdown(now);
    }

    fn pending(&self) -> usize {
        self.hub.pending()
    }

    fn inspects(&self) -> Option<&Task> {
        Some(self.plan.task())
    }

    fn is_satisfied(&self) -> bool {
        self.plan.looks_next()
    }

    fn observe(&self, observer: &mut impl Observer) {
        self.hub.observe(observer);
    }
}

/// A client of a lock that is inspected.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Party<C, I> {
    /// Contends for it.
    Contends(C),
    /// Inspects it.
    Inspects(I),
}

macro_rules! each {
    ($party:expr, $one:ident => $does:expr) => {
        match $party {
            Party::Contends($one) => $does,
            Party::Inspects($one) => $does,
        }
    };
}

impl<B: Backend, C: Subject<B>, I: Subject<B>> Subject<B> for Party<C, I> {
    fn intent(&mut self, now: Instant, intent: Intent) -> Result<(), Misuse> {
        each!(self, one => one.intent(now, intent))
    }

    fn handle_outcome(
        &mut self,
        now: Instant,
        id: CommandId,
        outcome: Outcome<ReplyOf<B>>,
    ) -> Result<(), Misuse> {
        each!(self, one => one.handle_outcome(now, id, outcome))
    }

    fn handle_notice(&mut self, now: Instant, notice: NoticeOf<B>) -> Result<(), Misuse> {
        each!(self, one => one.handle_notice(now, notice))
    }

    fn handle_timeout(&mut self, now: Instant) {
        each!(self, one => one.handle_timeout(now));
    }

    fn poll_output(&mut self) -> Output<B::Ask, Event> {
        each!(self, one => one.poll_output())
    }

    fn shutdown(&mut self, now: Instant) {
        each!(self, one => one.shutdown(now));
    }

    fn pending(&self) -> usize {
        each!(self, one => one.pending())
    }

    fn mode(&self) -> Mode {
        each!(self, one => one.mode())
    }

    fn inspects(&self) -> Option<&Task> {
        each!(self, one => one.inspects())
    }

    fn is_satisfied(&self) -> bool {
        each!(self, one => one.is_satisfied())
    }

    fn observe(&self, observer: &mut impl Observer) {
        each!(self, one => one.observe(observer));
    }
}

//! Inspectors: clients that look at a lock from outside, beside its contenders.
//!
//! An [`Inspector`] lists the contenders when it is first asked to. When it is asked again, it breaks or revokes one that it has found, which
//! may have left meanwhile. Sometimes it uses the fence of another, or one that it found long ago.

use fencepost_core::{
    CommandId, ContenderId, Event, Fence, Found, Instant, Intent, Key, Misuse, Outcome, Output,
    hub::Hub,
    states::Observer,
    zookeeper::{Action, InspectionSettings, Layout, LockSettings, Notice, Reply, Role, ZooKeeper},
};

use crate::{
    backend::Subject,
    checker::{Aim, Mode, Task},
    zookeeper::{Ask, Servers},
};

/// What is inspected.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Lock {
    /// Its name.
    pub name: &'static str,
    /// Its layout.
    pub layout: Layout,
    /// What kind it is.
    pub of: Role,
    /// Whether it is only listed: paths of its nodes are used again, so that a node can change its owner between the look at it and what
    /// is done to it. That is said of inspections, and cannot be mended by them: ZooKeeper knows no fences.
    pub only_listed: bool,
}

/// What an inspector does next, by what it has found. It is the same for all inspectors, right or wrong.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Plan {
    only_lists: bool,
    task: Task,
    /// The contenders that the last list has found, by their fences.
    found: Vec<Aim>,
    /// The contender that it has found first, to be broken much later.
    old: Option<Aim>,
    turn: u64,
}

impl Plan {
    /// Nothing done yet; `turn` chooses what is done first.
    #[must_use]
    pub const fn new(only_lists: bool, turn: u64) -> Self {
        Self {
            only_lists,
            task: Task::List,
            found: Vec::new(),
            old: None,
            turn,
        }
    }

    /// What was done last, or is being done.
    #[must_use]
    pub const fn task(&self) -> &Task {
        &self.task
    }

    /// Whether a list comes next.
    #[must_use]
    pub const fn looks_next(&self) -> bool {
        self.only_lists || self.found.is_empty()
    }

    /// Goes on to what comes next.
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
        match turn % 4 {
            0 => Task::Break(aim),
            1 => Task::Revoke(aim),
            // The next one's fence, or one that no contender has.
            2 => Task::Break(Aim {
                fence: found.get(at + 1).map_or(aim.fence + 1, |next| next.fence),
                ..aim
            }),
            _ => Task::Break(self.old.take().unwrap_or(aim)),
        }
    }

    /// A list has come to this.
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

/// Inspections of a lock, one after the other, in a hub of their own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Inspector {
    hub: Hub<ZooKeeper>,
    owner: ContenderId,
    seed: u64,
    lock: Lock,
    plan: Plan,
    /// The last one.
    key: Option<Key>,
}

impl Inspector {
    /// One that has not been asked for anything yet; `turn` chooses what it does first.
    #[must_use]
    pub fn new(lock: Lock, owner: ContenderId, seed: u64, turn: u64) -> Self {
        Self {
            hub: Hub::new(seed),
            owner,
            seed,
            plan: Plan::new(lock.only_listed, turn),
            lock,
            key: None,
        }
    }

    fn settings(&self, task: &Task) -> InspectionSettings {
        let action = match task.clone() {
            Task::List => Action::List,
            Task::Break(Aim { node, fence }) => Action::Break {
                node,
                fence: Fence(fence),
            },
            Task::Revoke(Aim { node, fence }) => Action::Revoke {
                node,
                fence: Fence(fence),
            },
        };
        let Lock { name, layout, of, .. } = self.lock.clone();
        let mut settings = InspectionSettings::new("shop", name, layout, of, action).expect("good settings");
        settings.answer_within = core::time::Duration::from_millis(500);
        settings
    }
}

impl Subject<Servers> for Inspector {
    fn intent(&mut self, now: Instant, intent: Intent) -> Result<(), Misuse> {
        if let Intent::Acquire(_) = intent {
            let task = self.plan.go_on().clone();
            if let Some(last) = self.key.take() {
                self.hub.close(now, last);
            }
            let machine = LockSettings::Inspection(self.settings(&task));
            self.key = Some(self.hub.open(now, machine, self.owner, self.seed)?);
        }
        let key = self.key.ok_or(Misuse::NotWaiting)?;
        self.hub.intent(now, key, intent)
    }

    fn handle_outcome(&mut self, now: Instant, id: CommandId, outcome: Outcome<Reply>) -> Result<(), Misuse> {
        self.hub.handle_outcome(now, id, outcome)
    }

    fn handle_notice(&mut self, now: Instant, notice: Notice) -> Result<(), Misuse> {
        self.hub.handle_notice(now, notice)
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.hub.handle_timeout(now);
    }

    fn poll_output(&mut self) -> Output<Ask, Event> {
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

/// One of those at a lock that is inspected.
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

impl<C: Subject<Servers>, I: Subject<Servers>> Subject<Servers> for Party<C, I> {
    fn intent(&mut self, now: Instant, intent: Intent) -> Result<(), Misuse> {
        each!(self, one => one.intent(now, intent))
    }

    fn handle_outcome(&mut self, now: Instant, id: CommandId, outcome: Outcome<Reply>) -> Result<(), Misuse> {
        each!(self, one => one.handle_outcome(now, id, outcome))
    }

    fn handle_notice(&mut self, now: Instant, notice: Notice) -> Result<(), Misuse> {
        each!(self, one => one.handle_notice(now, notice))
    }

    fn handle_timeout(&mut self, now: Instant) {
        each!(self, one => one.handle_timeout(now));
    }

    fn poll_output(&mut self) -> Output<Ask, Event> {
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

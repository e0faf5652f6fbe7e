//! All machines that share one client connection.
//!
//! The hub issues command ids, routes outcomes and notices, keeps one queue of timers, and owns what machines share: the
//! confirmations of a ZooKeeper session, the subscriptions of a Redis client. A binding holds one hub and small integer keys.

mod agenda;
mod family;
mod routes;
mod sharing;

use alloc::{boxed::Box, vec::Vec};

use crate::{
    CommandId, Event, Instant, Intent, Key, Loss, Machine, Misuse, Outcome, Output, OwnerId, Wait,
    sorted::SortedMap,
};

use agenda::Agenda;
pub use family::Family;
pub use family::{Delivery, Member, Shared};
use routes::Routes;

/// What [`Hub::poll_output`] gives: whose it is, and what.
pub type HubOutput<F> = (Key, Output<<F as Family>::Request, Event>);

/// All machines that share one client connection.
///
/// It can be copied and compared, for model checkers that walk all its states. A copy must not meet the server that the first one talks to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Hub<F: Family> {
    shared: F::Shared,
    members: SortedMap<Key, Entry<F>>,
    routes: Routes,
    agenda: Agenda,
    next_key: u64,
    next_id: u64,
    /// How many machines contend.
    contending: usize,
    now: Instant,
    shut: bool,
    unreleased: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Entry<F: Family> {
    machine: Box<F::Member>,
    wait: Wait,
    dirty: bool,
    closing: bool,
    /// A grant is being given back.
    leaving: bool,
    contends: bool,
}

impl<F: Family> Hub<F> {
    /// A hub without machines. The seed spreads retries and decides nothing.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            shared: F::Shared::new(seed),
            members: SortedMap::new(),
            routes: Routes::default(),
            agenda: Agenda::default(),
            next_key: 1,
            next_id: 1,
            contending: 0,
            now: Instant::ZERO,
            shut: false,
            unreleased: 0,
        }
    }

    /// Opens a machine. `owner` is sixteen bytes from the operating system's random source, new for every machine; `seed` any number.
    ///
    /// # Errors
    /// [`Misuse::Closed`] after [`shutdown`](Self::shutdown).
    pub fn open(
        &mut self,
        now: Instant,
        machine: F::Settings,
        owner: OwnerId,
        seed: u64,
    ) -> Result<Key, Misuse> {
        if self.shut {
            return Err(Misuse::Closed);
        }
        let now = self.tick(now);
        let key = Key(self.next_key);
        self.next_key = self.next_key.saturating_add(1);
        let machine = Box::new(F::machine(machine, owner, seed));
        self.members.insert(
            key,
            Entry {
                machine,
                wait: Wait::default(),
                dirty: false,
                closing: false,
                leaving: false,
                contends: false,
            },
        );
        let greeting = self.with_shared(|shared| shared.opened(now));
        for notice in greeting.into_iter().flatten() {
            self.tell(now, key, notice)?;
        }
        Ok(key)
    }

    /// Says what the application wants of a machine.
    ///
    /// # Errors
    /// [`Misuse`] for an unknown key, or for an intent that makes no sense now; nothing has changed then.
    pub fn intent(&mut self, now: Instant, key: Key, intent: Intent) -> Result<(), Misuse> {
        let now = self.tick(now);
        if self.members.get(&key).is_none_or(|entry| entry.closing) {
            return Err(Misuse::UnknownKey { key: key.0 });
        }
        self.input(key, |machine| machine.intent(now, intent))?;
        if intent == Intent::Release {
            self.leaves(key);
        }
        if intent == Intent::Extend {
            self.with_shared(|shared| shared.extend(now));
        }
        Ok(())
    }

    /// Says what came of a command. A late or doubled outcome changes nothing.
    ///
    /// # Errors
    /// [`Misuse::UnknownCommand`] for an id that was never issued; [`Misuse::WrongReply`] for a reply that does not fit.
    pub fn handle_outcome(
        &mut self,
        now: Instant,
        id: CommandId,
        outcome: Outcome<F::Reply>,
    ) -> Result<(), Misuse> {
        let now = self.tick(now);
        self.check_issued(id)?;
        match self.routes.settle(id) {
            Some(key) => self.input(key, |machine| machine.handle_outcome(now, id, outcome)),
            None => {
                let mut deliveries = Vec::new();
                let verdict =
                    self.with_shared(|shared| shared.handle_outcome(now, id, outcome, &mut deliveries));
                self.deliver(now, deliveries);
                verdict
            }
        }
    }

    /// Says what the server or connection has announced. It may come before the reply of its own command, twice, or never.
    ///
    /// # Errors
    /// [`Misuse::UnknownCommand`] for the id of a command that was never issued.
    pub fn handle_notice(&mut self, now: Instant, notice: F::Notice) -> Result<(), Misuse> {
        let now = self.tick(now);
        if let Some(id) = F::subject(&notice) {
            self.check_issued(id)?;
            if let Some(key) = self.routes.spend(id) {
                return self.tell(now, key, notice);
            }
        }
        let mut deliveries = Vec::new();
        self.with_shared(|shared| shared.handle_notice(now, notice, &mut deliveries));
        self.deliver(now, deliveries);
        Ok(())
    }

    /// Says that time has passed. Early and repeated calls change nothing.
    pub fn handle_timeout(&mut self, now: Instant) {
        let now = self.tick(now);
        self.with_shared(|shared| shared.handle_timeout(now));
        while let Some(key) = self.agenda.take_due(now) {
            let _infallible = self.input(key, |machine| {
                machine.handle_timeout(now);
                Ok(())
            });
        }
    }

    /// Takes the next command or event, of one machine (and of what machines share) or of all; then says how long to wait.
    #[must_use]
    pub fn poll_output(&mut self, only: Option<Key>) -> HubOutput<F> {
        loop {
            let shared = self.shared.poll_output();
            if let Output::Command(command) = shared {
                return (Key::HUB, Output::Command(command));
            }
            let next = match only {
                Some(key) => self.members.get(&key).filter(|entry| entry.dirty).map(|_| key),
                None => self.agenda.next(),
            };
            let Some(key) = next else {
                return (Key::HUB, Output::Wait(self.wait(shared)));
            };
            if let Some(output) = self.poll_member(key) {
                return (key, output);
            }
        }
    }

    /// Closes a machine, in any state: what it holds is released, what it waits for is given up. It lives on until the server has
    /// answered, says nothing more, and goes. Unknown keys are ignored: they have gone already.
    pub fn close(&mut self, now: Instant, key: Key) {
        let now = self.tick(now);
        let Some(entry) = self.members.get_mut(&key) else {
            return;
        };
        entry.closing = true;
        // Whoever is at rest has nothing to give back, and nothing to give up.
        if !entry.machine.is_idle() {
            for intent in [Intent::Release, Intent::Cancel] {
                if self.input(key, |machine| machine.intent(now, intent)).is_ok() {
                    if intent == Intent::Release {
                        self.leaves(key);
                    }
                    break;
                }
            }
        }
        self.mark(key);
    }

    /// Closes all machines, and opens no more. Go on driving until [`pending`](Self::pending) is 0.
    pub fn shutdown(&mut self, now: Instant) {
        self.shut = true;
        for key in self.members.keys().copied().collect::<Vec<_>>() {
            self.close(now, key);
        }
    }

    /// How many machines there are, those included that have been closed and still wait for the server.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.members.len()
    }

    /// How many grants have come to an end since [`shutdown`](Self::shutdown) without being given back: the server has refused the
    /// release, or the connection was closed for good before it. Such a lock stays on the server until its lease or session ends.
    #[must_use]
    pub const fn unreleased(&self) -> usize {
        self.unreleased
    }

    fn leaves(&mut self, key: Key) {
        if let Some(entry) = self.members.get_mut(&key) {
            entry.leaving = true;
        }
    }

    fn wait(&self, shared: Output<F::Request, Event>) -> Wait {
        let shared = if let Output::Wait(wait) = shared {
            wait
        } else {
            Wait::default()
        };
        self.agenda.first().or_earlier(shared)
    }

    /// Polls one machine; `None` when it has nothing more to say, or its command was answered from what machines share.
    ///
    /// Not a part of its caller: the compiler would take every output apart, and put it together again.
    #[inline(never)]
    fn poll_member(&mut self, key: Key) -> Option<Output<F::Request, Event>> {
        let Some(entry) = self.members.get_mut(&key) else {
            self.agenda.polled_dry(key);
            return None;
        };
        match entry.machine.poll_output() {
            Output::Command(command) => self.pass_on(key, command).map(Output::Command),
            Output::Event(event) => {
                if entry.leaving && is_last_word(&event) {
                    entry.leaving = false;
                    if self.shut && stays_on_server(&event) {
                        self.unreleased = self.unreleased.saturating_add(1);
                    }
                }
                (!entry.closing).then_some(Output::Event(event))
            }
            Output::Wait(wait) => {
                entry.dirty = false;
                let idle = entry.machine.is_idle();
                let contends = entry.machine.contends();
                let contended = core::mem::replace(&mut entry.contends, contends);
                let over = entry.closing && idle;
                let wait = if over { Wait::default() } else { wait };
                let before = core::mem::replace(&mut entry.wait, wait);
                self.agenda.wait(key, before, wait);
                self.agenda.polled_dry(key);
                // Nothing that was asked for matters to a machine at rest: watches that never fired are forgotten.
                if idle {
                    self.routes.forget(key);
                }
                if over {
                    self.members.remove(&key);
                }
                self.count(contended, contends);
                None
            }
        }
    }

    /// Time does not go back, whatever a driver says.
    fn tick(&mut self, now: Instant) -> Instant {
        self.now = self.now.max(now);
        self.now
    }

    fn check_issued(&self, id: CommandId) -> Result<(), Misuse> {
        if id.0 == 0 || id.0 >= self.next_id {
            return Err(Misuse::UnknownCommand { id: id.0 });
        }
        Ok(())
    }

    /// Puts something into a machine, with the hub's command ids.
    fn input(
        &mut self,
        key: Key,
        put: impl FnOnce(&mut F::Member) -> Result<(), Misuse>,
    ) -> Result<(), Misuse> {
        let Some(entry) = self.members.get_mut(&key) else {
            return Ok(());
        };
        *entry.machine.next_id() = self.next_id;
        let verdict = put(&mut entry.machine);
        self.next_id = *entry.machine.next_id();
        self.mark(key);
        verdict
    }

    fn mark(&mut self, key: Key) {
        if let Some(entry) = self.members.get_mut(&key)
            && !core::mem::replace(&mut entry.dirty, true)
        {
            self.agenda.mark(key);
        }
    }

    fn with_shared<T>(&mut self, put: impl FnOnce(&mut F::Shared) -> T) -> T {
        *self.shared.next_id() = self.next_id;
        let result = put(&mut self.shared);
        self.next_id = *self.shared.next_id();
        result
    }
}

/// Whether a release ends with this.
const fn is_last_word(event: &Event) -> bool {
    matches!(
        event,
        Event::Released | Event::Refused { .. } | Event::Lost { .. }
    )
}

/// Whether the lock whose release ends with this stays on the server for a while.
const fn stays_on_server(event: &Event) -> bool {
    matches!(
        event,
        Event::Refused { .. }
            | Event::Lost {
                reason: Loss::ConnectionClosed,
                ..
            }
    )
}

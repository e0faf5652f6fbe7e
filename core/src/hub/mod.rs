//! All machines that share one client connection.
//!
//! A machine is one contender for one lock. The hub drives any number of machines over one connection:
//!
//! - It issues command ids, and routes each outcome and notice to its machine.
//! - It keeps one queue of timers for all machines.
//! - It owns the state that the machines share: the confirmations of a ZooKeeper session, the subscriptions of a Redis
//!   client.
//!
//! A binding has one hub, and refers to machines by small integer keys.

mod closing;
mod family;
mod grants;
mod member;
mod ready_queue;
mod routes;
mod sharing;
#[cfg(feature = "states")]
mod states;

use alloc::{boxed::Box, vec::Vec};

use crate::{
    CommandId, ContenderId, Event, Instant, Intent, Key, Machine, Misuse, Outcome, Output, Wait,
    numbered::Numbered,
};

pub use family::Family;
pub use family::{Delivery, Member, Shared};
use grants::Grants;
pub use grants::{LockKind, Mode, Ownership, Reentry};
pub(crate) use member::forward_to_machines;
use ready_queue::ReadyQueue;
use routes::{Routed, Routes};

/// What [`Hub::poll_output`] returns: the machine's key and its output.
pub type HubOutput<F> = (Key, Output<<F as Family>::Request, Event>);

/// All machines that share one client connection.
///
/// A hub can be copied and compared, for model checkers that explore all its states. A copy must not send requests to
/// the server of the original.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Hub<F: Family> {
    shared: F::Shared,
    members: Numbered<Key, Entry<F>>,
    grants: Grants,
    routes: Routes,
    ready_queue: ReadyQueue,
    next_key: u64,
    next_id: u64,
    /// The number of machines that contend.
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
    /// Whether the machine is releasing its grant.
    leaving: bool,
    /// Whether the hub has left the claim of a closed machine.
    left: bool,
    contends: bool,
    /// How many routes the machine has.
    routes: usize,
    /// The lock and the mode that an owner acquires with this key, if the settings name an owner.
    reentry: Option<Box<Reentry>>,
}

impl<F: Family> Hub<F> {
    /// A hub without machines. `seed` only spreads the times of retries.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            shared: F::Shared::new(seed),
            members: Numbered::default(),
            grants: Grants::default(),
            routes: Routes::default(),
            ready_queue: ReadyQueue::default(),
            next_key: 1,
            next_id: 1,
            contending: 0,
            now: Instant::ZERO,
            shut: false,
            unreleased: 0,
        }
    }

    /// Opens a machine. `contender` is sixteen bytes from the operating system's random source, new for every machine.
    /// `seed` is any number.
    ///
    /// # Errors
    /// [`Misuse::Closed`] after [`shutdown`](Self::shutdown).
    pub fn open(
        &mut self,
        now: Instant,
        machine: F::Settings,
        contender: ContenderId,
        seed: u64,
    ) -> Result<Key, Misuse> {
        if self.shut {
            return Err(Misuse::Closed);
        }
        let now = self.tick(now);
        let key = Key(self.next_key);
        self.next_key = self.next_key.saturating_add(1);
        let reentry = F::reentry(&machine).map(Box::new);
        let machine = Box::new(F::machine(machine, contender, seed));
        self.members.insert(
            key,
            Entry {
                machine,
                wait: Wait::default(),
                dirty: false,
                closing: false,
                leaving: false,
                left: false,
                contends: false,
                routes: 0,
                reentry,
            },
        );
        let greeting = self.with_shared(|shared| shared.opened(now));
        for notice in greeting.into_iter().flatten() {
            self.notify(now, key, notice)?;
        }
        Ok(key)
    }

    /// Passes an intent of the application to a machine.
    ///
    /// # Errors
    /// [`Misuse`] for an unknown key, or for an intent that the machine's state does not allow. The call then changes
    /// nothing.
    pub fn intent(&mut self, now: Instant, key: Key, intent: Intent) -> Result<(), Misuse> {
        let now = self.tick(now);
        match self.members.get(key) {
            Some(entry) if !entry.closing && !self.grants.is_closed(key) => match entry.reentry.clone() {
                None => self.machine_intent(now, key, intent),
                Some(reentry) => self.intent_of_owner(now, key, &reentry, intent),
            },
            _ => Err(Misuse::UnknownKey { key: key.0 }),
        }
    }

    fn machine_intent(&mut self, now: Instant, key: Key, intent: Intent) -> Result<(), Misuse> {
        let (leaves, extends) = (closing::ends_grant(&intent), intent == Intent::Extend);
        self.input(key, |machine| machine.intent(now, intent))?;
        if leaves {
            self.leaves(key, false);
        }
        if extends {
            self.with_shared(|shared| shared.extend(now));
        }
        Ok(())
    }

    /// Reports the outcome of a command. A late or repeated outcome changes nothing.
    ///
    /// # Errors
    /// [`Misuse::UnknownCommand`] for an id that was never issued; [`Misuse::WrongReply`] for a reply of the wrong
    /// shape.
    pub fn handle_outcome(
        &mut self,
        now: Instant,
        id: CommandId,
        outcome: Outcome<F::Reply>,
    ) -> Result<(), Misuse> {
        let now = self.tick(now);
        self.check_issued(id)?;
        let routed = self.routes.settle(id);
        match self.machine_of(routed) {
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

    /// Reports a notice of the server or the connection. A notice may arrive before the answer to its own command,
    /// twice, or never.
    ///
    /// # Errors
    /// [`Misuse::UnknownCommand`] for the id of a command that was never issued.
    pub fn handle_notice(&mut self, now: Instant, notice: F::Notice) -> Result<(), Misuse> {
        let now = self.tick(now);
        if let Some(id) = F::subject(&notice) {
            self.check_issued(id)?;
            let routed = self.routes.spend(id);
            if let Some(key) = self.machine_of(routed) {
                return self.notify(now, key, notice);
            }
        }
        let mut deliveries = Vec::new();
        self.with_shared(|shared| shared.handle_notice(now, notice, &mut deliveries));
        self.deliver(now, deliveries);
        Ok(())
    }

    /// Reports that time has passed. Early and repeated calls change nothing.
    pub fn handle_timeout(&mut self, now: Instant) {
        let now = self.tick(now);
        self.with_shared(|shared| shared.handle_timeout(now));
        while let Some(key) = self.ready_queue.take_due(now) {
            let _infallible = self.input(key, |machine| {
                machine.handle_timeout(now);
                Ok(())
            });
        }
    }

    /// Takes the next command or event of all machines and of the part that they share. With `only`, the hub polls that
    /// machine and the shared part; if the machine serves several holds of an owner, the events may have the key of any
    /// of these holds. When nothing is left, returns [`Output::Wait`] with the time of the next timeout.
    #[must_use]
    pub fn poll_output(&mut self, only: Option<Key>) -> HubOutput<F> {
        let only = only.map(|key| self.grants.machine(key));
        loop {
            if let Some((key, event)) = self.grants.next_event() {
                return (key, Output::Event(event));
            }
            let shared = self.shared.poll_output();
            if let Output::Command(command) = shared {
                return (Key::HUB, Output::Command(command));
            }
            let next = match only {
                Some(key) => self.members.get(key).filter(|entry| entry.dirty).map(|_| key),
                None => self.ready_queue.next(),
            };
            let Some(key) = next else {
                return (Key::HUB, Output::Wait(self.wait(shared)));
            };
            if let Some(output) = self.poll_member(key) {
                return (key, output);
            }
        }
    }

    fn wait(&self, shared: Output<F::Request, Event>) -> Wait {
        let shared = if let Output::Wait(wait) = shared {
            wait
        } else {
            Wait::default()
        };
        self.ready_queue.first().or_earlier(shared)
    }

    /// Polls one machine. Returns `None` if the machine has no output left, or if the shared part handled its command.
    ///
    /// This function is not inlined: otherwise the compiler would take every output apart and rebuild it.
    #[inline(never)]
    fn poll_member(&mut self, key: Key) -> Option<Output<F::Request, Event>> {
        let Some(entry) = self.members.get_mut(key) else {
            self.ready_queue.polled_dry(key);
            return None;
        };
        match entry.machine.poll_output() {
            Output::Command(command) => self.pass_on(key, command).map(Output::Command),
            Output::Event(event) => {
                if entry.leaving && closing::is_last_word(&event) {
                    entry.leaving = false;
                    if entry.closing && matches!(event, Event::Refused { .. }) && self.closed_end_refused(key)
                    {
                        return None;
                    }
                    if self.shut && closing::stays_on_server(&event) {
                        self.unreleased = self.unreleased.saturating_add(1);
                    }
                }
                let entry = self.members.get_mut(key)?;
                if entry.closing {
                    return None;
                }
                if entry.reentry.is_none() {
                    return Some(Output::Event(event));
                }
                entry.closing = self.grants.on_event(key, event);
                None
            }
            Output::Wait(wait) => {
                entry.dirty = false;
                let idle = entry.machine.is_idle();
                if entry.closing && idle {
                    self.remove(key);
                    return None;
                }
                let contends = entry.machine.contends();
                let contended = core::mem::replace(&mut entry.contends, contends);
                let before = core::mem::replace(&mut entry.wait, wait);
                // An idle machine needs no outcome or watch any more, so the hub forgets its routes, including watches
                // that never fired.
                let routes = if idle {
                    core::mem::take(&mut entry.routes)
                } else {
                    0
                };
                self.ready_queue.wait(key, before, wait);
                self.ready_queue.polled_dry(key);
                if routes > 0 {
                    self.routes.forget(key);
                }
                self.count(contended, contends);
                None
            }
        }
    }

    /// Returns the hub's time, which never goes back, even if the driver's clock does.
    fn tick(&mut self, now: Instant) -> Instant {
        self.now = self.now.max(now);
        self.now
    }

    /// The machine of a command.
    fn machine_of(&mut self, routed: Option<Routed>) -> Option<Key> {
        let Routed { key, ended } = routed?;
        if ended && let Some(entry) = self.members.get_mut(key) {
            entry.routes = entry.routes.saturating_sub(1);
        }
        Some(key)
    }

    fn check_issued(&self, id: CommandId) -> Result<(), Misuse> {
        if id.0 == 0 || id.0 >= self.next_id {
            return Err(Misuse::UnknownCommand { id: id.0 });
        }
        Ok(())
    }

    /// Passes an input to a machine. The machine gives its commands the hub's next ids.
    fn input(
        &mut self,
        key: Key,
        put: impl FnOnce(&mut F::Member) -> Result<(), Misuse>,
    ) -> Result<(), Misuse> {
        let Some(entry) = self.members.get_mut(key) else {
            return Ok(());
        };
        *entry.machine.next_id() = self.next_id;
        let verdict = put(&mut entry.machine);
        self.next_id = *entry.machine.next_id();
        self.mark(key);
        verdict
    }

    fn mark(&mut self, key: Key) {
        if let Some(entry) = self.members.get_mut(key)
            && !core::mem::replace(&mut entry.dirty, true)
        {
            self.ready_queue.mark(key);
        }
    }

    fn with_shared<T>(&mut self, put: impl FnOnce(&mut F::Shared) -> T) -> T {
        *self.shared.next_id() = self.next_id;
        let result = put(&mut self.shared);
        self.next_id = *self.shared.next_id();
        result
    }
}

//! Re-entry: grants that several holds share.
//!
//! Each acquire has its own key. Without an owner, the key's machine contends, and the grant belongs only to that key.
//! With an owner, the grant belongs to the owner, and each acquire of the owner is one *hold* of the grant:
//!
//! | The owner … | and acquires | then |
//! |---|---|---|
//! | neither holds nor waits for the lock | any mode | the key's machine contends |
//! | waits for the lock | any mode | [`Misuse::OwnerBusy`] |
//! | holds the lock | any mode, except the next line | the key becomes another hold: no request, same fence |
//! | holds the lock as a reader | the writer | [`Misuse::Upgrade`]: it would wait for itself |
//!
//! | A hold is released, and | then |
//! |---|---|
//! | other holds remain | the hold is released at once, without a request |
//! | only readers remain, and this hold was the last writer | the machine downgrades the grant |
//! | no hold remains | the machine releases the grant; the owner's next acquire contends again |
//!
//! The machines do not know owners: the hub passes intents of holds to the machine that has the grant, and passes that
//! machine's events to the holds that they concern. `grant.rs` decides about one grant, and `calls.rs` carries out the
//! decisions. `states.rs` has the table of a grant's states and transitions, which is the specification.

mod calls;
mod grant;
mod reentry;
#[cfg(feature = "states")]
mod states;

use alloc::collections::VecDeque;

use crate::{
    Event, Instant, Intent, Key, Misuse,
    sorted::{SortedMap, SortedSet},
};

use grant::{Hold, SharedGrant};
pub use reentry::{LockKind, Mode, Ownership, Reentry};

/// The grants of all owners.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Grants {
    /// For each lock of an owner: the machine that contends for it or was the last to contend.
    owners: SortedMap<Ownership, Key>,
    /// The grant of each machine.
    grants: SortedMap<Key, SharedGrant>,
    /// The machines of holds that use another key's machine. A key stays here until it is closed or its own machine
    /// contends.
    machines: SortedMap<Key, Key>,
    /// Machines whose key the application closed before their grant ended. When the application later closes a key that
    /// used such a machine, the hub reports the machine.
    ended: SortedSet<Key>,
    /// Events for holds that the hub has not returned yet.
    events: VecDeque<(Key, Event)>,
}

/// What the hub does for an intent of a hold.
enum Plan {
    /// The key's machine gets the intent, and contends for the owner if the machine accepts it.
    Contend,
    /// The key becomes another hold of this machine's grant.
    Join(Key),
    /// The machine gets the intent. Nothing else changes.
    Pass(Key),
    /// The hold ends. Others remain.
    Leave(Key),
    /// The machine gets the intent to cancel or to release: the owner stops waiting, the last hold ends, or the grant
    /// has expired.
    End(Key),
    /// The last writer's hold ends, and readers remain: the machine downgrades the grant.
    ReleaseWriter(Key),
    /// A writer's hold becomes a reader's hold. Other writers remain.
    Read(Key),
    /// The last writer's hold becomes a reader's hold: the machine downgrades the grant.
    Downgrade(Key),
}

impl Grants {
    /// The machine that serves a key.
    pub(super) fn machine(&self, key: Key) -> Key {
        self.machines.get(&key).copied().unwrap_or(key)
    }

    /// The next event of a hold.
    pub(super) fn next_event(&mut self) -> Option<(Key, Event)> {
        self.events.pop_front()
    }

    /// Whether the application has closed a key whose machine still has a grant for other keys.
    pub(super) fn is_closed(&self, key: Key) -> bool {
        self.grants.get(&key).is_some_and(|grant| grant.closed)
    }

    /// Forgets all grants, because the application has closed all keys.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Decides what the hub does for an intent of an owner's key.
    ///
    /// # Errors
    /// [`Misuse`] if the owner's state does not allow the intent.
    fn plan(&self, now: Instant, key: Key, reentry: &Reentry, intent: &Intent) -> Result<Plan, Misuse> {
        let machine = self.machine(key);
        let grant = self.grants.get(&machine);
        match (
            grant.and_then(|grant| grant.plan(now, key, machine, intent)),
            intent,
        ) {
            (Some(plan), _) => plan,
            (None, Intent::Acquire(_)) => self.enter(now, reentry),
            // The machine serves other holds of the owner, but this hold has ended.
            (None, Intent::Cancel) if grant.is_some() => Err(Misuse::NotWaiting),
            (None, _) if grant.is_some() => Err(Misuse::NotHeld),
            (None, _) => Ok(Plan::Pass(key)),
        }
    }

    /// An owner acquires with a key that is not a hold yet.
    fn enter(&self, now: Instant, reentry: &Reentry) -> Result<Plan, Misuse> {
        let Some(machine) = self.owners.get(&reentry.ownership) else {
            return Ok(Plan::Contend);
        };
        match self.grants.get(machine) {
            Some(grant) if grant.is_waiting() => Err(Misuse::OwnerBusy),
            Some(grant) if grant.is_joinable(now) => {
                if grant.shared && reentry.mode == Mode::Writer {
                    return Err(Misuse::Upgrade);
                }
                Ok(Plan::Join(*machine))
            }
            Some(_) | None => Ok(Plan::Contend),
        }
    }

    fn contend(&mut self, key: Key, reentry: &Reentry) {
        if let Some(before) = self.machines.remove(&key)
            && !self.machines.values().any(|machine| *machine == before)
        {
            // No key uses this machine any more, so no close can report it.
            self.ended.remove(&before);
        }
        self.owners.insert(reentry.ownership.clone(), key);
        self.grants.insert(key, SharedGrant::new(key, reentry));
    }

    fn join(&mut self, key: Key, machine: Key, mode: Mode) {
        let Some(grant) = self.grants.get_mut(&machine) else {
            return;
        };
        grant.holds.push(Hold { key, mode });
        self.events.extend(grant.present().map(|event| (key, event)));
        if key != machine {
            self.machines.insert(key, machine);
        }
    }

    /// Removes a hold without an event. Its key stays assigned to the machine, because the hold's end may wait for a
    /// downgrade.
    fn leave(&mut self, key: Key, machine: Key) -> Option<&mut SharedGrant> {
        let grant = self.grants.get_mut(&machine)?;
        grant.holds.retain(|hold| hold.key != key);
        Some(grant)
    }

    /// Removes a grant. Returns whether the application has closed the machine's key.
    fn remove(&mut self, machine: Key) -> bool {
        let Some(grant) = self.grants.remove(&machine) else {
            return false;
        };
        if self.owners.get(&grant.ownership) == Some(&machine) {
            self.owners.remove(&grant.ownership);
        }
        grant.closed
    }

    /// Passes an event of a machine to the holds that it concerns. Returns whether the hub has to close the machine
    /// now.
    pub(super) fn on_event(&mut self, machine: Key, event: Event) -> bool {
        let Some(grant) = self.grants.get_mut(&machine) else {
            self.events.push_back((machine, event));
            return false;
        };
        let over = grant.on_event(event, &mut self.events);
        let closed = over && self.remove(machine);
        if closed {
            self.ended.insert(machine);
        }
        closed
    }
}

#[cfg(test)]
mod tests;

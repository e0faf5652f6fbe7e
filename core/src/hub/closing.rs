//! Closing machines: one by one, or all together.

use alloc::vec::Vec;

use crate::{Event, Instant, Intent, Key, Loss, Wait};

use super::{Family, Hub, Member as _};

impl<F: Family> Hub<F> {
    /// Closes a key in any state. Its machine releases its lock, leaves its claim, or cancels its acquire. The machine
    /// stays in the hub until the server has answered, but its events are no longer reported. The hub ignores keys that
    /// it does not know or that are closed, because their machines may have been removed already.
    ///
    /// Returns the key of the machine that served `key` if no open key uses this machine any more. The driver can then
    /// drop the data that it stores for that machine, such as watches. The acquires of one owner share a machine, which
    /// sends all commands with the key of the first of them. So while other acquires of the grant are open, this
    /// returns `None`, and the last close returns the key of the first acquire.
    pub fn close(&mut self, now: Instant, key: Key) -> Option<Key> {
        let now = self.tick(now);
        let entry = self.members.get(key).filter(|entry| !entry.closing)?;
        if entry.reentry.is_some() {
            return self.close_of_owner(now, key);
        }
        self.close_machine(now, key);
        Some(key)
    }

    /// Whether an open key uses the machine of this key. It does until [`close`](Self::close) returns this key, or
    /// [`shutdown`](Self::shutdown). A driver calls this before it stores a watch, because the reply to a read may come
    /// late.
    #[must_use]
    pub fn serves(&self, key: Key) -> bool {
        self.members.get(key).is_some_and(|entry| !entry.closing)
    }

    pub(super) fn close_machine(&mut self, now: Instant, key: Key) {
        let Some(entry) = self.members.get_mut(key) else {
            return;
        };
        entry.closing = true;
        // An idle machine has nothing to release or to cancel.
        if !entry.machine.is_idle() {
            // A lock rejects `Leave`. A claim accepts it, so the hub never releases a claim: only the application knows
            // whether the operation had no effect.
            for intent in [Intent::Leave, Intent::Release, Intent::Cancel] {
                let (left, leaves) = (intent == Intent::Leave, ends_grant(&intent));
                if self.input(key, |machine| machine.intent(now, intent)).is_ok() {
                    if leaves {
                        self.leaves(key, left);
                    }
                    break;
                }
            }
        }
        self.mark(key);
    }

    /// The server has refused to end a closed machine's grant. A claim then continues, so that the application can end
    /// it in another way. But no application uses a closed claim, so its lease must not be extended. The hub therefore
    /// leaves the claim, and removes the machine if the server refuses that, too. Returns whether the hub has now left
    /// the claim.
    pub(super) fn closed_end_refused(&mut self, key: Key) -> bool {
        let entry = self.members.get(key);
        if entry.is_some_and(|entry| entry.left) {
            self.remove(key);
        } else {
            self.close_machine(self.now, key);
        }
        self.members.get(key).is_some_and(|entry| entry.leaving)
    }

    /// Removes a machine.
    pub(super) fn remove(&mut self, key: Key) {
        if let Some(entry) = self.members.remove(key) {
            self.ready_queue.wait(key, entry.wait, Wait::default());
            self.ready_queue.polled_dry(key);
            if entry.routes > 0 {
                self.routes.forget(key);
            }
            self.count(entry.contends, false);
        }
    }

    /// Closes all machines, and refuses to open new ones. Keep driving the hub until [`pending`](Self::pending) is 0.
    pub fn shutdown(&mut self, now: Instant) {
        let now = self.tick(now);
        self.shut = true;
        self.grants.clear();
        for key in self.members.keys().collect::<Vec<_>>() {
            self.close_machine(now, key);
        }
    }

    /// The number of machines, including closed machines that still wait for the server.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.members.len()
    }

    /// The number of grants that ended after [`shutdown`](Self::shutdown) without a release: the server refused the
    /// release, or the connection was closed for good before it. Such a lock stays on the server until its lease or
    /// session ends.
    #[must_use]
    pub const fn unreleased(&self) -> usize {
        self.unreleased
    }

    /// The machine has begun to end its grant. `left`: the hub has left the claim of a closed machine.
    pub(super) fn leaves(&mut self, key: Key, left: bool) {
        if let Some(entry) = self.members.get_mut(key) {
            entry.leaving = true;
            entry.left = left;
        }
    }
}

/// Whether this intent ends a grant.
pub(super) const fn ends_grant(intent: &Intent) -> bool {
    matches!(intent, Intent::Release | Intent::Leave | Intent::Complete(_))
}

/// Whether this event is the answer to an intent that ends a grant.
pub(super) const fn is_last_word(event: &Event) -> bool {
    matches!(
        event,
        Event::Released
            | Event::Completed { .. }
            | Event::Replayed { .. }
            | Event::Refused { .. }
            | Event::Lost { .. }
    )
}

/// Whether a lock stays on the server for a while if its release ends with this event.
pub(super) const fn stays_on_server(event: &Event) -> bool {
    matches!(
        event,
        Event::Refused { .. }
            | Event::Lost {
                reason: Loss::ConnectionClosed,
                ..
            }
    )
}

#[cfg(test)]
mod claims;
#[cfg(test)]
mod tests;

//! Calls between the machines of a hub and the part that they share.

use alloc::vec::Vec;

use crate::{Command, Instant, Key, Misuse};

use super::{Delivery, Family, Hub, Shared as _};
use crate::Machine as _;

impl<F: Family> Hub<F> {
    /// Updates the number of contending machines. Notifies the shared part when the first one begins and when the last
    /// one stops.
    pub(super) fn count(&mut self, before: bool, after: bool) {
        let now = self.now;
        let counted = self.contending;
        self.contending = match (before, after) {
            (false, true) => counted.saturating_add(1),
            (true, false) => counted.saturating_sub(1),
            _ => return,
        };
        if counted == 0 || self.contending == 0 {
            let contended = self.contending > 0;
            self.with_shared(|shared| shared.contended(now, contended));
        }
    }

    pub(super) fn pass_on(&mut self, key: Key, command: Command<F::Request>) -> Option<Command<F::Request>> {
        let now = self.now;
        let mut deliveries = Vec::new();
        let command = self.with_shared(|shared| shared.intercept(now, key, command, &mut deliveries));
        if let Some(command) = &command
            && let Some(entry) = self.members.get_mut(key)
        {
            entry.routes = entry.routes.saturating_add(1);
            self.routes.add(command.id, key, F::is_standing(&command.request));
        }
        self.deliver(now, deliveries);
        command
    }

    pub(super) fn notify(&mut self, now: Instant, key: Key, notice: F::Notice) -> Result<(), Misuse> {
        self.input(key, |machine| machine.handle_notice(now, notice))
    }

    pub(super) fn deliver(&mut self, now: Instant, deliveries: Vec<Delivery<F>>) {
        for delivery in deliveries {
            // The hub makes only well-formed inputs, so no caller needs the misuse.
            let _well_formed = match delivery {
                Delivery::Outcome(key, id, outcome) => {
                    self.input(key, |machine| machine.handle_outcome(now, id, outcome))
                }
                Delivery::Notice(key, notice) => self.notify(now, key, notice),
                Delivery::All(notice) => {
                    for key in self.members.keys().collect::<Vec<_>>() {
                        let _well_formed = self.notify(now, key, notice.clone());
                    }
                    Ok(())
                }
            };
        }
    }
}

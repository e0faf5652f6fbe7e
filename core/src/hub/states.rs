//! Passes the transitions of a hub's machines to an observer.

use super::{Family, Hub, Member as _, Shared as _};
use crate::states::Observer;

impl<F: Family> Hub<F> {
    /// Passes the records of every machine, of the shared part and of every shared grant to the observer.
    pub fn observe(&self, observer: &mut impl Observer) {
        for entry in self.members.values() {
            entry.machine.observe(observer);
        }
        self.shared.observe(observer);
        self.grants.observe(observer);
    }
}

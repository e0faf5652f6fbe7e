//! The hub shows what its machines have done.

use super::{Family, Hub, Member as _, Shared as _};
use crate::states::Observer;

impl<F: Family> Hub<F> {
    /// Shows the record of every machine, of what the machines share, and of every shared grant.
    pub fn observe(&self, observer: &mut impl Observer) {
        for entry in self.members.values() {
            entry.machine.observe(observer);
        }
        self.shared.observe(observer);
        self.grants.observe(observer);
    }
}

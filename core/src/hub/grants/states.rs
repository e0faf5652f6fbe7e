//! The states and transitions of a grant that an owner's holds share.

use State::{Held, Leaving, Waiting};

use super::{
    Grants,
    grant::{Phase, SharedGrant},
};
use crate::states::{self, Observer};

/// The state of a shared grant. The grant exists from the acquire of its first hold until the machine's last event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// The machine contends for the first hold. No other hold may join.
    Waiting,
    /// The machine holds the lock. Other holds may join and leave.
    Held,
    /// The machine cancels its acquire, or releases the grant, and the grant waits for its last event. The owner may
    /// contend again with another machine.
    Leaving,
}

impl states::State for State {
    const MACHINE: &'static str = "shared-grant";
    #[rustfmt::skip]
    const TRANSITIONS: &'static [(Self, Self, &'static str)] = &[
        (Waiting, Held,    "the machine is granted the lock"),
        (Waiting, Leaving, "the first hold cancels, or is closed"),
        (Held,    Leaving, "the last hold releases, or is closed"),
    ];
}

impl states::Phase for Phase {
    type State = State;

    fn state(&self) -> State {
        match self {
            Self::Waiting { .. } => Waiting,
            Self::Held(_) => Held,
            Self::Leaving => Leaving,
        }
    }
}

impl SharedGrant {
    fn observe(&self, observer: &mut impl Observer) {
        self.trail.show(&self.phase, observer);
    }
}

impl Grants {
    pub(in crate::hub) fn observe(&self, observer: &mut impl Observer) {
        for grant in self.grants.values() {
            grant.observe(observer);
        }
    }
}

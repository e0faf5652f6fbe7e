//! The states and transitions of a semaphore's contender.

use State::{Held, Idle, Leaving, Queueing, Restarting, Taking};

use super::{Phase, Semaphore};
use crate::states::{self, Observer};

/// The state of a semaphore's contender. It waits for a permit in [`Queueing`], [`Taking`] and [`Restarting`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// The contender holds no permit and waits for nothing. The application's next acquire begins an attempt.
    Idle,
    /// The contender is in the queue, and waits until it is first.
    Queueing,
    /// The contender is first in the queue, and waits for a permit.
    Taking,
    /// The contender has lost its place, and waits until both halves have deleted their nodes.
    Restarting,
    /// The contender holds a permit, until a release or a loss. It has left the queue.
    Held,
    /// The contender waits until both halves have deleted their nodes.
    Leaving,
}

impl states::State for State {
    const MACHINE: &'static str = "semaphore";
    #[rustfmt::skip]
    const TRANSITIONS: &'static [(Self, Self, &'static str)] = &[
        (Idle,       Queueing,   "acquire"),
        (Queueing,   Taking,     "first in the queue"),
        (Queueing,   Leaving,    "refusal: timeout, cancel, a failed try, another number of permits, error"),
        (Taking,     Restarting, "the place is lost; a permit came before the number of permits was known"),
        (Taking,     Held,       "a permit is taken"),
        (Taking,     Leaving,    "refusal: timeout, cancel, a failed try, another number of permits, error"),
        (Restarting, Queueing,   "all permits are released"),
        (Restarting, Leaving,    "refusal: timeout, cancel, an error, a node that the server keeps"),
        (Held,       Leaving,    "release, loss"),
        (Leaving,    Idle,       "all permits are released"),
    ];
}

impl states::Phase for Phase {
    type State = State;

    fn state(&self) -> State {
        match self {
            Self::Idle => Idle,
            Self::Queueing => Queueing,
            Self::Taking => Taking,
            Self::Restarting => Restarting,
            Self::Held => Held,
            Self::Leaving => Leaving,
        }
    }
}

impl Semaphore {
    pub(in crate::zookeeper) fn observe(&self, observer: &mut impl Observer) {
        self.trail.show(&self.phase, observer);
        self.wait_queue.observe(observer);
        self.permit.observe(observer);
    }
}

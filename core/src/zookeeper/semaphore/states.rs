//! The states of a semaphore's contender, and which may follow which.

use State::{Held, Idle, Leaving, Queueing, Restarting, Taking};

use super::{Phase, Semaphore};
use crate::states::{self, Observer};

/// Where a semaphore's contender is. It waits in [`Queueing`], [`Taking`] and [`Restarting`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// It holds nothing and waits for nothing. The application's next acquire begins an attempt.
    Idle,
    /// It is in the queue, and awaits its head.
    Queueing,
    /// It is at the head of the queue, and awaits a permit.
    Taking,
    /// It has lost its place, and awaits that both halves have given back all they had.
    Restarting,
    /// It holds a permit, until a release or a loss. It has left the queue.
    Held,
    /// It awaits that both halves have given back all they had.
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
        (Restarting, Queueing,   "all is given back"),
        (Restarting, Leaving,    "refusal: timeout, cancel, an error, a node that the server keeps"),
        (Held,       Leaving,    "release, loss"),
        (Leaving,    Idle,       "all is given back"),
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

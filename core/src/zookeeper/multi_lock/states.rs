//! The states and transitions of a multi-lock.

use State::{Enqueuing, Held, Idle, Leaving, Restarting, Waiting};

use super::{MultiLock, Phase};
use crate::states::{self, Observer};

/// The state of a multi-lock. It waits for its locks in [`Enqueuing`], [`Waiting`] and [`Restarting`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// The multi-lock holds no lock and waits for nothing. The application's next acquire begins an attempt.
    Idle,
    /// The multi-lock has no place, and waits for the reply to the transaction that creates one in every queue.
    Enqueuing,
    /// The multi-lock has a place in every queue, and waits until all of them are granted.
    Waiting,
    /// The multi-lock has lost a place, or does not know whether it has places. It waits until all of them are given
    /// up.
    Restarting,
    /// The multi-lock holds all locks, until a release or a loss.
    Held,
    /// The multi-lock waits until the client has left all wait queues.
    Leaving,
}

impl states::State for State {
    const MACHINE: &'static str = "multi-lock";
    #[rustfmt::skip]
    const TRANSITIONS: &'static [(Self, Self, &'static str)] = &[
        (Idle,       Enqueuing,  "acquire"),
        (Enqueuing,  Waiting,    "the transaction has created a node in every queue"),
        (Enqueuing,  Restarting, "the outcome of the transaction is not known"),
        (Enqueuing,  Leaving,    "refusal: timeout, cancel, the session cannot start, an error"),
        (Waiting,    Restarting, "a place is lost"),
        (Waiting,    Held,       "all places are granted, and none is suspended"),
        (Waiting,    Leaving,    "refusal: timeout, cancel, a try that is not first, an error"),
        (Restarting, Enqueuing,  "the client has left all wait queues"),
        (Restarting, Leaving,    "refusal: timeout, cancel, an error, a node that the server keeps"),
        (Held,       Leaving,    "release, loss of one of the locks"),
        (Leaving,    Idle,       "the client has left all wait queues"),
    ];
}

impl states::Phase for Phase {
    type State = State;

    fn state(&self) -> State {
        match self {
            Self::Idle => Idle,
            Self::Enqueuing => Enqueuing,
            Self::Waiting => Waiting,
            Self::Restarting => Restarting,
            Self::Held { .. } => Held,
            Self::Leaving => Leaving,
        }
    }
}

impl MultiLock {
    pub(in crate::zookeeper) fn observe(&self, observer: &mut impl Observer) {
        self.trail.show(&self.phase, observer);
        for place in &self.places {
            place.contender.observe(observer);
        }
    }
}

//! The states and transitions of a contender.

use State::{Entering, First, Held, Idle, Leaving, Queued};

use super::{Contender, Phase};
use crate::states::{self, Observer};

/// The state of a contender. It waits for the lock in [`Entering`], [`Queued`] and [`First`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// The contender holds no lock and waits for nothing. The application's next acquire begins an attempt.
    Idle,
    /// The contender creates its node, or finds it again, and waits for a list that shows its place.
    Entering,
    /// An earlier contender or a lack of permits blocks the contender. It waits for the event of a watch.
    Queued,
    /// No other contender blocks this one. It waits for the proof that its session is alive, or for the creating
    /// transaction of its node.
    First,
    /// The contender holds the lock, until a release or a loss.
    Held,
    /// The contender waits for the replies that prove that none of its nodes remains on the server.
    Leaving,
}

impl states::State for State {
    const MACHINE: &'static str = "contender";
    #[rustfmt::skip]
    const TRANSITIONS: &'static [(Self, Self, &'static str)] = &[
        (Idle,     Entering, "acquire; a multi-lock has created the node"),
        (Idle,     Leaving,  "acquire: the session cannot start; a multi-lock's create is in doubt"),
        (Entering, Queued,   "a list shows what blocks it"),
        (Entering, First,    "a list shows that nothing blocks it"),
        (Entering, Leaving,  "refusal: timeout, cancel, a try that is not first, an error"),
        (Queued,   Entering, "reconnect, a new session, its node is gone, a new list is needed"),
        (Queued,   First,    "what blocked it is gone"),
        (Queued,   Leaving,  "refusal: timeout, cancel, an error"),
        (First,    Entering, "reconnect, a new session, its node is gone"),
        (First,    Held,     "the session is confirmed for long enough"),
        (First,    Leaving,  "refusal: timeout, cancel, an error"),
        (Held,     Leaving,  "release, loss"),
        (Leaving,  Idle,     "nothing of it is left on the server"),
    ];
}

impl states::Phase for Phase {
    type State = State;

    fn state(&self) -> State {
        match self {
            Self::Idle => Idle,
            Self::Entering(_) => Entering,
            Self::Queued(_) => Queued,
            Self::First => First,
            Self::Held(_) => Held,
            Self::Leaving => Leaving,
        }
    }
}

impl Contender {
    pub(in crate::zookeeper) fn observe(&self, observer: &mut impl Observer) {
        self.trail.show(&self.phase, observer);
    }
}

//! The states of a contender, and which may follow which.

use State::{Entering, First, Held, Idle, Leaving, Queued};

use super::{Contender, Phase};
use crate::states::{self, Observer};

/// Where a contender is. It waits in [`Entering`], [`Queued`] and [`First`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// It holds nothing and waits for nothing. The application's next acquire begins an attempt.
    Idle,
    /// It creates its node, or finds it again, and awaits a list that shows its place.
    Entering,
    /// Another contender or a lack of permits blocks it. It awaits a change of what it watches.
    Queued,
    /// Nothing blocks it. It awaits the proof that its session is alive, or the number of its node.
    First,
    /// It holds the lock, until a release or a loss.
    Held,
    /// It awaits the answers that prove that nothing of it is left on the server.
    Leaving,
}

impl states::State for State {
    const MACHINE: &'static str = "contender";
    #[rustfmt::skip]
    const TRANSITIONS: &'static [(Self, Self, &'static str)] = &[
        (Idle,     Entering, "acquire; a multi-lock has created the node"),
        (Idle,     Leaving,  "acquire: no session will come; a multi-lock's create is in doubt"),
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

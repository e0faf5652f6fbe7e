//! The states and transitions of a claimant.

use State::{Asking, Held, Idle, Lapsed, Leaving, Proving, Waiting};

use super::{Claimant, Phase};
use crate::states::{self, Observer};

/// The state of a claimant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// The claimant holds no claim and waits for nothing. The application's next acquire begins an attempt.
    Idle,
    /// The claimant writes its claim, or reads the record to find out which attempt runs the operation.
    Asking,
    /// Another attempt runs the operation. The claimant waits for the event of a watch.
    Waiting,
    /// The server has granted the claim. The claimant waits for the proof that its session is alive.
    Proving,
    /// The claimant holds the claim, until the claim's end or a loss.
    Held,
    /// The claimant waits for the reply to the end of its claim.
    Leaving,
    /// The claimant has lost the claim. The application may still end the claim.
    Lapsed,
}

impl states::State for State {
    const MACHINE: &'static str = "zookeeper-claim";
    #[rustfmt::skip]
    const TRANSITIONS: &'static [(Self, Self, &'static str)] = &[
        (Idle,    Asking,  "acquire"),
        (Asking,  Waiting, "another attempt runs the operation"),
        (Asking,  Proving, "claimed"),
        (Asking,  Leaving, "refusal, and a claim may have been written"),
        (Asking,  Idle,    "the operation has a result; refusal: timeout, cancel, an error"),
        (Waiting, Asking,  "the lease has gone, the record has changed, a recheck, reconnect, a new session"),
        (Waiting, Idle,    "refusal: timeout, cancel"),
        (Proving, Asking,  "reconnect, a new session"),
        (Proving, Held,    "the session is confirmed for long enough"),
        (Proving, Leaving, "refusal: timeout, cancel"),
        (Proving, Idle,    "the session cannot start"),
        (Held,    Leaving, "complete, release, leave"),
        (Held,    Lapsed,  "loss"),
        (Leaving, Idle,    "the server has answered; the session cannot start"),
        (Leaving, Held,    "the server refuses the end of the claim"),
        (Leaving, Lapsed,  "no answer while the session was confirmed; refused, and the claim had been lost"),
        (Lapsed,  Leaving, "complete, release, leave"),
        (Lapsed,  Asking,  "acquire"),
    ];
}

impl states::Phase for Phase {
    type State = State;

    fn state(&self) -> State {
        match self {
            Self::Idle => Idle,
            Self::Asking(_) => Asking,
            Self::Waiting => Waiting,
            Self::Proving(_) => Proving,
            Self::Held(_) => Held,
            Self::Leaving(_) => Leaving,
            Self::Lapsed(_) => Lapsed,
        }
    }
}

impl Claimant {
    pub(in crate::zookeeper) fn observe(&self, observer: &mut impl Observer) {
        self.trail.show(&self.phase, observer);
    }
}

//! The states and transitions of a single step.

use State::{Asking, Idle};

use super::{Phase, SingleStep};
use crate::states::{self, Observer};

/// The state of a single step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// No request is in progress. The application's next acquire begins one.
    Idle,
    /// The machine waits for the reply to its script, or for the end of the pause before the next one.
    Asking,
}

impl states::State for State {
    const MACHINE: &'static str = "redis-single-step";
    #[rustfmt::skip]
    const TRANSITIONS: &'static [(Self, Self, &'static str)] = &[
        (Idle,   Asking, "acquire"),
        (Asking, Idle,   "the server has answered; refusal: timeout, cancel, an error"),
    ];
}

impl states::Phase for Phase {
    type State = State;

    fn state(&self) -> State {
        match self {
            Self::Idle => Idle,
            Self::Asking => Asking,
        }
    }
}

impl SingleStep {
    pub(in crate::redis) fn observe(&self, observer: &mut impl Observer) {
        self.trail.show(&self.phase, observer);
    }
}

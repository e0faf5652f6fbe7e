//! The states and transitions of a single step.

use State::{Asking, Idle};

use super::{Phase, SingleStep};
use crate::states::{self, Observer};

/// The state of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// No request is in progress.
    Idle,
    /// A request is in flight, or a retry is due.
    Asking,
}

impl states::State for State {
    const MACHINE: &'static str = "zookeeper-single-step";
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
            Self::Asking(_) => Asking,
        }
    }
}

impl SingleStep {
    pub(in crate::zookeeper) fn observe(&self, observer: &mut impl Observer) {
        self.trail.show(&self.phase, observer);
    }
}

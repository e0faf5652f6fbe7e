//! The states and transitions of an inspection.

use State::{Acting, Idle, Listing, Looking, Reading, Wanted};

use super::{Inspection, Phase};
use crate::states::{self, Observer};

/// The state of an inspection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// No inspection is in progress. The application's next acquire begins one.
    Idle,
    /// The inspection has to begin or to start again, and waits for a connection or for the end of a pause.
    Wanted,
    /// The inspection waits for the list of one of the lock's directories.
    Listing,
    /// The inspection waits for the data of the contenders that it has listed.
    Reading,
    /// The inspection waits for the data of the node that it has to delete or to write to.
    Looking,
    /// The inspection waits for the reply to the delete or the write.
    Acting,
}

impl states::State for State {
    const MACHINE: &'static str = "inspection";
    #[rustfmt::skip]
    const TRANSITIONS: &'static [(Self, Self, &'static str)] = &[
        (Idle,    Wanted,  "acquire"),
        (Wanted,  Listing, "connected: a queue is to be listed"),
        (Wanted,  Reading, "connected: a single node is to be listed"),
        (Wanted,  Looking, "connected: a contender is to be broken or requested"),
        (Wanted,  Idle,    "refusal: timeout, cancel, the session cannot start"),
        (Listing, Reading, "all directories are listed"),
        (Listing, Wanted,  "no answer, a temporary error, a notice of the session"),
        (Listing, Idle,    "no contender is listed; refusal: timeout, cancel, an error"),
        (Reading, Wanted,  "no answer, a temporary error, a notice of the session"),
        (Reading, Idle,    "all contenders are read; refusal: timeout, cancel, an error"),
        (Looking, Acting,  "the node has the expected fence"),
        (Looking, Wanted,  "no answer, a temporary error, a notice of the session"),
        (Looking, Idle,    "another contender or none is there; refusal: timeout, cancel, an error"),
        (Acting,  Wanted,  "no answer, a temporary error, a notice of the session"),
        (Acting,  Idle,    "it is done; refusal: timeout, cancel, an error"),
    ];
}

impl states::Phase for Phase {
    type State = State;

    fn state(&self) -> State {
        match self {
            Self::Idle => Idle,
            Self::Wanted => Wanted,
            Self::Listing { .. } => Listing,
            Self::Reading(_) => Reading,
            Self::Looking(_) => Looking,
            Self::Acting(..) => Acting,
        }
    }
}

impl Inspection {
    pub(in crate::zookeeper) fn observe(&self, observer: &mut impl Observer) {
        self.trail.show(&self.phase, observer);
    }
}

//! The states and transitions of a sweep.

use State::{Deleting, Idle, Listing, Reading, Timing};

use super::{Phase, Sweep};
use crate::states::{self, Observer};

/// The state of the machine. In each state except the first one, requests are in flight, or a retry is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// No sweep is in progress.
    Idle,
    /// The machine requests the server's time.
    Timing,
    /// The machine lists the buckets, or the records of one bucket.
    Listing,
    /// The machine reads some records.
    Reading,
    /// The machine deletes some of the nodes that it has read.
    Deleting,
}

impl states::State for State {
    const MACHINE: &'static str = "zookeeper-sweep";
    #[rustfmt::skip]
    const TRANSITIONS: &'static [(Self, Self, &'static str)] = &[
        (Idle,     Timing,   "acquire"),
        (Timing,   Listing,  "the server's time is known"),
        (Timing,   Idle,     "the scope has no records; refusal: timeout, cancel, an error"),
        (Listing,  Reading,  "the bucket has records"),
        (Listing,  Idle,     "no bucket is left; refusal"),
        (Reading,  Deleting, "some of what was read may be deleted"),
        (Reading,  Listing,  "the bucket is done"),
        (Reading,  Idle,     "no bucket is left; refusal"),
        (Deleting, Reading,  "more is to be read, or some of it again: a conflict, no answer, a lost connection"),
        (Deleting, Listing,  "the bucket is done"),
        (Deleting, Idle,     "no bucket is left; refusal"),
    ];
}

impl states::Phase for Phase {
    type State = State;

    fn state(&self) -> State {
        match self {
            Self::Idle => Idle,
            Self::Timing => Timing,
            Self::Listing => Listing,
            Self::Reading => Reading,
            Self::Deleting => Deleting,
        }
    }
}

impl Sweep {
    pub(in crate::zookeeper) fn observe(&self, observer: &mut impl Observer) {
        self.trail.show(&self.phase, observer);
    }
}

//! The states of the lock in the layout `string`, and which may follow which.

use State::{Asking, Held, Idle, Leaving, Waiting};

use super::{Phase, StringLock};
use crate::states::{self, Observer};

/// Where a contender is. It waits in [`Asking`] and [`Waiting`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// It holds nothing and waits for nothing. The application's next acquire begins an attempt.
    Idle,
    /// It awaits the answer to an acquire, or the end of the pause before the next one.
    Asking,
    /// Another contender holds the lock. It awaits a message, the next poll, or the end of the holder's lease.
    Waiting,
    /// It holds the lock, until a release or a loss. It renews the lease.
    Held,
    /// It awaits the answer to a release: of its grant, or of an acquire that the server may execute late.
    Leaving,
}

impl states::State for State {
    const MACHINE: &'static str = "string";
    #[rustfmt::skip]
    const TRANSITIONS: &'static [(Self, Self, &'static str)] = &[
        (Idle,    Asking,  "acquire"),
        (Asking,  Waiting, "the server answers that another contender holds the lock"),
        (Asking,  Held,    "the server grants the lock, and enough of the lease is left"),
        (Asking,  Leaving, "refusal: timeout, cancel, an error; an acquire is in doubt"),
        (Asking,  Idle,    "refusal: an error, a try of a held lock; no acquire is in doubt"),
        (Waiting, Asking,  "a message, a poll, the holder's lease ends, the subscription begins or ends"),
        (Waiting, Leaving, "refusal: timeout, cancel; an acquire is in doubt"),
        (Waiting, Idle,    "refusal: timeout, cancel; no acquire is in doubt"),
        (Held,    Leaving, "release, or a loss after which the lock may still be this attempt's"),
        (Held,    Idle,    "loss: the lock is deleted or another's, or the connection is closed"),
        (Leaving, Idle,    "the server has answered, or the lease has ended"),
    ];
}

impl states::Phase for Phase {
    type State = State;

    fn state(&self) -> State {
        match self {
            Self::Idle => Idle,
            Self::Asking => Asking,
            Self::Waiting => Waiting,
            Self::Held => Held,
            Self::Leaving { .. } => Leaving,
        }
    }
}

impl StringLock {
    pub(in crate::redis) fn observe(&self, observer: &mut impl Observer) {
        self.trail.show(&self.phase, observer);
    }
}

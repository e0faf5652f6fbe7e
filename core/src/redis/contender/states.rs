//! The states of a contender for a lock or a claim, and which may follow which.

use State::{Asking, Held, Idle, Lapsed, Leaving, Waiting};

use super::{Contender, Phase};
use crate::states::{self, Observer};

/// Where a contender is. It waits in [`Asking`] and [`Waiting`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// It holds nothing and waits for nothing. The application's next acquire begins an attempt.
    Idle,
    /// It awaits the answer to an acquire, or the end of the pause before the next one.
    Asking,
    /// Another contender holds it. This one awaits a message, the next poll, or the end of the holder's lease.
    Waiting,
    /// It holds the lock or the claim, until a release or a loss. It renews the lease.
    Held,
    /// It awaits the answer to the end of its attempt: of its grant, or of an acquire that the server may execute late.
    Leaving,
    /// It has lost a claim. The application may still end the claim, or acquire again.
    Lapsed,
}

impl states::State for State {
    const MACHINE: &'static str = "redis-contender";
    #[rustfmt::skip]
    const TRANSITIONS: &'static [(Self, Self, &'static str)] = &[
        (Idle,    Asking,  "acquire"),
        (Asking,  Waiting, "the server answers that another contender holds the lock"),
        (Asking,  Held,    "the server grants the lock, and enough of the lease is left"),
        (Asking,  Leaving, "refusal: timeout, cancel, an error; an acquire is in doubt"),
        (Asking,  Idle,    "refusal: an error, a try of a held lock; no acquire is in doubt; or the result is replayed"),
        (Waiting, Asking,  "a message, a poll, the holder's lease ends, the subscription begins or ends"),
        (Waiting, Leaving, "refusal: timeout, cancel; an acquire is in doubt"),
        (Waiting, Idle,    "refusal: timeout, cancel; no acquire is in doubt"),
        (Held,    Leaving, "release, or a loss after which the lock may still be this attempt's"),
        (Held,    Idle,    "loss: the lock is deleted or another's, or the connection is closed"),
        (Leaving, Idle,    "the server has answered, or the lease has ended"),
        (Held,    Lapsed,  "claim: loss"),
        (Lapsed,  Leaving, "claim: complete, release, leave"),
        (Lapsed,  Asking,  "claim: acquire"),
        (Leaving, Held,    "claim: the server refuses the end, and the grant is still valid"),
        (Leaving, Lapsed,  "claim: the server refuses the end, or has not answered in time"),
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
            Self::Leaving(_) => Leaving,
            Self::Lapsed => Lapsed,
        }
    }
}

impl Contender {
    pub(in crate::redis) fn observe(&self, observer: &mut impl Observer) {
        self.trail.show(&self.phase, observer);
    }
}

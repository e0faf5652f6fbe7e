//! The states and transitions of a contender for a lock or a claim.

use State::{Asking, Held, Idle, Lapsed, Leaving, Waiting};

use super::{Contender, Phase};
use crate::states::{self, Observer};

/// The state of a contender. It waits for the lock or the claim in [`Asking`] and [`Waiting`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// The contender holds nothing and waits for nothing. The application's next acquire begins an attempt.
    Idle,
    /// The contender waits for the reply to an acquire, or for the end of the pause before the next one.
    Asking,
    /// Another contender holds the lock or the claim. This one waits for a message, the next poll, or the end of the
    /// holder's lease.
    Waiting,
    /// The contender holds the lock or the claim, until a release or a loss. It renews the lease.
    Held,
    /// The contender waits for the reply to the end of its attempt. The attempt may have a grant, or an acquire that
    /// the server may still execute.
    Leaving,
    /// The contender has lost a claim. The application may still end the claim, or acquire again.
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

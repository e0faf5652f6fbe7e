//! The belief of a client about its place and its grant.

use fencepost_core::{AttemptId, Instant};

use super::Mode;

/// The belief of a client, by the events that it has received. Times are by its own clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Belief {
    /// It neither holds nor waits.
    Idle,
    /// It waits, until that time.
    Waits(Option<Instant>),
    /// It has looked at its clock after its deadline. Until this time it may still be granted a free lock.
    Late(Instant),
    /// It has looked at its clock after its deadline, and deletes its nodes. It receives a refusal by that
    /// time.
    Ends(Instant),
    /// It holds.
    Holds(Hold),
    /// It has called release for this attempt's lock: with the last mode of the grant, and whether the grant
    /// was valid by its own clock.
    Leaves(AttemptId, Mode, bool),
}

/// A grant, as its holder knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Hold {
    /// The attempt that acquired it.
    pub attempt: AttemptId,
    /// The grants that may be held together with it.
    pub mode: Mode,
    /// Its fence.
    pub fence: Option<u64>,
    /// How many grants there were before it: the order if there is no fence.
    pub turn: u32,
    /// When it ends by the holder's clock.
    pub until: Option<Instant>,
    /// Whether its holder has received a revocation request.
    pub revocation_requested: bool,
    /// Whether its holder is suspended: then the machine may know a later end than the holder.
    pub suspended: bool,
}

impl Belief {
    /// The mode in which it holds, or which it releases.
    #[must_use]
    pub const fn held_as(&self) -> Option<Mode> {
        match self {
            Self::Holds(Hold { mode, .. }) | Self::Leaves(_, mode, _) => Some(*mode),
            Self::Idle | Self::Waits(_) | Self::Late(_) | Self::Ends(_) => None,
        }
    }

    /// The grant, if it is valid by its holder's clock.
    #[must_use]
    pub fn valid(&self, local: Instant) -> Option<&Hold> {
        match self {
            Self::Holds(hold) if hold.until.is_none_or(|until| local < until) => Some(hold),
            _ => None,
        }
    }
}

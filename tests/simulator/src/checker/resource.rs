//! What the lock protects: a resource that takes writes, and refuses those with a fence below the highest that it has seen.

use crate::step::Number;

use super::Hold;

/// A write on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Write {
    /// Whose.
    pub client: Number,
    /// Under which grant.
    pub hold: Hold,
}

/// The resource.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Resource {
    highest: u64,
    /// The latest grant of which a write was accepted.
    turn: u32,
}

/// What became of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It was accepted.
    Accepted,
    /// Its fence was too low: it came too late.
    Refused,
    /// It was accepted, although one of a later grant had been.
    Stale,
}

impl Resource {
    /// A write arrives. Without a fence the resource cannot but accept it.
    pub fn take(&mut self, write: &Write) -> Fate {
        if let Some(fence) = write.hold.fence {
            if fence < self.highest {
                return Fate::Refused;
            }
            self.highest = fence;
        }
        if write.hold.turn < self.turn {
            return Fate::Stale;
        }
        self.turn = write.hold.turn;
        Fate::Accepted
    }
}

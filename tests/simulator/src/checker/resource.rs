//! What the lock protects: a resource that takes writes, and refuses those with a fence below the highest writer's that it has seen. What a
//! reader does there is called a write, too: it is refused like one, and raises nothing. A permit orders nothing, and is not looked at.

use crate::step::Number;

use super::{Hold, Mode};

/// A write on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Write {
    /// The client that writes.
    pub client: Number,
    /// Under which grant.
    pub hold: Hold,
}

/// The resource.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Resource {
    highest: u64,
    /// The latest exclusive grant of which a write was accepted.
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
        let Hold {
            mode, fence, turn, ..
        } = write.hold;
        if let Mode::Permit(_) = mode {
            return Fate::Accepted;
        }
        if fence.is_some_and(|fence| fence < self.highest) {
            return Fate::Refused;
        }
        let raises = mode == Mode::Exclusive;
        if let Some(fence) = fence.filter(|_| raises) {
            self.highest = fence;
        }
        if turn < self.turn {
            return Fate::Stale;
        }
        if raises {
            self.turn = turn;
        }
        Fate::Accepted
    }
}

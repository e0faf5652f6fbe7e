//! The resource that the lock protects. It accepts writes, and rejects those with a lower fence than the
//! highest fence of a writer so far. An access of a reader is also called a write: the resource rejects it in
//! the same way, but it does not raise that fence. The fences of permits have no order, so the resource does
//! not compare them.

use crate::step::Number;

use super::{Hold, Mode};

/// A write on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Write {
    /// The client that writes.
    pub client: Number,
    /// The grant of the write.
    pub hold: Hold,
}

/// The resource.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Resource {
    highest: u64,
    /// The latest exclusive grant of which a write was accepted.
    turn: u32,
}

/// The result of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It was accepted.
    Accepted,
    /// Its fence was too low: it came too late.
    Refused,
    /// It was accepted, although a write of a later grant was accepted before.
    Stale,
}

impl Resource {
    /// A write arrives. The resource must accept a write without a fence.
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

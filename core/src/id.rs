//! Names: who contends, in which attempt, with which command, under which number.

use alloc::string::String;
use core::fmt;

/// One machine of a [`Hub`](crate::hub::Hub). Keys are never used again. `Key::HUB` is the hub itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(pub u64);

impl Key {
    /// The key of what the hub does for all its machines (session confirmations, subscriptions).
    pub const HUB: Self = Self(0);
}

/// One command. Ids grow by one within a hub and are never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommandId(pub u64);

/// A ZooKeeper session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(pub i64);

/// The number of a grant. It grows with every exclusive grant of one lock, so that a resource which
/// remembers the highest one it has seen can refuse a holder that has been overtaken
/// (Kleppmann, "How to do distributed locking", 2016).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fence(pub u64);

impl fmt::Display for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Sixteen random bytes from the caller: who contends. Their uniqueness is a safety property, so they
/// come from the operating system's random source and are new for every machine.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OwnerId(pub [u8; 16]);

impl fmt::Display for OwnerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for OwnerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OwnerId({self})")
    }
}

/// An owner and a counter that is new for every acquire: what a server stores to say whose a lock is.
///
/// No command of attempt *k* can touch attempt *k + 1*, however late it arrives, because every command
/// compares the whole attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AttemptId {
    /// Who contends.
    pub owner: OwnerId,
    /// Which of the owner's attempts this is, from 1.
    pub number: u32,
}

impl AttemptId {
    /// The attempt as a canonical UUID of 36 characters, as Curator's protected nodes have it
    /// (`ProtectedUtils`): the owner's bytes, the counter added to the last eight.
    #[must_use]
    pub fn uuid(&self) -> String {
        let value = u128::from_be_bytes(self.owner.0).wrapping_add(u128::from(self.number));
        let hex = alloc::format!("{value:032x}");
        let mut out = String::with_capacity(36);
        for (index, digit) in hex.chars().enumerate() {
            if matches!(index, 8 | 12 | 16 | 20) {
                out.push('-');
            }
            out.push(digit);
        }
        out
    }
}

impl fmt::Display for AttemptId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.owner, self.number)
    }
}

//! The scripts: everything that has to happen at once on the server happens there. Their text is in `scripts/`; what they take and answer, and why, is
//! said here, not in every program that carries them.
//!
//! Every script begins with a write, so that a replica refuses it: what a replica would read may be old. It is also the first write of
//! a script that a server checks against its memory limit, and these need no memory, so a full server still grants and frees locks.

/// A script of the layout `string`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Script {
    /// Take a free lock, or say how long it is held.
    ///
    /// - KEYS: lock, fence, tombstone of this attempt.
    /// - ARGV: attempt, lease in ms, how long to keep the fence in ms, how long to keep the tombstone in ms.
    /// - Answers `{1, fence}`: granted; `{0, ms left, or -1 without end, holder}`: another contender holds it, with this value; `{2}`:
    ///   this attempt has been given up; `{3, kept}`: the fence key holds what is no fence.
    /// - Where the attempt holds already, it is repeated because its first reply was lost: the same grant, with a full lease from now
    ///   on, and with a new fence if the fence key is gone.
    /// - The fence is greater than the last one and, after a loss of all data, than any before it, as long as the server's clock has
    ///   not gone back. A fence is below 2^53, which Lua and JavaScript count exactly.
    Acquire,
    /// Make the lease last from now on, if the lock is still this attempt's. A lease is never shortened.
    ///
    /// - KEYS: lock, fence.
    /// - ARGV: attempt, lease in ms, how long to keep the fence in ms.
    /// - Answers `{1}`: renewed; `{0, holder}`: it is not, with the holder's value, or nothing if there is no holder.
    Renew,
    /// Give the lock back, if it is still this attempt's; then announce it to those who wait.
    ///
    /// - KEYS: lock, tombstone of this attempt.
    /// - ARGV: attempt, channel, how long to keep the tombstone in ms.
    /// - Answers `{1}`: released, now or by an earlier release of this attempt; `{0, holder}`: it was not this attempt's.
    /// - The tombstone is for commands of this attempt that come later: an acquire on its way has to find that it comes too late, and a
    ///   release that a client library has sent twice has to find that the first one has released (`1`) or found another holder (`0`).
    /// - The lock is freed before anything else is written. An announcement that the server does not permit is no error: waiters ask
    ///   now and then.
    Release,
}

impl Script {
    /// All there are.
    pub const ALL: &'static [Self] = &[Self::Acquire, Self::Renew, Self::Release];

    /// What the server runs.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Acquire => include_str!("scripts/acquire.lua"),
            Self::Renew => include_str!("scripts/renew.lua"),
            Self::Release => include_str!("scripts/release.lua"),
        }
    }

    /// The SHA-1 of the text, by which a server knows a script that it has run before.
    #[must_use]
    pub const fn sha(self) -> &'static str {
        match self {
            Self::Acquire => "0fb29b083c5a5a2257b2b79922d5ac6d947cd950",
            Self::Renew => "bcba7badd9e549a292017eabfdc82622adbd4390",
            Self::Release => "5ef42edee06d1231c6247cd90cbbaf53b619df58",
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::{format, string::String};

    use sha1::{Digest, Sha1};

    use super::*;

    #[test]
    fn every_sha_is_that_of_its_text() {
        for script in Script::ALL {
            let sha = Sha1::digest(script.text())
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect::<String>();
            assert_eq!(script.sha(), sha, "{script:?}: take this one");
        }
    }
}

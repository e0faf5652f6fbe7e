//! The scripts: each one is a step that the server executes atomically. Their text is in `scripts/`. Their arguments,
//! answers and reasons are documented here, so that the programs that contain the texts need not carry comments.
//!
//! Every script begins with a write, for two reasons. A replica refuses it; what a script would read from a replica may
//! be out of date. And a server checks its memory limit only at a script's first write: these first writes need no
//! memory, so a full server still grants and releases locks.

/// A script of the layout `string`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Script {
    /// Takes a free lock, or reports the holder.
    ///
    /// - KEYS: lock, fence, tombstone of this attempt.
    /// - ARGV: attempt, lease in ms, how long to keep the fence in ms, how long to keep the tombstone in ms.
    /// - Answers `{1, fence}`: granted. `{0, ms left or -1 if the key has no end, holder}`: another contender holds the
    ///   lock, and `holder` is its value. `{2}`: this attempt has been given up. `{3, kept}`: the fence key holds
    ///   `kept`, which is no fence.
    /// - If the attempt holds the lock already, then this request repeats an earlier one whose reply was lost. The
    ///   answer is the same grant, with a full lease from now. It has a new fence only if the fence key is gone.
    /// - The fence is greater than the previous one. After a loss of all data it is still greater than all earlier
    ///   ones, provided that the server's clock has not gone back. A fence is below 2^53, so Lua and JavaScript
    ///   represent it exactly.
    Acquire,
    /// Extends the lease to its full length from now, if this attempt still holds the lock. A lease is never shortened.
    ///
    /// - KEYS: lock, fence.
    /// - ARGV: attempt, lease in ms, how long to keep the fence in ms.
    /// - Answers `{1}`: renewed. `{0, holder}`: this attempt does not hold the lock; `holder` is the holder's value, or
    ///   nil if there is no holder.
    Renew,
    /// Releases the lock, if this attempt still holds it, and then notifies the waiters.
    ///
    /// - KEYS: lock, tombstone of this attempt.
    /// - ARGV: attempt, channel, how long to keep the tombstone in ms.
    /// - Answers `{1}`: released, now or by an earlier release of this attempt. `{0, holder}`: this attempt did not
    ///   hold the lock.
    /// - The tombstone is for later commands of this attempt. An acquire that arrives late finds that the attempt has
    ///   ended. A release that a client library has sent twice finds that the first one released the lock (`1`) or
    ///   found another holder (`0`).
    /// - The script frees the lock before it writes anything else. If the server does not permit the announcement, the
    ///   script ignores that: waiters also poll.
    Release,
}

impl Script {
    /// All scripts.
    pub const ALL: &'static [Self] = &[Self::Acquire, Self::Renew, Self::Release];

    /// The script's text.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Acquire => include_str!("scripts/acquire.lua"),
            Self::Renew => include_str!("scripts/renew.lua"),
            Self::Release => include_str!("scripts/release.lua"),
        }
    }

    /// The SHA-1 of the text. A server identifies a script by it once it has run the script.
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

//! The scripts: everything that has to happen at once on the server happens there. Their text is in `scripts/`; what they take and answer, and why, is
//! said here, not in every program that carries them.

/// A script of the layout `string`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Script {
    /// Take a free lock, or say how long it is held.
    ///
    /// - KEYS: lock, fence, tombstone of this attempt.
    /// - ARGV: attempt, lease in ms, how long to keep the fence in ms.
    /// - Answers `{1, fence}`: granted; `{0, ms left, or -1 without end}`: held by somebody else; `{2}`: this attempt has been given up.
    /// - Where the attempt holds already, it is repeated because its first reply was lost: the same grant, with a full lease from now on.
    /// - The fence is greater than the last one and, after a loss of all data, than any before it, as long as the server's clock has not gone back.
    Acquire,
    /// Make the lease last from now on, if the lock is still this attempt's. A lease is never shortened.
    ///
    /// - KEYS: lock, fence.
    /// - ARGV: attempt, lease in ms, how long to keep the fence in ms.
    /// - Answers `{1}`: renewed; `{0, holder}`: it is not, with the holder's value, or nothing if nobody holds it.
    Renew,
    /// Give the lock back, if it is still this attempt's, and tell those who wait.
    ///
    /// - KEYS: lock, tombstone of this attempt.
    /// - ARGV: attempt, channel, how long to keep the tombstone in ms (0: none is needed).
    /// - Answers `{1}`: released; `{0, holder}`: it was not this attempt's.
    /// - The tombstone is for an acquire of this attempt that may still be on its way: it must find that it comes too late.
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
            Self::Acquire => "98920298c007e81b5a2156f330670fe52b94a5d6",
            Self::Renew => "d0f0fff77850d4893d3bd5dce35c0fdb7c662dae",
            Self::Release => "627c482e9a68a0df412311fb8d7b0b52c19f3b1a",
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

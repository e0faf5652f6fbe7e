//! The scripts. Their text is in `scripts/`; everything that has to happen at once on the server happens there.

/// A script of the layout `string`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Script {
    /// Take a free lock, or say how long it is held.
    Acquire,
    /// Make the lease last from now on.
    Renew,
    /// Give the lock back.
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
            Self::Acquire => "98791fc86ff4d1dac7c9f6fe1e8dd8f4911a4203",
            Self::Renew => "fbbe68d84320271b93684178c693bd3b06525ff7",
            Self::Release => "045b8f6ec095464bf0f6aa7856574ddb2c1c347e",
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

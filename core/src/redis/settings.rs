//! The settings of a Redis lock, and the names it writes.

use alloc::{sync::Arc, vec::Vec};
use core::time::Duration;

use crate::{ConfigError, lease, text};

/// How often a waiter asks, by default: foreign holders announce nothing.
pub const DEFAULT_POLL: Duration = Duration::from_millis(100);
/// How long one answer may take before the request is sent again, by default.
pub const DEFAULT_ANSWER_WITHIN: Duration = Duration::from_secs(5);

/// The settings of a lock in the layout `string`, checked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StringSettings {
    /// Shared with every contender's machine.
    name: Arc<str>,
    /// What the names beside the key begin with.
    stem: Arc<str>,
    /// How long the server keeps the lock without renewal.
    pub ttl: Duration,
    /// What is taken off the lease's validity beside drift.
    pub margin: Duration,
    /// Whether the lease is renewed, after each third of it, until the release.
    pub renew: bool,
    /// How often a waiter asks, at the latest.
    pub poll: Duration,
    /// How long an answer may take: then the request is sent again, and a try counts as unreachable.
    pub answer_within: Duration,
    /// The longest hold allowed, if there is one.
    pub max_hold: Option<Duration>,
}

impl StringSettings {
    /// A lock at the key `name`, where redis-py and the redlock clients would have it.
    ///
    /// # Errors
    /// [`ConfigError`] for an empty or overlong name, one whose keys a cluster would keep in different slots, or a lease too short or
    /// too long.
    pub fn new(name: &str, ttl: Duration, margin: Duration) -> Result<Self, ConfigError> {
        if name.is_empty() {
            return Err(ConfigError::EmptyName);
        }
        if name.len() > MAX_NAME {
            let why = "it is longer than 4096 bytes: take a shorter one, such as a hash of it";
            return Err(ConfigError::InvalidName {
                name: name.into(),
                why,
            });
        }
        let stem = stem(name).ok_or_else(|| ConfigError::InvalidName {
            name: name.into(),
            why: NO_COMMON_SLOT,
        })?;
        lease::check(ttl, margin)?;
        Ok(Self {
            name: name.into(),
            stem,
            ttl,
            margin,
            renew: true,
            poll: DEFAULT_POLL,
            answer_within: DEFAULT_ANSWER_WITHIN,
            max_hold: None,
        })
    }

    /// The lock's name, which is its key.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn key(&self) -> Vec<u8> {
        self.name.as_bytes().to_vec()
    }

    pub(super) fn fence_key(&self) -> Vec<u8> {
        self.beside("fence", "")
    }

    pub(super) fn channel(&self) -> Vec<u8> {
        self.beside("released", "")
    }

    pub(super) fn tombstone_key(&self, attempt: &str) -> Vec<u8> {
        self.beside("gone:", attempt)
    }

    fn beside(&self, what: &str, of: &str) -> Vec<u8> {
        [&self.stem, what, of].concat().into_bytes()
    }
}

/// What puts the names beside the key into its slot of a cluster: the whole name is their hash tag, unless it has one of its own. There
/// is none for a name with a `}` and without a tag: the `}` would end the tag too early.
fn stem(name: &str) -> Option<Arc<str>> {
    let tagged = text::split(name, b'{').and_then(|(_, rest)| text::split(rest, b'}'));
    let parts = match tagged {
        Some((tag, _)) if !tag.is_empty() => [name, ":", ""],
        _ if text::has(name, b'}') => return None,
        _ => ["{", name, "}:"],
    };
    Some(parts.concat().into())
}

const NO_COMMON_SLOT: &str = "it has a } and no hash tag, so that a cluster would keep the lock's keys in different slots (CROSSSLOT): leave the } out, or write a hash tag first, as in {shop}x}";

const MAX_NAME: usize = 4096;

#[cfg(test)]
mod tests {
    use alloc::string::{String, ToString};

    use super::*;

    fn beside(name: &str) -> String {
        let settings = StringSettings::new(name, lease::DEFAULT_TTL, lease::DEFAULT_MARGIN).unwrap();
        String::from_utf8(settings.fence_key()).unwrap()
    }

    #[test]
    fn all_keys_share_the_slot() {
        assert_eq!(beside("stock/42"), "{stock/42}:fence");
        assert_eq!(beside("a{tag}b"), "a{tag}b:fence");
        assert_eq!(beside("a{b"), "{a{b}:fence");
        assert_eq!(beside("{shop}a}b{}"), "{shop}a}b{}:fence");
    }

    #[test]
    fn names_whose_keys_have_no_common_slot_are_refused() {
        for name in ["a}b", "a{}b", "{}x", "}", "{}{a}", "}{"] {
            let error = StringSettings::new(name, lease::DEFAULT_TTL, lease::DEFAULT_MARGIN).unwrap_err();
            assert_eq!(error.name(), "invalid-name", "{name}");
            assert!(error.to_string().contains("hash tag"), "{error}");
        }
    }
}

//! The settings of a lock in the layout `string`, and the names of its keys.

use alloc::{sync::Arc, vec::Vec};
use core::time::Duration;

use crate::{
    ConfigError, Owner,
    hub::{LockKind, Mode, Ownership, Reentry},
    text,
};

use super::LeaseSettings;

/// The checked settings of a lock in the layout `string`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StringSettings {
    /// The lock's name. The machines of all contenders share this text.
    name: Arc<str>,
    /// The prefix of the lock's other keys and of its channel.
    stem: Arc<str>,
    /// The settings of the lease.
    pub lease: LeaseSettings,
    /// The longest hold allowed, if there is a limit.
    pub max_hold: Option<Duration>,
    /// The owner that acquires the lock, for re-entry; `None` if each acquire is a separate contender.
    pub owner: Option<Owner>,
}

impl StringSettings {
    /// A lock at the key `name`, as redis-py and the redlock clients use it.
    ///
    /// # Errors
    /// [`ConfigError`] for a name that is empty or too long, for a name whose keys a cluster would keep in different
    /// slots, and for a lease that is too short or too long.
    pub fn new(name: &str, ttl: Duration, margin: Duration) -> Result<Self, ConfigError> {
        if name.is_empty() {
            return Err(ConfigError::EmptyName);
        }
        if name.len() > MAX_NAME {
            let why = "it is longer than 4096 bytes: use a shorter name, such as a hash of it";
            return Err(ConfigError::InvalidName {
                name: name.into(),
                why,
            });
        }
        let stem = stem(name).map_err(|why| ConfigError::InvalidName {
            name: name.into(),
            why,
        })?;
        Ok(Self {
            name: name.into(),
            stem,
            lease: LeaseSettings::new("ttl", ttl, margin)?,
            max_hold: None,
            owner: None,
        })
    }

    /// The lock's name, which is also its key.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(in crate::redis) fn reentry(&self) -> Option<Reentry> {
        let ownership = Ownership {
            owner: self.owner.clone()?,
            kind: LockKind::Mutex,
            lock: Arc::clone(&self.name),
        };
        let mode = Mode::Exclusive;
        Some(Reentry { ownership, mode })
    }

    pub(in crate::redis) fn key(&self) -> Vec<u8> {
        self.name.as_bytes().to_vec()
    }

    pub(in crate::redis) fn fence_key(&self) -> Vec<u8> {
        self.beside("fence", "")
    }

    pub(in crate::redis) fn channel(&self) -> Vec<u8> {
        self.beside("released", "")
    }

    pub(in crate::redis) fn tombstone_key(&self, attempt: &str) -> Vec<u8> {
        self.beside("gone:", attempt)
    }

    fn beside(&self, what: &str, of: &str) -> Vec<u8> {
        [&self.stem, what, of].concat().into_bytes()
    }
}

/// The prefix of the lock's other keys. With this prefix, a cluster stores them in the slot of the lock's key. The
/// whole name becomes their hash tag, unless the name already has a hash tag. A name with a `}` but without a hash tag
/// has no such prefix, because the `}` would end the tag too early. A name that is only a hash tag would have the
/// prefix of another lock.
fn stem(name: &str) -> Result<Arc<str>, &'static str> {
    let tagged = text::split(name, b'{')
        .and_then(|(before, rest)| Some((before, text::split(rest, b'}')?)))
        .filter(|(_, (tag, _))| !tag.is_empty());
    let parts = match tagged {
        Some(("", (_, ""))) => return Err(ONLY_A_TAG),
        Some(_) => [name, ":", ""],
        None if text::has(name, b'}') => return Err(NO_COMMON_SLOT),
        None => ["{", name, "}:"],
    };
    Ok(parts.concat().into())
}

const ONLY_A_TAG: &str = "it is only a hash tag, so its fence would be that of the lock whose name is the tag: remove the braces, or add a text, as in {shop}stock";

const NO_COMMON_SLOT: &str = "it contains } but no hash tag, so a cluster would keep the lock's keys in different slots (CROSSSLOT): remove the }, or put a hash tag first, as in {shop}x}";

const MAX_NAME: usize = 4096;

#[cfg(test)]
mod tests {
    use alloc::string::{String, ToString};

    use super::*;
    use crate::lease;

    fn beside(name: &str) -> String {
        let settings = StringSettings::new(name, lease::DEFAULT_TTL, lease::DEFAULT_MARGIN).unwrap();
        assert_eq!(settings.name(), name);
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
    fn no_two_names_have_the_same_other_keys() {
        let error = StringSettings::new("{a}", lease::DEFAULT_TTL, lease::DEFAULT_MARGIN).unwrap_err();
        assert!(error.to_string().contains("only a hash tag"), "{error}");
        let names = ["a", "{a", "{a}b", "b{a}", "{a}{b}", "{a}:"];
        let mut keys: Vec<_> = names.into_iter().map(beside).collect();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), names.len());
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

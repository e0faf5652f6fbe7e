//! Owners: names for re-entrant acquires. An owner may acquire a lock again that it already holds.

use alloc::{string::String, sync::Arc};

use crate::ConfigError;

/// The longest name of an owner, in bytes.
pub const MAX_OWNER: usize = 1024;

/// The name of an owner, which the application chooses: a request's id, for example. Acquires of one owner for one lock
/// share a grant, if they use the same client.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Owner(Arc<str>);

impl Owner {
    /// An owner with this name.
    ///
    /// # Errors
    /// [`ConfigError::InvalidOption`] for an empty name, and for more than [`MAX_OWNER`] bytes.
    pub fn new(name: &str) -> Result<Self, ConfigError> {
        let invalid = |value: String, why| {
            Err(ConfigError::InvalidOption {
                option: "owner",
                value,
                why,
            })
        };
        if name.is_empty() {
            return invalid(
                String::new(),
                "it is empty: give the owner a name, or leave the option out",
            );
        }
        if name.len() > MAX_OWNER {
            let start = name.chars().take(32).chain("…".chars()).collect();
            return invalid(start, "it is longer than 1024 bytes");
        }
        Ok(Self(name.into()))
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_has_the_name_that_it_was_given() {
        assert_eq!(Owner::new("anna").unwrap().name(), "anna");
        let longest = "a".repeat(MAX_OWNER);
        assert_eq!(Owner::new(&longest).unwrap().name(), longest);
        assert!(Owner::new(&"a".repeat(MAX_OWNER + 1)).is_err());
    }
}

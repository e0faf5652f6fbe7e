//! A result or a value, with its tag.

use alloc::{string::String, vec::Vec};

use crate::{ConfigError, text::shown};

/// The longest result or value, in bytes. A request to ZooKeeper (1 MiB) has room for it and the rest of a record.
pub const MAX_RESULT: usize = 1_000_000;
/// The longest tag, in bytes.
pub const MAX_TAG: usize = 255;

/// A result or a value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Content {
    tag: String,
    bytes: Vec<u8>,
}

impl Content {
    /// A result, and a text that describes its format.
    ///
    /// # Errors
    /// [`ConfigError::InvalidOption`] for a result of more than [`MAX_RESULT`] bytes, and for a tag of more than
    /// [`MAX_TAG`] bytes.
    pub fn new(tag: &str, bytes: Vec<u8>) -> Result<Self, ConfigError> {
        let invalid = |option, value, why| Err(ConfigError::InvalidOption { option, value, why });
        if tag.len() > MAX_TAG {
            return invalid("tag", shown(tag), "it is longer than 255 bytes");
        }
        Self::check_size(bytes.len())?;
        Ok(Self {
            tag: tag.into(),
            bytes,
        })
    }

    /// Checks the size of a result, before it is copied.
    ///
    /// # Errors
    /// [`ConfigError::InvalidOption`] if it is more than [`MAX_RESULT`] bytes.
    pub fn check_size(size: usize) -> Result<(), ConfigError> {
        if size <= MAX_RESULT {
            return Ok(());
        }
        Err(ConfigError::InvalidOption {
            option: "result",
            value: "…".into(),
            why: "it is longer than 1000000 bytes: store it elsewhere, and its address here",
        })
    }

    /// The tag.
    #[must_use]
    pub fn tag(&self) -> &str {
        &self.tag
    }

    /// The result or the value.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn into_parts(self) -> (String, Vec<u8>) {
        (self.tag, self.bytes)
    }
}

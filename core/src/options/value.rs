//! The values of options.

use alloc::{string::String, vec::Vec};
use core::time::Duration;

/// A value as a binding passes it. A duration is a [`Whole`](Self::Whole) number of microseconds. It is signed, so that
/// the core can reject negative durations, which are possible in some languages.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Value {
    /// A whole number, or a duration in microseconds.
    Whole(i64),
    /// Yes or no.
    Flag(bool),
    /// A text.
    Text(String),
    /// A list of texts.
    Texts(Vec<String>),
}

/// The type of an option's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ValueType {
    /// A duration.
    Duration,
    /// A whole number.
    Whole,
    /// Yes or no.
    Flag,
    /// A text.
    Text,
    /// A list of texts.
    Texts,
}

impl ValueType {
    /// The name, for bindings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Duration => "duration",
            Self::Whole => "whole",
            Self::Flag => "flag",
            Self::Text => "text",
            Self::Texts => "texts",
        }
    }

    /// The required type of a value, for an error.
    pub(super) const fn expected(self) -> &'static str {
        match self {
            Self::Duration => " has to be a duration in whole microseconds",
            Self::Whole => " has to be a whole number",
            Self::Flag => " has to be true or false",
            Self::Text => " has to be a text",
            Self::Texts => " has to be a list of texts",
        }
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Whole(number)
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Self::Whole(number.into())
    }
}

/// In whole microseconds. The later check rejects a duration that is too long.
impl From<Duration> for Value {
    fn from(duration: Duration) -> Self {
        Self::Whole(i64::try_from(duration.as_micros()).unwrap_or(i64::MAX))
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<Vec<String>> for Value {
    fn from(texts: Vec<String>) -> Self {
        Self::Texts(texts)
    }
}

//! Settings during parsing: one field for the value of each option.

use alloc::{string::String, vec::Vec};

use crate::{ConfigError, Fence};

use super::{Value, ValueType};

/// The values that the caller has given.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) name: Option<String>,
    pub(super) names: Option<Vec<String>>,
    pub(super) prefix: Option<String>,
    pub(super) layout: Option<String>,
    pub(super) node_prefix: Option<String>,
    pub(super) identifier: Option<String>,
    pub(super) revocable: Option<bool>,
    pub(super) permits: Option<i64>,
    pub(super) fair: Option<bool>,
    pub(super) owner: Option<String>,
    pub(super) max_hold: Option<i64>,
    pub(super) answer_within: Option<i64>,
    pub(super) ttl: Option<i64>,
    pub(super) renew: Option<bool>,
    pub(super) margin: Option<i64>,
    pub(super) poll: Option<i64>,
    pub(super) of: Option<String>,
    pub(super) action: Option<String>,
    pub(super) node: Option<String>,
    pub(super) fence: Option<String>,
    pub(super) lease: Option<i64>,
    pub(super) retention: Option<i64>,
    pub(super) on_lease_end: Option<String>,
    pub(super) scope: Option<String>,
    pub(super) key: Option<String>,
    pub(super) fingerprint: Option<String>,
    pub(super) binding: Option<String>,
    pub(super) step: Option<String>,
    pub(super) operation: Option<String>,
    pub(super) version: Option<i64>,
    pub(super) life: Option<i64>,
    pub(super) tag: Option<String>,
    pub(super) result: Option<String>,
}

impl Draft {
    pub(super) fn name(&self) -> &str {
        self.name.as_deref().unwrap_or_default()
    }

    /// The contender for an inspection that breaks or revokes: its node and its fence.
    pub(super) fn named_contender(&self) -> Result<(String, Fence), ConfigError> {
        let given = self.fence.as_deref().unwrap_or_default();
        match given.parse() {
            Ok(fence) => Ok((self.node.clone().unwrap_or_default(), Fence(fence))),
            Err(_) => invalid("fence", given, "give the contender's fence as a decimal number"),
        }
    }
}

/// The error for an unknown action of an inspection.
pub(super) fn unknown_action<T>(action: &str) -> Result<T, ConfigError> {
    let why = "it is one of \"list\", \"break\" and \"revoke\"";
    invalid("action", action, why)
}

pub(super) fn invalid<T>(option: &'static str, value: &str, why: &'static str) -> Result<T, ConfigError> {
    let value = value.into();
    Err(ConfigError::InvalidOption { option, value, why })
}

type To<T> = fn(&mut Draft) -> &mut Option<T>;

/// The field for a value. The field determines the value's type.
#[derive(Clone, Copy, Debug)]
pub(super) enum Slot {
    Duration(To<i64>),
    Whole(To<i64>),
    Flag(To<bool>),
    Text(To<String>),
    Texts(To<Vec<String>>),
}

impl Slot {
    pub(super) const fn value_type(self) -> ValueType {
        match self {
            Self::Duration(_) => ValueType::Duration,
            Self::Whole(_) => ValueType::Whole,
            Self::Flag(_) => ValueType::Flag,
            Self::Text(_) => ValueType::Text,
            Self::Texts(_) => ValueType::Texts,
        }
    }

    /// Stores a value in the field, if it has the right type.
    pub(super) fn set(self, draft: &mut Draft, name: &str, value: Value) -> Result<(), ConfigError> {
        match (self, value) {
            (Self::Duration(to) | Self::Whole(to), Value::Whole(number)) => *to(draft) = Some(number),
            (Self::Flag(to), Value::Flag(flag)) => *to(draft) = Some(flag),
            (Self::Text(to), Value::Text(text)) => *to(draft) = Some(text),
            (Self::Texts(to), Value::Texts(texts)) => *to(draft) = Some(texts),
            _ => {
                let why = [name, self.value_type().expected()].concat();
                return Err(ConfigError::Unreadable { why });
            }
        }
        Ok(())
    }
}

//! Parses settings from data (feature `serde`). `null` is the same as an option that is not given.

use alloc::{string::String, vec::Vec};
use core::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, SeqAccess, Visitor},
};

use super::{RawSettings, Value};

impl<'de> Deserialize<'de> for RawSettings {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(Fields)
    }
}

struct Fields;

impl<'de> Visitor<'de> for Fields {
    type Value = RawSettings;

    fn expecting(&self, message: &mut fmt::Formatter<'_>) -> fmt::Result {
        message.write_str("a map of options")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawSettings, A::Error> {
        let mut raw = RawSettings::default();
        while let Some((name, value)) = map.next_entry::<String, Option<Value>>()? {
            if raw.has(&name) {
                return Err(A::Error::custom(format_args!("{name} appears twice")));
            }
            if let Some(value) = value {
                raw.set(&name, value);
            }
        }
        Ok(raw)
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Any)
    }
}

struct Any;

impl<'de> Visitor<'de> for Any {
    type Value = Value;

    fn expecting(&self, message: &mut fmt::Formatter<'_>) -> fmt::Result {
        message.write_str("a whole number, true or false, a text or a list of texts")
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Value, E> {
        Ok(flag.into())
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(number.into())
    }

    /// A number above `i64::MAX` is too large for every option, so it may be replaced by `i64::MAX`.
    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(i64::try_from(number).unwrap_or(i64::MAX).into())
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut texts = Vec::new();
        while let Some(text) = list.next_element::<String>()? {
            texts.push(text);
        }
        Ok(texts.into())
    }
}

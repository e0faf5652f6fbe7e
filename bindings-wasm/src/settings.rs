//! Settings from a plain object: `{kind: "redis-string", name: "stock/42", ttl: 10000}`, durations in milliseconds.

use alloc::{format, string::String};

use fencepost_core::{ConfigError, RawSettings, Settings as Checked};
use js_sys::{Object, Reflect};
use wasm_bindgen::prelude::*;

use crate::{convert::micros, error};

/// The checked settings of one lock.
#[wasm_bindgen]
#[derive(Debug)]
pub(crate) struct Settings(pub(crate) Checked);

#[wasm_bindgen]
impl Settings {
    /// Reads and checks settings.
    ///
    /// # Errors
    /// A `ConfigError` that names the key.
    #[wasm_bindgen(constructor)]
    pub fn new(data: &JsValue) -> Result<Self, JsValue> {
        read(data)
            .and_then(Checked::try_from)
            .map(Self)
            .map_err(|why| error::config(&why).into())
    }
}

const ZOOKEEPER: &[&str] = &["kind", "name", "prefix", "answerWithin", "maxHold"];
const REDIS: &[&str] = &[
    "kind",
    "name",
    "ttl",
    "margin",
    "renew",
    "poll",
    "answerWithin",
    "maxHold",
];

fn read(data: &JsValue) -> Result<RawSettings, ConfigError> {
    if !data.is_object() {
        return Err(unreadable("settings have to be an object"));
    }
    match text(data, "kind")?.as_deref() {
        Some("zookeeper-mutex") => {
            known(
                data,
                ZOOKEEPER,
                "there are kind, name, prefix, answerWithin and maxHold",
            )?;
            Ok(RawSettings::ZookeeperMutex {
                name: text(data, "name")?.unwrap_or_default(),
                prefix: text(data, "prefix")?.unwrap_or_default(),
                answer_within: duration(data, "answerWithin")?,
                max_hold: duration(data, "maxHold")?,
            })
        }
        Some("redis-string") => {
            known(
                data,
                REDIS,
                "there are kind, name, ttl, margin, renew, poll, answerWithin and maxHold",
            )?;
            Ok(RawSettings::RedisString {
                name: text(data, "name")?.unwrap_or_default(),
                ttl: duration(data, "ttl")?,
                margin: duration(data, "margin")?,
                renew: flag(data, "renew")?,
                poll: duration(data, "poll")?,
                answer_within: duration(data, "answerWithin")?,
                max_hold: duration(data, "maxHold")?,
            })
        }
        _ => Err(unreadable("kind has to be zookeeper-mutex or redis-string")),
    }
}

/// A misspelt option would otherwise be a silent default.
fn known(data: &JsValue, names: &[&str], hint: &'static str) -> Result<(), ConfigError> {
    for name in Object::keys(data.unchecked_ref::<Object>()).iter() {
        let name = name.as_string().unwrap_or_default();
        if !names.contains(&name.as_str()) {
            return Err(ConfigError::UnknownOption {
                option: name,
                known: hint,
            });
        }
    }
    Ok(())
}

fn get(data: &JsValue, name: &str) -> Option<JsValue> {
    Reflect::get(data, &JsValue::from_str(name))
        .ok()
        .filter(|value| !value.is_undefined() && !value.is_null())
}

fn text(data: &JsValue, name: &str) -> Result<Option<String>, ConfigError> {
    get(data, name)
        .map(|value| {
            value
                .as_string()
                .ok_or_else(|| unreadable(&format!("{name} has to be a string")))
        })
        .transpose()
}

fn flag(data: &JsValue, name: &str) -> Result<Option<bool>, ConfigError> {
    get(data, name)
        .map(|value| {
            value
                .as_bool()
                .ok_or_else(|| unreadable(&format!("{name} has to be true or false")))
        })
        .transpose()
}

fn duration(data: &JsValue, name: &str) -> Result<Option<i64>, ConfigError> {
    get(data, name)
        .map(|value| {
            value
                .as_f64()
                .ok_or_else(|| unreadable(&format!("{name} has to be a number of milliseconds")))
                .and_then(|millis| micros(name, millis))
        })
        .transpose()
}

fn unreadable(why: &str) -> ConfigError {
    ConfigError::Unreadable { why: why.into() }
}

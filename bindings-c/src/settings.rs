//! Settings of a lock.

use fencepost_core::{ConfigError, RawSettings, Settings};
use serde_json::{Map, Value};

use crate::{
    boundary::{exclusive, give, guard, quietly, require, shared, take_back},
    names::fencepost_family,
    result::fencepost_result,
    view,
};

/// The settings of one lock, checked. They may be shared by any number of hubs and threads as long as nobody changes them.
#[derive(Debug)]
pub struct fencepost_settings {
    /// As written so far: changing one value checks them all again.
    written: Map<String, Value>,
    pub(crate) checked: Settings,
}

impl fencepost_settings {
    fn new(written: Map<String, Value>) -> Result<Self, ConfigError> {
        let raw: RawSettings = serde_json::from_value(Value::Object(written.clone())).map_err(unreadable)?;
        Ok(Self {
            checked: Settings::try_from(raw)?,
            written,
        })
    }

    fn set(&mut self, key: &str, value: Value) -> Result<(), ConfigError> {
        let mut written = self.written.clone();
        let known = written.insert(key.into(), value).is_some();
        // A key that these settings do not have is the only reason for an error from the reader that names it as unknown.
        if !known && let Err(error) = serde_json::from_value::<RawSettings>(Value::Object(written.clone())) {
            return Err(if error.to_string().starts_with("unknown field") {
                ConfigError::UnknownOption {
                    option: key.into(),
                    known: OPTIONS,
                }
            } else {
                unreadable(error)
            });
        }
        *self = Self::new(written)?;
        Ok(())
    }
}

const OPTIONS: &str = "a zookeeper-mutex (memory: too) has prefix, answer_within and max_hold; a redis-string has ttl, margin, renew, poll, \
     answer_within and max_hold";

fn unreadable(error: serde_json::Error) -> ConfigError {
    ConfigError::Unreadable {
        why: error.to_string(),
    }
}

/// Reads settings from a JSON text, such as `{"kind": "redis-string", "name": "stock/42", "ttl": 10000000}`; durations are in microseconds.
/// Kinds are `zookeeper-mutex` (keys `name`, `prefix`, `answer_within`, `max_hold`) and `redis-string` (keys `name`, `ttl`, `margin`, `renew`,
/// `poll`, `answer_within`, `max_hold`); only `kind` and `name` are needed. Errors: 1xx.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_settings_parse(
    json: *const u8,
    json_size: usize,
    settings: *mut *mut fencepost_settings,
) -> fencepost_result {
    guard(|| {
        require(settings)?;
        // SAFETY: the header asks for a readable view.
        let json = unsafe { view::bytes(json, json_size) }?;
        let written = serde_json::from_slice(json).map_err(unreadable)?;
        // SAFETY: checked above.
        unsafe { give(settings, fencepost_settings::new(written)?) };
        Ok(())
    })
}

/// Settings of a kind with a name and nothing else said: the same as parsing `{"kind": …, "name": …}`, with no JSON to write. Errors: 1xx.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_settings_new(
    kind: *const u8,
    kind_size: usize,
    name: *const u8,
    name_size: usize,
    settings: *mut *mut fencepost_settings,
) -> fencepost_result {
    guard(|| {
        require(settings)?;
        // SAFETY: the header asks for readable views.
        let (kind, name) = unsafe { (view::text(kind, kind_size)?, view::text(name, name_size)?) };
        let mut written = Map::new();
        written.insert("kind".into(), kind.into());
        written.insert("name".into(), name.into());
        // SAFETY: checked above.
        unsafe { give(settings, fencepost_settings::new(written)?) };
        Ok(())
    })
}

/// Sets a duration in microseconds, by its key in the JSON form (`ttl`, `max_hold`, …). On an error, 1xx, nothing has changed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_settings_set_micros(
    settings: *mut fencepost_settings,
    key: *const u8,
    key_size: usize,
    micros: i64,
) -> fencepost_result {
    // SAFETY: passed on.
    unsafe { set(settings, key, key_size, micros.into()) }
}

/// Sets a switch, by its key in the JSON form (`renew`). On an error, 1xx, nothing has changed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_settings_set_switch(
    settings: *mut fencepost_settings,
    key: *const u8,
    key_size: usize,
    on: bool,
) -> fencepost_result {
    // SAFETY: passed on.
    unsafe { set(settings, key, key_size, on.into()) }
}

/// Sets a text, by its key in the JSON form (`prefix`). On an error, 1xx, nothing has changed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_settings_set_text(
    settings: *mut fencepost_settings,
    key: *const u8,
    key_size: usize,
    text: *const u8,
    text_size: usize,
) -> fencepost_result {
    guard(|| {
        // SAFETY: the header asks for readable views, and settings that nobody else uses.
        unsafe {
            let text = view::text(text, text_size)?;
            exclusive(settings)?.set(view::text(key, key_size)?, text.into())?;
        }
        Ok(())
    })
}

/// # Safety
/// As the functions above ask.
unsafe fn set(
    settings: *mut fencepost_settings,
    key: *const u8,
    key_size: usize,
    value: Value,
) -> fencepost_result {
    guard(|| {
        // SAFETY: the header asks for a readable view, and settings that nobody else uses.
        unsafe { exclusive(settings)?.set(view::text(key, key_size)?, value)? };
        Ok(())
    })
}

/// Which hubs take these settings; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_settings_family(settings: *const fencepost_settings) -> u32 {
    quietly(|| {
        // SAFETY: the header asks for valid settings or NULL.
        unsafe { shared(settings) }.map_or(0, |settings| fencepost_family::of(settings.checked.family()))
    })
}

/// Frees settings. NULL is ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_settings_free(settings: *mut fencepost_settings) {
    // SAFETY: the header asks for settings that are not used again.
    unsafe { take_back(settings) }
}

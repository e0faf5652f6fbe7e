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
    pub(crate) written: Map<String, Value>,
    pub(crate) checked: Settings,
}

impl fencepost_settings {
    fn read(written: Map<String, Value>) -> Result<Self, ConfigError> {
        let checked = check(&written)?;
        Ok(Self { written, checked })
    }

    /// Settings of keys that a program has given one by one: the one that these settings do not have is named.
    pub(crate) fn of(written: Map<String, Value>) -> Result<Self, ConfigError> {
        let checked = check(&written).map_err(|error| unknown(&written, &error).unwrap_or(error))?;
        Ok(Self { written, checked })
    }

    fn set(&mut self, key: &str, value: Value) -> Result<(), ConfigError> {
        let mut written = self.written.clone();
        written.insert(key.into(), value);
        *self = Self::of(written)?;
        Ok(())
    }
}

const OPTIONS: &str = "ZooKeeper's locks (memory: too) have prefix, layout, node_prefix, identifier, revocable, answer_within and max_hold, a semaphore \
     permits, a multi-lock names; a redis-string has ttl, margin, renew, poll, answer_within and max_hold; locks and read/write locks have owner";

/// The key that the reader does not know, if that is what it says.
fn unknown(written: &Map<String, Value>, error: &ConfigError) -> Option<ConfigError> {
    let ConfigError::Unreadable { why } = error else {
        return None;
    };
    written
        .keys()
        .find(|key| why.starts_with(&format!("unknown field `{key}`")))
        .map(|option| ConfigError::UnknownOption {
            option: option.clone(),
            known: OPTIONS,
        })
}

fn check(written: &Map<String, Value>) -> Result<Settings, ConfigError> {
    let raw: RawSettings = serde_json::from_value(Value::Object(written.clone())).map_err(unreadable)?;
    Settings::try_from(raw)
}

fn unreadable(error: serde_json::Error) -> ConfigError {
    ConfigError::Unreadable {
        why: error.to_string(),
    }
}

/// Reads settings from a JSON text, such as `{"kind": "redis-string", "name": "stock/42", "ttl": 10000000}`; durations are in microseconds.
/// A kind on ZooKeeper (`zookeeper-mutex`, `zookeeper-reader`, `zookeeper-writer`, `zookeeper-election`, `zookeeper-single`, `zookeeper-semaphore`, `zookeeper-multi-lock`) has
/// the keys `name`, `prefix`, `layout` (`curator`, `kazoo` or `plain`), `node_prefix` (of the layout `plain`), `identifier`, `revocable`, `answer_within` and
/// `max_hold`; a semaphore `permits` too, a multi-lock `names` instead of `name`; a `zookeeper-inspection` is made by `fencepost_settings_inspection`. A
/// `redis-string` has `name`, `ttl`, `margin`, `renew`, `poll`, `answer_within` and `max_hold`. A mutex, reader, writer, single and `redis-string` have
/// `owner`, too: a text of 1 to 1024 bytes, such as `request-17`. Its acquires share one grant, and each has a key of its own. Only `kind` and the name
/// are needed.
/// Errors: 1xx.
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
        unsafe { give(settings, fencepost_settings::read(written)?) };
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
        unsafe { give(settings, fencepost_settings::of(written)?) };
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

/// Sets a text, by its key in the JSON form (`prefix`, `owner`). On an error, 1xx, nothing has changed.
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

//! Settings of a lock or an operation.

use fencepost_core::{ConfigError, RawSettings, Settings, options::Value};

use crate::{
    boundary::{Fault, exclusive, give, guard, quietly, require, shared, take_back},
    names::fencepost_family,
    result::fencepost_result,
    view,
};

/// The checked settings of one lock or operation. Any number of hubs and threads may share them, as long as
/// no thread changes them.
#[derive(Debug)]
pub struct fencepost_settings {
    /// The settings as the program gave them: each change checks all of them again. `None` if a scope made
    /// them.
    raw: Option<RawSettings>,
    pub(crate) checked: Settings,
}

impl fencepost_settings {
    pub(crate) fn read(raw: RawSettings) -> Result<Self, ConfigError> {
        let checked = raw.clone().try_into()?;
        let raw = Some(raw);
        Ok(Self { raw, checked })
    }

    /// The settings as given.
    pub(crate) fn raw(&self) -> Result<RawSettings, Fault> {
        self.raw.clone().ok_or_else(|| {
            Fault::bad_argument(
                "a scope made these settings: they cannot be changed; make new ones with the scope",
            )
        })
    }

    fn set(&mut self, key: &str, value: impl Into<Value>) -> Result<(), Fault> {
        *self = Self::read(self.raw()?.with(key, value))?;
        Ok(())
    }
}

impl From<Settings> for fencepost_settings {
    fn from(checked: Settings) -> Self {
        Self { raw: None, checked }
    }
}

/// Parses settings from a JSON text, such as
/// `{"server": "redis", "kind": "lock", "name": "stock/42", "ttl": 10000000}`. The caller frees them with
/// `fencepost_settings_free`. Errors: 1xx.
///
/// - `server` is `zookeeper`, `redis` or `memory`.
/// - `kind` is `lock`, `reader`, `writer`, `semaphore`, `election` or `multi-lock`. Instead of server and
///   kind, `kind` may be a kind of machine: `redis-string`, `zookeeper-mutex`, `zookeeper-single`,
///   `zookeeper-reader` and so on.
/// - `name` is the name of the lock. A multi-lock has `names` instead.
/// - `prefix` is the path below which the lock is on ZooKeeper.
/// - The options are those of docs/reference/options.md. Durations are in microseconds. An option with the
///   value `null` counts as absent.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_settings_parse(
    json: *const u8,
    json_size: usize,
    settings: *mut *mut fencepost_settings,
) -> fencepost_result {
    guard(|| {
        require(settings)?;
        // SAFETY: the header requires a readable view.
        let json = unsafe { view::bytes(json, json_size) }?;
        let raw = serde_json::from_slice(json).map_err(|error| ConfigError::Unreadable {
            why: error.to_string(),
        })?;
        // SAFETY: checked above.
        unsafe { give(settings, fencepost_settings::read(raw)?) };
        Ok(())
    })
}

/// Makes settings of a kind of machine and a name, without options. It is the same as parsing
/// `{"kind": …, "name": …}`. Errors: 1xx.
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
        // SAFETY: the header requires readable views.
        let (kind, name) = unsafe { (view::text(kind, kind_size)?, view::text(name, name_size)?) };
        let raw = RawSettings::machine(kind).with("name", name);
        // SAFETY: checked above.
        unsafe { give(settings, fencepost_settings::read(raw)?) };
        Ok(())
    })
}

/// Sets a duration in microseconds. `key` is its key in the JSON form (`ttl`, `max_hold`, …). On an error,
/// nothing changes. Errors: 1xx; `BAD_ARGUMENT` for settings that a scope made.
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

/// Sets an option that is on or off. `key` is its key in the JSON form (`renew`, …). On an error, nothing
/// changes. Errors: 1xx; `BAD_ARGUMENT` for settings that a scope made.
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

/// Sets a text. `key` is its key in the JSON form (`prefix`, `owner`, …). On an error, nothing changes.
/// Errors: 1xx; `BAD_ARGUMENT` for settings that a scope made.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_settings_set_text(
    settings: *mut fencepost_settings,
    key: *const u8,
    key_size: usize,
    text: *const u8,
    text_size: usize,
) -> fencepost_result {
    guard(|| {
        // SAFETY: the header requires readable views, and settings that no other thread uses.
        unsafe {
            let text = view::text(text, text_size)?;
            exclusive(settings)?.set(view::text(key, key_size)?, text)?;
        }
        Ok(())
    })
}

/// # Safety
/// As for the functions above.
unsafe fn set(
    settings: *mut fencepost_settings,
    key: *const u8,
    key_size: usize,
    value: Value,
) -> fencepost_result {
    guard(|| {
        // SAFETY: the header requires a readable view, and settings that no other thread uses.
        unsafe { exclusive(settings)?.set(view::text(key, key_size)?, value)? };
        Ok(())
    })
}

/// Returns the `fencepost_family` of the hubs that accept these settings; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_settings_family(settings: *const fencepost_settings) -> u32 {
    quietly(|| {
        // SAFETY: the header requires valid settings or NULL.
        unsafe { shared(settings) }.map_or(0, |settings| fencepost_family::of(settings.checked.family()))
    })
}

/// Frees settings. NULL is ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_settings_free(settings: *mut fencepost_settings) {
    // SAFETY: the header requires settings that are not used again.
    unsafe { take_back(settings) }
}

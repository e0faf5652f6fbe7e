//! Settings from keys and values, all of them at once.

use fencepost_core::{RawSettings, options::Value};

use crate::{
    boundary::{Fault, give, guard, require},
    result::fencepost_result,
    settings::fencepost_settings,
    view::{self, fencepost_view},
};

/// What a setting's value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum fencepost_value_kind {
    /// `text`.
    Text = 1,
    /// `number`; durations are in microseconds.
    Number = 2,
    /// `number`: on, unless it is 0.
    Switch = 3,
    /// `text_count` texts at `texts`.
    Texts = 4,
}

/// One key of settings with its value, as in their JSON form. Everything in it belongs to the caller.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct fencepost_setting {
    /// The key: `kind`, `name`, `permits`, …
    pub key: fencepost_view,
    /// A `fencepost_value_kind`.
    pub value: u32,
    /// For `FENCEPOST_VALUE_KIND_NUMBER` and `FENCEPOST_VALUE_KIND_SWITCH`.
    pub number: i64,
    /// For `FENCEPOST_VALUE_KIND_TEXT`.
    pub text: fencepost_view,
    /// For `FENCEPOST_VALUE_KIND_TEXTS`.
    pub texts: *const fencepost_view,
    /// How many texts there are.
    pub text_count: usize,
}

/// Settings of so many keys with their values: the same as parsing the JSON object that has them, with no JSON to write. Of a key that is given
/// twice the last value counts. Errors: 1xx.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_settings_of(
    given: *const fencepost_setting,
    given_count: usize,
    settings: *mut *mut fencepost_settings,
) -> fencepost_result {
    guard(|| {
        require(settings)?;
        // SAFETY: the header asks for so many settings, with readable views; and checked above.
        unsafe { give(settings, fencepost_settings::read(raw(given, given_count)?)?) };
        Ok(())
    })
}

/// # Safety
/// There are so many settings, and what they point to is readable.
pub(crate) unsafe fn raw(given: *const fencepost_setting, given_count: usize) -> Result<RawSettings, Fault> {
    if given_count > 0 {
        require(given)?;
    }
    let mut raw = RawSettings::default();
    for index in 0..given_count {
        // SAFETY: by the caller's promise.
        unsafe {
            let setting = &*given.add(index);
            let key = view::text(setting.key.data, setting.key.size)?;
            raw.set(key, value(setting)?);
        }
    }
    Ok(raw)
}

/// # Safety
/// What the setting points to is readable.
unsafe fn value(setting: &fencepost_setting) -> Result<Value, Fault> {
    const TEXT: u32 = fencepost_value_kind::Text as u32;
    const NUMBER: u32 = fencepost_value_kind::Number as u32;
    const SWITCH: u32 = fencepost_value_kind::Switch as u32;
    const TEXTS: u32 = fencepost_value_kind::Texts as u32;
    // SAFETY: by the caller's promise.
    let text = |view: fencepost_view| unsafe { view::text(view.data, view.size) }.map(str::to_owned);
    Ok(match setting.value {
        TEXT => text(setting.text)?.into(),
        NUMBER => setting.number.into(),
        SWITCH => (setting.number != 0).into(),
        TEXTS => {
            if setting.text_count > 0 {
                require(setting.texts)?;
            }
            // SAFETY: by the caller's promise there are so many texts.
            let texts = (0..setting.text_count).map(|index| text(unsafe { setting.texts.add(index).read() }));
            texts.collect::<Result<Vec<_>, _>>()?.into()
        }
        kind => return Err(Fault::bad_argument(format!("there is no kind of value {kind}"))),
    })
}

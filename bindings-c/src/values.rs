//! Settings from keys and values.

use fencepost_core::{RawSettings, options::Value};

use crate::{
    boundary::{Fault, give, guard, require},
    result::fencepost_result,
    settings::fencepost_settings,
    view::{self, fencepost_view},
};

/// The type of a setting's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum fencepost_value_kind {
    /// A text, in `text`.
    Text = 1,
    /// A number, in `number`. Durations are in microseconds.
    Number = 2,
    /// On or off: `number` is 0 for off.
    Switch = 3,
    /// A list of `text_count` texts, at `texts`.
    Texts = 4,
}

/// One key of settings with its value, as in their JSON form. The caller owns everything in it; the library
/// copies what it needs.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct fencepost_setting {
    /// The key: `kind`, `name`, `permits`, …
    pub key: fencepost_view,
    /// The type of the value, a `fencepost_value_kind`.
    pub value: u32,
    /// For `FENCEPOST_VALUE_KIND_NUMBER` and `FENCEPOST_VALUE_KIND_SWITCH`.
    pub number: i64,
    /// For `FENCEPOST_VALUE_KIND_TEXT`.
    pub text: fencepost_view,
    /// For `FENCEPOST_VALUE_KIND_TEXTS`.
    pub texts: *const fencepost_view,
    /// The number of texts.
    pub text_count: usize,
}

/// Makes settings from `given_count` keys with their values. It is the same as parsing a JSON object with
/// these keys (`fencepost_settings_parse`). If a key is given twice, the last value counts. Errors: 1xx.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_settings_of(
    given: *const fencepost_setting,
    given_count: usize,
    settings: *mut *mut fencepost_settings,
) -> fencepost_result {
    guard(|| {
        require(settings)?;
        // SAFETY: the header requires so many settings, with readable views; and checked above.
        unsafe { give(settings, fencepost_settings::read(raw(given, given_count)?)?) };
        Ok(())
    })
}

/// # Safety
/// `given` points to `given_count` settings, and what they point to is readable.
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
        kind => {
            return Err(Fault::bad_argument(format!(
                "there is no kind of value {kind}: set a fencepost_value_kind"
            )));
        }
    })
}

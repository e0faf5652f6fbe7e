//! Settings. `js/hub/settings.ts` passes them as one list of texts, because settings are made rarely and have
//! many kinds.

use alloc::{string::String, vec::Vec};

use fencepost_core::{
    RawSettings, Settings as Checked,
    options::{Value, ValueType, find},
    text::whole,
};
use wasm_bindgen::prelude::*;

use crate::{
    error,
    family::{Chosen, Family as _},
};

/// The checked settings of one lock.
#[wasm_bindgen]
#[derive(Debug)]
pub(crate) struct Settings(pub(crate) Checked);

#[wasm_bindgen]
impl Settings {
    /// Checks settings. `fields` has the core's names and their values in turn. A duration is a whole number
    /// of microseconds; the number of texts comes before a list of texts.
    ///
    /// # Errors
    /// A `ConfigError` that names the option.
    #[wasm_bindgen(constructor)]
    pub fn new(fields: Vec<String>) -> Result<Self, JsValue> {
        Chosen::checked(read(fields))
            .map(Self)
            .map_err(|why| error::config(&why).into())
    }
}

/// The type of an option's value, for `js/hub/settings.ts`; 0 for an unknown name.
#[wasm_bindgen(js_name = optionType)]
pub fn option_type(name: &str) -> u8 {
    match value_type(name) {
        Some(ValueType::Duration) => 1,
        Some(ValueType::Whole) => 2,
        Some(ValueType::Flag) => 3,
        Some(ValueType::Text) => 4,
        Some(ValueType::Texts) => 5,
        _ => 0,
    }
}

fn value_type(name: &str) -> Option<ValueType> {
    find(name).map(|option| option.value_type())
}

/// Reads the fields. `js/hub/settings.ts` has checked the types of the values.
pub(crate) fn read(fields: Vec<String>) -> RawSettings {
    let mut raw = RawSettings::default();
    let mut fields = fields.into_iter();
    while let (Some(name), Some(text)) = (fields.next(), fields.next()) {
        let number = || whole(&text).unwrap_or(i64::MAX);
        let value = match value_type(&name) {
            Some(ValueType::Duration | ValueType::Whole) => Value::Whole(number()),
            Some(ValueType::Flag) => Value::Flag(text == "true"),
            Some(ValueType::Texts) => {
                let count = usize::try_from(number()).unwrap_or_default();
                Value::Texts(fields.by_ref().take(count).collect())
            }
            // The kind, the server, and names that the core refuses.
            _ => Value::Text(text),
        };
        raw.set(&name, value);
    }
    raw
}

//! The core's errors as the package's own.

use alloc::{format, string::ToString};

use fencepost_core::{ConfigError, Misuse};
use wasm_bindgen::prelude::*;

#[wasm_bindgen(raw_module = "../errors.js")]
extern "C" {
    #[wasm_bindgen(js_name = configError)]
    fn config_error(code: u16, kind: &str, message: &str) -> JsValue;
    #[wasm_bindgen(js_name = misuse)]
    fn misuse_error(code: u16, kind: &str, message: &str) -> JsValue;
}

pub(crate) fn config(error: &ConfigError) -> JsValue {
    config_error(error.code(), error.name(), &error.to_string())
}

pub(crate) fn misuse(error: &Misuse) -> JsValue {
    misuse_error(error.code(), error.name(), &error.to_string())
}

/// A reply of a type that no reply has; `expected` says which would do.
pub(crate) fn wrong_reply(id: u64, expected: &str) -> JsValue {
    let sample = Misuse::WrongReply { id, expected: "" };
    let message = format!(
        "the reply to command {id} has the wrong shape: expected {expected}; the command counts as unknown"
    );
    misuse_error(sample.code(), sample.name(), &message)
}

/// A word that is none of those that are known.
pub(crate) fn unreadable(what: &str, given: &str) -> JsValue {
    config(&ConfigError::Unreadable {
        why: format!("{what} is {given:?}"),
    })
}

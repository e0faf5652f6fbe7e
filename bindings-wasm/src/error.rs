//! Converts the core's errors to those of the package.

use fencepost_core::{ConfigError, Misuse};
use wasm_bindgen::prelude::*;

#[wasm_bindgen(raw_module = "../../errors.js")]
extern "C" {
    #[wasm_bindgen(js_name = configError)]
    fn config_error(code: u16, kind: &str, message: &str);
    #[wasm_bindgen(js_name = misuse)]
    fn misuse_error(code: u16, kind: &str, message: &str);
}

/// An error that `js/errors.ts` has made and stored. The caller throws it.
#[derive(Debug)]
pub(crate) struct Kept;

impl From<Kept> for JsValue {
    /// A constructor throws undefined: the caller throws the stored error.
    fn from(_: Kept) -> Self {
        Self::UNDEFINED
    }
}

pub(crate) fn config(error: &ConfigError) -> Kept {
    config_error(error.code(), error.name(), &error.message());
    Kept
}

pub(crate) fn misuse(error: &Misuse) -> Kept {
    misuse_error(error.code(), error.name(), &error.message());
    Kept
}

/// An error for a value that is not a reply; `expected` names the valid types.
pub(crate) fn wrong_reply(id: u64, expected: &str) -> Kept {
    let sample = Misuse::WrongReply { id, expected: "" };
    misuse_error(sample.code(), sample.name(), &Misuse::wrong_reply(id, expected));
    Kept
}

/// An error for an unknown word.
pub(crate) fn unreadable(what: &str, given: &str) -> Kept {
    config(&ConfigError::Unreadable {
        why: [what, " is \"", given, "\""].concat(),
    })
}

//! Redis replies as client libraries give them.

use fencepost_core::redis::Reply;
use js_sys::{Array, Uint8Array};
use wasm_bindgen::prelude::*;

use crate::convert::whole;

/// Nothing a script of ours answers is nested more deeply.
const DEEPEST: u8 = 8;

/// A reply from null, a whole number, a BigInt, a string, bytes, an Error or an array of these; `None` for anything else.
pub(crate) fn read(value: &JsValue) -> Option<Reply> {
    nested(value, DEEPEST)
}

fn nested(value: &JsValue, depth: u8) -> Option<Reply> {
    if let Some(text) = value.as_string() {
        return Some(Reply::Bytes(text.into_bytes()));
    }
    if let Some(number) = value.as_f64() {
        let size = i64::try_from(whole(number.abs())?).ok()?;
        return Some(Reply::Int(if number < 0.0 { -size } else { size }));
    }
    if value.is_null() || value.is_undefined() {
        return Some(Reply::Nil);
    }
    if Array::is_array(value) {
        let depth = depth.checked_sub(1)?;
        return value
            .unchecked_ref::<Array>()
            .iter()
            .map(|item| nested(&item, depth))
            .collect::<Option<_>>()
            .map(Reply::Array);
    }
    if let Some(flag) = value.as_bool() {
        return Some(Reply::Int(flag.into()));
    }
    if value.is_bigint() {
        return i64::try_from(value.clone()).ok().map(Reply::Int);
    }
    if let Some(bytes) = value.dyn_ref::<Uint8Array>() {
        return Some(Reply::Bytes(bytes.to_vec()));
    }
    value
        .dyn_ref::<js_sys::Error>()
        .map(|error| Reply::Error(error.message().into()))
}

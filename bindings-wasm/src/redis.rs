//! A function for drivers of Redis.

use fencepost_core::redis;
use wasm_bindgen::prelude::*;

/// Whether a server's error means that the server is a replica.
#[wasm_bindgen(js_name = isFromReplica)]
pub fn is_from_replica(error: &str) -> bool {
    redis::is_from_replica(error)
}

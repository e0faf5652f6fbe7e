//! A function for drivers of ZooKeeper.

use core::time::Duration;

use fencepost_core::zookeeper;
use wasm_bindgen::prelude::*;

/// How long a server may take to reply to the handshake, in milliseconds.
#[wasm_bindgen(js_name = handshakeTimeout)]
pub fn handshake_timeout(session_timeout: u32, failures: u32) -> u32 {
    let timeout = zookeeper::handshake_timeout(Duration::from_millis(session_timeout.into()), failures);
    u32::try_from(timeout.as_millis()).unwrap_or(u32::MAX)
}

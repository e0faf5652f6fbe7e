//! Addresses, read by the core for all languages.

use fencepost_core::url::Address;
use wasm_bindgen::prelude::*;

use crate::{convert::number, error};

#[wasm_bindgen(raw_module = "../outputs.js")]
extern "C" {
    #[wasm_bindgen(js_name = memoryAddress)]
    fn memory(name: &str) -> JsValue;
    #[wasm_bindgen(js_name = zooKeeperAddress)]
    fn zookeeper(hosts: &str, prefix: &str, session_timeout: f64) -> JsValue;
    #[wasm_bindgen(js_name = redisAddress)]
    fn redis(url: &str) -> JsValue;
}

/// Reads an address such as `zk://localhost:2181/shop`.
///
/// # Errors
/// A `ConfigError` that says what is wrong; it does not repeat passwords.
#[wasm_bindgen(js_name = parseAddress)]
pub fn parse_address(url: &str) -> Result<JsValue, JsValue> {
    Ok(match Address::parse(url).map_err(|why| error::config(&why))? {
        Address::Memory { name } => memory(&name),
        Address::ZooKeeper {
            hosts,
            prefix,
            session_timeout,
        } => {
            let micros = u64::try_from(session_timeout.as_micros()).unwrap_or(u64::MAX);
            zookeeper(&hosts.join(","), &prefix, number(micros) / 1000.0)
        }
        Address::Redis { url } => redis(&url),
        _ => return Err(JsValue::from_str("an address of a kind that is not known here")),
    })
}

//! Addresses. The core parses them for all languages.

use fencepost_core::url::Address;
use wasm_bindgen::prelude::*;

use crate::{convert, error};

#[wasm_bindgen(raw_module = "../addresses.js")]
extern "C" {
    #[wasm_bindgen(js_name = memoryAddress)]
    fn memory(name: &str, session_timeout: f64);
    #[wasm_bindgen(js_name = zooKeeperAddress)]
    fn zookeeper(hosts: &str, prefix: &str, session_timeout: f64);
    #[wasm_bindgen(js_name = redisAddress)]
    #[allow(clippy::too_many_arguments, reason = "an address has so many parts")]
    fn redis(host: &str, port: u16, user: &str, password: &str, database: u32, tls: bool, ca: &str);
}

/// Parses an address such as `zk://localhost:2181/shop`; returns whether it is valid. The error contains
/// neither user nor password.
#[wasm_bindgen(js_name = parseAddress)]
pub fn parse_address(url: &str) -> bool {
    match Address::parse(url) {
        Ok(Address::Memory {
            name,
            session_timeout,
        }) => memory(&name, convert::in_millis(session_timeout)),
        Ok(Address::ZooKeeper {
            hosts,
            prefix,
            session_timeout,
        }) => {
            zookeeper(&hosts.join(","), &prefix, convert::in_millis(session_timeout));
        }
        Ok(Address::Redis(server)) => redis(
            &server.host,
            server.port,
            &server.credentials.user,
            &server.credentials.password,
            server.database,
            server.tls,
            server.ca.as_deref().unwrap_or_default(),
        ),
        Ok(_) => return false,
        Err(why) => {
            error::config(&why);
            return false;
        }
    }
    true
}

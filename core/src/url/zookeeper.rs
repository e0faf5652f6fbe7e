//! `zk://HOST:PORT,HOST:PORT/PREFIX?session_timeout=MS`.

use alloc::vec::Vec;

use super::{
    Address, DEFAULT_SESSION_TIMEOUT,
    authority::{Parts, Place},
};
use crate::{
    ConfigError, positive,
    text::{self, decimal, quoted},
};

const PORT: u16 = 2181;
const FORM: &str = "zk://HOST:PORT/PREFIX";
const OPTIONS: &str = "the only option of zk:// is session_timeout, in milliseconds";

pub(super) fn address(rest: &str) -> Result<Address, ConfigError> {
    let parts = Parts::of(rest, "zk", FORM)?;
    if parts.credentials.is_some() {
        let why = "zk:// takes no user or password: to use them, connect your own client";
        return Err(parts.invalid(why));
    }
    let mut hosts = Vec::new();
    for member in text::parts(parts.place, b',') {
        let Place { host, is_v6, port } = Place::read(member, PORT).map_err(|why| parts.invalid(&why))?;
        let [before, behind] = if is_v6 { ["[", "]:"] } else { ["", ":"] };
        hosts.push([before, &host, behind, &decimal(port)].concat());
    }
    let mut session_timeout = DEFAULT_SESSION_TIMEOUT;
    for (key, value) in parts.options() {
        if key != "session_timeout" {
            return Err(ConfigError::UnknownOption {
                option: key.into(),
                known: OPTIONS.into(),
            });
        }
        let millis = text::whole(value).ok_or_else(|| {
            parts.invalid(&["session_timeout is ", &quoted(value), ": give whole milliseconds"].concat())
        })?;
        session_timeout = positive("session_timeout", millis.saturating_mul(1000), "")?;
    }
    Ok(Address::ZooKeeper {
        hosts,
        prefix: text::without_last(parts.path, '/').into(),
        session_timeout,
    })
}

//! `zk://HOST:PORT,HOST:PORT/PREFIX?session_timeout=MS`.

use alloc::vec::Vec;
use core::ops::RangeInclusive;

use super::{
    Address, DEFAULT_SESSION_TIMEOUT,
    authority::{Parts, Place},
    session_timeout,
};
use crate::{
    ConfigError,
    text::{self, decimal},
    time::micros,
};

const PORT: u16 = 2181;
/// In microseconds. The protocol has 32 bits for the milliseconds, and libzookeeper multiplies them by two.
const SESSION_TIMEOUTS: RangeInclusive<u64> = 10_000..=864_000_000_000;
const FORM: &str = "zk://HOST:PORT/PREFIX";

pub(super) fn address(rest: &str) -> Result<Address, ConfigError> {
    let parts = Parts::of(rest, "zk", FORM)?;
    if parts.credentials.is_some() {
        let why = "zk:// accepts no user or password: to use them, connect your own client";
        return Err(parts.invalid(why));
    }
    let mut hosts = Vec::new();
    for member in text::parts(parts.place, b',') {
        let Place { host, is_v6, port } = Place::read(member, PORT).map_err(|why| parts.invalid(&why))?;
        let [before, behind] = if is_v6 { ["[", "]:"] } else { ["", ":"] };
        hosts.push([before, &host, behind, &decimal(port)].concat());
    }
    let timeout = session_timeout(parts.options, "zk://", |why| parts.invalid(why))?;
    let session_timeout = timeout.unwrap_or(DEFAULT_SESSION_TIMEOUT);
    if !SESSION_TIMEOUTS.contains(&micros(session_timeout)) {
        return Err(parts.invalid("session_timeout has a range of 10 to 864000000 ms (10 days)"));
    }
    Ok(Address::ZooKeeper {
        hosts,
        prefix: text::without_last(parts.path, '/').into(),
        session_timeout,
    })
}

//! Addresses: `memory:`, `memory:NAME`, `zk://HOST:PORT,HOST:PORT/PREFIX`, `redis://…`, `rediss://…`; read once, for all languages.
//!
//! Drivers get the parts, decoded and checked, and parse nothing again. No error and no `Debug` repeats a user or a password.
//! `tests/addresses.json` is the table of what is read and what is refused; every language has a test that reads it.

mod authority;
mod redis;
mod zookeeper;

use alloc::{string::String, vec::Vec};
use core::{fmt, time::Duration};

use crate::{
    ConfigError,
    text::{self, decimal},
};

/// Where the locks are.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Address {
    /// A server inside the process, for demonstrations and tests; clients of one name share it.
    Memory {
        /// The name; empty for a server of one's own.
        name: String,
    },
    /// A ZooKeeper server or ensemble.
    ZooKeeper {
        /// `HOST:PORT` for every member; an IPv6 address is in brackets.
        hosts: Vec<String>,
        /// Where the locks lie; empty for the root.
        prefix: String,
        /// The session timeout to ask for.
        session_timeout: Duration,
    },
    /// A Redis server.
    Redis(RedisAddress),
}

/// Where a Redis server is, and what it wants to know of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RedisAddress {
    /// A name or an IP address; an IPv6 address without brackets.
    pub host: String,
    /// From 1 to 65535.
    pub port: u16,
    /// As whom.
    pub credentials: Credentials,
    /// The database's number.
    pub database: u32,
    /// Whether the connection is made with TLS.
    pub tls: bool,
    /// With TLS: the file of the certificates that the server's own is checked against, instead of the system's.
    pub ca: Option<String>,
}

/// A user and a password, decoded. `Debug` shows neither.
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Credentials {
    /// Empty for the server's default user.
    pub user: String,
    /// Empty if there is none.
    pub password: String,
}

impl Credentials {
    /// Whether there is nothing to tell the server.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.user.is_empty() && self.password.is_empty()
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(if self.is_empty() { "none" } else { HIDDEN })
    }
}

/// The session timeout that is asked for by default.
pub const DEFAULT_SESSION_TIMEOUT: Duration = Duration::from_secs(10);

/// What stands for a part of an address that may hold a password.
const HIDDEN: &str = "***";

impl Address {
    /// Reads an address. Schemes ignore case.
    ///
    /// # Errors
    /// [`ConfigError`] that says what is wrong; it repeats neither users nor passwords.
    pub fn parse(url: &str) -> Result<Self, ConfigError> {
        let (scheme, rest) = text::split(url, b':').unwrap_or((url, ""));
        let is = |known: &str| scheme.eq_ignore_ascii_case(known) && text::has(url, b':');
        if is("memory") {
            memory(rest)
        } else if is("zk") {
            zookeeper::address(rest)
        } else if is("redis") {
            redis::address(rest, false)
        } else if is("rediss") {
            redis::address(rest, true)
        } else {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.' | b'_');
            let shown = if scheme.bytes().all(plain) { scheme } else { HIDDEN };
            Err(ConfigError::UnknownScheme { scheme: shown.into() })
        }
    }

    /// The family of machines that works there.
    #[must_use]
    pub const fn family(&self) -> &'static str {
        match self {
            Self::Memory { .. } | Self::ZooKeeper { .. } => "zookeeper",
            Self::Redis(_) => "redis",
        }
    }

    /// The address for people: without user, password and options.
    #[must_use]
    pub fn shown(&self) -> String {
        match self {
            Self::Memory { name } => ["memory:", name].concat(),
            Self::ZooKeeper { hosts, prefix, .. } => ["zk://", &hosts.join(","), "/", prefix].concat(),
            Self::Redis(server) => {
                let scheme = if server.tls { "rediss://" } else { "redis://" };
                let [before, behind] = if text::has(&server.host, b':') {
                    ["[", "]:"]
                } else {
                    ["", ":"]
                };
                let (port, database) = (decimal(server.port), decimal(server.database));
                [scheme, before, &server.host, behind, &port, "/", &database].concat()
            }
        }
    }
}

fn memory(name: &str) -> Result<Address, ConfigError> {
    if name.bytes().any(|byte| matches!(byte, b'/' | b'?' | b'#' | b'@')) {
        let why = "memory: takes a plain name, as in memory:shop, without / ? # and @";
        return Err(ConfigError::InvalidUrl {
            url: ["memory:", HIDDEN].concat(),
            why: why.into(),
        });
    }
    Ok(Address::Memory { name: name.into() })
}

/// A part of an address, with the character for each `%XX`; nothing if that is no UTF-8 text.
#[must_use]
pub fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first == b'%' {
            let [high, low, tail @ ..] = rest else {
                return None;
            };
            let [high, low] = [*high, *low].map(|digit| char::from(digit).to_digit(16));
            bytes.push((high? << 4 | low?).try_into().ok()?);
            rest = tail;
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).ok()
}

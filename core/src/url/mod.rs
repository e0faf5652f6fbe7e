//! Addresses: `memory:`, `memory:NAME?session_timeout=MS`, `zk://HOST:PORT,HOST:PORT/PREFIX`, `redis://…` and `rediss://…`. The core
//! parses them for all languages.
//!
//! Drivers get the decoded and checked parts, and do not parse addresses themselves. No error and no `Debug` output
//! contains a user or a password. `tests/addresses.json` lists addresses that the core accepts and addresses that it
//! rejects. Every language has a test that reads this table.

mod authority;
mod redis;
mod zookeeper;

use alloc::{string::String, vec::Vec};
use core::{fmt, time::Duration};

use crate::{
    ConfigError, positive,
    text::{self, decimal},
};

/// An address of a lock server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Address {
    /// A server inside the process, for demonstrations and tests. All clients with the same name share one server.
    Memory {
        /// The server's name; if it is empty, the client has its own server.
        name: String,
        /// The session timeout with which the client calculates. The server does not enforce it.
        session_timeout: Duration,
    },
    /// A ZooKeeper server or ensemble.
    ZooKeeper {
        /// `HOST:PORT` for every member. An IPv6 address is in brackets.
        hosts: Vec<String>,
        /// The path of the directory of all locks; empty for the root.
        prefix: String,
        /// The session timeout that the client requests.
        session_timeout: Duration,
    },
    /// A Redis server.
    Redis(RedisAddress),
}

/// The address of a Redis server, and how to log in.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RedisAddress {
    /// A host name or an IP address. An IPv6 address is without brackets.
    pub host: String,
    /// The port, from 1 to 65535.
    pub port: u16,
    /// The user and the password.
    pub credentials: Credentials,
    /// The database's number.
    pub database: u32,
    /// Whether the connection uses TLS.
    pub tls: bool,
    /// With TLS: a file of certificates that the driver uses instead of the system's to verify the server's
    /// certificate.
    pub ca: Option<String>,
}

/// A user and a password, decoded. `Debug` shows neither.
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Credentials {
    /// Empty for the server's default user.
    pub user: String,
    /// Empty if there is no password.
    pub password: String,
}

impl Credentials {
    /// Whether there is neither a user nor a password.
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

/// The session timeout that a client requests by default.
pub const DEFAULT_SESSION_TIMEOUT: Duration = Duration::from_secs(10);

/// The session timeout of a client on a server inside the process. It is long, so that a program that is busy for some
/// time does not lose its grants.
pub const MEMORY_SESSION_TIMEOUT: Duration = Duration::from_secs(60);

/// Replaces a part of an address that may contain a password.
const HIDDEN: &str = "***";

impl Address {
    /// Parses an address. The case of the scheme does not matter.
    ///
    /// # Errors
    /// [`ConfigError`] with the reason. It contains neither users nor passwords.
    pub fn parse(url: &str) -> Result<Self, ConfigError> {
        let mut ends = url.bytes().take(1).chain(url.bytes().last());
        if ends.any(|byte| matches!(byte, 0..=b' ' | b'"' | b'\'')) {
            // Such characters come from a file that `echo` has written, or from variables with quotes. Without this
            // check, the error would be about the port, or it would be about the prefix and come only at the first
            // acquire.
            return Err(ConfigError::InvalidUrl {
                url: HIDDEN.into(),
                why: "remove the space, line break or quotation mark around it".into(),
            });
        }
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

    /// The family of machines for this address.
    #[must_use]
    pub const fn family(&self) -> &'static str {
        match self {
            Self::Memory { .. } | Self::ZooKeeper { .. } => "zookeeper",
            Self::Redis(_) => "redis",
        }
    }

    /// The address as a text for people: without user, password and options.
    #[must_use]
    pub fn shown(&self) -> String {
        match self {
            Self::Memory { name, .. } => ["memory:", name].concat(),
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

fn memory(rest: &str) -> Result<Address, ConfigError> {
    let (name, options) = text::split(rest, b'?').unwrap_or((rest, ""));
    let invalid = |why: &str| ConfigError::InvalidUrl {
        url: ["memory:", HIDDEN].concat(),
        why: why.into(),
    };
    if name.bytes().any(|byte| matches!(byte, b'/' | b'#' | b'@')) || text::has(options, b'@') {
        return Err(invalid(
            "memory: accepts a plain name, such as memory:shop, without / # and @",
        ));
    }
    let timeout = session_timeout(options, "memory:", invalid)?;
    Ok(Address::Memory {
        name: name.into(),
        session_timeout: timeout.unwrap_or(MEMORY_SESSION_TIMEOUT),
    })
}

/// Parses the option `session_timeout`, which is the only option of `zk://` and `memory:`.
fn session_timeout(
    options: &str,
    scheme: &str,
    invalid: impl Fn(&str) -> ConfigError,
) -> Result<Option<Duration>, ConfigError> {
    let mut timeout = None;
    for (key, value) in options_of(options) {
        if key != "session_timeout" {
            let known = [
                "the only option of ",
                scheme,
                " is session_timeout, in milliseconds",
            ];
            return Err(ConfigError::UnknownOption {
                option: key.into(),
                known: known.concat().into(),
            });
        }
        let millis = text::whole(value).ok_or_else(|| {
            invalid(
                &[
                    "session_timeout is ",
                    &text::quoted(value),
                    ": give whole milliseconds",
                ]
                .concat(),
            )
        })?;
        timeout = Some(positive("session_timeout", millis.saturating_mul(1000), "")?);
    }
    Ok(timeout)
}

/// The options of an address, with their values.
fn options_of(options: &str) -> impl Iterator<Item = (&str, &str)> {
    text::parts(options, b'&')
        .filter(|option| !option.is_empty())
        .map(|option| text::split(option, b'=').unwrap_or((option, "")))
}

/// A part of an address with every `%XX` decoded; `None` if the result is not UTF-8 text, or if a `%` is not followed
/// by two hexadecimal digits.
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

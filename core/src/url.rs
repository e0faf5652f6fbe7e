//! Addresses: `memory:`, `memory:NAME`, `zk://HOST:PORT,HOST:PORT/PREFIX`, `redis://…`, `rediss://…`; read once, for all languages.

use alloc::{string::String, vec::Vec};
use core::time::Duration;

use crate::{
    ConfigError, positive,
    text::{self, decimal, quoted},
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
        /// `HOST:PORT` for every member.
        hosts: Vec<String>,
        /// Where the locks lie; empty for the root.
        prefix: String,
        /// The session timeout to ask for.
        session_timeout: Duration,
    },
    /// A Redis server.
    Redis {
        /// The address as its client library takes it: without options.
        url: String,
        /// For `rediss://`: the file of the certificates that the server's own is checked against, instead of the system's.
        ca: Option<String>,
    },
}

/// The session timeout that is asked for by default.
pub const DEFAULT_SESSION_TIMEOUT: Duration = Duration::from_secs(10);

const ZOOKEEPER_PORT: u16 = 2181;
const ZOOKEEPER_OPTIONS: &str = "the only option of zk:// is session_timeout, in milliseconds";
const REDIS_OPTIONS: &str = "the only option of rediss:// is ca, the path of a file of certificates, and redis:// has none: connect a client of your own that has them";

impl Address {
    /// Reads an address.
    ///
    /// # Errors
    /// [`ConfigError`] that says what is wrong; it does not repeat passwords.
    pub fn parse(url: &str) -> Result<Self, ConfigError> {
        let Some((scheme, rest)) = text::split(url, b':') else {
            return Err(ConfigError::UnknownScheme { scheme: url.into() });
        };
        match scheme {
            "memory" => memory(url, rest),
            "zk" => zookeeper(url, rest),
            "redis" | "rediss" => redis(url, scheme, rest),
            _ => Err(ConfigError::UnknownScheme {
                scheme: scheme.into(),
            }),
        }
    }

    /// The family of machines that works there.
    #[must_use]
    pub const fn family(&self) -> &'static str {
        match self {
            Self::Memory { .. } | Self::ZooKeeper { .. } => "zookeeper",
            Self::Redis { .. } => "redis",
        }
    }
}

fn memory(url: &str, name: &str) -> Result<Address, ConfigError> {
    if name.bytes().any(|byte| matches!(byte, b'/' | b'?' | b'#' | b'@')) {
        return Err(invalid(url, "memory: takes a plain name, as in memory:shop"));
    }
    Ok(Address::Memory { name: name.into() })
}

fn zookeeper(url: &str, rest: &str) -> Result<Address, ConfigError> {
    let Some(rest) = rest.strip_prefix("//") else {
        return Err(invalid(url, "write zk://HOST:PORT/PREFIX"));
    };
    let (rest, options) = text::split(rest, b'?').unwrap_or((rest, ""));
    let (members, prefix) = text::split(rest, b'/').unwrap_or((rest, ""));
    if text::has(members, b'@') {
        return Err(invalid(
            url,
            "zk:// takes no user or password: connect a client of your own that has them",
        ));
    }
    let mut hosts = Vec::new();
    for member in text::parts(members, b',') {
        hosts.push(host(url, member)?);
    }
    let mut session_timeout = DEFAULT_SESSION_TIMEOUT;
    for option in text::parts(options, b'&').filter(|option| !option.is_empty()) {
        let (key, value) = text::split(option, b'=').unwrap_or((option, ""));
        if key != "session_timeout" {
            return Err(ConfigError::UnknownOption {
                option: key.into(),
                known: ZOOKEEPER_OPTIONS,
            });
        }
        let millis = text::whole(value).ok_or_else(|| {
            invalid(
                url,
                &["session_timeout is ", &quoted(value), ": give whole milliseconds"].concat(),
            )
        })?;
        session_timeout = positive("session_timeout", millis.saturating_mul(1000), "")?;
    }
    Ok(Address::ZooKeeper {
        hosts,
        prefix: text::without_last(prefix, '/').into(),
        session_timeout,
    })
}

fn host(url: &str, member: &str) -> Result<String, ConfigError> {
    let (name, port) = match text::split_last(member, b':') {
        // An IPv6 address in brackets, without a port.
        Some((_, port)) if port.ends_with(']') => (member, None),
        Some((name, port)) => (name, Some(port)),
        None => (member, None),
    };
    if name.is_empty() {
        return Err(invalid(url, "a host is missing: write zk://HOST:PORT/PREFIX"));
    }
    let port = match port {
        None => ZOOKEEPER_PORT,
        Some(port) => port_of(port).ok_or_else(|| {
            invalid(
                url,
                &[&quoted(port), " is no port: give a number from 1 to 65535"].concat(),
            )
        })?,
    };
    Ok([name, ":", &decimal(port)].concat())
}

fn port_of(text: &str) -> Option<u16> {
    let port = text::whole(text)?.try_into().ok()?;
    (port != 0).then_some(port)
}

fn redis(url: &str, scheme: &str, rest: &str) -> Result<Address, ConfigError> {
    let Some(rest) = rest.strip_prefix("//") else {
        return Err(invalid(
            url,
            "write redis://HOST:PORT or redis://USER:PASSWORD@HOST:PORT/DATABASE",
        ));
    };
    let (rest, options) = text::split(rest, b'?').unwrap_or((rest, ""));
    let mut ca = None;
    for option in text::parts(options, b'&').filter(|option| !option.is_empty()) {
        let (key, value) = text::split(option, b'=').unwrap_or((option, ""));
        if key != "ca" || scheme != "rediss" {
            return Err(ConfigError::UnknownOption {
                option: key.into(),
                known: REDIS_OPTIONS,
            });
        }
        let path = percent_decoded(value).filter(|path| !path.is_empty() && !text::has(path, b'\0'));
        let why = "ca is the path of a file of certificates, in UTF-8, where % is written %25 and & is %26";
        ca = Some(path.ok_or_else(|| invalid(url, why))?);
    }
    let (_, place) = text::split_last(rest, b'@').unwrap_or(("", rest));
    let (server, database) = text::split(place, b'/').unwrap_or((place, ""));
    if server.is_empty() || server.starts_with(':') {
        return Err(invalid(url, "a host is missing: write redis://HOST:PORT"));
    }
    // Some client libraries take what comes after it for a wish not to check certificates.
    if text::has(server, b'#') {
        return Err(invalid(url, "a host has no #: write redis://HOST:PORT"));
    }
    if !database.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(invalid(url, "a database is a number: write redis://HOST:PORT/0"));
    }
    Ok(Address::Redis {
        url: [scheme, "://", rest].concat(),
        ca,
    })
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

/// An error that shows the address, but not the password in it.
fn invalid(url: &str, why: &str) -> ConfigError {
    let scheme = text::find(url, "//").and_then(|end| url.get(..end));
    let shown = match (scheme, text::split_last(url, b'@')) {
        (Some(scheme), Some((_, place))) => [scheme, "//***@", place].concat(),
        _ => url.into(),
    };
    ConfigError::InvalidUrl {
        url: shown,
        why: why.into(),
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn addresses_are_read() {
        assert_eq!(
            Address::parse("memory:").unwrap(),
            Address::Memory { name: "".into() }
        );
        assert_eq!(
            Address::parse("zk://a,b:2182/shop/?session_timeout=500").unwrap(),
            Address::ZooKeeper {
                hosts: ["a:2181".into(), "b:2182".into()].into(),
                prefix: "shop".into(),
                session_timeout: Duration::from_millis(500)
            }
        );
        for (url, ca) in [
            ("redis://u:p@h:1/2", None),
            ("rediss://h", None),
            (
                "rediss://u:p@h:1/2?ca=/etc/a%20%26b%25/ca.pem",
                Some("/etc/a &b%/ca.pem"),
            ),
        ] {
            let expected = Address::Redis {
                url: url.split('?').next().unwrap().into(),
                ca: ca.map(Into::into),
            };
            assert_eq!(Address::parse(url).unwrap(), expected);
        }
    }

    #[test]
    fn bad_addresses_say_what_is_wrong_and_keep_the_password() {
        for (url, name) in [
            ("http://x", "unknown-scheme"),
            ("localhost", "unknown-scheme"),
            ("", "unknown-scheme"),
            ("zk://", "invalid-url"),
            ("zk:a", "invalid-url"),
            ("zk://a:0", "invalid-url"),
            ("zk://a,,b", "invalid-url"),
            ("zk://a?timeout=1", "unknown-option"),
            ("zk://a?session_timeout=-1", "not-positive"),
            ("zk://a?session_timeout=soon", "invalid-url"),
            ("redis://", "invalid-url"),
            ("redis://h/x", "invalid-url"),
            ("redis://h?retries=1", "unknown-option"),
            ("redis://h?ca=/ca.pem", "unknown-option"),
            ("rediss://h?verify=no", "unknown-option"),
            ("rediss://h?ca", "invalid-url"),
            ("rediss://h?ca=%2", "invalid-url"),
            ("rediss://h?ca=%ff", "invalid-url"),
            ("rediss://h?ca=a%00b", "invalid-url"),
            ("rediss://h#insecure", "invalid-url"),
            ("rediss://h/#insecure", "invalid-url"),
            ("memory:a/b", "invalid-url"),
        ] {
            assert_eq!(Address::parse(url).unwrap_err().name(), name, "{url}");
        }
        let secret = Address::parse("redis://user:secret@/0").unwrap_err().to_string();
        assert!(!secret.contains("secret"), "{secret}");
    }
}

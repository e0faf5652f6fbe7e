//! The part of an address between `//` and the path: users, hosts, ports.

use alloc::string::String;
use core::net::Ipv6Addr;

use super::{HIDDEN, options_of};
use crate::{
    ConfigError,
    text::{self, quoted},
};

/// The parts of an address after its scheme.
pub(super) struct Parts<'a> {
    scheme: &'static str,
    /// The text before the last `@` of the authority; `None` without an `@`.
    pub(super) credentials: Option<&'a str>,
    /// Hosts and ports.
    pub(super) place: &'a str,
    /// The text after the slash.
    pub(super) path: &'a str,
    /// The text after the question mark.
    pub(super) options: &'a str,
}

impl<'a> Parts<'a> {
    /// Splits an address into its parts.
    ///
    /// # Errors
    /// If the address does not contain `//`, has a fragment, or has an `@` after the authority. Such an `@` shows that
    /// the user or password contains a character that ends the authority.
    pub(super) fn of(rest: &'a str, scheme: &'static str, form: &str) -> Result<Self, ConfigError> {
        let unread = Self {
            scheme,
            credentials: None,
            place: HIDDEN,
            path: "",
            options: "",
        };
        let Some(rest) = rest.strip_prefix("//") else {
            return Err(unread.invalid(&["write ", form].concat()));
        };
        let end = rest
            .bytes()
            .position(|byte| matches!(byte, b'/' | b'?' | b'#'))
            .unwrap_or(rest.len());
        let (authority, behind) = rest.split_at_checked(end).unwrap_or((rest, ""));
        if scheme != "zk" && text::has(behind, b'@') {
            let why = "there is an @ after the host: in a user or password, write / as %2F, ? as %3F, # as %23 and @ as %40; in options, write @ as %40";
            return Err(unread.invalid(why));
        }
        if text::has(behind, b'#') {
            return Err(unread.invalid(&["an address may contain no #: write ", form].concat()));
        }
        let (path, options) = text::split(behind, b'?').unwrap_or((behind, ""));
        let (credentials, place) = text::split_last(authority, b'@')
            .map_or((None, authority), |(credentials, place)| {
                (Some(credentials), place)
            });
        Ok(Self {
            scheme,
            credentials,
            place,
            path: path.strip_prefix('/').unwrap_or(path),
            options,
        })
    }

    /// The options with their values.
    pub(super) fn options(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        options_of(self.options)
    }

    /// An error with the address, without any text that may be a user or a password.
    pub(super) fn invalid(&self, why: &str) -> ConfigError {
        let [user, at] = if self.credentials.is_some() {
            [HIDDEN, "@"]
        } else {
            ["", ""]
        };
        let harmless = text::parts(self.place, b',').all(is_harmless);
        let place = if harmless { self.place } else { HIDDEN };
        ConfigError::InvalidUrl {
            url: [self.scheme, "://", user, at, place].concat(),
            why: why.into(),
        }
    }
}

/// Splits a host from its port. The port is `None` if the address has none.
fn split(place: &str) -> (&str, Option<&str>) {
    match text::split_last(place, b':') {
        // An IPv6 address in brackets, without a port.
        Some((_, port)) if port.ends_with(']') => (place, None),
        Some((host, port)) => (host, Some(port)),
        None => (place, None),
    }
}

/// Whether the text has the form of a host and a port. If the port is not a number, it may be a password in an address
/// without a host.
fn is_harmless(place: &str) -> bool {
    let (host, port) = split(place);
    let digits = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    host.bytes()
        .all(|byte| is_letter(byte) || matches!(byte, b'[' | b']' | b':'))
        && port.is_none_or(digits)
}

const fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_')
}

/// A host and a port.
pub(super) struct Place {
    /// An IPv6 address without its brackets.
    pub(super) host: String,
    pub(super) is_v6: bool,
    pub(super) port: u16,
}

impl Place {
    /// Parses `HOST`, `HOST:PORT`, `[IPv6]` or `[IPv6]:PORT`. The error is a text for the user.
    pub(super) fn read(text: &str, default_port: u16) -> Result<Self, String> {
        let (host, port) = split(text);
        if host.is_empty() {
            return Err("a host is missing: write HOST:PORT after //".into());
        }
        let bracketed = host.strip_prefix('[').map(|host| host.strip_suffix(']'));
        let (host, is_v6) = match bracketed {
            Some(Some(host)) if host.parse::<Ipv6Addr>().is_ok() => (host, true),
            Some(_) => return Err("the brackets do not contain an IPv6 address: write [::1]:PORT".into()),
            None if host.bytes().all(is_letter) => (host, false),
            None if text::has(host, b':') => {
                return Err(
                    "a host name may not contain a colon: write an IPv6 address in brackets, as in [::1]:PORT".into(),
                );
            }
            None => {
                return Err("a host has only ASCII letters, digits, hyphens, dots and underscores".into());
            }
        };
        let port = match port {
            None => default_port,
            Some(port) => port_of(port)?,
        };
        Ok(Self {
            host: host.into(),
            is_v6,
            port,
        })
    }
}

fn port_of(text: &str) -> Result<u16, String> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let port = text::whole(text).and_then(|port| u16::try_from(port).ok());
    match port.filter(|port| digits && *port != 0) {
        Some(port) => Ok(port),
        // The text may be a password in an address without a host, so the error does not repeat it.
        None if !digits => Err("the port is not a number: use one from 1 to 65535".into()),
        None => Err(["the port is ", &quoted(text), ": give a number from 1 to 65535"].concat()),
    }
}

//! `redis://USER:PASSWORD@HOST:PORT/DATABASE` and, with TLS, `rediss://…?ca=PATH`.

use alloc::string::String;

use super::{
    Address, Credentials, RedisAddress,
    authority::{Parts, Place},
    percent_decoded,
};
use crate::{ConfigError, text};

const PORT: u16 = 6379;
const FORM: &str = "redis://HOST:PORT or redis://USER:PASSWORD@HOST:PORT/DATABASE";
const OPTIONS: &str = "rediss:// accepts only the option ca, the path of a file of certificates; redis:// accepts none: for other options, connect your own client";

pub(super) fn address(rest: &str, tls: bool) -> Result<Address, ConfigError> {
    let parts = Parts::of(rest, if tls { "rediss" } else { "redis" }, FORM)?;
    let Place { host, port, .. } = Place::read(parts.place, PORT).map_err(|why| parts.invalid(&why))?;
    let credentials = parts.credentials.unwrap_or_default();
    let (user, password) = text::split(credentials, b':').unwrap_or((credentials, ""));
    let decoded = |part| {
        let why = "a user or password must be UTF-8 text without NUL: write % as %25";
        decoded(part).ok_or_else(|| parts.invalid(why))
    };
    let credentials = Credentials {
        user: decoded(user)?,
        password: decoded(password)?,
    };
    let database = database(parts.path)
        .ok_or_else(|| parts.invalid("a database must be a whole number: write redis://HOST:PORT/0"))?;
    let mut ca = None;
    for (key, value) in parts.options() {
        if key != "ca" || !tls {
            return Err(ConfigError::UnknownOption {
                option: key.into(),
                known: OPTIONS.into(),
            });
        }
        let path = decoded_path(value);
        let why = "ca is the path of a file of certificates, in UTF-8: write % as %25 and & as %26";
        ca = Some(path.ok_or_else(|| parts.invalid(why))?);
    }
    Ok(Address::Redis(RedisAddress {
        host,
        port,
        credentials,
        database,
        tls,
        ca,
    }))
}

/// Parses a database's number. Servers accept numbers up to `i32::MAX`.
fn database(text: &str) -> Option<u32> {
    if text.is_empty() {
        return Some(0);
    }
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number = text::whole(text).and_then(|number| i32::try_from(number).ok())?;
    u32::try_from(number).ok()
}

/// A decoded text. It must not contain NUL, because in the languages of some drivers a text ends at the first NUL.
fn decoded(part: &str) -> Option<String> {
    percent_decoded(part).filter(|part| !text::has(part, b'\0'))
}

fn decoded_path(value: &str) -> Option<String> {
    decoded(value).filter(|path| !path.is_empty())
}

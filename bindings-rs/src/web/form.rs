//! The HTTP format: keys, form tokens and fingerprints. `docs/reference/http.md` describes every byte.

use core::fmt::Write as _;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};

/// The hidden field of a form.
pub(super) const TOKEN_FIELD: &str = "idempotency-token";

/// The longest key or token, in bytes.
const LONGEST: usize = 255;

/// The key in the lines of a request's header; `None` if it is malformed.
pub(super) fn key_of(lines: &[&[u8]]) -> Option<String> {
    let value = lines.join(&b", "[..]);
    let key = match trimmed(&value) {
        [b'"', quoted @ .., b'"'] => unescaped(quoted)?,
        bare if bare.iter().all(|byte| is_bare(*byte)) => bare.to_vec(),
        _ => return None,
    };
    String::from_utf8(key).ok().filter(|key| has_length(key))
}

fn unescaped(quoted: &[u8]) -> Option<Vec<u8>> {
    let mut key = Vec::with_capacity(quoted.len());
    let mut bytes = quoted.iter().copied();
    while let Some(byte) = bytes.next() {
        key.push(match byte {
            b'\\' => bytes.next().filter(|next| matches!(next, b'"' | b'\\'))?,
            b' '..=b'~' if byte != b'"' => byte,
            _ => return None,
        });
    }
    Some(key)
}

const fn is_bare(byte: u8) -> bool {
    byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\' | b',' | b';')
}

fn has_length(text: &str) -> bool {
    (1..=LONGEST).contains(&text.len())
}

/// Removes spaces and tabs at both ends.
pub(super) fn trimmed(mut value: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = value {
        value = rest;
    }
    value
}

/// The form token of a header or a field; `None` if it is malformed.
pub(super) fn token_of(line: &[u8]) -> Option<String> {
    let is_sound = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let token = Some(trimmed(line)).filter(|token| token.iter().all(is_sound))?;
    String::from_utf8(token.to_vec())
        .ok()
        .filter(|token| has_length(token))
}

/// The first form token among the fields of an urlencoded body.
pub(super) fn token_in(body: &[u8]) -> Option<Vec<u8>> {
    body.split(|byte| *byte == b'&').find_map(|field| {
        let mut parts = field.splitn(2, |byte| *byte == b'=');
        let name = parts.next().unwrap_or_default();
        (in_form(name) == TOKEN_FIELD.as_bytes()).then(|| in_form(parts.next().unwrap_or_default()))
    })
}

/// A name or a value of an urlencoded body.
fn in_form(text: &[u8]) -> Vec<u8> {
    let spaced = text.iter().map(|byte| if *byte == b'+' { b' ' } else { *byte });
    unquoted(&spaced.collect::<Vec<_>>())
}

/// Replaces each `%` with two hexadecimal digits by the byte that the digits name.
fn unquoted(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, after @ ..] = rest {
        let named = match after {
            [high, low, ..] if *first == b'%' => digit(*high).zip(digit(*low)),
            _ => None,
        };
        bytes.push(named.map_or(*first, |(high, low)| high << 4 | low));
        rest = if named.is_some() { &after[2..] } else { after };
    }
    bytes
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte)
        .to_digit(16)
        .and_then(|digit| digit.try_into().ok())
}

/// The route of a path that may have percent-encoded bytes.
pub(super) fn route_of(path: &str) -> Vec<u8> {
    if path.is_empty() {
        return b"/".to_vec();
    }
    unquoted(path.as_bytes())
}

/// The key of the record of a request's key: for operators, who look at records with
/// [`Idempotency::look`](crate::Idempotency::look).
#[must_use]
pub fn record_key(tenant: &str, key: &str) -> String {
    let mut record_key = String::from("http:1:");
    for byte in binding_of(tenant) {
        // Writing to a string does not fail.
        let _ = write!(record_key, "{byte:02x}");
    }
    record_key + ":" + key
}

/// The key of the record of a form token.
pub(super) fn token_key(token: &str) -> String {
    format!("http-token:1:{token}")
}

/// The binding of a form token to a tenant.
pub(super) fn binding_of(tenant: &str) -> [u8; 32] {
    Sha256::digest(tenant).into()
}

/// Makes fingerprints with one secret.
pub(super) struct Fingerprints(Hmac<Sha256>);

impl Fingerprints {
    /// Makes fingerprints with this secret; `None` if HMAC does not accept its length.
    pub(super) fn new(secret: &[u8]) -> Option<Self> {
        Hmac::new_from_slice(secret).ok().map(Self)
    }

    /// The fingerprint of a request. `route` is decoded.
    pub(super) fn of(&self, method: &[u8], route: &[u8], query: &[u8], body: &[u8]) -> [u8; 32] {
        let mut mac = self.0.clone();
        mac.update(b"fencepost-http:1\n");
        let fields: [(&str, &[u8]); 4] = [
            ("method", method),
            ("route", route),
            ("query", query),
            ("body", body),
        ];
        for (name, value) in fields {
            mac.update(format!("{name}:{}:", value.len()).as_bytes());
            mac.update(value);
            mac.update(b"\n");
        }
        mac.finalize().into_bytes().into()
    }
}

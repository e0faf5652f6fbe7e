//! The name of an operation on a server: a function of scope and key. Different operations never get the same name.
//!
//! Scope and key are encoded as parts of the name. Letters, digits and `-_.~@+=,:` are not changed. Every other byte
//! becomes `%` and two hexadecimal digits, and so does a dot at the start. Therefore a part never contains a separator,
//! and no server refuses it.

use alloc::string::String;

use sha2::{Digest as _, Sha256};

use crate::{ConfigError, text::shown};

/// The longest scope, in bytes.
pub const MAX_SCOPE: usize = 255;
/// The longest key, and the longest id of an update, in bytes.
pub const MAX_KEY: usize = 1024;

/// The checked name of one operation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name {
    scope: String,
    key: String,
    bucket: u8,
}

impl Name {
    /// The operation `key` in the scope `scope`. The scope separates the keys of different kinds of operations and of
    /// different tenants.
    ///
    /// # Errors
    /// [`ConfigError::InvalidOption`] for a scope or key that is empty or too long, or contains a control character.
    pub fn new(scope: &str, key: &str) -> Result<Self, ConfigError> {
        check("scope", scope, MAX_SCOPE)?;
        check("key", key, MAX_KEY)?;
        Ok(Self {
            scope: part(scope),
            key: part(key),
            bucket: bucket(key),
        })
    }

    /// The key of the record on Redis. It contains a hash tag, which the other keys of the operation share, so a
    /// cluster stores all of them in one slot.
    #[must_use]
    pub fn redis_key(&self) -> String {
        ["fencepost:{", &self.scope, "/", &self.key, "}"].concat()
    }

    /// The key on Redis of the tombstone of an attempt.
    #[must_use]
    pub fn redis_tombstone(&self, attempt: &str) -> String {
        self.redis_beside("gone", attempt)
    }

    /// The key on Redis of the record of an update's id. The application chooses the id.
    #[must_use]
    pub fn redis_operation(&self, id: &UpdateId) -> String {
        self.redis_beside("operation", &id.0)
    }

    /// The channel on Redis on which the server notifies waiters of the end of a claim.
    #[must_use]
    pub fn redis_channel(&self) -> String {
        [&self.redis_key(), ":ended"].concat()
    }

    /// A key for one step of the operation at another service, such as a payment provider: 32 hexadecimal digits, the
    /// same for all attempts and in all languages. So a step that an earlier attempt has carried out is not carried out
    /// again, if the other service is idempotent, too.
    #[must_use]
    pub fn derive(&self, step: &str) -> String {
        let text = [
            "fencepost-derive:1\n",
            &self.scope,
            "/",
            &self.key,
            "/",
            &part(step),
        ]
        .concat();
        let digest = Sha256::digest(text);
        digest.iter().take(16).map(|byte| hex(*byte)).collect()
    }

    fn redis_beside(&self, what: &str, of: &str) -> String {
        [&self.redis_key(), ":", what, ":", of].concat()
    }

    /// The path of the record on ZooKeeper, below a prefix: `SCOPE/BB/KEY`. A scope has 256 buckets `BB`, so that
    /// directories stay short.
    #[must_use]
    pub fn path(&self) -> String {
        [&self.scope, "/", &hex(self.bucket), "/", &self.key].concat()
    }
}

/// The path on ZooKeeper of the directory of a scope, below a prefix.
///
/// # Errors
/// [`ConfigError::InvalidOption`], as for a [`Name`].
pub fn scope_path(scope: &str) -> Result<String, ConfigError> {
    check("scope", scope, MAX_SCOPE)?;
    Ok(part(scope))
}

/// The checked id of an update, as a part of a server's name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UpdateId(String);

impl UpdateId {
    /// The id of an update, which the application chooses.
    ///
    /// # Errors
    /// [`ConfigError::InvalidOption`], as for a key.
    pub fn new(id: &str) -> Result<Self, ConfigError> {
        check("operation", id, MAX_KEY)?;
        Ok(Self(part(id)))
    }

    /// The name on ZooKeeper of the record of the update: a child of the value.
    #[must_use]
    pub fn node(&self) -> String {
        ["operation-", &self.0].concat()
    }
}

fn check(option: &'static str, given: &str, most: usize) -> Result<(), ConfigError> {
    let why = match given.len() {
        0 => "it is empty: give it a text, such as \"order-17\"",
        length if length > most && most == MAX_SCOPE => "it is longer than 255 bytes",
        length if length > most => "it is longer than 1024 bytes: use a shorter one, such as a hash of it",
        _ if given.chars().any(char::is_control) => "it contains a control character: remove it",
        _ => return Ok(()),
    };
    Err(ConfigError::InvalidOption {
        option,
        value: shown(given),
        why,
    })
}

/// A text as a part of a server's name.
fn part(given: &str) -> String {
    let mut part = String::with_capacity(given.len());
    for (at, byte) in given.bytes().enumerate() {
        if is_plain(byte) && !(at == 0 && byte == b'.') {
            part.push(char::from(byte));
        } else {
            part.push('%');
            part.push_str(&hex(byte));
        }
    }
    part
}

const fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'-' | b'_' | b'.' | b'~' | b'@' | b'+' | b'=' | b',' | b':')
}

fn hex(byte: u8) -> String {
    let digit = |digit: u8| char::from_digit(digit.into(), 16).unwrap_or_default();
    [digit(byte >> 4), digit(byte & 15)].into_iter().collect()
}

/// A hash of the key (FNV-1a, folded). It must never change, because it is a part of the paths of stored records.
fn bucket(key: &str) -> u8 {
    let hash = key.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    hash.to_be_bytes().iter().fold(0, |folded, byte| folded ^ byte)
}

#[cfg(test)]
mod tests {
    use alloc::{collections::BTreeMap, format, string::ToString, vec::Vec};

    use super::*;
    use crate::claim::chance::Chance;

    #[test]
    fn names_can_be_read() {
        let name = Name::new("payments", "order-17:a").unwrap();
        assert_eq!(name.redis_key(), "fencepost:{payments/order-17:a}");
        assert_eq!(
            name.redis_tombstone("ab-1"),
            "fencepost:{payments/order-17:a}:gone:ab-1"
        );
        assert_eq!(
            name.redis_operation(&UpdateId::new("sell/7").unwrap()),
            "fencepost:{payments/order-17:a}:operation:sell%2f7"
        );
        assert_eq!(name.redis_channel(), "fencepost:{payments/order-17:a}:ended");
        assert_eq!(name.path(), "payments/bc/order-17:a");
        assert_eq!(UpdateId::new("s").unwrap().node(), "operation-s");
        let name = Name::new("..", "ü/}%").unwrap();
        assert_eq!(name.redis_key(), "fencepost:{%2e./%c3%bc%2f%7d%25}");
        assert!(name.path().starts_with("%2e./"));
    }

    #[test]
    fn a_derived_key_never_changes() {
        let name = Name::new("payments", "order-17").unwrap();
        // echo -ne 'fencepost-derive:1\npayments/order-17/charge' | sha256sum
        assert_eq!(name.derive("charge"), "5ea047ab7a76865a46935f91d9a50cc4");
        let others = [
            name.derive("refund"),
            name.derive(""),
            Name::new("payments", "order-1").unwrap().derive("7/charge"),
            Name::new("payment", "s/order-17").unwrap().derive("charge"),
        ];
        assert!(
            others.iter().all(|other| *other != name.derive("charge")),
            "{others:?}"
        );
    }

    /// The part of a Redis key that determines its slot (the rule of Redis Cluster).
    fn slot_tag(key: &str) -> &str {
        let tag = key
            .split_once('{')
            .and_then(|(_, rest)| rest.split_once('}'))
            .map(|(tag, _)| tag);
        tag.filter(|tag| !tag.is_empty()).unwrap_or(key)
    }

    #[test]
    fn no_two_operations_have_one_name() {
        let mut known = BTreeMap::new();
        for seed in 0..30_000 {
            let mut chance = Chance::new(seed);
            let given = (chance.text(4), chance.text(5));
            let Ok(name) = Name::new(&given.0, &given.1) else {
                assert!(given.0.is_empty() || given.1.is_empty());
                continue;
            };
            let id = format!("x{}", chance.text(4));
            let update = UpdateId::new(&id).unwrap();
            let names = [
                name.redis_key(),
                name.redis_channel(),
                name.redis_tombstone("ab-1"),
                name.redis_operation(&update),
            ];
            assert!(
                names.iter().all(|key| slot_tag(key) == slot_tag(&names[0])),
                "{names:?}"
            );
            let path = name.path();
            let parts: Vec<_> = path.split('/').collect();
            assert!(
                parts.len() == 3 && parts.iter().all(|part| !matches!(*part, "" | "." | "..")),
                "{path}"
            );
            let of_update = (given.0.clone(), given.1.clone(), id.clone());
            let plain = (given.0, given.1, String::new());
            let operation = [&path, "/", &update.node()].concat();
            for (name, of) in [
                (names[0].clone(), &plain),
                (path, &plain),
                (operation, &of_update),
                (names[3].clone(), &of_update),
            ] {
                let earlier = known.entry(name.clone()).or_insert_with(|| of.clone());
                assert_eq!(earlier, of, "S6 may be broken: both are {name}");
            }
        }
        assert!(known.len() > 10_000, "{}", known.len());
    }

    #[test]
    fn all_buckets_are_used() {
        let mut uses = [0_u32; 256];
        for number in 0..25_600 {
            uses[usize::from(bucket(&format!("order-{number}")))] += 1;
        }
        assert!(uses.iter().all(|uses| (30..300).contains(uses)), "{uses:?}");
    }

    #[test]
    fn names_that_are_no_names_are_refused() {
        let long = "x".repeat(1025);
        for (scope, key, said) in [
            ("", "k", "scope is \"\": it is empty"),
            ("s", "", "key is \"\": it is empty"),
            (&long[..256], "k", "longer than 255 bytes"),
            ("s", &long, "longer than 1024 bytes"),
            ("s", "a\nb", "control character"),
            ("s", "a\0", "control character"),
        ] {
            let error = Name::new(scope, key).unwrap_err();
            assert_eq!((error.code(), error.name()), (110, "invalid-option"));
            assert!(error.to_string().contains(said), "{error}");
        }
        assert!(Name::new(&long[..255], &long[..1024]).is_ok());
        assert!(UpdateId::new("").is_err() && UpdateId::new(&long).is_err());
        // With any prefix of up to 200 bytes: ZooKeeper's paths are at most 4096 bytes long.
        let widest = Name::new(&"ü".repeat(127), &"ü".repeat(512)).unwrap();
        assert!(widest.path().len() < 4096 - 200);
    }
}

//! Keys, their values, and their expiry times.

use alloc::{
    collections::{BTreeMap, VecDeque},
    vec::Vec,
};

use fencepost_core::Instant;

use super::wire::Fault;

/// The present time by the server's clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    micros: u64,
}

impl Moment {
    pub(super) const fn new(now: Instant) -> Self {
        Self {
            micros: now.as_micros(),
        }
    }

    pub(super) fn millis(self) -> i64 {
        i64::try_from(self.micros / 1000).unwrap_or(i64::MAX)
    }

    pub(super) const fn seconds_and_micros(self) -> (u64, u64) {
        (self.micros / 1_000_000, self.micros % 1_000_000)
    }
}

/// A name and a value.
pub(super) type Field = (Vec<u8>, Vec<u8>);

/// A hash's fields, in the order of their creation.
pub(super) type Fields = Vec<Field>;

/// The value of a key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Value {
    String(Vec<u8>),
    Hash(Fields),
    List(VecDeque<Vec<u8>>),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Entry {
    pub(super) value: Value,
    /// The last millisecond of the key's life.
    pub(super) end: Option<i64>,
}

impl Entry {
    fn lives(&self, now: Moment) -> bool {
        self.end.is_none_or(|end| now.millis() <= end)
    }
}

/// All keys. The server deletes expired keys before each command, so commands need not check for them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Keyspace(BTreeMap<Vec<u8>, Entry>);

impl Keyspace {
    pub(super) fn forget_ended(&mut self, now: Moment) {
        self.0.retain(|_, entry| entry.lives(now));
    }

    pub(super) fn keys(&self, now: Moment) -> impl Iterator<Item = &[u8]> {
        let live = self.0.iter().filter(move |(_, entry)| entry.lives(now));
        live.map(|(key, _)| key.as_slice())
    }

    pub(super) fn peek(&self, now: Moment, key: &[u8]) -> Option<(&[u8], Option<Instant>)> {
        let entry = self.0.get(key).filter(|entry| entry.lives(now))?;
        let gone = |end: i64| Instant::from_micros(end.saturating_add(1).unsigned_abs().saturating_mul(1000));
        match &entry.value {
            Value::String(value) => Some((value, entry.end.map(gone))),
            Value::Hash(_) | Value::List(_) => None,
        }
    }

    pub(super) fn peek_field(&self, now: Moment, key: &[u8], field: &[u8]) -> Option<&[u8]> {
        let entry = self.0.get(key).filter(|entry| entry.lives(now))?;
        let Value::Hash(fields) = &entry.value else {
            return None;
        };
        let found = fields.iter().find(|(name, _)| name == field);
        found.map(|(_, value)| value.as_slice())
    }

    pub(super) fn entry(&self, key: &[u8]) -> Option<&Entry> {
        self.0.get(key)
    }

    pub(super) fn entry_mut(&mut self, key: &[u8]) -> Option<&mut Entry> {
        self.0.get_mut(key)
    }

    pub(super) fn contains(&self, key: &[u8]) -> bool {
        self.0.contains_key(key)
    }

    pub(super) fn remove(&mut self, key: &[u8]) -> bool {
        self.0.remove(key).is_some()
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn put(&mut self, key: &[u8], value: Value, end: Option<i64>) {
        let entry = Entry { value, end };
        match self.0.get_mut(key) {
            Some(old) => *old = entry,
            None => drop(self.0.insert(key.into(), entry)),
        }
    }

    pub(super) fn string(&self, key: &[u8]) -> Result<Option<&[u8]>, Fault> {
        match self.0.get(key).map(|entry| &entry.value) {
            None => Ok(None),
            Some(Value::String(value)) => Ok(Some(value)),
            Some(_) => Err(Fault::WRONG_TYPE),
        }
    }

    pub(super) fn hash(&self, key: &[u8]) -> Result<&[Field], Fault> {
        match self.0.get(key).map(|entry| &entry.value) {
            None => Ok(&[]),
            Some(Value::Hash(fields)) => Ok(fields),
            Some(_) => Err(Fault::WRONG_TYPE),
        }
    }

    /// A hash to write to; creates an empty one if the key does not exist.
    pub(super) fn hash_mut(&mut self, key: &[u8]) -> Result<&mut Fields, Fault> {
        match self.or_insert(key, || Value::Hash(Fields::new())) {
            Value::Hash(fields) => Ok(fields),
            Value::String(_) | Value::List(_) => Err(Fault::WRONG_TYPE),
        }
    }

    /// A list to write to; creates an empty one if the key does not exist.
    pub(super) fn list_mut(&mut self, key: &[u8]) -> Result<&mut VecDeque<Vec<u8>>, Fault> {
        match self.or_insert(key, || Value::List(VecDeque::new())) {
            Value::List(items) => Ok(items),
            Value::String(_) | Value::Hash(_) => Err(Fault::WRONG_TYPE),
        }
    }

    fn or_insert(&mut self, key: &[u8], value: impl FnOnce() -> Value) -> &mut Value {
        let entry = self.0.entry(key.into()).or_insert_with(|| Entry {
            value: value(),
            end: None,
        });
        &mut entry.value
    }
}

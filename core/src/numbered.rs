//! A map whose keys are numbers that grow, in a ring buffer.
//!
//! The hub numbers its machines and commands, and looks them up several times for each input. New entries go to the
//! end, and the oldest ones usually end first, so there are few gaps. Without a gap, the place of a number is its
//! distance from the first one. A lookup then takes the same time for one machine and for ten thousand.

use alloc::collections::VecDeque;

use crate::{CommandId, Key};

/// A key of a [`Numbered`] map.
pub(crate) trait Number: Copy + Ord {
    /// The key as a number.
    fn number(self) -> u64;
}

impl Number for Key {
    fn number(self) -> u64 {
        self.0
    }
}

impl Number for CommandId {
    fn number(self) -> u64 {
        self.0
    }
}

/// A map, sorted by key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Numbered<K, V>(VecDeque<(K, V)>);

impl<K, V> Default for Numbered<K, V> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<K: Number, V> Numbered<K, V> {
    /// The value at a key.
    pub(crate) fn get(&self, key: K) -> Option<&V> {
        let at = self.find(key).ok()?;
        self.0.get(at).map(|(_, value)| value)
    }

    /// The mutable value at a key.
    pub(crate) fn get_mut(&mut self, key: K) -> Option<&mut V> {
        let at = self.find(key).ok()?;
        self.0.get_mut(at).map(|(_, value)| value)
    }

    /// Adds an entry. The key must be new.
    pub(crate) fn insert(&mut self, key: K, value: V) {
        let (Ok(at) | Err(at)) = self.find(key);
        self.0.insert(at, (key, value));
    }

    /// Removes a key and returns its value.
    pub(crate) fn remove(&mut self, key: K) -> Option<V> {
        let at = self.find(key).ok()?;
        self.0.remove(at).map(|(_, value)| value)
    }

    /// Keeps the entries for which `keep` returns `true`.
    pub(crate) fn retain(&mut self, keep: impl Fn(&V) -> bool) {
        self.0.retain(|(_, value)| keep(value));
    }

    /// All keys.
    pub(crate) fn keys(&self) -> impl Iterator<Item = K> {
        self.0.iter().map(|(key, _)| *key)
    }

    /// All values, in the order of their keys.
    #[cfg(feature = "states")]
    pub(crate) fn values(&self) -> impl Iterator<Item = &V> {
        self.0.iter().map(|(_, value)| value)
    }

    /// The number of entries.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The place of a key, or the place where it would be.
    fn find(&self, key: K) -> Result<usize, usize> {
        let Some((first, _)) = self.0.front() else {
            return Err(0);
        };
        match key.number().checked_sub(first.number()).map(usize::try_from) {
            Some(Ok(at)) if self.is_at(at, key) => Ok(at),
            _ => self.find_behind_gaps(key),
        }
    }

    /// The same for a key behind a gap, or for a new one.
    #[inline(never)]
    fn find_behind_gaps(&self, key: K) -> Result<usize, usize> {
        let Some((last, _)) = self.0.back() else {
            return Err(0);
        };
        let Some(from_last) = last.number().checked_sub(key.number()) else {
            return Err(self.0.len());
        };
        let end = self.0.len().saturating_sub(1);
        match usize::try_from(from_last).map(|distance| end.checked_sub(distance)) {
            Ok(Some(at)) if self.is_at(at, key) => Ok(at),
            _ => self.0.binary_search_by_key(&key, |(known, _)| *known),
        }
    }

    fn is_at(&self, at: usize, key: K) -> bool {
        self.0.get(at).is_some_and(|(known, _)| *known == key)
    }
}

#[cfg(test)]
mod tests {
    use alloc::{collections::BTreeMap, vec::Vec};

    use super::*;

    #[test]
    fn a_map_does_what_a_tree_does() {
        for gaps in [1, 2, 7, 100] {
            let (mut ours, mut theirs) = (Numbered::default(), BTreeMap::new());
            let mut number: u64 = gaps;
            for step in 0..2000_u64 {
                number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(11);
                // Numbers come almost in order; one of `gaps` leaves early.
                let new = Key(step ^ ((number >> 40) & 3));
                theirs.entry(new).or_insert_with(|| {
                    ours.insert(new, number);
                    number
                });
                let old = Key(step.saturating_sub((number >> 50) % 50));
                if number.is_multiple_of(gaps) {
                    assert_eq!(ours.remove(old), theirs.remove(&old));
                } else if let Some(value) = ours.get_mut(old) {
                    *value = step;
                    theirs.insert(old, step);
                }
                assert_eq!(ours.get(old), theirs.get(&old));
                assert!(ours.keys().eq(theirs.keys().copied()));
            }
            ours.retain(|value| value.is_multiple_of(2));
            theirs.retain(|_, value| value.is_multiple_of(2));
            let values = ours.keys().map(|key| ours.get(key).copied()).collect::<Vec<_>>();
            assert_eq!(values, theirs.values().copied().map(Some).collect::<Vec<_>>());
            assert_eq!(ours.len(), theirs.len());
        }
    }
}

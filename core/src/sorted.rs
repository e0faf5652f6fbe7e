//! Maps and sets as sorted vectors.
//!
//! The hub's keys and ids count up, so that new entries go to the end, and what leaves early moves a few kilobytes. Only timers come in anywhere: with
//! ten thousand machines that is a hundred kilobytes, some microseconds. Every use of a B-tree would add two kilobytes (compressed) to the
//! WebAssembly module: a third of it in all.

use alloc::vec::Vec;
use core::borrow::Borrow;

/// A map in the order of its keys.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SortedMap<K, V>(Vec<(K, V)>);

impl<K, V> Default for SortedMap<K, V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<K: Ord, V> SortedMap<K, V> {
    /// An empty map.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// The value at a key.
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        let at = self.find(key).ok()?;
        self.0.get(at).map(|(_, value)| value)
    }

    /// The value at a key, to change it.
    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let at = self.find(key).ok()?;
        self.0.get_mut(at).map(|(_, value)| value)
    }

    /// Whether there is such a key.
    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.find(key).is_ok()
    }

    /// Sets a key's value; gives the one it had.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.find(&key) {
            Ok(at) => self.0.get_mut(at).map(|(_, old)| core::mem::replace(old, value)),
            Err(at) => {
                self.0.insert(at, (key, value));
                None
            }
        }
    }

    /// Changes a key's value, starting from the default if it has none.
    pub fn update(&mut self, key: K, change: impl FnOnce(&mut V))
    where
        V: Default,
    {
        let at = self.find(&key).unwrap_or_else(|at| {
            self.0.insert(at, (key, V::default()));
            at
        });
        if let Some((_, value)) = self.0.get_mut(at) {
            change(value);
        }
    }

    /// Takes a key out.
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let at = self.find(key).ok()?;
        Some(self.0.remove(at).1)
    }

    /// Keeps what `keep` says.
    pub fn retain(&mut self, mut keep: impl FnMut(&K, &mut V) -> bool) {
        self.0.retain_mut(|(key, value)| keep(key, value));
    }

    /// All keys.
    pub fn keys(&self) -> impl Iterator<Item = &K> {
        self.0.iter().map(|(key, _)| key)
    }

    /// All values, in the order of their keys.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.0.iter().map(|(_, value)| value)
    }

    /// All values, in the order of their keys, to change them.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.0.iter_mut().map(|(_, value)| value)
    }

    /// All keys with their values.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.0.iter().map(|(key, value)| (key, value))
    }

    /// All keys from this one on, with their values.
    pub fn iter_from<Q: Ord + ?Sized>(&self, key: &Q) -> impl Iterator<Item = (&K, &V)>
    where
        K: Borrow<Q>,
    {
        let (Ok(at) | Err(at)) = self.find(key);
        self.iter().skip(at)
    }

    /// How many keys there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn find<Q: Ord + ?Sized>(&self, key: &Q) -> Result<usize, usize>
    where
        K: Borrow<Q>,
    {
        self.0.binary_search_by(|(known, _)| known.borrow().cmp(key))
    }
}

/// A set in order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SortedSet<T>(SortedMap<T, ()>);

impl<T> Default for SortedSet<T> {
    fn default() -> Self {
        Self(SortedMap::default())
    }
}

impl<T: Ord> SortedSet<T> {
    /// An empty set.
    #[must_use]
    pub const fn new() -> Self {
        Self(SortedMap::new())
    }

    /// Puts something in; says whether it is new.
    pub fn insert(&mut self, item: T) -> bool {
        self.0.insert(item, ()).is_none()
    }

    /// Takes something out; says whether it was there.
    pub fn remove(&mut self, item: &T) -> bool {
        self.0.remove(item).is_some()
    }

    /// The least there is.
    #[must_use]
    pub fn first(&self) -> Option<&T> {
        self.0.keys().next()
    }

    /// The least from this one on.
    #[must_use]
    pub fn first_from(&self, item: &T) -> Option<&T> {
        self.0.iter_from(item).next().map(|(item, ())| item)
    }

    /// Everything.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.keys()
    }
}

#[cfg(test)]
mod tests {
    use alloc::{collections::BTreeMap, vec::Vec};

    use super::*;

    #[test]
    fn a_map_does_what_a_tree_does() {
        let (mut ours, mut theirs) = (SortedMap::new(), BTreeMap::new());
        let mut number = 1_u64;
        for _ in 0..2000 {
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(11);
            let (key, value) = (number >> 58, number >> 40);
            match number % 3 {
                0 => assert_eq!(ours.remove(&key), theirs.remove(&key)),
                1 => assert_eq!(ours.insert(key, value), theirs.insert(key, value)),
                _ => {
                    ours.update(key, |known| *known ^= value);
                    *theirs.entry(key).or_default() ^= value;
                }
            }
            assert_eq!(ours.get(&key), theirs.get(&key));
            assert!(ours.iter().eq(theirs.iter()));
            assert!(ours.iter_from(&key).eq(theirs.range(key..)));
        }
        assert_eq!(ours.len(), theirs.len());
    }

    #[test]
    fn a_set_is_in_order() {
        let mut set = SortedSet::new();
        assert!([3, 1, 2, 1].map(|item| set.insert(item)) == [true, true, true, false]);
        assert_eq!(set.iter().copied().collect::<Vec<_>>(), [1, 2, 3]);
        assert!(set.remove(&1) && !set.remove(&1));
        assert_eq!(set.first(), Some(&2));
        assert_eq!(
            [0, 3, 4].map(|item| set.first_from(&item).copied()),
            [Some(2), Some(3), None]
        );
    }
}

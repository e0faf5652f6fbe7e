//! Maps and sets as sorted ring buffers.
//!
//! Most of them are small. The largest one has the timers of all machines: with ten thousand machines, an insertion
//! moves at most fifty kilobytes, which takes some microseconds. Each use of a B-tree would add two kilobytes
//! (compressed) to the WebAssembly module. All of them together would be a third of its size. The hub finds its
//! machines and commands by their numbers: see `numbered.rs`.

use alloc::collections::VecDeque;
use core::borrow::Borrow;

/// A map, sorted by key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SortedMap<K, V>(VecDeque<(K, V)>);

impl<K, V> Default for SortedMap<K, V> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<K: Ord, V> SortedMap<K, V> {
    /// An empty map.
    #[must_use]
    pub const fn new() -> Self {
        Self(VecDeque::new())
    }

    /// The value at a key.
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        let at = self.find(key).ok()?;
        self.0.get(at).map(|(_, value)| value)
    }

    /// The mutable value at a key.
    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let at = self.find(key).ok()?;
        self.0.get_mut(at).map(|(_, value)| value)
    }

    /// Whether the map contains a key.
    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.find(key).is_ok()
    }

    /// Sets a key's value and returns the previous one.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.find(&key) {
            Ok(at) => self.0.get_mut(at).map(|(_, old)| core::mem::replace(old, value)),
            Err(at) => {
                self.0.insert(at, (key, value));
                None
            }
        }
    }

    /// Changes a key's value. A key without a value starts from the default.
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

    /// Removes a key and returns its value.
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let at = self.find(key).ok()?;
        self.0.remove(at).map(|(_, value)| value)
    }

    /// Keeps the entries for which `keep` returns `true`.
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

    /// All values, mutable, in the order of their keys.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.0.iter_mut().map(|(_, value)| value)
    }

    /// All entries.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.0.iter().map(|(key, value)| (key, value))
    }

    /// All entries from this key on.
    pub fn iter_from<Q: Ord + ?Sized>(&self, key: &Q) -> impl Iterator<Item = (&K, &V)>
    where
        K: Borrow<Q>,
    {
        let (Ok(at) | Err(at)) = self.find(key);
        self.0.range(at..).map(|(key, value)| (key, value))
    }

    /// The number of keys.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the map is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn find<Q: Ord + ?Sized>(&self, key: &Q) -> Result<usize, usize>
    where
        K: Borrow<Q>,
    {
        self.0.binary_search_by(|(known, _)| known.borrow().cmp(key))
    }
}

/// A sorted set.
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

    /// Adds an item; returns whether it is new.
    pub fn insert(&mut self, item: T) -> bool {
        self.0.insert(item, ()).is_none()
    }

    /// Removes an item; returns whether it was in the set.
    pub fn remove(&mut self, item: &T) -> bool {
        self.0.remove(item).is_some()
    }

    /// The smallest item.
    #[must_use]
    pub fn first(&self) -> Option<&T> {
        self.0.keys().next()
    }

    /// All items, in order.
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
        assert_eq!((ours.len(), ours.is_empty()), (theirs.len(), false));
        assert!(SortedMap::<u8, u8>::new().is_empty());
    }

    #[test]
    fn a_set_is_in_order() {
        let mut set = SortedSet::new();
        assert!([3, 1, 2, 1].map(|item| set.insert(item)) == [true, true, true, false]);
        assert_eq!(set.iter().copied().collect::<Vec<_>>(), [1, 2, 3]);
        assert!(set.remove(&1) && !set.remove(&1));
        assert_eq!(set.first(), Some(&2));
    }
}

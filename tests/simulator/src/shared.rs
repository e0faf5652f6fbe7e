//! A part of a world that copies of the world share until one of them changes it.
//!
//! The explorer copies and hashes a world for every step. A step changes only one client, or the servers. So copies share the unchanged parts,
//! and the hash of a part is computed once.

use core::{
    hash::{Hash, Hasher},
    ops::{Deref, DerefMut},
    sync::atomic::{AtomicU64, Ordering},
};
use std::sync::Arc;

/// A value that its copies share. A write to one copy does not change the others.
#[derive(Clone, Debug)]
pub(crate) struct Shared<T>(Arc<Part<T>>);

#[derive(Debug)]
struct Part<T> {
    value: T,
    /// The value's hash; [`UNKNOWN`] since the value was last written.
    hash: AtomicU64,
}

const UNKNOWN: u64 = 0;

/// The same in every run, because a state's hash decides which of two equally short counterexamples is found.
const HASHES: ahash::RandomState = ahash::RandomState::with_seeds(1, 2, 3, 4);

impl<T> Shared<T> {
    pub(crate) fn new(value: T) -> Self {
        let hash = AtomicU64::new(UNKNOWN);
        Self(Arc::new(Part { value, hash }))
    }
}

impl<T: Clone> Clone for Part<T> {
    /// Only a writer copies a part, so the copy's hash is unknown.
    fn clone(&self) -> Self {
        Self {
            value: self.value.clone(),
            hash: AtomicU64::new(UNKNOWN),
        }
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0.value
    }
}

impl<T: Clone> DerefMut for Shared<T> {
    fn deref_mut(&mut self) -> &mut T {
        let part = Arc::make_mut(&mut self.0);
        *part.hash.get_mut() = UNKNOWN;
        &mut part.value
    }
}

impl<T: PartialEq> PartialEq for Shared<T> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.value == other.0.value
    }
}

impl<T: Eq> Eq for Shared<T> {}

impl<T: Hash> Hash for Shared<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let mut hash = self.0.hash.load(Ordering::Relaxed);
        if hash == UNKNOWN {
            hash = HASHES.hash_one(&self.0.value);
            self.0.hash.store(hash, Ordering::Relaxed);
        }
        state.write_u64(hash);
    }
}

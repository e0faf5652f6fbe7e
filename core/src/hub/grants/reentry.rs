//! What an acquire of an owner asks for.

use alloc::sync::Arc;

use crate::Owner;

/// What an owner may do with a lock that it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// The lock has no readers and writers.
    Exclusive,
    /// It may write, and read.
    Writer,
    /// It may only read.
    Reader,
}

/// What an owner can hold only once: a lock. The reader and the writer of one name are one lock.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ownership {
    pub(crate) owner: Owner,
    /// Locks of different kinds may have the same name.
    pub(crate) kind: LockKind,
    pub(crate) lock: Arc<str>,
}

/// The kinds of locks that have owners.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LockKind {
    /// A fair mutex, or a lock on Redis.
    Mutex,
    /// A read/write lock.
    ReadWrite,
    /// A single node.
    Single,
}

/// What one acquire of an owner asks for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reentry {
    pub(crate) ownership: Ownership,
    pub(crate) mode: Mode,
}

//! The lock and the mode of an owner's acquire.

use alloc::sync::Arc;

use crate::Owner;

/// What a hold's mode allows its holder to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// The lock does not distinguish readers and writers.
    Exclusive,
    /// The holder may write and read.
    Writer,
    /// The holder may only read.
    Reader,
}

/// An owner and a lock. All holds of one ownership share one grant. The reader and the writer of one name are the same
/// lock.
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
    /// A lock that is a single node.
    Single,
}

/// The lock and the mode that one acquire of an owner requests.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reentry {
    pub(crate) ownership: Ownership,
    pub(crate) mode: Mode,
}

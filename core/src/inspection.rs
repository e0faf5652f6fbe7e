//! What an inspection of a lock does, on any server.

use alloc::string::String;

use crate::Fence;

/// What an inspection does.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Action {
    /// List the holders and the waiters. Redis stores no waiters, so there the list is the holder.
    List,
    /// Take its place from a contender. A holder loses its lock, and a waiter loses its place.
    Break {
        /// The contender's [node](crate::Found::node).
        node: String,
        /// The fence that the contender has, or would get with the lock.
        fence: Fence,
    },
    /// ZooKeeper: request the lock from a contender. The contender gets the event `revoke-requested`, and may release
    /// the lock or keep it.
    Revoke {
        /// The contender's [node](crate::Found::node).
        node: String,
        /// The fence that the contender has, or would get with the lock.
        fence: Fence,
    },
}

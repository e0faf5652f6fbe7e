//! Redis: one key, one script a step, the server's clock.
//!
//! The layout `string` is the one that redis-py's `Lock`, the redlock clients and most home-made locks share: the key is the lock's
//! name, its value the owner's token, its time to live the lease. What is done better here, on the same bytes:
//!
//! - **A repeated acquire is the same acquire**: it compares the attempt, so a lost reply costs nothing (redis-py answers "held", by itself).
//! - **A given-up acquire stays given up**: a release that follows a doubtful acquire leaves a tombstone for the late one to find.
//! - **Every grant has a fence**, counted in the granting script, at the key `{name}:fence`.
//! - **Waiters are told**: a release is announced on the channel `{name}:released`. Foreign holders announce nothing, so waiters also ask,
//!   when the holder's lease ends and every 100 ms or so.

mod family;
mod lock;
mod reply;
mod scripts;
mod settings;
mod subscriptions;
mod wire;

pub use family::{Machine, Redis};
pub use lock::StringLock;
pub use reply::is_from_replica;
pub use scripts::Script;
pub use settings::{DEFAULT_ANSWER_WITHIN, DEFAULT_POLL, StringSettings};
pub use subscriptions::Subscriptions;
pub use wire::{Notice, Reply, Request};

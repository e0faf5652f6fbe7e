//! Redis: each lock or operation has one key, each step is one script, and the server's clock decides.
//!
//! - [`Contender`]: one contender for a lock or a claim. `subject.rs` contains the differences between a lock and a
//!   claim: the scripts, and the meaning of their replies (`lock.rs`, `claim.rs`).
//! - [`SingleStep`]: one request about an operation or a value, or an inspection of a lock (`inspection.rs`).
//! - [`Subscriptions`]: the subscriptions that the machines of one client share.
//!
//! # Locks
//!
//! The layout `string` is the layout of redis-py's `Lock`, the redlock clients and most self-written locks: the key is
//! the lock's name, its value is the holder's token, and its time to live is the lease. This implementation stores the
//! same bytes, and adds:
//!
//! - **A repeated acquire is the same acquire.** The script compares the attempt, so a lost reply does no harm. (After
//!   a lost reply, redis-py reports its own lock as held by another client.)
//! - **An abandoned acquire stays abandoned.** If an acquire is in doubt, the release that follows leaves a tombstone.
//!   An acquire that arrives later finds the tombstone and takes no lock.
//! - **Every grant has a fence.** The acquire script counts the fences in the key `{name}:fence`.
//! - **Waiters are notified.** The release script publishes a message on the channel `{name}:released`. Foreign holders
//!   publish nothing, so waiters also poll: when the holder's lease ends, and about every 100 ms.

mod ask;
pub mod claim;
mod contender;
mod family;
mod inspection;
mod lock;
mod member;
mod reply;
mod scripts;
mod settings;
mod single_step;
mod subject;
mod subscriptions;
mod wire;

pub use contender::Contender;
pub use family::{LockSettings, Redis};
pub use reply::is_from_replica;
pub use scripts::{Call, Script};
pub use settings::{
    ClaimSettings, DEFAULT_ANSWER_WITHIN, DEFAULT_POLL, LeaseSettings, StepSettings, StringSettings,
};
pub use single_step::SingleStep;
pub use subscriptions::Subscriptions;
pub use wire::{Notice, Reply, Request};

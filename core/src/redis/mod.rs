//! Redis: one key per lock or operation, one script per step, the server's clock.
//!
//! - [`Contender`]: one contender for a lock or a claim. `subject.rs` says how a lock and a claim differ: in the
//!   scripts, and in what their answers mean (`lock.rs`, `claim.rs`).
//! - [`SingleStep`]: one request about an operation or a value, or an inspection of a lock (`inspection.rs`).
//! - [`Subscriptions`]: what the machines of one client share.
//!
//! # Locks
//!
//! The layout `string` is the one of redis-py's `Lock`, the redlock clients and most hand-written locks: the key is the
//! lock's name, its value is the holder's token, and its time to live is the lease. With the same bytes, this
//! implementation adds:
//!
//! - **A repeated acquire is the same acquire.** The script compares the attempt, so a lost reply does no harm.
//!   (redis-py reports its own lock as held then.)
//! - **An abandoned acquire stays abandoned.** If an acquire is in doubt, the release that follows leaves a tombstone.
//!   An acquire that arrives later finds the tombstone and takes no lock.
//! - **Every grant has a fence.** The acquire script counts it at the key `{name}:fence`.
//! - **Waiters are notified.** The release script publishes a message on the channel `{name}:released`. Foreign holders
//!   publish nothing, so waiters also ask the server: when the holder's lease ends, and about every 100 ms.

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

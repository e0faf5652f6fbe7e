//! Idempotent operations on ZooKeeper: the rules of [`claim::table`](crate::claim::table), by transactions.
//!
//! ```text
//!   /PREFIX/fencepost/SCOPE/BB              a bucket: keeps directories short, and guards writes
//!   /PREFIX/fencepost/SCOPE/BB/KEY          the record (persistent)
//!   /PREFIX/fencepost/SCOPE/BB/KEY/ATTEMPT  the lease of the attempt that runs the operation (ephemeral)
//! ```
//!
//! - **The lease is a node.** While the node of the attempt that the record names exists, the lease of this attempt
//!   lasts. One transaction changes the record and creates or deletes that node. So the number of this transaction is
//!   the claim's fence.
//! - **A write names the version of the record** that the client has read, or deletes the client's own lease, which
//!   only its attempt has. A version alone is no proof: a record that was deleted and created again may have the same
//!   version. So a client that deletes a record changes its bucket in the same transaction, and a write that does not
//!   delete the client's own lease also checks the bucket's version.
//! - **A release and a forget mark a record free**: its bytes say that there is no record. Only a [`sweep`] deletes it.
//! - **A claim writes first.** It assumes that there is no record, and creates one. If there is one, the transaction
//!   fails, and the client reads it. Then it decides by the table, and writes again.
//! - **A write without an answer is read back.** A barrier comes before that read. The client recognizes its attempt in
//!   the record, so a repeated request finds its own effect.
//!
//! A client cannot read the server's clock. The table compares times in two places. The end of a lease is the absence of
//! a node. The life of a token is compared after the claim, with the time at which the server created the lease: see
//! [`stored`].

mod claim;
mod exchange;
mod flight;
mod group;
mod paths;
mod settings;
mod single_step;
mod snapshot;
mod stored;
mod sweep;
mod writes;

pub use claim::Claimant;
pub use settings::{ClaimSettings, StepSettings, SweepSettings};
pub use single_step::SingleStep;
pub use sweep::Sweep;

//! Idempotent operations on ZooKeeper: transactions that implement the rules of [`claim::table`](crate::claim::table).
//!
//! ```text
//!   /PREFIX/fencepost/SCOPE/BB              a bucket: keeps directories short, and guards writes
//!   /PREFIX/fencepost/SCOPE/BB/KEY          the record (persistent)
//!   /PREFIX/fencepost/SCOPE/BB/KEY/ATTEMPT  the lease of the attempt that runs the operation (ephemeral)
//! ```
//!
//! - **The lease is a node.** The record contains the attempt that runs the operation. The lease of this attempt lasts
//!   while the attempt's node exists. One transaction changes the record and creates or deletes that node. So the
//!   number of this transaction is the claim's fence.
//! - **A write checks that the record is still the one that the client has read.** It checks the version of the record.
//!   A record that was deleted and created again may have the same version. So a client that deletes a record also
//!   changes its bucket in the same transaction, and a write also checks the bucket's version. A write that deletes the
//!   client's own lease does not need this check, because only this attempt has that lease.
//! - **A release and a forget mark a record as free**: its bytes are those of no record. Only a [`sweep`] deletes the
//!   node.
//! - **A claim writes first.** The client assumes that there is no record, and creates one. If there is a record, the
//!   transaction fails. The client then reads the record, decides by the table, and writes again.
//! - **After a write without a reply, the client reads the record.** A barrier comes before that read. The client
//!   recognizes its attempt in the record, so a repeated request finds its own effect.
//!
//! A client cannot read the server's clock, but the table compares times in two places. For the end of a lease, the
//! client checks whether the lease's node exists. For the life of a token, the client compares after the claim, with
//! the time at which the server created the lease: see [`stored`].

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

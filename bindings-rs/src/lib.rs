//! Distributed locks on ZooKeeper and Redis for async Rust.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), fencepost::Error> {
//! // memory: locks within this process; zk://HOST:PORT and redis://HOST:PORT lock across the world.
//! let client = fencepost::connect("memory:").await?;
//! let stock = client.lock("stock/42")?;
//!
//! let grant = stock.acquire().await?;
//! tokio::select! {
//!     () = sell(42, grant.fence()) => grant.release().await?,
//!     lost = grant.lost() => eprintln!("stop selling: {lost}"),
//! }
//! client.close().await?;
//! # Ok(()) }
//! # async fn sell(_item: u32, _fence: Option<u64>) {}
//! ```
//!
//! No lock by itself gives mutual exclusion across an asynchronous network: a process may pause for longer than any lease. The
//! [fence](Grant::fence) of a grant makes the lock safe, if the resource that the lock protects checks it.
//!
//! - [`connect`], [`Client`]: an address, or a connection that the program already has.
//! - [`Lock`]: a name with settings; cheap to clone and to share.
//! - [`ReadWriteLock`], [elections](Client::election), [semaphores](Client::semaphore): on ZooKeeper.
//! - [`Grant`]: the right to hold, until it is [released](Grant::release) or [lost](Grant::lost).
//! - [`Idempotency`]: operations that run once and return their first result again.
//! - `web`: a tower layer that replays responses of HTTP servers; with the feature `tower`.
//! - [`testing`]: sessions that expire, connections that are cut and clients that pause, on `memory:`.
//! - [`hub`]: the state machines, for programs with their own event loop.
//! - The feature `tracing` reports waits, holds and losses. The README lists its spans and events.
//!
//! The protocols are the same as in the clients for other languages, byte by byte: programs in Python, C and JavaScript
//! may contend for the same locks.
//!
//! # Threads, tasks, runtimes
//!
//! All types are `Send + Sync`. A client belongs to the tokio runtime in which it was made, and has one background task
//! there, for timers and notices of the server. While that runtime does not run, the client renews no grants, and calls
//! from other runtimes wait without a time limit. A current-thread runtime runs only inside of `block_on`. The task
//! that awaits an acquire or a release carries it out. Dropping a future is safe: a dropped acquire is cancelled, and a
//! dropped release continues in the background.

#![forbid(unsafe_code)]

extern crate alloc;

#[cfg(not(any(feature = "zookeeper", feature = "redis")))]
compile_error!("fencepost needs a server to lock on: turn on the feature `zookeeper` or `redis`, or both");

mod client;
pub mod clock;
mod drivers;
mod engine;
mod error;
pub mod hub;
pub mod testing;
#[cfg(feature = "tower")]
pub mod web;

pub use client::{
    Builder, Claim, Claimed, Client, Completion, Found, Grant, Idempotency, IdempotencyOptions, Lock,
    LockOptions, OnError, OnceError, Operation, Outcome, ReadWriteLock, Update,
};
pub use error::{DriverFailed, Error, Lost, Native, Refused, Shown, StoredError};
pub use fencepost_core::{
    ConfigError, Loss, Misuse, Refusal,
    claim::{Content, MAX_RESULT, Policy as OnLeaseEnd, Record, State as RecordState},
    zookeeper::Layout,
};

/// Connects to the server at `url`: `memory:`, `memory:NAME`, `zk://HOST:PORT,…/PREFIX?session_timeout=MS`, `redis://HOST:PORT`, `rediss://HOST:PORT?ca=FILE`.
///
/// # Errors
/// [`Error::Config`] for an address that is not valid; [`Error::Refused`] with [`Refusal::Unreachable`] if no server
/// replies within 5 s, with [`Refusal::AuthFailed`] if the server has refused the password, or with
/// [`Refusal::ServerError`] if its certificate cannot be verified; [`Error::NoRuntime`] outside of a tokio runtime.
pub async fn connect(url: &str) -> Result<Client, Error> {
    Client::builder().connect(url).await
}

#[cfg(all(doctest, feature = "zookeeper", feature = "redis"))]
#[doc = include_str!("../README.md")]
mod readme {}

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
//! No lock gives mutual exclusion across an asynchronous network by itself: a process may be paused for longer than any lease. What
//! is safe is the [fence](Grant::fence) of a grant, checked by the resource that the lock protects.
//!
//! - [`connect`], [`Client`]: an address, or a connection that you already have.
//! - [`Lock`]: a name with settings; cheap, and shared freely.
//! - [`ReadWriteLock`], [elections](Client::election), [semaphores](Client::semaphore): on ZooKeeper.
//! - [`Grant`]: the right to hold, until it is [released](Grant::release) or [lost](Grant::lost).
//! - [`hub`]: the state machines behind it all, for programs with an event loop of their own.
//!
//! The protocols are those of the other languages' clients, to the byte: programs in Python, C and JavaScript may contend for the
//! same locks.
//!
//! # Threads, tasks, runtimes
//!
//! Everything here is `Send + Sync`. A client belongs to the tokio runtime it was made in, and has one background task there, for
//! timers and for what servers say unasked: while that runtime does not run, grants are not renewed. Acquires and releases are
//! carried out in the task that awaits them. Dropping any future is safe: a dropped acquire is withdrawn, a dropped
//! release goes on in the background.

#![forbid(unsafe_code)]

extern crate alloc;

#[cfg(not(any(feature = "zookeeper", feature = "redis")))]
compile_error!("fencepost needs a server to lock on: turn on the feature `zookeeper` or `redis`, or both");

mod client;
pub mod clock;
mod drivers;
mod error;
pub mod hub;

pub use client::{Builder, Client, Found, Grant, Lock, LockOptions, ReadWriteLock};
pub use error::{DriverFailed, Error, Lost, Native, Refused, Shown};
pub use fencepost_core::{ConfigError, Loss, Misuse, Refusal, zookeeper::Layout};

/// Connects to the server at `url`: `memory:`, `memory:NAME`, `zk://HOST:PORT,…/PREFIX?session_timeout=MS`, `redis://HOST:PORT`, `rediss://HOST:PORT?ca=FILE`.
///
/// # Errors
/// [`Error::Config`] for an address that makes no sense; [`Error::Refused`] with [`Refusal::Unreachable`] if no server has
/// answered within 5 s, with [`Refusal::AuthFailed`] if it has refused the password, or with [`Refusal::ServerError`] if its certificate
/// is not to be trusted. Outside of a tokio runtime, [`Error::NoRuntime`].
pub async fn connect(url: &str) -> Result<Client, Error> {
    Client::builder().connect(url).await
}

#[cfg(all(doctest, feature = "zookeeper", feature = "redis"))]
#[doc = include_str!("../README.md")]
mod readme {}

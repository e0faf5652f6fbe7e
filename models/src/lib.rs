//! Model servers: small, exact stand-ins for the real servers, without I/O, clock or randomness.
//!
//! - [`zookeeper`]: how a ZooKeeper server handles the requests of locks.
//! - `redis` (feature `redis`): how a Redis server handles the commands and scripts of locks.
//! - [`memory`]: a hub on the ZooKeeper model, for `memory:` addresses. It is for demonstrations, unit tests and the
//!   browser: its locks work only within one process.
//! - `hub` (feature `std`): the hub of a client, with a driver or on a server in memory that threads share.
//!
//! `tests/simulator` compares the models' replies with those of the real servers.

#![no_std]
#![forbid(unsafe_code)]
#![warn(
    clippy::alloc_instead_of_core,
    clippy::std_instead_of_alloc,
    clippy::std_instead_of_core
)]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

#[cfg(feature = "std")]
pub mod hub;
pub mod memory;
#[cfg(feature = "redis")]
pub mod redis;
pub mod zookeeper;

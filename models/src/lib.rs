//! Model servers: small, exact stand-ins for the real ones, without I/O, clock or randomness.
//!
//! - [`zookeeper`]: what a ZooKeeper server does with the requests that locks make.
//! - `redis` (feature `redis`): what a Redis server does with the commands and scripts that locks send.
//! - [`memory`]: a hub on the ZooKeeper model, behind `memory:` addresses. For demonstrations, unit tests and the browser: it locks within
//!   one process and nothing else.
//!
//! `tests/simulator` proves that the models answer as the real servers do.

#![no_std]
#![forbid(unsafe_code)]
#![warn(
    clippy::alloc_instead_of_core,
    clippy::std_instead_of_alloc,
    clippy::std_instead_of_core
)]

extern crate alloc;

pub mod memory;
#[cfg(feature = "redis")]
pub mod redis;
pub mod zookeeper;

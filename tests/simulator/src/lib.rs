//! The proof: every machine under random schedules of faults.
//!
//! - [`world`]: clients, servers, a resource, and time; it takes one step after the other.
//! - [`schedule`]: the steps by chance: one seed is one run, the same on every machine.
//! - [`explorer`]: where it can go at all: every interleaving of small cases.
//! - [`states`]: which of their states the machines go through, against their tables.
//! - [`checker`]: what has to hold whatever happens.
//! - [`gallery`]: mutants whose broken promises it has to detect, and their correct twins, which have to pass.
//! - [`shrink`] and [`story`]: a broken promise as the shortest run that breaks it, shown as a sequence diagram.
//! - [`scenario`]: runs that are written down, because chance finds them too rarely.

pub mod backend;
pub mod chance;
pub mod checker;
pub mod cut;
pub mod explorer;
pub mod faults;
pub mod gallery;
pub mod inspector;
pub mod lua;
pub mod machines;
pub mod notation;
pub mod owners;
pub mod prove;
pub mod redis;
pub mod run;
pub mod scenario;
pub mod schedule;
mod shared;
pub mod shrink;
pub mod states;
pub mod step;
pub mod story;
pub mod subject;
pub mod trace;
pub mod world;
pub mod zookeeper;

/// Runs allocate much, and little of it for long: with the system's allocator they would take a fifth longer.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

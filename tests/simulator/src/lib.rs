//! The proof: every machine under random schedules of faults.
//!
//! - [`world`]: clients, servers, a resource, and time; it runs one step after the other.
//! - [`schedule`]: the random choice of the steps. One seed gives one run, the same on every computer.
//! - [`explorer`]: every interleaving of small cases.
//! - [`states`]: the comparison of the transitions that machines make with their state tables.
//! - [`checker`]: the promises that must always hold.
//! - [`gallery`]: mutants, whose broken promises the checker must detect, and the same locks without
//!   mistakes, which must pass.
//! - [`shrink`] and [`story`]: a broken promise as the shortest run that breaks it, shown as a sequence diagram.
//! - [`scenario`]: runs in files, because random seeds find them too rarely.

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

/// Runs allocate often and for a short time. With the system's allocator, they take a fifth longer.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

//! The proof: every machine in every weather.
//!
//! - [`world`]: clients, servers, a resource, and time; it walks step by step where it is told to.
//! - [`weather`]: where it is told to by chance: one seed is one run, the same on every machine.
//! - [`checker`]: what has to hold whatever happens.
//! - [`shrink`] and [`story`]: a broken promise as the shortest run that breaks it, told as a sequence diagram.

pub mod backend;
pub mod chance;
pub mod checker;
pub mod lua;
pub mod machines;
pub mod redis;
pub mod run;
pub mod shrink;
pub mod step;
pub mod story;
pub mod subject;
pub mod tape;
pub mod weather;
pub mod world;
pub mod zookeeper;

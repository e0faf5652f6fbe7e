//! Any bytes as inputs of a hub, and the hub's promises for all inputs.
//!
//! [`fuzz_one`] reads a story from bytes (the machines to open, their inputs, the server's answers, the
//! number of polls), plays it to a hub, and panics if the hub breaks one of its promises:
//!
//! - No input makes it panic. An input that makes no sense is an error, and changes nothing.
//! - The number of outputs after an input is bounded: see [`bound`].
//! - `poll_output` returns the same wait until the next input.
//! - Keys and command ids are never used again. An outcome for a settled command changes nothing, one for a command that was
//!   never issued is an error.
//! - A contender is granted a lock only after an acquire, and once; every acquire and release has exactly one
//!   result.
//! - A time that goes back, or far ahead, does no harm.
//! - After a shutdown and an answer to every command (from a server, or "closed"), the hub has no machine and
//!   no trace of one.
//!
//! Random bytes, the corpus and libFuzzer all use this function: see the README of this crate.

mod claimant;
mod contender;
mod parsers;
mod records;
mod redis;
mod step;
mod values;
mod world;
mod zookeeper;

pub use parsers::fuzz_parsers;
pub use world::{Seen, bound, fuzz_one, tell};

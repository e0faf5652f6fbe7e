//! Any bytes as inputs of a hub, and what a hub promises for all inputs.
//!
//! [`fuzz_one`] reads a story from bytes (which machines are opened, which inputs they get, what a server answers, how
//! far it is polled), plays it to a hub, and panics if the hub breaks one of its promises:
//!
//! - No input makes it panic. What makes no sense is an error, and has changed nothing.
//! - What an input brings out is bounded: see [`bound`].
//! - `poll_output` gives the same wait again until something is put in.
//! - Keys and command ids are never used again. An outcome for a settled command changes nothing, one for a command that was
//!   never issued is an error.
//! - A contender is granted only what it has asked for, once; and every acquire and release has exactly one end.
//! - Time that goes back, or far ahead, does no harm.
//! - After a shutdown, and an answer to everything (from a server, or "closed"), no machine is left, and the hub has forgotten them.
//!
//! Random bytes, the corpus and libFuzzer all come in here: see the README beside this crate.

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

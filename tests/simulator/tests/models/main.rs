//! The models answer like the real servers: the tests send random requests to both, and compare every byte of
//! the answers.
//!
//! `FENCEPOST_SEED` and `FENCEPOST_CASES` choose other sequences; a failure prints both variables, and the
//! sequence up to the difference.

mod chance;
mod redis;
mod zookeeper;

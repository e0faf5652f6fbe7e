//! The models answer as the real servers do: the tests send random requests by seed to both, and compare every byte of the answers.
//!
//! `FENCEPOST_SEED` and `FENCEPOST_CASES` choose other sequences; a failure prints both, and the sequence up to the difference.

mod chance;
mod redis;
mod zookeeper;

//! The models answer as the real servers do: random requests by seed, on both, compared to the byte.
//!
//! `FENCEPOST_SEED` and `FENCEPOST_CASES` choose other sequences; a failure prints both, and the sequence up to the difference.

mod chance;
mod redis;
mod zookeeper;

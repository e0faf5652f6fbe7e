//! Transcripts: what a hub is told and what it says, the same in every language.
//!
//! - [`transcript`]: the format, the replayer in Rust, the recorder.
//! - [`cases`]: what the recorder is told, case by case; each says why it exists.

pub mod cases;
pub mod transcript;

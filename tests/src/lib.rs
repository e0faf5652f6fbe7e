//! Transcripts: the inputs of a hub and the outputs that it must return, the same in every language.
//!
//! - [`transcript`]: the format, the replayer in Rust, the recorder.
//! - [`cases`]: the recorded cases. Each case has its purpose in one line.

pub mod cases;
pub mod transcript;

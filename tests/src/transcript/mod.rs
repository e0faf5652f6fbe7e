//! The format of a transcript (see `tests/transcripts/README.md`), its replayer and its recorder.

mod format;
mod lines;
mod player;
mod promise;
mod recorder;

pub use format::{Header, Input, Reply, Step};
pub use player::{Player, replay, replay_with_early_timeouts};
pub use promise::promise;
pub use recorder::Recorder;

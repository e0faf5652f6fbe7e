//! What is recorded. Each case is a function that tells a story to a [`Recorder`]; its file is named after it.

mod redis;
mod zookeeper;

use crate::transcript::Recorder;

/// A case: what is told, and why.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    family: &'static str,
    name: &'static str,
    why: &'static str,
    source: Option<&'static str>,
    tell: fn(&mut Recorder),
}

impl Case {
    /// Its file below `tests/transcripts`.
    #[must_use]
    pub fn file(&self) -> String {
        format!("{}/{}.jsonl", self.family, self.name.replace('_', "-"))
    }

    /// Its transcript.
    ///
    /// # Panics
    /// When the hub does not say what the story checks.
    #[must_use]
    pub fn text(&self) -> String {
        let mut story = Recorder::new(self.family, self.why, self.source);
        (self.tell)(&mut story);
        story.text()
    }
}

/// All cases.
#[must_use]
pub fn all() -> Vec<Case> {
    [zookeeper::cases(), redis::cases()].concat()
}

/// `cases! { "family": function, "why", "source"; … }`: the function's name is the file's.
macro_rules! cases {
    ($family:literal: $($name:ident, $why:literal $(, $source:literal)?;)*) => {
        pub(super) fn cases() -> Vec<crate::cases::Case> {
            vec![$(crate::cases::Case {
                family: $family,
                name: stringify!($name),
                why: $why,
                source: None$(.or(Some($source)))?,
                tell: $name,
            },)*]
        }
    };
}
use cases;

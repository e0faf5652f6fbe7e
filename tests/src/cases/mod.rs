//! What is recorded. Each case is a function that tells a story to a [`Recorder`]; its file is named after it.

mod guards;
mod redis;
mod zookeeper;

use crate::transcript::{Header, Recorder};

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
        format!("{}.jsonl", self.title())
    }

    fn title(&self) -> String {
        format!("{}/{}", self.family, self.name.replace('_', "-"))
    }

    /// Its transcript.
    ///
    /// # Panics
    /// When the hub does not say what the story checks.
    #[must_use]
    pub fn text(&self) -> String {
        let header = Header {
            family: self.family.into(),
            seed: 7,
            why: self.why.into(),
            source: self.source.map(String::from),
            guards: guards::of(&self.title()),
        };
        let mut story = Recorder::begun(&header);
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

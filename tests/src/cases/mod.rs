//! The recorded cases. Each case is a function that passes inputs to a [`Recorder`]; its file has its name.

mod guards;
mod redis;
mod zookeeper;

use crate::transcript::{Header, Recorder};

/// A case: a function, and its purpose.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    family: &'static str,
    name: &'static str,
    why: &'static str,
    source: Option<&'static str>,
    record: fn(&mut Recorder),
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
    /// If the hub does not return the outputs that the case checks.
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
        (self.record)(&mut story);
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
                record: $name,
            },)*]
        }
    };
}
use cases;

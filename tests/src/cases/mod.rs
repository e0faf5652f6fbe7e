//! What is recorded. Each case is a function that tells a story to a [`Recorder`]; its file is named after it.

mod redis;
mod zookeeper;

use crate::transcript::Recorder;

/// A case: its file below `tests/transcripts`, and its transcript.
pub type Case = (String, String);

/// All cases.
#[must_use]
pub fn all() -> Vec<Case> {
    [zookeeper::cases(), redis::cases()].concat()
}

fn record(family: &str, name: &str, (why, source): (&str, Option<&str>), tell: fn(&mut Recorder)) -> Case {
    let mut story = Recorder::new(family, why, source);
    tell(&mut story);
    (format!("{family}/{name}.jsonl"), story.text())
}

/// `case!(family, function, why, source)`: the function's name is the file's.
macro_rules! cases {
    ($family:literal: $($name:ident, $why:literal $(, $source:literal)?;)*) => {
        pub(super) fn cases() -> Vec<crate::cases::Case> {
            vec![$(crate::cases::record(
                $family,
                &stringify!($name).replace('_', "-"),
                ($why, None$(.or(Some($source)))?),
                $name,
            ),)*]
        }
    };
}
use cases;

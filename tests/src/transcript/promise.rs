//! The promises that cases guard, by their short names, which the replayers of all languages share.

use std::{collections::BTreeMap, sync::LazyLock};

static PROMISES: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../transcripts/promises.json")).expect("a table of texts")
});

/// The text of a promise.
///
/// # Errors
/// An unknown name; the error lists all names.
pub fn promise(name: &str) -> Result<&'static str, String> {
    PROMISES.get(name).map(String::as_str).ok_or_else(|| {
        let all: Vec<&str> = PROMISES.keys().map(String::as_str).collect();
        format!("there is no promise {name:?}; there are {}", all.join(", "))
    })
}

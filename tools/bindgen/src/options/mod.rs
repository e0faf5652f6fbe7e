//! Writes the lock options of each language, and the reference's options and errors, from the core's tables.
//!
//! The tool writes a whole file, or only its regions: the lines between `bindgen: NAME` and the next
//! `bindgen: end`.

mod c;
mod javascript;
mod python;
mod reference;
mod regions;
mod rust;
mod words;

use std::{fs, path::Path};

type Result<T> = core::result::Result<T, String>;

/// Returns a file's new text, from its current text.
type Write = fn(&str) -> Result<String>;

/// Files with their paths in the repository.
type Files = &'static [(&'static str, Write)];

const FILES: [Files; 5] = [
    c::FILES,
    javascript::FILES,
    python::FILES,
    reference::FILES,
    rust::FILES,
];

/// Updates all files. With `checks` it writes nothing, and fails if a file is not up to date.
pub(crate) fn write(checks: bool) -> Result<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut changed = Vec::new();
    for (path, write) in FILES.into_iter().flatten() {
        let at = root.join(path);
        let before = fs::read_to_string(&at).unwrap_or_default();
        let after = write(&before).map_err(|why| format!("{path}: {why}"))?;
        if after != before {
            changed.push(*path);
            if !checks {
                fs::write(&at, after).map_err(|why| format!("{path}: {why}"))?;
            }
        }
    }
    match (changed.is_empty(), checks) {
        (true, _) => Ok("all files have the options and errors of the core".into()),
        (false, false) => Ok(format!("written: {}", changed.join(", "))),
        (false, true) => Err(format!(
            "not the options and errors of the core: {}. Run `make options`.",
            changed.join(", ")
        )),
    }
}

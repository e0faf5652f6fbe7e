//! Writes what each language and the reference say about the options of locks, and the reference about errors, from the core's tables.
//!
//! A file is written whole, or has regions: the lines between one with `bindgen: NAME` and the next with `bindgen: end`.

mod c;
mod javascript;
mod python;
mod reference;
mod regions;
mod rust;
mod words;

use std::{fs, path::Path};

type Result<T> = core::result::Result<T, String>;

/// Writes a file's new text, from its present text.
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

/// Brings all files up to date. With `checks` it writes nothing, and fails if one is not.
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

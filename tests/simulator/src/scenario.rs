//! Scenarios: runs in files. Each detects the deletion of a safety check, and a fixed number of random seeds finds such a run too rarely.
//!
//! Each file in `scenarios/` has one run. On the unchanged machine it keeps every promise, and reaches the point that it tests (`reaches`,
//! `decides`). With its check deleted (`tests/deletions`), it breaks the promise that it guards.

use std::{collections::BTreeMap, path::Path};

use serde::{Deserialize, Serialize};

use crate::{checker::Seen, run::Run};

/// A run, and its purpose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// The machine that it runs.
    pub machine: String,
    /// The promise that it guards: `S3`.
    pub guards: String,
    /// The deletion that it detects, by its name in `tests/deletions`.
    pub detects: String,
    /// The events, and the failure without the check.
    pub why: String,
    /// The least number of these events on the unchanged machine, by their names in [`Seen`].
    pub reaches: BTreeMap<String, u64>,
    /// The lines of its story at which the check decides, in this order, with others between them ([`Story::lines`](crate::story::Story::lines)).
    /// `...` stands for any text.
    pub decides: Vec<String>,
    /// The seed of the machines' jitter, and of the kinds of their locks.
    pub seed: u64,
    /// For each client, how much faster its clock runs than the server's, in thousandths.
    pub drifts: Vec<i8>,
    /// The number of servers.
    pub servers: u8,
    /// Whether the recovery phase grants every waiter its lock before all is closed.
    pub grants_all: bool,
    /// The steps, in the form of [`notation`](crate::notation).
    pub steps: Vec<String>,
}

impl Scenario {
    /// Reads a file.
    ///
    /// # Errors
    /// A text that describes the fault of the file.
    pub fn read(path: &Path) -> Result<Self, String> {
        let of = |error: &dyn core::fmt::Display| format!("{}: {error}", path.display());
        let text = std::fs::read_to_string(path).map_err(|error| of(&error))?;
        serde_json::from_str(&text).map_err(|error| of(&error))
    }

    /// A run as a scenario whose purpose is still to be written.
    #[must_use]
    pub fn of(machine: &str, guards: &str, run: &Run) -> Self {
        Self {
            machine: machine.into(),
            guards: guards.into(),
            detects: String::new(),
            why: String::new(),
            reaches: BTreeMap::new(),
            decides: Vec::new(),
            seed: run.seed,
            drifts: run.setup.drifts.clone(),
            servers: run.setup.servers,
            grants_all: run.grants_all,
            steps: run.steps.iter().map(ToString::to_string).collect(),
        }
    }

    /// Requires that later runs reach at least the counts of this run.
    pub fn has_reached(&mut self, seen: &Seen) {
        let reached = seen.all().filter(|(_, often)| *often > 0);
        self.reaches = reached.map(|(what, often)| (what.into(), often)).collect();
    }

    /// Its text for a file.
    ///
    /// # Errors
    /// Never: everything in it can be written.
    pub fn text(&self) -> Result<String, String> {
        let mut text = serde_json::to_string_pretty(self).map_err(|error| error.to_string())?;
        text.push('\n');
        Ok(text)
    }

    /// The counts that it must reach, and has not reached in a run with these counts.
    #[must_use]
    pub fn missed(&self, seen: &Seen) -> Vec<String> {
        let often = |what: &str| seen.all().find(|(name, _)| *name == what).map(|(_, often)| often);
        self.reaches
            .iter()
            .filter(|(what, least)| often(what) < Some(**least))
            .map(|(what, least)| format!("{what}: {:?}, at least {least}", often(what)))
            .collect()
    }

    /// The first line of `decides` that is missing in a story of it, if any.
    #[must_use]
    pub fn undecided(&self, story: &[String]) -> Option<&str> {
        let mut story = story.iter();
        let mut comes = |wanted: &str| match wanted.split_once("...") {
            Some((begins, ends)) => story.any(|line| line.starts_with(begins) && line.ends_with(ends)),
            None => story.any(|line| line == wanted),
        };
        self.decides.iter().map(String::as_str).find(|line| !comes(line))
    }
}

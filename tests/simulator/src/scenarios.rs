//! Runs that are written down: each builds exactly the situation that one safety check is for.
//!
//! Chance would need too many seeds for these. Each was found by chance all the same, with the check taken out of the machine, and is the shortest run
//! that breaks a promise then; `story NAME SEED --steps` prints such a run. What has been seen on the way is written down, too: a machine that
//! goes another way walks past the situation, and the scenario has to be found anew.

use crate::{checker::Property, prove::Provable, step::Step};

/// A run that is written down.
#[derive(Clone, Copy, Debug)]
pub struct Scenario {
    /// Its name.
    pub name: &'static str,
    /// Which check it is for.
    pub check: &'static str,
    /// The promise that is broken without the check.
    pub breaks: Property,
    /// Whose run it is.
    pub machine: &'static dyn Provable,
    /// The seed of the machine's own jitter.
    pub seed: u64,
    /// See [`Setup`](crate::world::Setup).
    pub drifts: &'static [i8],
    /// How many servers.
    pub servers: u8,
    /// Whether the ending waits for those who wait.
    pub patient: bool,
    /// What happens.
    pub steps: &'static [Step],
    /// How many were granted on the way, and how many have come to nothing: whether it still is the way it was written for.
    pub seen: (u64, u64),
}

/// All of them.
pub static ALL: &[Scenario] = &[];

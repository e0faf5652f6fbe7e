//! The counts of events in runs.

/// How often rare things have happened.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) repeated: u64,
    pub(crate) takeovers: u64,
    pub(crate) replays: u64,
    pub(crate) replayed_completions: u64,
    pub(crate) late_completions: u64,
    pub(crate) crashes: u64,
    pub(crate) mismatches: u64,
    pub(crate) indeterminate: u64,
    pub(crate) releases: u64,
    pub(crate) losses: u64,
    pub(crate) unknown_tokens: u64,
    pub(crate) late_tokens: u64,
    pub(crate) registrations: u64,
    pub(crate) settled: u64,
    pub(crate) forgotten: u64,
    pub(crate) sweeps: u64,
}

impl Seen {
    pub(crate) const fn add(&mut self, other: &Self) {
        self.repeated += other.repeated;
        self.takeovers += other.takeovers;
        self.replays += other.replays;
        self.replayed_completions += other.replayed_completions;
        self.late_completions += other.late_completions;
        self.crashes += other.crashes;
        self.mismatches += other.mismatches;
        self.indeterminate += other.indeterminate;
        self.releases += other.releases;
        self.losses += other.losses;
        self.unknown_tokens += other.unknown_tokens;
        self.late_tokens += other.late_tokens;
        self.registrations += other.registrations;
        self.settled += other.settled;
        self.forgotten += other.forgotten;
        self.sweeps += other.sweeps;
    }
}

//! What is promised of an operation, and the account of a run.

use fencepost_core::{AttemptId, Fence, Instant, claim::Policy};

/// A promise that a run has broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Broken {
    /// Two callers got different results.
    TwoResults,
    /// The operation happened more often than its policy allows.
    RanAgain,
    /// Two attempts ran it, and both had valid claims.
    TwoAtOnce,
    /// An attempt with another fingerprint ran it.
    OtherArguments,
    /// An attempt was granted a claim that says less takeovers than there were.
    UncountedTakeover,
    /// Fences do not grow.
    Fence,
    /// Once faults have ended, a claim gets nothing for longer than a lease.
    Wedged,
    /// The hub refuses what it has to accept.
    Misuse,
}

/// One attempt that was granted a claim.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) attempt: AttemptId,
    pub(crate) fence: Fence,
    pub(crate) valid_until: Instant,
    pub(crate) has_effect: bool,
    /// The application has said that nothing has happened, and the server may know it.
    pub(crate) releases: bool,
    /// The server has confirmed that.
    pub(crate) released: bool,
    pub(crate) over: bool,
}

/// What has happened.
#[derive(Debug)]
pub(crate) struct Account {
    policy: Policy,
    pub(crate) runs: Vec<Run>,
    result: Option<Vec<u8>>,
    fingerprint: Option<Vec<u8>>,
    /// Whether a process has crashed that may have been granted a claim without knowing it.
    pub(crate) in_doubt: bool,
}

impl Account {
    pub(crate) const fn new(policy: Policy) -> Self {
        Self {
            policy,
            runs: Vec::new(),
            result: None,
            fingerprint: None,
            in_doubt: false,
        }
    }

    /// A client is granted a claim. Fences are compared with those of runs that were known before it.
    pub(crate) fn granted(
        &mut self,
        now: Instant,
        run: Run,
        takeovers: u64,
        fingerprint: &[u8],
    ) -> Result<(), Broken> {
        let others = || self.runs.iter().filter(|other| other.attempt != run.attempt);
        if others().any(|other| other.fence == run.fence) {
            return Err(Broken::Fence);
        }
        let valid = |other: &&Run| !other.over && now < other.valid_until;
        if now < run.valid_until && others().any(|other| valid(&other)) {
            return Err(Broken::TwoAtOnce);
        }
        let earlier = others().filter(|other| other.has_effect && other.fence < run.fence);
        if earlier.count() as u64 > takeovers {
            return Err(match self.policy {
                Policy::Retake => Broken::UncountedTakeover,
                Policy::Block | Policy::Indeterminate => Broken::RanAgain,
            });
        }
        if *self.fingerprint.get_or_insert_with(|| fingerprint.to_vec()) != fingerprint {
            return Err(Broken::OtherArguments);
        }
        self.runs.push(run);
        Ok(())
    }

    pub(crate) fn run(&mut self, attempt: AttemptId) -> Option<&mut Run> {
        self.runs.iter_mut().rev().find(|run| run.attempt == attempt)
    }

    /// The operation happens.
    pub(crate) fn effect(&mut self, attempt: AttemptId) -> Result<(), Broken> {
        if let Some(run) = self.run(attempt) {
            run.has_effect = true;
        }
        let effects = self.runs.iter().filter(|run| run.has_effect).count();
        match self.policy {
            Policy::Block | Policy::Indeterminate if effects > 1 => Err(Broken::RanAgain),
            _ => Ok(()),
        }
    }

    /// A caller gets this result.
    pub(crate) fn result(&mut self, result: &[u8]) -> Result<(), Broken> {
        if *self.result.get_or_insert_with(|| result.to_vec()) == result {
            Ok(())
        } else {
            Err(Broken::TwoResults)
        }
    }

    /// An attempt without an effect asks to be released. From now on the operation may be claimed with other arguments.
    pub(crate) fn releases(&mut self, attempt: AttemptId) {
        if let Some(run) = self.run(attempt) {
            run.releases = !run.has_effect;
        }
        if self.runs.iter().all(|run| run.releases) {
            self.fingerprint = None;
        }
    }

    /// Whether no attempt that was granted a claim may have had an effect: then no policy stands in the way of a claim.
    pub(crate) fn is_untouched(&self) -> bool {
        !self.in_doubt && self.runs.iter().all(|run| run.released)
    }

    pub(crate) const fn policy(&self) -> Policy {
        self.policy
    }
}

//! The promises about an operation, and the account of a run.

use fencepost_core::{AttemptId, Fence, Instant, claim::Policy};

/// A promise that a run has broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Broken {
    /// Two callers got different results.
    TwoResults,
    /// The operation happened more often than its policy allows.
    RanAgain,
    /// Two attempts ran it, and both had valid claims.
    TwoAtOnce,
    /// An attempt with another fingerprint ran it.
    OtherArguments,
    /// An attempt was granted a claim that reports fewer takeovers than there were.
    UncountedTakeover,
    /// Fences do not grow.
    Fence,
    /// After the end of all faults, a claim gets no answer for longer than a lease.
    Wedged,
    /// A claim is refused as indeterminate, although no attempt has ended with an unknown outcome.
    FalselyIndeterminate,
    /// A token that has expired was claimed.
    ExpiredToken,
    /// A token that can be claimed is refused as unknown.
    TokenDenied,
    /// A client without a claim has a lease.
    LeftLease,
    /// The hub rejects a valid call.
    Misuse,
}

/// One attempt that was granted a claim.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Run {
    pub(crate) attempt: AttemptId,
    pub(crate) fence: Fence,
    pub(crate) valid_until: Instant,
    pub(crate) has_effect: bool,
    /// The application has released the claim, and the server may know it.
    pub(crate) releases: bool,
    /// The server has confirmed the release.
    pub(crate) released: bool,
    pub(crate) over: bool,
}

/// The account of a run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Account {
    policy: Policy,
    pub(crate) runs: Vec<Run>,
    result: Option<Vec<u8>>,
    fingerprint: Option<Vec<u8>>,
    /// Whether a crashed process may have been granted a claim without knowing it.
    pub(crate) in_doubt: bool,
    /// Attempts whose leases an operator or a server has ended early.
    pub(crate) ended_early: Vec<String>,
    /// The number of registrations without a claim, which also count as the operation.
    registered: u64,
    /// Whether an operator may have deleted the record: then everything may begin again.
    pub(crate) forgotten: bool,
}

impl Account {
    pub(crate) const fn new(policy: Policy) -> Self {
        Self {
            policy,
            runs: Vec::new(),
            result: None,
            fingerprint: None,
            in_doubt: false,
            ended_early: Vec::new(),
            registered: 0,
            forgotten: false,
        }
    }

    /// A client is granted a claim. Its fence is compared with those of earlier runs.
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
        if self.forgotten {
            self.runs.push(run);
            return Ok(());
        }
        let early = |run: &Run| self.ended_early.contains(&run.attempt.text());
        let valid = |other: &&Run| !other.over && !early(other) && now < other.valid_until;
        if !early(&run) && now < run.valid_until && others().any(|other| valid(&other)) {
            return Err(Broken::TwoAtOnce);
        }
        let earlier = others().filter(|other| other.has_effect && other.fence < run.fence);
        if earlier.count() as u64 > takeovers {
            return Err(match self.policy {
                Policy::Retake => Broken::UncountedTakeover,
                Policy::Block | Policy::Indeterminate => Broken::RanAgain,
            });
        }
        self.asked_for(fingerprint)?;
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
        self.happened_once()
    }

    fn happened_once(&self) -> Result<(), Broken> {
        let effects = self.runs.iter().filter(|run| run.has_effect).count() as u64;
        match self.policy {
            Policy::Block | Policy::Indeterminate if effects + self.registered > 1 && !self.forgotten => {
                Err(Broken::RanAgain)
            }
            _ => Ok(()),
        }
    }

    /// The operation happens by a registration.
    pub(crate) fn registers(&mut self, fingerprint: &[u8]) -> Result<(), Broken> {
        self.registered += 1;
        self.happened_once()?;
        self.asked_for(fingerprint)
    }

    fn asked_for(&mut self, fingerprint: &[u8]) -> Result<(), Broken> {
        let known = self.fingerprint.get_or_insert_with(|| fingerprint.to_vec());
        if *known == fingerprint || self.forgotten {
            Ok(())
        } else {
            Err(Broken::OtherArguments)
        }
    }

    /// A caller gets this result.
    pub(crate) fn result(&mut self, result: &[u8]) -> Result<(), Broken> {
        if self.forgotten || *self.result.get_or_insert_with(|| result.to_vec()) == result {
            Ok(())
        } else {
            Err(Broken::TwoResults)
        }
    }

    /// An attempt without an effect requests its release. From now on the operation may be claimed with other
    /// arguments.
    pub(crate) fn releases(&mut self, attempt: AttemptId) {
        if let Some(run) = self.run(attempt) {
            run.releases = !run.has_effect;
        }
        if self.runs.iter().all(|run| run.releases) {
            self.fingerprint = None;
        }
    }

    /// Whether no attempt that was granted a claim may have had an effect: then no policy prevents a claim.
    pub(crate) fn is_untouched(&self) -> bool {
        !self.in_doubt && self.runs.iter().all(|run| run.released)
    }

    pub(crate) const fn policy(&self) -> Policy {
        self.policy
    }
}

//! Proving a machine: runs of many seeds. For the first seed that breaks a promise, the shortest run that breaks it, as a story.

use core::{fmt, fmt::Debug, ops::Range};

use fencepost_core::hub::Family as _;

use crate::{
    backend::{Backend, Subject},
    checker::{Seen, Violation},
    cut::{Cut, Spoken},
    faults::Faults,
    notation::NoStep,
    run::{Machine, Run, Verdict, again, by_seed},
    scenario::Scenario,
    shrink::shrink,
    step::Number,
    story::Story,
    world::Setup,
};

/// A broken promise, with the run that shows it.
#[derive(Clone, Debug)]
pub struct Counterexample {
    /// The machine.
    pub machine: &'static str,
    /// The seed of the run.
    pub seed: u64,
    /// The broken promise in the shortest run.
    pub violation: Violation,
    /// The shortest run that breaks it.
    pub run: Run,
    /// That run as a sequence diagram.
    pub story: String,
}

impl fmt::Display for Counterexample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}, seed {}: {}", self.machine, self.seed, self.violation)?;
        writeln!(
            f,
            "the shortest run that does this, of {} steps:\n",
            self.run.steps.len()
        )?;
        writeln!(f, "{}", self.story)?;
        write!(
            f,
            "again: cargo run --profile proof -p fencepost-simulator -- story {} {}",
            self.machine, self.seed
        )
    }
}

/// The result of many runs.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The number of runs.
    pub runs: u64,
    /// The counts of events in them.
    pub seen: Seen,
    /// The first broken promise.
    pub counterexample: Option<Counterexample>,
}

/// The reason why there is no transcript.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Uncut(pub String);

/// A machine on any backend.
pub trait Provable: Debug + Send + Sync {
    /// Its name.
    fn name(&self) -> &'static str;
    /// Runs these seeds with these faults, up to the first broken promise.
    fn prove(&self, seeds: Range<u64>, faults: &Faults) -> Report;
    /// The whole run of a seed as a story, and its result.
    fn story(&self, seed: u64) -> (String, Option<Violation>);
    /// The inputs of one client in the run of a seed, up to its first crash, as a transcript that every language replays.
    ///
    /// # Errors
    /// [`Uncut`] for a lock that is not one of fencepost, and for a client that the run does not have.
    fn cut(&self, seed: u64, client: Number) -> Result<String, Uncut>;
    /// Runs a scenario. Returns its story, its counts of events, and the promise that it has broken, if any.
    ///
    /// # Errors
    /// A line that is no step.
    fn walk(&self, scenario: &Scenario) -> Result<(Story, Verdict), NoStep>;
    /// The same run with only the steps that break the same promise; nothing if it breaks none.
    ///
    /// # Errors
    /// A line that is no step.
    fn shorten(&self, scenario: &Scenario) -> Result<Option<Run>, NoStep>;
}

impl<B: Spoken, S: Subject<B>> Provable for Machine<B, S>
where
    Self: Debug + Send + Sync,
{
    fn name(&self) -> &'static str {
        self.name
    }

    fn prove(&self, seeds: Range<u64>, faults: &Faults) -> Report {
        let mut report = Report::default();
        for seed in seeds {
            let (run, verdict) = by_seed(self, seed, faults);
            report.runs += 1;
            report.seen += verdict.seen;
            if let Some(violation) = verdict.violation {
                report.counterexample = Some(counterexample(self, seed, &run, violation));
                break;
            }
        }
        report
    }

    fn story(&self, seed: u64) -> (String, Option<Violation>) {
        let (run, _) = by_seed(self, seed, &Faults::ALL);
        let mut story = Story::new(run.setup.drifts.len());
        let verdict = again(self, &run, &mut story);
        (story.text().into(), verdict.violation)
    }

    fn cut(&self, seed: u64, client: Number) -> Result<String, Uncut> {
        let Some(settings) = self.settings else {
            return Err(Uncut(format!(
                "{} is no machine of fencepost: it has no transcripts",
                self.name
            )));
        };
        if (self.make)(client, 0, seed).inspects().is_some() {
            return Err(Uncut(format!(
                "client {client} of seed {seed} inspects: its machines follow from what it finds, and a transcript begins with all settings"
            )));
        }
        let (run, _) = by_seed(self, seed, &Faults::ALL);
        let clients = run.setup.drifts.len();
        if usize::from(client) >= clients {
            return Err(Uncut(format!(
                "seed {seed} has {clients} clients, from 0: there is no client {client}"
            )));
        }
        let mut cut = Cut::new(client);
        again(self, &run, &mut cut);
        cut.text(
            B::Family::NAME,
            &settings(client, seed),
            &run,
            "Cut from a run of the simulator.",
        )
    }

    fn walk(&self, scenario: &Scenario) -> Result<(Story, Verdict), NoStep> {
        let run = self.written(scenario)?;
        let mut story = Story::new(run.setup.drifts.len());
        let verdict = again(self, &run, &mut story);
        Ok((story, verdict))
    }

    fn shorten(&self, scenario: &Scenario) -> Result<Option<Run>, NoStep> {
        let run = self.written(scenario)?;
        let violation = again(self, &run, &mut ()).violation;
        Ok(violation.map(|violation| shrink(self, &run, violation.property)))
    }
}

impl<B, S> Machine<B, S> {
    fn written(&self, scenario: &Scenario) -> Result<Run, NoStep> {
        let steps = scenario.steps.iter().map(|step| step.parse());
        Ok(Run {
            setup: Setup {
                drifts: scenario.drifts.clone(),
                servers: scenario.servers,
                fair: self.fair,
                nameless: self.profile.nameless,
                longest: self.longest,
            },
            seed: scenario.seed,
            steps: steps.collect::<Result<_, _>>()?,
            grants_all: scenario.grants_all,
        })
    }
}

/// The shortest run that breaks the same promise, as a story.
pub fn counterexample<B: Backend, S: Subject<B>>(
    machine: &Machine<B, S>,
    seed: u64,
    run: &Run,
    violation: Violation,
) -> Counterexample {
    let run = shrink(machine, run, violation.property);
    let mut story = Story::new(run.setup.drifts.len());
    let verdict = again(machine, &run, &mut story);
    Counterexample {
        machine: machine.name,
        seed,
        violation: verdict.violation.unwrap_or(violation),
        story: story.text().into(),
        run,
    }
}

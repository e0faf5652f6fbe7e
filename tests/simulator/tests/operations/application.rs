//! One client: its hub with one machine, and an application that runs the operation.

use fencepost_core::{
    AcquireTimeout, AttemptId, ContenderId, Event, Instant, Intent, Key, Misuse, Output, Refusal, Timer,
    Wait,
    claim::Content,
    hub::{Family, Hub},
};
use fencepost_simulator::chance::Chance;

use crate::{
    promises::{Account, Broken, Run},
    seen::Seen,
};

/// The stage of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Stage {
    Idle,
    Claims,
    Runs(AttemptId),
    /// The effect has happened.
    Done(AttemptId),
    /// It has called complete, release or leave.
    Ends(AttemptId),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Application<F: Family> {
    pub(crate) hub: Hub<F>,
    pub(crate) key: Key,
    pub(crate) stage: Stage,
    fingerprint: Vec<u8>,
    /// How often, in a hundred steps, it performs the effect: otherwise it does something else with its
    /// claim.
    pub(crate) resolve: u32,
    lost: bool,
}

impl<F: Family> Application<F> {
    pub(crate) fn new(now: Instant, settings: F::Settings, fingerprint: &[u8], of: [u8; 2]) -> Self {
        let mut owner = [0; 16];
        owner[..2].copy_from_slice(&of);
        let mut hub = Hub::new(of[0].into());
        let key = hub
            .open(now, settings, ContenderId(owner), of[1].into())
            .expect("a new hub is open");
        Self {
            hub,
            key,
            stage: Stage::Idle,
            fingerprint: fingerprint.into(),
            resolve: 80,
            lost: false,
        }
    }

    /// Runs the next step of the application.
    pub(crate) fn step(
        &mut self,
        now: Instant,
        chance: &mut Chance,
        account: &mut Account,
        seen: &mut Seen,
    ) -> Result<&'static str, Broken> {
        let (intent, what) = match self.stage {
            Stage::Idle => {
                let acquire_timeout = match chance.below(4) {
                    0 => AcquireTimeout::Try,
                    1 => AcquireTimeout::For(core::time::Duration::from_millis(chance.below(400).into())),
                    _ => AcquireTimeout::Forever,
                };
                (Intent::Acquire(acquire_timeout), "claims")
            }
            Stage::Claims if chance.percent(20) => (Intent::Cancel, "cancels"),
            Stage::Claims | Stage::Ends(_) => return Ok(""),
            Stage::Runs(attempt) if chance.percent(self.resolve) => {
                // A correct application checks that its claim is valid. It may be paused between the check
                // and the effect.
                self.run(attempt, account)?;
                return Ok("has the effect");
            }
            Stage::Runs(_) => match chance.below(3) {
                0 => (Intent::Leave, "leaves"),
                1 => (Intent::Extend, "extends"),
                _ => (Intent::Release, "releases"),
            },
            Stage::Done(_) if chance.percent(15) => (Intent::Leave, "leaves"),
            Stage::Done(attempt) => {
                seen.late_completions += u64::from(self.lost);
                (completion(attempt), "completes")
            }
        };
        self.ask(now, intent, account)?;
        Ok(what)
    }

    /// The application claims, has the effect, or completes: the next of these.
    pub(crate) fn proceed(&mut self, now: Instant, account: &mut Account) -> Result<(), Broken> {
        match self.stage {
            Stage::Idle => self.ask(now, Intent::Acquire(AcquireTimeout::Forever), account),
            Stage::Runs(attempt) => self.run(attempt, account),
            Stage::Done(attempt) => self.ask(now, completion(attempt), account),
            Stage::Claims | Stage::Ends(_) => Ok(()),
        }
    }

    /// The application releases its claim: nothing has happened.
    pub(crate) fn release(&mut self, now: Instant, account: &mut Account) -> Result<(), Broken> {
        self.ask(now, Intent::Release, account)
    }

    /// The process ends: its run is over. If it was not idle, it may have been granted a claim without knowing it.
    pub(crate) fn crash(&self, account: &mut Account) {
        if let Stage::Runs(attempt) | Stage::Done(attempt) | Stage::Ends(attempt) = self.stage
            && let Some(run) = account.run(attempt)
        {
            run.over = true;
        }
        account.in_doubt |= self.stage != Stage::Idle;
    }

    /// Whether the hub waits for a time. It may be about to give up a claim whose answer was lost.
    pub(crate) fn waits(&mut self) -> bool {
        let (_, output) = self.hub.poll_output(None);
        let waits = |wait: Wait| wait.reason.is_some_and(|timer| timer != Timer::Linger);
        matches!(output, Output::Wait(wait) if waits(wait))
    }

    fn run(&mut self, attempt: AttemptId, account: &mut Account) -> Result<(), Broken> {
        account.effect(attempt)?;
        self.stage = Stage::Done(attempt);
        Ok(())
    }

    fn ask(&mut self, now: Instant, intent: Intent, account: &mut Account) -> Result<(), Broken> {
        let releases = intent == Intent::Release;
        let (begins, ends) = (
            matches!(intent, Intent::Acquire(_)),
            matches!(intent, Intent::Complete(_) | Intent::Leave | Intent::Release),
        );
        match self.hub.intent(now, self.key, intent) {
            Ok(()) => {}
            // The claim is still cleaning up, or has ended by itself.
            Err(Misuse::Busy) if begins => return Ok(()),
            Err(Misuse::NotHeld | Misuse::NotWaiting) if !begins && (self.lost || !ends) => {}
            Err(_) => return Err(Broken::Misuse),
        }
        if begins {
            (self.stage, self.lost) = (Stage::Claims, false);
        } else if ends && let Stage::Runs(attempt) | Stage::Done(attempt) = self.stage {
            self.stage = Stage::Ends(attempt);
            if let Some(run) = account.run(attempt) {
                run.over = true;
            }
            if releases {
                account.releases(attempt);
            }
        }
        Ok(())
    }

    /// An event of the machine. `global` converts a time of this client's clock to the common time.
    pub(crate) fn on_event(
        &mut self,
        now: Instant,
        global: impl Fn(Instant) -> Instant,
        event: &Event,
        account: &mut Account,
        seen: &mut Seen,
    ) -> Result<(), Broken> {
        match event {
            Event::Acquired { grant } => {
                seen.takeovers += u64::from(grant.takeovers > 0);
                let run = Run {
                    attempt: grant.attempt,
                    fence: grant.fence.expect("a claim has a fence"),
                    valid_until: global(grant.valid_until.expect("a claim has a lease")),
                    has_effect: false,
                    releases: false,
                    released: false,
                    over: false,
                };
                self.stage = Stage::Runs(grant.attempt);
                account.granted(now, run, grant.takeovers, &self.fingerprint)?;
            }
            Event::Extended { valid_until } | Event::Resumed { valid_until } => {
                if let Stage::Runs(attempt) | Stage::Done(attempt) = self.stage
                    && let (Some(run), Some(until)) = (account.run(attempt), valid_until)
                {
                    run.valid_until = global(*until);
                }
            }
            Event::Completed { record } => {
                account.result(&record.result)?;
                self.stage = Stage::Idle;
            }
            Event::Replayed { record } => {
                seen.replays += 1;
                seen.replayed_completions += u64::from(matches!(self.stage, Stage::Ends(_)));
                account.result(&record.result)?;
                self.end(account);
            }
            Event::Released => {
                if let Stage::Ends(attempt) = self.stage
                    && let Some(run) = account.run(attempt)
                {
                    run.released = run.releases;
                    seen.releases += u64::from(run.released);
                }
                self.stage = Stage::Idle;
            }
            Event::Lost { .. } => {
                seen.losses += 1;
                self.lost = true;
                // It may still complete if it has performed the effect; otherwise it gives up.
                match self.stage {
                    Stage::Done(attempt) | Stage::Runs(attempt) => {
                        if let Some(run) = account.run(attempt) {
                            run.over = true;
                        }
                        if self.stage == Stage::Runs(attempt) {
                            self.stage = Stage::Idle;
                        }
                    }
                    _ => self.stage = Stage::Idle,
                }
            }
            Event::Refused { reason, .. } => {
                seen.mismatches += u64::from(*reason == Refusal::Mismatch);
                seen.indeterminate += u64::from(*reason == Refusal::Indeterminate);
                seen.unknown_tokens += u64::from(*reason == Refusal::UnknownToken);
                self.stage = match self.stage {
                    // The claim continues.
                    Stage::Ends(attempt) if self.hub.pending() > 0 => Stage::Done(attempt),
                    _ => Stage::Idle,
                };
            }
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, account: &mut Account) {
        if let Stage::Ends(attempt) = self.stage
            && let Some(run) = account.run(attempt)
        {
            run.over = true;
        }
        self.stage = Stage::Idle;
    }
}

/// The result of an attempt differs from that of every other attempt.
fn completion(attempt: AttemptId) -> Intent {
    Intent::Complete(Content::new("text", attempt.text().into_bytes()).expect("a short result"))
}

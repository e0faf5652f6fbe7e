//! Runs: by seed, and again from their steps.

use core::time::Duration;
use std::{cell::Cell, panic, sync::Once};

use crate::{
    backend::{Backend, Subject},
    checker::{Property, Seen, Violation},
    faults::Faults,
    schedule::{Profile, Schedule},
    step::{Number, Step},
    trace::Trace,
    world::{Setup, World},
};

/// A kind of lock to be proved: how it is made, and what it can meet.
#[derive(Debug)]
pub struct Machine<B, S> {
    /// The name in reports and on the command line.
    pub name: &'static str,
    /// Makes the lock of a client: its number, how many processes it has had, the run's seed.
    pub make: fn(Number, u8, u64) -> S,
    /// The settings of a client's machine in the run of a seed, as they stand in transcripts; nothing for locks that are none of fencepost's.
    pub settings: Option<fn(Number, u64) -> String>,
    /// Whether waiters are granted in their order.
    pub fair: bool,
    /// The longest lease or session.
    pub longest: Duration,
    /// The faults that it can meet.
    pub profile: Profile,
    /// The servers.
    pub on: core::marker::PhantomData<fn() -> B>,
}

impl<B, S> Machine<B, S> {
    /// Other locks with the same profile. They have no settings in transcripts.
    pub const fn with<T>(&self, name: &'static str, make: fn(Number, u8, u64) -> T) -> Machine<B, T> {
        Machine {
            name,
            make,
            settings: None,
            fair: self.fair,
            longest: self.longest,
            profile: self.profile,
            on: core::marker::PhantomData,
        }
    }
}

/// One run: everything that is needed to repeat it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// How its world begins.
    pub setup: Setup,
    /// The seed of the machines' own jitter.
    pub seed: u64,
    /// What happens.
    pub steps: Vec<Step>,
    /// Whether the recovery phase grants every waiter its lock before all is closed.
    pub grants_all: bool,
}

/// The result of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// What has happened in it.
    pub seen: Seen,
    /// The first broken promise.
    pub violation: Option<Violation>,
}

/// How many steps a random run tries. About half of them change nothing where they come, and many are confirmations.
pub const STEPS: u32 = 1200;

/// The run of a seed.
#[must_use]
pub fn by_seed<B: Backend, S: Subject<B>>(
    machine: &Machine<B, S>,
    seed: u64,
    faults: &Faults,
) -> (Run, Verdict) {
    let (mut schedule, setup) = Schedule::new(seed, &machine.profile, machine.fair, machine.longest, faults);
    let grants_all = schedule.grants_all();
    let mut run = Run {
        setup,
        seed,
        steps: Vec::with_capacity(STEPS as usize),
        grants_all,
    };
    let make = |client, crashes| (machine.make)(client, crashes, seed);
    let setup = run.setup.clone();
    let steps = &mut run.steps;
    let verdict = caught(|| {
        let mut world = World::<B, S>::new(setup, &make, &mut ());
        for _ in 0..STEPS {
            let step = schedule.next(machine.profile.long, |client| world.traffic(client));
            steps.push(step);
            if !world.step(step, &make, &mut ()) {
                steps.pop();
            }
            if world.checker.violation.is_some() {
                break;
            }
        }
        finish(world, grants_all, &mut ())
    });
    (run, verdict)
}

/// The same run again.
pub fn again<B: Backend, S: Subject<B>>(
    machine: &Machine<B, S>,
    run: &Run,
    trace: &mut impl Trace<B>,
) -> Verdict {
    let make = |client, crashes| (machine.make)(client, crashes, run.seed);
    caught(|| {
        let mut world = World::<B, S>::new(run.setup.clone(), &make, trace);
        for step in &run.steps {
            world.step(*step, &make, trace);
            if world.checker.violation.is_some() {
                break;
            }
        }
        finish(world, run.grants_all, trace)
    })
}

fn finish<B: Backend, S: Subject<B>>(
    mut world: World<B, S>,
    grants_all: bool,
    trace: &mut impl Trace<B>,
) -> Verdict {
    if world.checker.violation.is_none() {
        world.recover(grants_all, trace);
    }
    Verdict {
        seen: world.checker.seen,
        violation: world.checker.violation,
    }
}

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Runs something; a panic in it is a broken promise, too.
fn caught(run: impl FnOnce() -> Verdict) -> Verdict {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                usual(info);
            }
        }));
    });
    QUIET.set(true);
    let verdict = panic::catch_unwind(panic::AssertUnwindSafe(run));
    QUIET.set(false);
    verdict.unwrap_or_else(|payload| {
        let text = payload
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| payload.downcast_ref::<&str>().copied());
        Verdict {
            seen: Seen::default(),
            violation: Some(Violation {
                property: Property::S7,
                what: format!("a panic: {}", text.unwrap_or("of an unknown kind")),
            }),
        }
    })
}

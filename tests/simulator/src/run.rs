//! Runs: by seed, and repeated from their steps.

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

/// A kind of lock to test: a function that makes it, and its possible faults.
#[derive(Debug)]
pub struct Machine<B, S> {
    /// The name in reports and on the command line.
    pub name: &'static str,
    /// Makes the lock of a client, from its number, the number of its earlier processes, and the run's seed.
    pub make: fn(Number, u8, u64) -> S,
    /// The settings of a client's machine in the run of a seed, in the form of transcripts; nothing for locks
    /// that are not fencepost's.
    pub settings: Option<fn(Number, u64) -> String>,
    /// Whether waiters are granted in their order.
    pub fair: bool,
    /// The longest lease or session.
    pub longest: Duration,
    /// The possible faults.
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
    /// The beginning of its world.
    pub setup: Setup,
    /// The seed of the machines' own jitter.
    pub seed: u64,
    /// Its steps.
    pub steps: Vec<Step>,
    /// Whether the recovery phase grants every waiter its lock before all is closed.
    pub grants_all: bool,
}

/// The result of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// The counts of its events.
    pub seen: Seen,
    /// The first broken promise.
    pub violation: Option<Violation>,
}

/// How many steps a random run tries. About half of them change nothing, and many are confirmations.
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

/// Calls `run`; a panic in it is also a broken promise.
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

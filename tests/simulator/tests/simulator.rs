//! Runs every machine with a fixed number of seeds, and checks that every mutant is detected.
//!
//! `FENCEPOST_SEED` sets the first seed, `FENCEPOST_CASES` the number of seeds, and `FENCEPOST_MACHINE`
//! selects one machine.

use std::{
    ops::Range,
    sync::atomic::{AtomicUsize, Ordering},
};

use fencepost_simulator::{
    checker::{Mode, Property},
    faults::Faults,
    gallery, machines,
    prove::{Provable, Report},
    run::Machine,
    subject::Fencepost,
    zookeeper,
};

fn number(name: &str, default: u64) -> u64 {
    let given = std::env::var(name).ok();
    given.map_or(default, |text| {
        text.parse()
            .unwrap_or_else(|_| panic!("{name}={text:?} is no number"))
    })
}

fn seeds(default: u64) -> Range<u64> {
    let first = number("FENCEPOST_SEED", 20_261_121);
    first..first + number("FENCEPOST_CASES", default)
}

fn proved(machine: &dyn Provable, cases: u64) -> Report {
    let seeds = seeds(cases);
    println!("{}: seeds {seeds:?}", machine.name());
    let report = machine.prove(seeds, &Faults::ALL);
    println!("{}: {:?}", machine.name(), report.seen);
    if let Some(counterexample) = &report.counterexample {
        panic!("{counterexample}");
    }
    report
}

/// The least counts in a thousand runs: schedules without rare events prove nothing about rare events.
const OFTEN_ENOUGH: [(&str, u64); 6] = [
    ("granted", 1500),
    ("lost grants", 125),
    ("takeovers", 100),
    ("stale writes refused", 1),
    ("recovered acquires", 100),
    ("cancelled grants", 50),
];

/// The same if some clients inspect.
const INSPECTED_OFTEN_ENOUGH: [(&str, u64); 2] = [("inspections found", 5000), ("broken contenders", 300)];

/// The same if inspections can request a revocation.
const REVOKED_OFTEN_ENOUGH: [(&str, u64); 1] = [("revocation requests received", 60)];

#[test]
fn every_machine_keeps_its_promises() {
    let only = std::env::var("FENCEPOST_MACHINE").ok();
    let chosen = |name: &str| only.as_deref().is_none_or(|only| only == name);
    assert!(
        machines::ALL.iter().any(|machine| chosen(machine.name())),
        "there is no machine {only:?}"
    );
    let machines: Vec<_> = machines::ALL
        .iter()
        .filter(|machine| chosen(machine.name()))
        .collect();
    // One thread per processor runs one machine after the other.
    let next = AtomicUsize::new(0);
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|threads| {
        for _ in 0..processors {
            threads.spawn(|| {
                while let Some(machine) = machines.get(next.fetch_add(1, Ordering::Relaxed)) {
                    keeps_its_promises(**machine);
                }
            });
        }
    });
}

fn keeps_its_promises(machine: &dyn Provable) {
    let report = proved(machine, 20_000);
    let mut least: Vec<_> = OFTEN_ENOUGH.into();
    if machine.name().contains("-inspection") {
        least.extend(INSPECTED_OFTEN_ENOUGH);
    }
    if machine.name() == "zookeeper-inspection" {
        least.extend(REVOKED_OFTEN_ENOUGH);
    }
    for (what, in_a_thousand) in least {
        // Permits have no order, so the resource rejects no fence of a permit.
        if machine.name() == "zookeeper-semaphore" && what == "stale writes refused" {
            continue;
        }
        let seen = report
            .seen
            .all()
            .find(|(name, _)| *name == what)
            .map(|(_, seen)| seen);
        let least = in_a_thousand * report.runs / 1000;
        assert!(
            seen >= Some(least),
            "{}: {what} {seen:?}, at least {least}",
            machine.name()
        );
    }
    let downgraded = report.seen.all().find(|(name, _)| *name == "downgraded");
    let least = 20 * report.runs / 1000;
    if machine.name() == "zookeeper-read-write" {
        assert!(
            downgraded >= Some(("downgraded", least)),
            "{downgraded:?}, at least {least}"
        );
    }
}

#[test]
fn the_inputs_of_a_machine_are_a_transcript() {
    // A client with an owner uses two keys, so its operations are no transcript of one machine. And the
    // application of a claim leaves a lost claim by itself.
    let of_one_key = |machine: &&&dyn Provable| {
        !machine.name().ends_with("-owners") && !machine.name().ends_with("-claim")
    };
    for machine in machines::ALL.iter().filter(of_one_key) {
        for seed in seeds(100) {
            let text = machine.cut(seed, 0).unwrap();
            fencepost_tests::transcript::replay(&text).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        }
    }
    let unknown = machines::ALL[0].cut(1, 9).unwrap_err();
    assert!(unknown.to_string().contains("there is no client 9"), "{unknown}");
    assert!(gallery::CORRECT_REDIS.cut(1, 0).is_err());
}

#[test]
fn a_seed_is_the_same_run_every_time() {
    for machine in machines::ALL {
        for seed in seeds(50) {
            assert_eq!(machine.story(seed), machine.story(seed));
        }
    }
}

#[test]
fn every_mutant_is_detected() {
    let mut missing = Vec::new();
    for mutant in gallery::all() {
        match mutant.detect(seeds(10_000)) {
            Some(counterexample) => println!(
                "{:20} {:?} by seed {}, in {} steps",
                mutant.name(),
                mutant.breaks(),
                counterexample.seed,
                counterexample.run.steps.len()
            ),
            None => missing.push(mutant.name()),
        }
    }
    assert!(missing.is_empty(), "not detected: {missing:?}");
}

#[test]
fn the_same_locks_without_the_mistake_pass() {
    proved(&gallery::CORRECT_REDIS, 3000);
    proved(&gallery::CORRECT_ZOOKEEPER, 3000);
    proved(&gallery::CORRECT_READ_WRITE, 3000);
    proved(&gallery::CORRECT_SINGLE, 3000);
    proved(&gallery::CORRECT_BOTH, 3000);
    proved(&gallery::CORRECT_INSPECTION, 3000);
}

/// A mutex whose mode allows other holders at the same time, although it excludes them.
const fn exclusive_but(
    name: &'static str,
    make: fn(u8, u8, u64) -> Fencepost<fencepost_core::zookeeper::ZooKeeper>,
) -> Machine<zookeeper::Servers, Fencepost<fencepost_core::zookeeper::ZooKeeper>> {
    machines::ZOOKEEPER_MUTEX.with(name, make)
}

#[test]
fn a_lock_that_refuses_a_compatible_holder_is_detected() {
    let readers = exclusive_but("readers-one-by-one", |client, crashes, seed| {
        (machines::ZOOKEEPER_MUTEX.make)(client, crashes, seed).granting(Mode::Shared)
    });
    let permits = exclusive_but("one-of-two-permits", |client, crashes, seed| {
        (machines::ZOOKEEPER_MUTEX.make)(client, crashes, seed).granting(Mode::Permit(2))
    });
    for machine in [readers, permits] {
        let counterexample = machine.prove(seeds(100), &Faults::ALL).counterexample;
        let found = counterexample.map(|counterexample| counterexample.violation.property);
        assert_eq!(found, Some(Property::L1), "{}", machine.name);
    }
    // A semaphore with one permit excludes others like a mutex.
    let one = exclusive_but("one-permit", |client, crashes, seed| {
        (machines::ZOOKEEPER_MUTEX.make)(client, crashes, seed).granting(Mode::Permit(1))
    });
    proved(&one, 1000);
}

//! Every machine in the weather of a fixed budget of seeds, and every rogue convicted.
//!
//! `FENCEPOST_SEED` begins with another seed, `FENCEPOST_CASES` takes another number of them, `FENCEPOST_MACHINE` takes one machine alone.

use std::ops::Range;

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
    if let Some(conviction) = &report.conviction {
        panic!("{conviction}");
    }
    report
}

/// What has to be seen in a thousand runs: weather in which nothing rare happens proves nothing about rare things.
const NOT_TOO_TAME: [(&str, u64); 6] = [
    ("granted", 1500),
    ("lost grants", 125),
    ("takeovers", 100),
    ("stale writes refused", 1),
    ("recovered acquires", 100),
    ("cancelled grants", 50),
];

/// The same where some inspect.
const NOT_TOO_QUIET: [(&str, u64); 3] = [
    ("inspections found", 5000),
    ("broken contenders", 300),
    ("wishes told", 60),
];

#[test]
fn every_machine_keeps_its_promises_in_every_weather() {
    let only = std::env::var("FENCEPOST_MACHINE").ok();
    let wanted = |name: &str| only.as_deref().is_none_or(|only| only == name);
    assert!(
        machines::ALL.iter().any(|machine| wanted(machine.name())),
        "there is no machine {only:?}"
    );
    for machine in machines::ALL.iter().filter(|machine| wanted(machine.name())) {
        let report = proved(*machine, 20_000);
        let quiet = (machine.name() == "zookeeper-inspection").then_some(NOT_TOO_QUIET);
        for (what, in_a_thousand) in NOT_TOO_TAME.into_iter().chain(quiet.into_iter().flatten()) {
            // A permit's fence orders nothing, so the resource refuses none.
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
}

#[test]
fn what_a_machine_was_told_is_a_transcript() {
    for machine in machines::ALL {
        for seed in seeds(100) {
            let text = machine.cut(seed, 0).unwrap();
            fencepost_tests::transcript::replay(&text).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        }
    }
    let stranger = machines::ALL[0].cut(1, 9).unwrap_err();
    assert!(
        stranger.to_string().contains("there is no client 9"),
        "{stranger}"
    );
    assert!(gallery::HONEST_REDIS.cut(1, 0).is_err());
}

#[test]
fn a_seed_is_the_same_run_every_time() {
    for machine in machines::ALL {
        for seed in seeds(50) {
            assert_eq!(machine.tell(seed), machine.tell(seed));
        }
    }
}

#[test]
fn every_rogue_is_convicted() {
    let mut missing = Vec::new();
    for rogue in gallery::all() {
        match rogue.convict(seeds(10_000)) {
            Some(conviction) => println!(
                "{:20} {:?} by seed {}, in {} steps",
                rogue.name(),
                rogue.breaks(),
                conviction.seed,
                conviction.run.steps.len()
            ),
            None => missing.push(rogue.name()),
        }
    }
    assert!(missing.is_empty(), "not convicted: {missing:?}");
}

#[test]
fn their_repaired_twins_are_acquitted() {
    proved(&gallery::HONEST_REDIS, 3000);
    proved(&gallery::HONEST_ZOOKEEPER, 3000);
    proved(&gallery::HONEST_READ_WRITE, 3000);
    proved(&gallery::HONEST_SINGLE, 3000);
    proved(&gallery::HONEST_BOTH, 3000);
    proved(&gallery::HONEST_INSPECTION, 3000);
}

/// The mutex, which says that others may hold beside it, and does not let them.
const fn exclusive_but(
    name: &'static str,
    make: fn(u8, u8, u64) -> Fencepost<fencepost_core::zookeeper::ZooKeeper>,
) -> Machine<zookeeper::Servers, Fencepost<fencepost_core::zookeeper::ZooKeeper>> {
    Machine {
        name,
        make,
        settings: None,
        fair: machines::ZOOKEEPER_MUTEX.fair,
        longest: machines::ZOOKEEPER_MUTEX.longest,
        climate: machines::ZOOKEEPER_MUTEX.climate,
        on: std::marker::PhantomData,
    }
}

#[test]
fn whoever_could_hold_beside_others_and_does_not_is_convicted() {
    let readers = exclusive_but("readers-one-by-one", |client, crashes, seed| {
        (machines::ZOOKEEPER_MUTEX.make)(client, crashes, seed).granting(Mode::Shared)
    });
    let permits = exclusive_but("one-of-two-permits", |client, crashes, seed| {
        (machines::ZOOKEEPER_MUTEX.make)(client, crashes, seed).granting(Mode::Permit(2))
    });
    for machine in [readers, permits] {
        let conviction = machine.prove(seeds(100), &Faults::ALL).conviction;
        let found = conviction.map(|conviction| conviction.violation.property);
        assert_eq!(found, Some(Property::L1), "{}", machine.name);
    }
    // One permit is as good as a mutex.
    let one = exclusive_but("one-permit", |client, crashes, seed| {
        (machines::ZOOKEEPER_MUTEX.make)(client, crashes, seed).granting(Mode::Permit(1))
    });
    proved(&one, 1000);
}

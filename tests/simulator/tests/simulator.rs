//! Every machine in the weather of a fixed budget of seeds, and every rogue convicted.
//!
//! `FENCEPOST_SEED` begins with another seed, `FENCEPOST_CASES` takes another number of them.

use std::ops::Range;

use fencepost_simulator::{
    gallery, machines,
    prove::{Provable, Report},
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
    let report = machine.prove(seeds);
    println!("{}: {:?}", machine.name(), report.seen);
    if let Some(conviction) = &report.conviction {
        panic!("{conviction}");
    }
    report
}

#[test]
fn every_machine_keeps_its_promises_in_every_weather() {
    for machine in machines::ALL {
        proved(*machine, 20_000);
    }
}

#[test]
fn every_rogue_is_convicted() {
    let mut missing = Vec::new();
    for rogue in gallery::ALL {
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
}

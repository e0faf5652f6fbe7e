//! Any inputs in any order: what a hub promises whatever a driver does.
//!
//! - No input makes it panic, and every intent that makes no sense is an error.
//! - What one input brings out is bounded: see [`bound`].
//! - `poll_output` gives the same wait again until something is put in.
//! - Time that goes back does no harm.
//! - After a shutdown, and an answer to everything, no machine is left.
//! - And the cases get somewhere: every event is told in some of them.
//!
//! The seed is printed; `FENCEPOST_SEED` takes another one, `FENCEPOST_CASES` another number of cases.

mod inputs;
mod world;

use core::cell::RefCell;
use std::collections::BTreeMap;

use proptest::{
    collection::vec,
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};

use inputs::{Family, step};
use world::World;

const SEED: u64 = 20_261_121;
const CASES: u32 = 1000;
const LONGEST: usize = 120;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap())
}

fn check(family: Family, reached: &[&str]) {
    let seed = number("FENCEPOST_SEED", SEED);
    let cases = u32::try_from(number("FENCEPOST_CASES", CASES.into())).unwrap();
    println!("seed {seed}, {cases} cases: FENCEPOST_SEED={seed} repeats them");
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let events = RefCell::new(BTreeMap::new());
    let outcome = TestRunner::new_with_rng(config, rng).run(&vec(step(family), 1..LONGEST), |steps| {
        let mut world = World::new(family);
        for step in &steps {
            world.take(step)?;
        }
        world.shut_down()?;
        for event in world.events {
            *events.borrow_mut().entry(event).or_insert(0) += 1;
        }
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("seed {seed}: {failure}");
    }
    let events = events.into_inner();
    println!("{events:?}");
    for event in reached {
        assert!(events.contains_key(event), "no case has reached {event:?}");
    }
}

#[test]
fn a_zookeeper_hub_takes_anything() {
    check(
        Family::ZooKeeper,
        &[
            "queued",
            "acquired",
            "extended",
            "suspended",
            "resumed",
            "lost",
            "released",
            "refused",
        ],
    );
}

#[test]
fn a_redis_hub_takes_anything() {
    check(
        Family::Redis,
        &["queued", "acquired", "extended", "lost", "released", "refused"],
    );
}

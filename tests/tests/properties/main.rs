//! Any inputs in any order: a hub's promises must hold with any driver. `tests/fuzz` lists and checks the
//! promises.
//!
//! The inputs come from random bytes, and from the corpus, in which each file reaches a state that no shorter
//! file reaches. The test prints the seed; `FENCEPOST_SEED` sets another one, `FENCEPOST_CASES` another
//! number of cases.

mod stories;

use core::cell::RefCell;
use std::{
    collections::BTreeSet,
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
};

use fencepost_core::{Loss, Refusal};
use fencepost_fuzz::{Seen, fuzz_one, fuzz_parsers};
use proptest::{
    collection::vec,
    prelude::any,
    test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner},
};

use stories::Stories;

const SEED: u64 = 20_261_121;
const CASES: u32 = 1500;
const LONGEST: usize = 800;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap())
}

/// Calls `put` with random bytes.
fn check(what: &str, longest: usize, put: impl Fn(&[u8])) {
    let seed = number("FENCEPOST_SEED", SEED);
    let cases = u32::try_from(number("FENCEPOST_CASES", CASES.into())).unwrap();
    println!("{what}: seed {seed}, {cases} cases: FENCEPOST_SEED={seed} repeats them");
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let outcome = TestRunner::new_with_rng(config, rng).run(&vec(any::<u8>(), 0..longest), |bytes| {
        put(&bytes);
        Ok(())
    });
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(why, story)) => {
            let story: String = story.iter().map(|byte| format!("{byte:02x}")).collect();
            panic!(
                "{what}: seed {seed}: {why}\nwith {story}: if it is a hub's, cargo run -p fencepost-fuzz --bin corpus -- tell {story}"
            );
        }
        Err(abort) => panic!("{what}: seed {seed}: {abort}"),
    }
}

/// Every event, and every way in which a grant or an acquire can end.
fn assert_reached(seen: &Seen) {
    let outputs: BTreeSet<_> = seen.iter().map(|(_, _, output)| *output).collect();
    let events = [
        "queued",
        "acquired",
        "extended",
        "suspended",
        "resumed",
        "released",
    ];
    let losses = Loss::ALL.iter().map(|loss| loss.name());
    let refusals = Refusal::ALL.iter().map(|refusal| refusal.name());
    for output in events.into_iter().chain(losses).chain(refusals) {
        assert!(outputs.contains(output), "no story has reached {output}");
    }
}

#[test]
fn a_hub_takes_anything() {
    let seen = RefCell::new(Seen::new());
    check("hub", LONGEST, |bytes| seen.borrow_mut().extend(fuzz_one(bytes)));
    let seen = seen.into_inner();
    println!("{} ways from an input to an output", seen.len());
    let outputs: BTreeSet<_> = seen.iter().map(|(_, _, output)| *output).collect();
    for event in [
        "queued",
        "acquired",
        "extended",
        "suspended",
        "resumed",
        "released",
        "lease-ended",
        "timeout",
    ] {
        assert!(outputs.contains(event), "no case has reached {event}");
    }
}

#[test]
fn a_hub_takes_the_corpus() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/hub");
    let mut seen = Seen::new();
    for entry in fs::read_dir(corpus).unwrap() {
        let path = entry.unwrap().path();
        let story = fs::read(&path).unwrap();
        match catch_unwind(AssertUnwindSafe(|| fuzz_one(&story))) {
            Ok(more) => seen.extend(more),
            Err(_) => panic!(
                "cargo run -p fencepost-fuzz --bin corpus -- tell {}",
                path.display()
            ),
        }
    }
    println!("{} ways from an input to an output", seen.len());
    assert_reached(&seen);
}

#[test]
fn parsers_take_anything() {
    check("parsers", 80, fuzz_parsers);
}

#[test]
fn a_hub_takes_transcripts_with_wrong_values() {
    let stories = Stories::read();
    check("transcripts", 100, |bytes| stories.tell_wrongly(bytes));
}

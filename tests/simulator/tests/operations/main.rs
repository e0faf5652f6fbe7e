//! S6: an operation happens as often as its policy allows, and all its callers get the same result.
//!
//! Clients claim one operation, have its effect, and complete it, on the model server with the real scripts. Requests
//! and answers overtake each other and are lost, client libraries send twice, clients crash between any two steps,
//! and clocks go on while a client stands still. `FENCEPOST_SEED` and `FENCEPOST_CASES` choose other runs; a failure
//! prints its run.
//!
//! The mutants are servers whose scripts lack one check. Each breaks the promise that it is listed with.

mod application;
mod promises;
mod world;

use fencepost_core::redis::Script;
use fencepost_simulator::lua::RealLua;

use promises::Broken;
use world::{Mutant, World};

const CASES: u64 = 3000;

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().expect("a number"))
}

/// The first run that breaks a promise, and what it breaks.
fn first_broken(mutant: Option<&Mutant>, cases: u64) -> Option<(u64, Broken, Vec<String>)> {
    let first = setting("FENCEPOST_SEED", 20_261_126);
    let mut lua = RealLua::new();
    (first..first + cases).find_map(|seed| {
        let mut world = World::new(seed, mutant, &mut lua);
        let broken = world.run().err()?;
        Some((seed, broken, world.story()))
    })
}

#[test]
fn an_operation_happens_as_its_policy_says() {
    let cases = setting("FENCEPOST_CASES", CASES);
    if let Some((seed, broken, story)) = first_broken(None, cases) {
        panic!(
            "seed {seed}: S6 (an operation) is broken: {broken:?}\n{}",
            story.join("\n")
        );
    }
}

/// Runs in which nothing rare happens prove nothing about rare things.
#[test]
fn rare_things_happen() {
    let first = setting("FENCEPOST_SEED", 20_261_126);
    let mut lua = RealLua::new();
    let mut seen = world::Seen::default();
    for seed in first..first + 500 {
        let mut world = World::new(seed, None, &mut lua);
        world.run().expect("no promise is broken");
        seen.add(&world.seen);
    }
    println!("{seen:?}");
    for (what, count, least) in [
        ("runs with two effects", seen.repeated, 20),
        ("takeovers", seen.takeovers, 50),
        ("replays", seen.replays, 500),
        ("replayed completions", seen.replayed_completions, 1),
        ("late completions", seen.late_completions, 20),
        ("crashes", seen.crashes, 200),
        ("mismatches", seen.mismatches, 50),
        ("indeterminate", seen.indeterminate, 20),
        ("releases", seen.releases, 20),
        ("losses", seen.losses, 50),
    ] {
        assert!(count >= least, "{what}: {count}, at least {least}: {seen:?}");
    }
}

/// A mutant, and the promise that it breaks.
const MUTANTS: [(Mutant, Broken); 8] = [
    (
        Mutant {
            script: Script::Complete,
            find: "if runs(record, ARGV[1]) then",
            replace: "if record then",
        },
        Broken::TwoResults,
    ),
    (
        Mutant {
            script: Script::ReleaseClaim,
            find: "local own = runs(record, ARGV[1])",
            replace: "local own = record",
        },
        Broken::RanAgain,
    ),
    (
        Mutant {
            script: Script::Claim,
            find: "elseif tonumber(record.lease or '0') > now then",
            replace: "elseif false then",
        },
        Broken::TwoAtOnce,
    ),
    (
        Mutant {
            script: Script::Claim,
            find: "elseif (record.fingerprint or '') ~= fingerprint then",
            replace: "elseif false then",
        },
        Broken::OtherArguments,
    ),
    (
        Mutant {
            script: Script::Claim,
            find: "elseif record.policy == 'indeterminate' then",
            replace: "elseif false then",
        },
        Broken::RanAgain,
    ),
    (
        Mutant {
            script: Script::Claim,
            find: "if redis.call('PEXPIRE', KEYS[2], ARGV[2]) == 1 then",
            replace: "if false then",
        },
        Broken::Wedged,
    ),
    (
        Mutant {
            script: Script::Claim,
            find: "record.takeovers = digits(following(record.takeovers))",
            replace: "record.takeovers = nil",
        },
        Broken::UncountedTakeover,
    ),
    (
        Mutant {
            script: Script::Leave,
            find: "redis.call('HSET', KEYS[1], 'lease', digits(now))",
            replace: "redis.call('DEL', KEYS[1])",
        },
        Broken::OtherArguments,
    ),
];

#[test]
fn every_mutant_breaks_its_promise() {
    for (mutant, expected) in &MUTANTS {
        let Some((seed, broken, _)) = first_broken(Some(mutant), 20_000) else {
            panic!("no run breaks {expected:?} without {:?}", mutant.find);
        };
        println!(
            "{:?} without {:?}: seed {seed}: {broken:?}",
            mutant.script, mutant.find
        );
        assert_eq!(broken, *expected, "without {:?}, seed {seed}", mutant.find);
    }
}

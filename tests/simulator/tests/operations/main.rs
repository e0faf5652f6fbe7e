//! S6: an operation happens as often as its policy allows, and all its callers get the same result.
//!
//! Clients claim one operation, perform its effect, and complete it. On Redis, that is the model server with
//! the real scripts: requests and answers overtake each other and are lost, and client libraries send twice.
//! On ZooKeeper, it is the simulator's ensemble: sessions move to servers that lag, and end while their
//! clients do not know it. Clients crash between any two steps, and clocks continue while a client is paused.
//! `FENCEPOST_SEED` and `FENCEPOST_CASES` choose other runs; a failure prints its run.
//!
//! The mutants lack one check: on Redis in a script, on ZooKeeper between the machines and the servers. Each
//! breaks the promise beside it in the list.

mod application;
mod orders;
mod promises;
mod redis;
mod seen;
mod zookeeper;

use core::ops::Range;

use fencepost_core::redis::Script;
use fencepost_simulator::{lua::RealLua, states::Transitions};

use promises::Broken;
use seen::Seen;

const CASES: u64 = 3000;

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().expect("a number"))
}

/// Few runs detect these mutants. For each, the list has the number of the first run that does, with which
/// the search begins. After a change of the simulator, it may be another run: then the search continues with
/// the later runs.
const RARE: [(&str, u64); 3] = [
    ("the check of the bucket", 8170),
    ("the change of the bucket by a sweep", 8170),
    ("if redis.call('PEXPIRE', KEYS[2], ARGV[2]) == 1 then", 14_849),
];

/// The number of the run with which the search for a mutant begins.
fn begin(without: &str) -> u64 {
    let rare = RARE.iter().find(|(name, _)| *name == without);
    rare.map_or(0, |(_, begin)| *begin)
}

/// The first of these runs that breaks a promise, and the broken promise. A run is a result and its story.
fn first_broken(
    runs: Range<u64>,
    mut run: impl FnMut(u64) -> (Result<(), Broken>, Vec<String>),
) -> Option<(u64, Broken, Vec<String>)> {
    let first = setting("FENCEPOST_SEED", 20_261_126);
    (first + runs.start..first + runs.end).find_map(|seed| match run(seed) {
        (Err(broken), story) => Some((seed, broken, story)),
        (Ok(()), _) => None,
    })
}

fn on_redis(mutant: Option<&redis::Mutant>, runs: Range<u64>) -> Option<(u64, Broken, Vec<String>)> {
    let mut lua = RealLua::new();
    first_broken(runs, |seed| {
        let mut world = redis::World::new(seed, mutant, &mut lua);
        (world.run(), world.story())
    })
}

fn on_zookeeper(cases: u64) -> Option<(u64, Broken, Vec<String>)> {
    first_broken(0..cases, |seed| {
        let mut world = zookeeper::World::new(seed, None);
        (world.run(), world.story())
    })
}

#[test]
fn an_operation_happens_as_its_policy_says() {
    let cases = setting("FENCEPOST_CASES", CASES);
    for (family, found) in [
        ("redis", on_redis(None, 0..cases)),
        ("zookeeper", on_zookeeper(cases)),
    ] {
        if let Some((seed, broken, story)) = found {
            panic!(
                "{family}, seed {seed}: S6 (an operation) is broken: {broken:?}\n{}",
                story.join("\n")
            );
        }
    }
}

/// Checks that rare events have happened: runs without them prove nothing about them.
#[test]
fn rare_things_happen_on_redis() {
    let first = setting("FENCEPOST_SEED", 20_261_126);
    let mut lua = RealLua::new();
    let mut seen = Seen::default();
    for seed in first..first + 500 {
        let mut world = redis::World::new(seed, None, &mut lua);
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

#[test]
fn rare_things_happen_on_zookeeper() {
    let first = setting("FENCEPOST_SEED", 20_261_126);
    let mut seen = Seen::default();
    for seed in first..first + 700 {
        let mut world = zookeeper::World::new(seed, None);
        world.run().expect("no promise is broken");
        seen.add(&world.seen);
    }
    println!("{seen:?}");
    for (what, count, least) in [
        ("runs with two effects", seen.repeated, 10),
        ("takeovers", seen.takeovers, 50),
        ("replays", seen.replays, 500),
        ("replayed completions", seen.replayed_completions, 1),
        ("late completions", seen.late_completions, 20),
        ("crashes", seen.crashes, 200),
        ("mismatches", seen.mismatches, 50),
        ("indeterminate", seen.indeterminate, 20),
        ("releases", seen.releases, 20),
        ("losses", seen.losses, 50),
        ("unknown tokens", seen.unknown_tokens, 50),
        ("tokens that were claimed too late", seen.late_tokens, 5),
        ("registrations", seen.registrations, 20),
        ("settled records", seen.settled, 20),
        ("forgotten records", seen.forgotten, 10),
        ("sweeps", seen.sweeps, 20),
    ] {
        assert!(count >= least, "{what}: {count}, at least {least}: {seen:?}");
    }
}

/// Transitions in the table of claims on ZooKeeper that do not happen here, with the reason.
const UNSEEN: [(&str, &str); 2] = [
    (
        "zookeeper-claim: Proving -> Idle",
        "the model sends no notice to a closed client: see the fuzzer",
    ),
    (
        "zookeeper-claim: Leaving -> Held",
        "no record is damaged here, and no rights change: see tests/claims",
    ),
];

/// `tests/states.rs` compares the other state tables.
#[test]
fn machines_on_zookeeper_do_what_is_in_their_tables() {
    let first = setting("FENCEPOST_SEED", 20_261_126);
    let mut seen = Transitions::default();
    for seed in first..first + 2000 {
        let mut world = zookeeper::World::new(seed, None);
        world.run().expect("no promise is broken");
        seen.add(world.transitions);
    }
    let tables = ["zookeeper-claim", "zookeeper-single-step"];
    let missing: Vec<_> = tables.iter().flat_map(|table| seen.missing(table)).collect();
    assert_eq!(missing, UNSEEN.map(|(transition, _)| transition));
    assert_eq!(seen.strays(), [""; 0]);
}

/// The mutants on Redis, each with the promise that it breaks.
const MUTANTS: [(redis::Mutant, Broken); 9] = [
    (
        redis::Mutant {
            script: Script::Claim,
            find: "if ARGV[3] == '0' and #stored == 0 then",
            replace: "if ARGV[3] == '0' then",
        },
        Broken::TwoAtOnce,
    ),
    (
        redis::Mutant {
            script: Script::Complete,
            find: "if runs(record, ARGV[1]) then",
            replace: "if record then",
        },
        Broken::TwoResults,
    ),
    (
        redis::Mutant {
            script: Script::ReleaseClaim,
            find: "local own = runs(record, ARGV[1])",
            replace: "local own = record",
        },
        Broken::RanAgain,
    ),
    (
        redis::Mutant {
            script: Script::Claim,
            find: "elseif tonumber(record.lease or '0') > now then",
            replace: "elseif false then",
        },
        Broken::TwoAtOnce,
    ),
    (
        redis::Mutant {
            script: Script::Claim,
            find: "elseif not new and (record.fingerprint or '') ~= ARGV[5] then",
            replace: "elseif false then",
        },
        Broken::OtherArguments,
    ),
    (
        redis::Mutant {
            script: Script::Claim,
            find: "elseif record.policy == 'indeterminate' then",
            replace: "elseif false then",
        },
        Broken::RanAgain,
    ),
    (
        redis::Mutant {
            script: Script::Claim,
            find: "if redis.call('PEXPIRE', KEYS[2], ARGV[2]) == 1 then",
            replace: "if false then",
        },
        Broken::Wedged,
    ),
    (
        redis::Mutant {
            script: Script::Claim,
            find: "record.takeovers = digits(following(record.takeovers))",
            replace: "record.takeovers = nil",
        },
        Broken::UncountedTakeover,
    ),
    (
        redis::Mutant {
            script: Script::Leave,
            find: "redis.call('HSET', KEYS[1], 'lease', digits(now))",
            replace: "redis.call('DEL', KEYS[1])",
        },
        Broken::OtherArguments,
    ),
];

#[test]
fn every_mutant_on_redis_breaks_its_promise() {
    for (mutant, expected) in &MUTANTS {
        let Some((seed, broken, _)) = on_redis(Some(mutant), begin(mutant.find)..20_000) else {
            panic!("no run breaks {expected:?} without {:?}", mutant.find);
        };
        println!(
            "{:?} without {:?}: seed {seed}: {broken:?}",
            mutant.script, mutant.find
        );
        assert_eq!(broken, *expected, "without {:?}, seed {seed}", mutant.find);
    }
}

#[test]
fn every_mutant_on_zookeeper_breaks_its_promise() {
    for (mutant, expected) in &zookeeper::MUTANTS {
        // It may also break other promises.
        let found = first_broken(begin(mutant.without)..40_000, |seed| {
            let mut world = zookeeper::World::new(seed, Some(mutant));
            let result = world.run().map_or_else(
                |broken| if broken == *expected { Err(broken) } else { Ok(()) },
                Ok,
            );
            (result, Vec::new())
        });
        match found {
            Some((seed, ..)) => println!("without {}: seed {seed}: {expected:?}", mutant.without),
            None => panic!("no run breaks {expected:?} without {}", mutant.without),
        }
    }
}

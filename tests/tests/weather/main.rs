//! Several clients, one server, bad weather: lost, late and reordered answers, broken connections, expired sessions, crowded servers.
//!
//! A small simulator: one seed is one story. While the weather is bad, never two valid grants, and fences grow; when it has cleared up,
//! everybody who still waits is granted in turn, and nothing is left on the server.
//!
//! `FENCEPOST_SEED` begins with another story, `FENCEPOST_CASES` tells another number of them.

mod chance;
mod checker;
mod redis;
mod redis_server;
mod zookeeper;

use std::panic;

const SEED: u64 = 20_261_121;
const CASES: u64 = 1500;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap())
}

/// Tells the stories, and says at the end what has happened in them: what never happens proves nothing.
fn tell(name: &str, story: fn(u64) -> checker::Seen) {
    let (first, cases) = (number("FENCEPOST_SEED", SEED), number("FENCEPOST_CASES", CASES));
    let mut seen = checker::Seen::default();
    for seed in first..first.wrapping_add(cases) {
        match panic::catch_unwind(|| story(seed)) {
            Ok(more) => seen.add(more),
            Err(_) => panic!("{name}: FENCEPOST_SEED={seed} FENCEPOST_CASES=1 repeats it"),
        }
    }
    println!("{name}: {cases} stories from seed {first}: {seen:?}");
    assert!(seen.granted > cases && seen.lost > 0 && seen.refused > 0 && seen.released > 0);
}

#[test]
fn zookeeper_in_bad_weather() {
    tell("zookeeper", zookeeper::story);
}

#[test]
fn redis_in_bad_weather() {
    tell("redis", redis::story);
}

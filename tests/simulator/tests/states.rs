//! Every machine makes exactly the transitions of its state table. The tests use the explorer's small cases
//! and runs by seed.

use std::sync::LazyLock;

use fencepost_simulator::{
    explorer::{Case, transitions},
    machines,
    states::{Transitions, in_runs},
};

/// Two contenders, and one of them may give up.
const TWO: Case = Case {
    contenders: 2,
    faults: 0,
    only_crashes: false,
    pauses: 0,
    in_order: true,
    may_give_up: 1,
    rested: 0,
    seed: 6,
};

/// The same with one fault at any step.
const FAULTY: Case = Case { faults: 1, ..TWO };

/// The runs of each machine.
const SEEDS: core::ops::Range<u64> = 0..1000;

/// The transitions of machines in a case, and in runs.
macro_rules! seen {
    ($($machine:ident in $case:expr),+ $(,)?) => {{
        let mut seen = Transitions::default();
        $(
            seen.add(transitions(&machines::$machine, $case));
            seen.add(in_runs(&machines::$machine, SEEDS));
        )+
        seen
    }};
}

/// Transitions in a table that do not happen in the simulator, with the reason.
const UNSEEN: [(&str, &str); 5] = [
    ("session-lease: Probing -> Absent", NO_LOGIN),
    ("session-lease: Resting -> Absent", NO_LOGIN),
    ("redis-contender: Leaving -> Held", NO_RIGHTS),
    ("redis-contender: Lapsed -> Asking", LEAVES),
    ("redis-contender: Leaving -> Lapsed", LEAVES),
];

const NO_RIGHTS: &str = "the model has no users whose rights change: see the transcripts";
const LEAVES: &str = "the application here leaves every claim: see tests/operations and the transcripts";

const NO_LOGIN: &str = "the model asks for no login, and sends no notice to a closed client";

fn does_what_is_in_its_table(machine: &str, seen: &Transitions) {
    let mut differences = seen.strays();
    let missing = seen.missing(machine);
    let unseen = |transition: &str| UNSEEN.iter().any(|(unseen, _)| *unseen == transition);
    for transition in missing.iter().filter(|transition| !unseen(transition)) {
        differences.push(format!("{transition} is in the table, and has not happened"));
    }
    for (transition, why) in UNSEEN {
        if transition.starts_with(machine) && !missing.contains(&transition.into()) {
            differences.push(format!(
                "{transition} has happened, although the list has it: {why}"
            ));
        }
    }
    assert!(differences.is_empty(), "\n{}", differences.join("\n"));
}

/// The transitions of a mutex, which belong to two tables.
static MUTEX: LazyLock<Transitions> = LazyLock::new(|| seen! { ZOOKEEPER_MUTEX in FAULTY });

#[test]
fn contender() {
    let mut seen = seen! {
        ZOOKEEPER_SINGLE in FAULTY,
        ZOOKEEPER_PLAIN in TWO,
        ZOOKEEPER_READ_WRITE in TWO,
        ZOOKEEPER_ELECTION in TWO,
        ZOOKEEPER_MIXTURE in TWO,
        // The places of a multi-lock are contenders.
        ZOOKEEPER_MULTI_LOCK in TWO,
    };
    seen.add(MUTEX.clone());
    does_what_is_in_its_table("contender", &seen);
}

#[test]
fn session_lease() {
    does_what_is_in_its_table("session-lease", &MUTEX);
}

#[test]
fn semaphore() {
    does_what_is_in_its_table("semaphore", &seen! { ZOOKEEPER_SEMAPHORE in TWO });
}

#[test]
fn multi_lock() {
    does_what_is_in_its_table("multi-lock", &seen! { ZOOKEEPER_MULTI_LOCK in TWO });
}

#[test]
fn inspection() {
    let seen = seen! { ZOOKEEPER_INSPECTION in FAULTY, ZOOKEEPER_LIST in FAULTY };
    does_what_is_in_its_table("inspection", &seen);
}

#[test]
fn redis_contender() {
    let seen = seen! { REDIS_STRING in FAULTY, REDIS_CLAIM in TWO };
    does_what_is_in_its_table("redis-contender", &seen);
}

#[test]
fn shared_grant() {
    let seen = seen! { REDIS_OWNERS in FAULTY, ZOOKEEPER_OWNERS in TWO };
    does_what_is_in_its_table("shared-grant", &seen);
}

/// Inspections are single steps. Claims and single steps on ZooKeeper are in `tests/operations`.
#[test]
fn redis_single_step() {
    does_what_is_in_its_table("redis-single-step", &seen! { REDIS_INSPECTION in TWO });
}

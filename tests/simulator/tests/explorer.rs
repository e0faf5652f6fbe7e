//! All interleavings of small cases. The tests assert the numbers of states, because a case with fewer states proves less.
//!
//! `make matrix` also searches the largest cases: each takes more than half a minute of processor time.

use fencepost_simulator::{
    backend::{Backend, Subject},
    explorer::{Case, explore},
    machines,
    run::Machine,
};

fn explored<B, S>(machine: &'static Machine<B, S>, case: Case, states: usize)
where
    B: Backend + Send + Sync,
    S: Subject<B> + Send + Sync + 'static,
{
    let started = std::time::Instant::now();
    let explored = explore(machine, case);
    println!(
        "{}, {case:?}: {} states, {:?}",
        machine.name,
        explored.states,
        started.elapsed()
    );
    if let Some((violation, steps)) = explored.violation {
        panic!("{violation}\n{}", steps.join("\n"));
    }
    assert_eq!(explored.states, states, "{}, {case:?}", machine.name);
}

/// Two clients with one fault at any step.
const TWO: Case = Case {
    contenders: 2,
    faults: 1,
    only_crashes: false,
    pauses: 2,
    in_order: false,
    may_give_up: 0,
    rested: 0,
    seed: KAZOO,
};

/// Kazoo's layout if there are two layouts; a writer, then readers.
const KAZOO: u64 = 7;

/// The same in Curator's.
const CURATOR: u64 = 6;

/// The same with less time and one order, for machines with more states.
const TWO_BRIEFLY: Case = Case {
    pauses: 0,
    in_order: true,
    seed: CURATOR,
    ..TWO
};

/// Several clients without a fault.
const fn several(contenders: u8, in_order: bool) -> Case {
    Case {
        contenders,
        faults: 0,
        only_crashes: false,
        pauses: if in_order { 0 } else { 3 },
        in_order,
        may_give_up: 0,
        rested: 0,
        seed: KAZOO,
    }
}

/// The same, and one waiter may give up at any moment.
const fn giving_up(contenders: u8) -> Case {
    Case {
        may_give_up: 1,
        ..several(contenders, true)
    }
}

#[test]
fn zookeeper_two_with_one_fault() {
    explored(&machines::ZOOKEEPER_MUTEX, TWO, 998_556);
}

#[test]
fn zookeeper_three_without_a_fault() {
    explored(&machines::ZOOKEEPER_MUTEX, several(3, true), 12_411);
}

#[test]
#[ignore = "a million states and more: make matrix walks them"]
fn zookeeper_four_without_a_fault() {
    explored(&machines::ZOOKEEPER_MUTEX, several(4, true), 1_193_605);
}

#[test]
#[ignore = "a million states and more: make matrix walks them"]
fn read_write_two_with_one_fault() {
    explored(
        &machines::ZOOKEEPER_READ_WRITE,
        Case { pauses: 1, ..TWO },
        4_670_317,
    );
}

#[test]
fn read_write_three_without_a_fault() {
    explored(&machines::ZOOKEEPER_READ_WRITE, several(3, true), 341_541);
}

/// Read/write cases by the order of the three contenders, in Curator's layout.
fn read_write_three_in(orders: &[(u64, usize)]) {
    for (seed, states) in orders {
        let case = Case {
            seed: *seed,
            ..several(3, true)
        };
        explored(&machines::ZOOKEEPER_READ_WRITE, case, *states);
    }
}

/// W R W, R R W, R W R, R W W.
#[test]
fn read_write_three_in_four_orders() {
    read_write_three_in(&[(14, 163_839), (12, 2896), (0, 11_523), (8, 12_411)]);
}

/// W R R, W W R, W W W.
#[test]
#[ignore = "a million states and more: make matrix walks them"]
fn read_write_three_in_the_other_orders() {
    read_write_three_in(&[(CURATOR, 341_541), (2, 388_444), (10, 385_373)]);
}

/// A writer comes first. Behind it, in the same queue of Kazoo's layout, are a mutex, a contender of an election, and a multi-lock.
#[test]
fn behind_a_writer_without_a_fault() {
    for (seed, states) in [(5, 66_177), (15, 66_177), (20, 46_691)] {
        let case = Case {
            seed,
            rested: 4,
            ..several(2, true)
        };
        explored(&machines::ZOOKEEPER_MIXTURE, case, states);
    }
}

#[test]
fn election_three_without_a_fault() {
    explored(&machines::ZOOKEEPER_ELECTION, several(3, true), 15_891);
}

#[test]
#[ignore = "a million states and more: make matrix walks them"]
fn election_two_with_one_fault() {
    explored(&machines::ZOOKEEPER_ELECTION, TWO, 1_013_398);
}

#[test]
fn zookeeper_three_with_one_that_may_give_up() {
    explored(&machines::ZOOKEEPER_MUTEX, giving_up(3), 247_253);
}

#[test]
fn read_write_three_with_one_that_may_give_up() {
    // Reader, writer, reader.
    let case = Case {
        seed: 0,
        ..giving_up(3)
    };
    explored(&machines::ZOOKEEPER_READ_WRITE, case, 231_709);
}

#[test]
fn single_three_with_one_that_may_give_up() {
    explored(&machines::ZOOKEEPER_SINGLE, giving_up(3), 36_138);
}

#[test]
fn semaphore_two_with_one_that_may_give_up() {
    explored(&machines::ZOOKEEPER_SEMAPHORE, giving_up(2), 44_254);
}

#[test]
fn multi_lock_two_with_one_that_may_give_up() {
    explored(&machines::ZOOKEEPER_MULTI_LOCK, giving_up(2), 191_533);
}

#[test]
#[ignore = "a million states and more: make matrix walks them"]
fn single_two_with_one_fault() {
    explored(&machines::ZOOKEEPER_SINGLE, TWO, 1_231_243);
}

#[test]
fn single_three_without_a_fault() {
    explored(&machines::ZOOKEEPER_SINGLE, several(3, true), 824);
}

#[test]
#[ignore = "a million states and more: make matrix walks them"]
fn semaphore_three_without_a_fault() {
    explored(&machines::ZOOKEEPER_SEMAPHORE, several(3, true), 2_544_142);
}

#[test]
#[ignore = "a million states and more: make matrix walks them"]
fn semaphore_three_as_curator_has_it() {
    let case = Case {
        seed: CURATOR,
        ..several(3, true)
    };
    explored(&machines::ZOOKEEPER_SEMAPHORE, case, 1_694_239);
}

#[test]
#[ignore = "a million states and more: make matrix walks them"]
fn semaphore_two_with_one_fault() {
    explored(&machines::ZOOKEEPER_SEMAPHORE, TWO_BRIEFLY, 2_484_179);
}

#[test]
fn multi_lock_two_without_a_fault() {
    explored(&machines::ZOOKEEPER_MULTI_LOCK, several(2, true), 7707);
}

#[test]
#[ignore = "a million states and more: make matrix walks them"]
fn multi_lock_two_with_one_fault() {
    explored(&machines::ZOOKEEPER_MULTI_LOCK, TWO_BRIEFLY, 2_364_258);
}

#[test]
fn redis_two_with_one_fault() {
    explored(&machines::REDIS_STRING, TWO, 27_664);
}

#[test]
fn redis_three_without_a_fault() {
    explored(&machines::REDIS_STRING, several(3, false), 479_176);
}

#[test]
fn redis_claims_two_with_one_fault() {
    explored(&machines::REDIS_CLAIM, TWO, 29_666);
}

/// Two clients, and a crash of one of them at any step.
const CRASH: Case = Case {
    only_crashes: true,
    ..TWO
};

#[test]
fn zookeeper_claims_two_with_a_crash() {
    explored(&machines::ZOOKEEPER_CLAIM, CRASH, 339_895);
}

#[test]
#[ignore = "a million states and more: make matrix walks them"]
fn zookeeper_claims_two_with_one_fault() {
    explored(&machines::ZOOKEEPER_CLAIM, TWO_BRIEFLY, 1_148_215);
}

/// The inspected lock, and the task for the found contender. The third client also contends.
const fn inspected(kind: u64, turn: u64) -> u64 {
    CURATOR | kind << 6 | 1 << 8 | 1 << 9 | turn << 10
}

const MUTEX: u64 = 0;
const SEMAPHORE: u64 = 2;

const BREAK: u64 = 0;
const REVOKE: u64 = 1;
const BREAK_ANOTHER: u64 = 2;

#[test]
fn inspection_of_a_mutex_with_one_fault() {
    for (turn, states) in [(BREAK, 42_967), (REVOKE, 42_156), (BREAK_ANOTHER, 24_658)] {
        let case = Case {
            in_order: true,
            seed: inspected(MUTEX, turn),
            ..TWO
        };
        explored(&machines::ZOOKEEPER_INSPECTION, case, states);
    }
}

#[test]
fn inspection_of_two_contenders() {
    let case = Case {
        seed: inspected(MUTEX, BREAK),
        ..several(3, true)
    };
    explored(&machines::ZOOKEEPER_INSPECTION, case, 168_150);
}

#[test]
fn inspection_that_may_be_given_up() {
    for (kind, turn, states) in [
        (MUTEX, BREAK, 1033),
        (MUTEX, REVOKE, 967),
        (SEMAPHORE, BREAK, 27_063),
        (SEMAPHORE, REVOKE, 24_637),
    ] {
        let case = Case {
            seed: inspected(kind, turn),
            ..giving_up(2)
        };
        explored(&machines::ZOOKEEPER_INSPECTION, case, states);
    }
}

#[test]
fn redis_inspection_with_one_fault() {
    let case = Case {
        seed: inspected(MUTEX, BREAK),
        ..TWO
    };
    explored(&machines::REDIS_INSPECTION, case, 6300);
}

#[test]
fn redis_inspection_of_two_contenders() {
    let case = Case {
        seed: inspected(MUTEX, BREAK),
        ..several(3, false)
    };
    explored(&machines::REDIS_INSPECTION, case, 31_744);
}

/// A queue of plain names, and a single node.
#[test]
fn list_of_names_that_are_used_again_with_one_fault() {
    for (kind, states) in [(0, 19_190), (1, 8165)] {
        let case = Case {
            in_order: true,
            seed: inspected(kind, 0),
            ..TWO
        };
        explored(&machines::ZOOKEEPER_LIST, case, states);
    }
}

/// An owner that writes and reads, before owners that read twice.
const OWNERS: u64 = CURATOR | 1 << 33;

#[test]
fn owners_three_without_a_fault() {
    let case = Case {
        seed: OWNERS,
        ..several(3, true)
    };
    explored(&machines::ZOOKEEPER_OWNERS, case, 342_969);
}

#[test]
fn owners_two_with_one_fault() {
    let case = Case {
        seed: OWNERS,
        ..TWO_BRIEFLY
    };
    explored(&machines::ZOOKEEPER_OWNERS, case, 455_659);
}

#[test]
fn redis_owners_two_with_one_fault() {
    explored(&machines::REDIS_OWNERS, TWO, 27_664);
}

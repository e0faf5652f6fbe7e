//! Wrong inspections with correct contenders, and a holder that does not watch its node with correct
//! inspections.

use fencepost_core::zookeeper::ZooKeeper;

use crate::{
    backend::Subject,
    checker::Property,
    inspector::{Inspector, OnZooKeeper, Party},
    machines::{Kind, ZOOKEEPER_INSPECTION, inspects, turn},
    run::Machine,
    step::Number,
    subject::{Fencepost, owner},
    zookeeper::Servers,
};

use super::{
    Detectable, Mutant,
    zookeeper::{Looker, Oversight, Unwatching},
};

type Inspected = Party<Fencepost<ZooKeeper>, Looker>;
type Unwatched = Party<Unwatching, Inspector<OnZooKeeper>>;

const fn like_it<S: Subject<Servers>>(
    name: &'static str,
    make: fn(Number, u8, u64) -> S,
) -> Machine<Servers, S> {
    ZOOKEEPER_INSPECTION.with(name, make)
}

fn small(client: Number, crashes: u8, seed: u64, oversight: Option<Oversight>) -> Inspected {
    if inspects(client, seed) {
        Party::Inspects(Looker::new(turn(seed), oversight))
    } else {
        Party::Contends(Kind::MUTEX.contender(client, crashes, seed))
    }
}

macro_rules! overlooked {
    ($($name:ident: $oversight:ident, $breaks:ident, $kebab:literal, $mistake:literal, $source:literal;)*) => {
        $(static $name: Mutant<Servers, Inspected> = Mutant {
            mistake: $mistake,
            source: $source,
            breaks: Property::$breaks,
            machine: like_it($kebab, |client, crashes, seed| {
                small(client, crashes, seed, Some(Oversight::$oversight))
            }),
        };)*

        /// All of them.
        pub(super) static ALL: &[&dyn Detectable] = &[$(&$name,)* &UNWATCHED];
    };
}

overlooked! {
    REMEMBERED: Remembers, S9, "remembered",
        "answers a list from a stale cache", "home-made dashboards; Curator's PathChildrenCache behind a lost connection";
    LEFT_OUT: LeavesOut, S9, "left-out",
        "leaves a contender that it could not read out of the list", "home-made scripts that take any exception for NoNode";
    UNDONE: SilenceIsDone, S9, "break-unanswered",
        "treats a break without an answer as done, and the contender still holds", "home-made scripts";
    BY_PATH: ByPath, S5, "break-by-path",
        "breaks a contender by its path, and does not compare its fence", "zkCli: delete knows no fences";
    OTHER_WORDS: OtherWords, L3, "other-words",
        "the revocation request is written in a format that the holder does not read", "home-made revokers; Curator and its ports agree on __REVOKE__";
}

static UNWATCHED: Mutant<Servers, Unwatched> = Mutant {
    mistake: "sets no watch on its own node, so a holder does not receive a revocation request",
    source: "Curator's InterProcessMutex, unless makeRevocable is called",
    breaks: Property::L3,
    machine: like_it("unwatched-revocation", |client, crashes, seed| {
        if inspects(client, seed) {
            let owner = owner(client, crashes);
            Party::Inspects(Inspector::new(Kind::MUTEX.lock(seed), owner, seed, turn(seed)))
        } else {
            Party::Contends(Unwatching(Kind::MUTEX.contender(client, crashes, seed)))
        }
    }),
};

/// See [`CORRECT_REDIS`](super::CORRECT_REDIS).
pub static CORRECT_INSPECTION: Machine<Servers, Inspected> =
    like_it("small-inspection", |client, crashes, seed| {
        small(client, crashes, seed, None)
    });

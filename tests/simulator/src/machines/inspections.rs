//! Inspections of locks, together with their contenders.

mod redis;

use fencepost_core::zookeeper::{Layout, Role, ZooKeeper};

use crate::{
    backend::Subject,
    inspector::{Inspector, OnZooKeeper, Party},
    run::Machine,
    schedule::Profile,
    step::Number,
    subject::{Fencepost, owner},
    zookeeper::{PERMITS, Servers},
};

use super::{
    ENSEMBLE, ZOOKEEPER_ELECTION, ZOOKEEPER_MUTEX, ZOOKEEPER_PLAIN, ZOOKEEPER_READ_WRITE,
    ZOOKEEPER_SEMAPHORE, ZOOKEEPER_SINGLE, layout, zookeeper,
};

pub use redis::{REDIS_INSPECTION, REDIS_INSPECTION_OWNERS};

/// A contender for a lock of ZooKeeper, or an inspector of it.
pub type AtALock = Party<Fencepost<ZooKeeper>, Inspector<OnZooKeeper>>;

/// A lock that is inspected: its contenders, and its name for inspectors.
#[derive(Debug)]
pub struct Kind {
    like: &'static Machine<Servers, Fencepost<ZooKeeper>>,
    name: &'static str,
    of: Role,
    /// Single nodes and the layout `plain` use paths again: another owner may have a node between the read and the deletion, and
    /// ZooKeeper compares no fences. So no contender is broken or revoked there.
    only_listed: bool,
}

/// The seed of a run chooses the lock.
static INSPECTED: [Kind; 4] = [
    Kind::MUTEX,
    Kind {
        like: &ZOOKEEPER_READ_WRITE,
        of: Role::Writer,
        ..Kind::MUTEX
    },
    Kind {
        like: &ZOOKEEPER_SEMAPHORE,
        of: Role::Permit {
            permits: PERMITS as u32,
        },
        ..Kind::MUTEX
    },
    Kind {
        like: &ZOOKEEPER_ELECTION,
        of: Role::Candidate,
        ..Kind::MUTEX
    },
];

static LISTED: [Kind; 2] = [
    Kind {
        like: &ZOOKEEPER_PLAIN,
        only_listed: true,
        ..Kind::MUTEX
    },
    Kind {
        like: &ZOOKEEPER_SINGLE,
        name: "stock/single",
        of: Role::Single,
        only_listed: true,
    },
];

impl Kind {
    /// The mutex.
    pub const MUTEX: Self = Self {
        like: &ZOOKEEPER_MUTEX,
        name: "stock",
        of: Role::Mutex,
        only_listed: false,
    };

    /// The lock of a run.
    #[must_use]
    pub fn of(all: &'static [Self], seed: u64) -> &'static Self {
        &all[usize::try_from(seed >> 6).unwrap_or_default() % all.len()]
    }

    /// The settings of a contender. In half of the runs, it receives revocation requests at once.
    fn settings(&self, client: Number, seed: u64) -> String {
        let settings = self.like.settings.map(|settings| settings(client, seed));
        let settings = settings.unwrap_or_default();
        if self.of == Role::Single || seed >> 9 & 1 == 0 {
            return settings;
        }
        settings.replace("500000}", r#"500000, "revocable": true}"#)
    }

    fn layout(&self, seed: u64) -> Layout {
        match (self.only_listed, self.of, layout(seed)) {
            (true, Role::Mutex, _) => Layout::Plain {
                prefix: "node_".into(),
            },
            (false, Role::Writer | Role::Permit { .. } | Role::Candidate, "kazoo") => Layout::Kazoo,
            _ => Layout::Curator,
        }
    }

    /// A contender for it.
    #[must_use]
    pub fn contender(&self, client: Number, crashes: u8, seed: u64) -> Fencepost<ZooKeeper> {
        let mode = Subject::<Servers>::mode(&(self.like.make)(client, crashes, seed));
        zookeeper(&self.settings(client, seed), client, crashes, seed).granting(mode)
    }

    /// The lock in the form for an inspector.
    #[must_use]
    pub fn lock(&self, seed: u64) -> OnZooKeeper {
        OnZooKeeper {
            name: self.name,
            layout: self.layout(seed),
            of: self.of,
            only_listed: self.only_listed,
        }
    }
}

/// Which clients inspect: the second, and in half of the runs also the third.
#[must_use]
pub(crate) const fn inspects(client: Number, seed: u64) -> bool {
    client == 1 || client == 2 && seed >> 8 & 1 == 0
}

/// The first task of an inspector in its run.
#[must_use]
pub(crate) const fn turn(seed: u64) -> u64 {
    seed >> 10 & 15
}

fn make(all: &'static [Kind], client: Number, crashes: u8, seed: u64) -> AtALock {
    let kind = Kind::of(all, seed);
    if inspects(client, seed) {
        let owner = owner(client, crashes);
        return Party::Inspects(Inspector::new(kind.lock(seed), owner, seed, turn(seed)));
    }
    Party::Contends(kind.contender(client, crashes, seed))
}

/// Lists of a lock, breaks and revokes.
pub static ZOOKEEPER_INSPECTION: Machine<Servers, AtALock> = Machine {
    name: "zookeeper-inspection",
    make: |client, crashes, seed| make(&INSPECTED, client, crashes, seed),
    settings: Some(|client, seed| Kind::of(&INSPECTED, seed).settings(client, seed)),
    fair: true,
    longest: ZOOKEEPER_MUTEX.longest,
    profile: ENSEMBLE,
    on: core::marker::PhantomData,
};

/// Lists of locks whose paths are used again.
pub static ZOOKEEPER_LIST: Machine<Servers, AtALock> = Machine {
    name: "zookeeper-list",
    make: |client, crashes, seed| make(&LISTED, client, crashes, seed),
    settings: Some(|client, seed| Kind::of(&LISTED, seed).settings(client, seed)),
    fair: false,
    profile: Profile {
        nameless: true,
        ..ENSEMBLE
    },
    ..ZOOKEEPER_INSPECTION
};

//! The list of all machines. A new machine needs an entry here.
//!
//! If the grants of a machine do not all exclude each other, `make` sets the [`Mode`] of a client's grants
//! with [`Fencepost::granting`]. A semaphore's grants have the mode `Permit(n)`. Of the clients of a
//! read/write lock, some are readers (`Shared`) and some are writers: the bits of the seed choose them, so
//! each run has its own mixture. The mode decides
//!
//! - which clients may hold at once, which fences are ordered, and what the resource accepts: see [`checker`](crate::checker);
//! - which clients the recovery phase lets hold at once, and in which order. A client has its turn if it could hold while all clients before it in
//!   [`Backend::queue`](crate::backend::Backend::queue) hold. It gets its turn without a release.
//!
//! A grant may change its mode, for example from a writer's to a reader's. It has the new mode from the
//! operation on: the client believes in a [`Hold`](crate::checker::Hold) of the new mode as soon as it has
//! called downgrade, because others may be granted before it receives the answer.

mod claims;
mod inspections;
mod mixture;
mod owners;

use core::{cell::RefCell, marker::PhantomData, time::Duration};

use fencepost_core::{
    Settings,
    redis::{LockSettings as RedisSettings, Redis, StringSettings},
    zookeeper::{LockSettings as ZooKeeperSettings, ZooKeeper},
};

use crate::{
    checker::Mode,
    prove::Provable,
    redis,
    run::Machine,
    schedule::Profile,
    step::{Number, ServerFault},
    subject::{Fencepost, owner},
    world::BEGINNING,
    zookeeper::{self, PERMITS},
};

pub use claims::{Claimant, REDIS_CLAIM, ZOOKEEPER_CLAIM};
pub use inspections::{
    AtALock, Kind, REDIS_INSPECTION, REDIS_INSPECTION_OWNERS, ZOOKEEPER_INSPECTION, ZOOKEEPER_LIST,
};
pub(crate) use inspections::{inspects, turn};
pub use mixture::ZOOKEEPER_MIXTURE;
pub use owners::{REDIS_OWNERS, ZOOKEEPER_OWNERS};

/// The faults of a client and of its ensemble.
const ENSEMBLE: Profile = Profile {
    servers: 3,
    long: 400_000,
    server_faults: &[
        ServerFault::Expire(0),
        ServerFault::Operator(0),
        ServerFault::Throttle(0),
        ServerFault::Forget,
        ServerFault::FailOver,
        ServerFault::Restart,
        ServerFault::CatchUp(0),
        ServerFault::CutOff(0),
        ServerFault::Depose,
    ],
    drifts: true,
    nameless: false,
};

thread_local! {
    /// A cache of parsed settings: there are few different ones.
    static READ: RefCell<Vec<(String, ZooKeeperSettings)>> = const { RefCell::new(Vec::new()) };
}

/// Settings from their text.
fn zookeeper_settings(settings: &str) -> ZooKeeperSettings {
    READ.with_borrow_mut(|read| {
        if let Some((_, known)) = read.iter().find(|(text, _)| text == settings) {
            return known.clone();
        }
        let Ok(Settings::ZooKeeper(machine)) = serde_json::from_str(settings) else {
            panic!("no settings of ZooKeeper: {settings}");
        };
        read.push((settings.into(), machine.clone()));
        machine
    })
}

/// A machine with these settings.
fn zookeeper(settings: &str, client: Number, crashes: u8, seed: u64) -> Fencepost<ZooKeeper> {
    let machine = zookeeper_settings(settings);
    Fencepost::new(BEGINNING, machine, owner(client, crashes), seed)
}

/// The layout of a run: Curator's or Kazoo's, by the seed's first bit.
const fn layout(seed: u64) -> &'static str {
    if seed & 1 == 0 { "curator" } else { "kazoo" }
}

fn mutex(_client: Number, _seed: u64) -> String {
    r#"{"kind": "zookeeper-mutex", "name": "stock", "prefix": "shop", "answer_within": 500000}"#.into()
}

/// The fair mutex of ZooKeeper.
pub static ZOOKEEPER_MUTEX: Machine<zookeeper::Servers, Fencepost<ZooKeeper>> = Machine {
    name: "zookeeper-mutex",
    make: |client, crashes, seed| zookeeper(&mutex(client, seed), client, crashes, seed),
    settings: Some(mutex),
    fair: true,
    longest: zookeeper::TIMEOUT,
    profile: ENSEMBLE,
    on: PhantomData,
};

fn election(_client: Number, seed: u64) -> String {
    let layout = layout(seed);
    format!(
        r#"{{"kind": "zookeeper-election", "name": "stock", "prefix": "shop", "layout": "{layout}", "answer_within": 500000}}"#
    )
}

/// An election on ZooKeeper: the leader holds.
pub static ZOOKEEPER_ELECTION: Machine<zookeeper::Servers, Fencepost<ZooKeeper>> = Machine {
    name: "zookeeper-election",
    make: |client, crashes, seed| zookeeper(&election(client, seed), client, crashes, seed),
    settings: Some(election),
    ..ZOOKEEPER_MUTEX
};

fn plain(_client: Number, _seed: u64) -> String {
    r#"{"kind": "zookeeper-mutex", "name": "stock", "prefix": "shop", "layout": "plain", "answer_within": 500000}"#.into()
}

/// The same in the layout in which the name of a node does not identify the attempt that created it.
pub static ZOOKEEPER_PLAIN: Machine<zookeeper::Servers, Fencepost<ZooKeeper>> = Machine {
    name: "zookeeper-plain",
    make: |client, crashes, seed| zookeeper(&plain(client, seed), client, crashes, seed),
    settings: Some(plain),
    ..ZOOKEEPER_MUTEX
};

/// The fair mutex, on servers whose shortest session timeout becomes longer.
pub static ZOOKEEPER_TIMEOUTS: Machine<zookeeper::Servers, Fencepost<ZooKeeper>> = Machine {
    name: "zookeeper-timeouts",
    longest: zookeeper::LONGER,
    profile: Profile {
        server_faults: &[
            ServerFault::Timeouts,
            ServerFault::FailOver,
            ServerFault::Restart,
            ServerFault::CatchUp(0),
            ServerFault::CutOff(0),
            ServerFault::Depose,
        ],
        ..ENSEMBLE
    },
    ..ZOOKEEPER_MUTEX
};

/// Whether a client reads: a random choice in each run.
const fn reads(client: Number, seed: u64) -> bool {
    seed >> (1 + client % 32) & 1 == (client & 1) as u64
}

fn read_write(client: Number, seed: u64) -> String {
    let role = if reads(client, seed) { "reader" } else { "writer" };
    let layout = layout(seed);
    format!(
        r#"{{"kind": "zookeeper-{role}", "name": "stock", "prefix": "shop", "layout": "{layout}", "answer_within": 500000}}"#
    )
}

/// The read/write lock of ZooKeeper: some clients read, some write.
pub static ZOOKEEPER_READ_WRITE: Machine<zookeeper::Servers, Fencepost<ZooKeeper>> = Machine {
    name: "zookeeper-read-write",
    make: |client, crashes, seed| {
        let mode = if reads(client, seed) {
            Mode::Shared
        } else {
            Mode::Exclusive
        };
        zookeeper(&read_write(client, seed), client, crashes, seed).granting(mode)
    },
    settings: Some(read_write),
    ..ZOOKEEPER_MUTEX
};

fn single(_client: Number, _seed: u64) -> String {
    r#"{"kind": "zookeeper-single", "name": "stock/single", "prefix": "shop", "answer_within": 500000}"#
        .into()
}

/// The single-node lock of ZooKeeper.
pub static ZOOKEEPER_SINGLE: Machine<zookeeper::Servers, Fencepost<ZooKeeper>> = Machine {
    name: "zookeeper-single",
    make: |client, crashes, seed| zookeeper(&single(client, seed), client, crashes, seed),
    settings: Some(single),
    fair: false,
    profile: Profile {
        nameless: true,
        ..ENSEMBLE
    },
    ..ZOOKEEPER_MUTEX
};

fn semaphore(_client: Number, seed: u64) -> String {
    let layout = layout(seed);
    format!(
        r#"{{"kind": "zookeeper-semaphore", "name": "stock", "prefix": "shop", "permits": {PERMITS}, "layout": "{layout}", "answer_within": 500000}}"#
    )
}

/// A semaphore of ZooKeeper with a few permits.
pub static ZOOKEEPER_SEMAPHORE: Machine<zookeeper::Servers, Fencepost<ZooKeeper>> = Machine {
    name: "zookeeper-semaphore",
    make: |client, crashes, seed| {
        zookeeper(&semaphore(client, seed), client, crashes, seed).granting(Mode::Permit(PERMITS))
    },
    settings: Some(semaphore),
    ..ZOOKEEPER_MUTEX
};

fn multi_lock(client: Number, seed: u64) -> String {
    let names = [r#""stock", "till""#, r#""till", "stock""#][usize::from(client % 2)];
    let layout = layout(seed);
    format!(
        r#"{{"kind": "zookeeper-multi-lock", "names": [{names}], "prefix": "shop", "layout": "{layout}", "answer_within": 500000}}"#
    )
}

/// The multi-lock of ZooKeeper on two locks: half of the clients name them in the other order.
pub static ZOOKEEPER_MULTI_LOCK: Machine<zookeeper::Servers, Fencepost<ZooKeeper>> = Machine {
    name: "zookeeper-multi-lock",
    make: |client, crashes, seed| zookeeper(&multi_lock(client, seed), client, crashes, seed),
    settings: Some(multi_lock),
    ..ZOOKEEPER_MUTEX
};

/// The settings of the lock of Redis.
fn string() -> StringSettings {
    let margin = Duration::from_millis(2);
    let mut settings = StringSettings::new(redis::KEY, redis::TTL, margin).expect("good settings");
    settings.lease.answer_within = Duration::from_millis(90);
    settings
}

/// The lock of Redis in the layout `string`.
pub static REDIS_STRING: Machine<redis::Servers, Fencepost<Redis>> = Machine {
    name: "redis-string",
    make: |client, crashes, seed| {
        let machine = RedisSettings::String(string());
        Fencepost::new(BEGINNING, machine, owner(client, crashes), seed)
    },
    settings: Some(|_client, _seed| {
        r#"{"kind": "redis-string", "name": "stock", "ttl": 300000, "margin": 2000, "answer_within": 90000}"#
            .into()
    }),
    fair: false,
    longest: redis::TTL,
    profile: Profile {
        servers: 1,
        long: 150_000,
        server_faults: &[
            ServerFault::Operator(0),
            ServerFault::Throttle(0),
            ServerFault::Forget,
            ServerFault::CatchUp(0),
            ServerFault::FailOver,
            ServerFault::Restart,
            ServerFault::Depose,
            ServerFault::Full,
            ServerFault::NoDisk,
            ServerFault::FewReplicas,
            ServerFault::NoChannels,
            ServerFault::Older,
        ],
        drifts: true,
        nameless: false,
    },
    on: PhantomData,
};

/// All machines.
pub static ALL: &[&dyn Provable] = &[
    &ZOOKEEPER_MUTEX,
    &ZOOKEEPER_TIMEOUTS,
    &ZOOKEEPER_PLAIN,
    &ZOOKEEPER_ELECTION,
    &ZOOKEEPER_READ_WRITE,
    &ZOOKEEPER_MIXTURE,
    &ZOOKEEPER_OWNERS,
    &ZOOKEEPER_SINGLE,
    &ZOOKEEPER_SEMAPHORE,
    &ZOOKEEPER_MULTI_LOCK,
    &ZOOKEEPER_CLAIM,
    &ZOOKEEPER_INSPECTION,
    &ZOOKEEPER_LIST,
    &REDIS_STRING,
    &REDIS_OWNERS,
    &REDIS_CLAIM,
    &REDIS_INSPECTION,
    &REDIS_INSPECTION_OWNERS,
];

/// The machine with that name.
///
/// # Errors
/// If there is none: the error lists all names.
pub fn named(name: &str) -> Result<&'static dyn Provable, String> {
    let found = ALL.iter().copied().find(|machine| machine.name() == name);
    found.ok_or_else(|| {
        let all: Vec<_> = ALL.iter().map(|machine| machine.name()).collect();
        format!("there is no machine {name:?}; there are {}", all.join(", "))
    })
}

//! Every machine there is. A new one joins the proof by being listed here.
//!
//! One whose grants do not all exclude each other says of which [`Mode`](crate::checker::Mode) a client's are, where `make` makes its lock, by
//! [`Fencepost::granting`]: a semaphore's are `Permit(n)`; of a read/write lock some clients make readers, `Shared`, and some writers (by the
//! seed's bits, so that each run has its own mixture). From this follow
//!
//! - who may hold at once, whose fences are ordered and what the resource takes: see [`checker`](crate::checker);
//! - whom the calm at a run's end lets hold at once, and in which order: whoever could hold if all before it in
//!   [`Backend::queue`](crate::backend::Backend::queue) held has its turn, and gets it without anybody's release.
//!
//! A grant that changes its mode, as a writer's that becomes a reader's, does so from the wish on: the world lets its client believe in a
//! [`Hold`](crate::checker::Hold) of the new mode as soon as it has asked, because others may be granted before it hears of it.

use core::{marker::PhantomData, time::Duration};

use fencepost_core::{
    redis::{Machine as RedisMachine, Redis, StringSettings},
    zookeeper::{ContenderSettings, Layout, Machine as ZooKeeperMachine, Role, ZooKeeper},
};

use crate::{
    checker::Mode,
    prove::Provable,
    redis,
    run::Machine,
    step::{Number, Outage},
    subject::{Fencepost, owner},
    weather::Climate,
    world::BEGINNING,
    zookeeper,
};

/// What can befall whoever is on an ensemble.
const ENSEMBLE: Climate = Climate {
    servers: 3,
    long: 400_000,
    outages: &[
        Outage::Expire,
        Outage::Operator(0),
        Outage::Crowd(0),
        Outage::Forget,
        Outage::FailOver,
        Outage::Restart,
        Outage::CatchUp(0),
        Outage::CutOff(0),
    ],
    drifts: true,
};

/// A contender in one line that all clients of a run share.
fn contender(client: Number, crashes: u8, seed: u64, layout: Layout, role: Role) -> Fencepost<ZooKeeper> {
    let mut settings = ContenderSettings::new("shop", "stock", layout, role).expect("a good name");
    settings.answer_within = Duration::from_millis(500);
    let machine = ZooKeeperMachine::Contender(settings);
    Fencepost::new(BEGINNING, machine, owner(client, crashes), seed)
}

/// The fair mutex of ZooKeeper.
pub static ZOOKEEPER_MUTEX: Machine<zookeeper::Servers, Fencepost<ZooKeeper>> = Machine {
    name: "zookeeper-mutex",
    make: |client, crashes, seed| contender(client, crashes, seed, Layout::Curator, Role::Mutex),
    settings: Some(
        r#"{"kind": "zookeeper-mutex", "name": "stock", "prefix": "shop", "answer_within": 500000}"#,
    ),
    fair: true,
    longest: zookeeper::TIMEOUT,
    climate: ENSEMBLE,
    on: PhantomData,
};

/// The same in the layout in which names do not say whose a node is.
pub static ZOOKEEPER_PLAIN: Machine<zookeeper::Servers, Fencepost<ZooKeeper>> = Machine {
    name: "zookeeper-plain",
    make: |client, crashes, seed| {
        let prefix = "node_".into();
        contender(client, crashes, seed, Layout::Plain { prefix }, Role::Mutex)
    },
    settings: Some(
        r#"{"kind": "zookeeper-mutex", "name": "stock", "prefix": "shop", "layout": "plain", "answer_within": 500000}"#,
    ),
    fair: true,
    longest: zookeeper::TIMEOUT,
    climate: ENSEMBLE,
    on: PhantomData,
};

/// The read/write lock of ZooKeeper: some clients read, some write.
pub static ZOOKEEPER_READ_WRITE: Machine<zookeeper::Servers, Fencepost<ZooKeeper>> = Machine {
    name: "zookeeper-read-write",
    make: |client, crashes, seed| {
        let layout = if seed & 1 == 0 {
            Layout::Curator
        } else {
            Layout::Kazoo
        };
        // A coin for each client, in each run another.
        let (role, mode) = if seed >> (1 + client % 32) & 1 == 0 {
            (Role::Reader, Mode::Shared)
        } else {
            (Role::Writer, Mode::Exclusive)
        };
        contender(client, crashes, seed, layout, role).granting(mode)
    },
    settings: None,
    fair: true,
    longest: zookeeper::TIMEOUT,
    climate: ENSEMBLE,
    on: PhantomData,
};

/// A semaphore of ZooKeeper, of two permits.
pub static ZOOKEEPER_SEMAPHORE: Machine<zookeeper::Servers, Fencepost<ZooKeeper>> = Machine {
    name: "zookeeper-semaphore",
    make: |client, crashes, seed| {
        let layout = if seed & 1 == 0 {
            Layout::Curator
        } else {
            Layout::Kazoo
        };
        let role = Role::Permit { permits: 2 };
        contender(client, crashes, seed, layout, role).granting(Mode::Permit(2))
    },
    settings: None,
    fair: true,
    longest: zookeeper::TIMEOUT,
    climate: ENSEMBLE,
    on: PhantomData,
};

/// Two locks or none on ZooKeeper: all clients want both, half of them in the other order.
pub static ZOOKEEPER_MULTI_LOCK: Machine<zookeeper::Servers, Fencepost<ZooKeeper>> = Machine {
    name: "zookeeper-multi-lock",
    make: |client, crashes, seed| {
        let layout = [Layout::Curator, Layout::Kazoo][usize::from(seed & 1 == 0)].clone();
        let mut settings = ["stock", "till"].map(|name| {
            let mut settings =
                ContenderSettings::new("shop", name, layout.clone(), Role::Mutex).expect("a good name");
            settings.answer_within = Duration::from_millis(500);
            settings
        });
        if client % 2 == 1 {
            settings.reverse();
        }
        let machine = ZooKeeperMachine::MultiLock(settings.into());
        Fencepost::new(BEGINNING, machine, owner(client, crashes), seed)
    },
    settings: None,
    fair: true,
    longest: zookeeper::TIMEOUT,
    climate: ENSEMBLE,
    on: PhantomData,
};

/// The lock of Redis in the layout `string`.
pub static REDIS_STRING: Machine<redis::Servers, Fencepost<Redis>> = Machine {
    name: "redis-string",
    make: |client, crashes, seed| {
        let margin = Duration::from_millis(2);
        let mut settings = StringSettings::new(redis::KEY, redis::TTL, margin).expect("good settings");
        settings.answer_within = Duration::from_millis(90);
        let machine = RedisMachine::String(settings);
        Fencepost::new(BEGINNING, machine, owner(client, crashes), seed)
    },
    settings: Some(
        r#"{"kind": "redis-string", "name": "stock", "ttl": 300000, "margin": 2000, "answer_within": 90000}"#,
    ),
    fair: false,
    longest: redis::TTL,
    climate: Climate {
        servers: 1,
        long: 150_000,
        outages: &[
            Outage::Operator(0),
            Outage::Crowd(0),
            Outage::Forget,
            Outage::CatchUp(0),
            Outage::FailOver,
            Outage::Restart,
        ],
        drifts: true,
    },
    on: PhantomData,
};

/// All of them.
pub static ALL: &[&dyn Provable] = &[
    &ZOOKEEPER_MUTEX,
    &ZOOKEEPER_PLAIN,
    &ZOOKEEPER_READ_WRITE,
    &ZOOKEEPER_SEMAPHORE,
    &ZOOKEEPER_MULTI_LOCK,
    &REDIS_STRING,
];

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
    zookeeper::{Machine as ZooKeeperMachine, MutexSettings, ZooKeeper},
};

use crate::{
    prove::Provable,
    redis,
    run::Machine,
    step::Outage,
    subject::{Fencepost, owner},
    weather::Climate,
    world::BEGINNING,
    zookeeper,
};

/// The fair mutex of ZooKeeper.
pub static ZOOKEEPER_MUTEX: Machine<zookeeper::Servers, Fencepost<ZooKeeper>> = Machine {
    name: "zookeeper-mutex",
    make: |client, crashes, seed| {
        let mut settings = MutexSettings::new("shop", "stock").expect("a good name");
        settings.answer_within = Duration::from_millis(500);
        let machine = ZooKeeperMachine::Mutex(settings);
        Fencepost::new(BEGINNING, machine, owner(client, crashes), seed)
    },
    settings: Some(
        r#"{"kind": "zookeeper-mutex", "name": "stock", "prefix": "shop", "answer_within": 500000}"#,
    ),
    fair: true,
    longest: zookeeper::TIMEOUT,
    climate: Climate {
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
    },
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
pub static ALL: &[&dyn Provable] = &[&ZOOKEEPER_MUTEX, &REDIS_STRING];

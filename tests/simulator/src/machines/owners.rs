//! Owners that acquire twice.

use core::marker::PhantomData;

use fencepost_core::{
    Owner as Name,
    redis::{LockSettings, Redis},
    zookeeper::ZooKeeper,
};

use crate::{
    checker::Mode, owners::Owner, redis, run::Machine, step::Number, subject::owner, world::BEGINNING,
    zookeeper::Servers,
};

use super::{REDIS_STRING, ZOOKEEPER_MUTEX, layout, reads, string, zookeeper_settings};

/// A bit of the seed for each client: whether the second hold of a writer is also a writer.
const fn both_write(client: Number, seed: u64) -> bool {
    seed >> (33 + client % 16) & 1 == 0
}

fn settings(role: &str, seed: u64) -> String {
    let layout = layout(seed);
    format!(
        r#"{{"kind": "zookeeper-{role}", "name": "stock", "prefix": "shop", "layout": "{layout}", "answer_within": 500000, "owner": "anna"}}"#
    )
}

/// The read/write lock of ZooKeeper: some clients read twice, some write twice, some write and read.
pub static ZOOKEEPER_OWNERS: Machine<Servers, Owner<ZooKeeper>> = Machine {
    name: "zookeeper-owners",
    make: |client, crashes, seed| {
        let (mode, roles) = match (reads(client, seed), both_write(client, seed)) {
            (true, _) => (Mode::Shared, ["reader", "reader"]),
            (false, true) => (Mode::Exclusive, ["writer", "writer"]),
            (false, false) => (Mode::Exclusive, ["writer", "reader"]),
        };
        let both = roles.map(|role| zookeeper_settings(&settings(role, seed)));
        Owner::new(BEGINNING, both, owner(client, crashes), seed).granting(mode, roles[1] == "writer")
    },
    // The inputs of one key are no transcript, because the client's operations use two keys.
    settings: None,
    fair: true,
    longest: ZOOKEEPER_MUTEX.longest,
    profile: ZOOKEEPER_MUTEX.profile,
    on: PhantomData,
};

/// The lock of Redis, acquired twice.
pub static REDIS_OWNERS: Machine<redis::Servers, Owner<Redis>> = Machine {
    name: "redis-owners",
    make: |client, crashes, seed| {
        let mut settings = string();
        settings.owner = Some(Name::new("anna").expect("a good name"));
        let settings = LockSettings::String(settings);
        let both = [settings.clone(), settings];
        Owner::new(BEGINNING, both, owner(client, crashes), seed)
    },
    settings: None,
    fair: false,
    longest: REDIS_STRING.longest,
    profile: REDIS_STRING.profile,
    on: PhantomData,
};

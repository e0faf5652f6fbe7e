//! Inspections of the lock of Redis, with an owner and without. Claims have no inspections.

use fencepost_core::redis::Redis;

use crate::{
    backend::Subject,
    inspector::{Inspector, OnRedis, Party},
    machines::{REDIS_OWNERS, REDIS_STRING, string},
    owners::Owner,
    redis::Servers,
    run::Machine,
    step::Number,
    subject::{Fencepost, owner},
};

use super::{inspects, turn};

/// A contender, or an inspector.
type AtALock<C> = Party<C, Inspector<OnRedis>>;

/// Contenders like those of another machine, and inspectors.
fn make<C: Subject<Servers>>(
    like: &Machine<Servers, C>,
    client: Number,
    crashes: u8,
    seed: u64,
) -> AtALock<C> {
    if inspects(client, seed) {
        let owner = owner(client, crashes);
        return Party::Inspects(Inspector::new(OnRedis(string()), owner, seed, turn(seed)));
    }
    Party::Contends((like.make)(client, crashes, seed))
}

/// Lists of a lock, and breaks.
pub static REDIS_INSPECTION: Machine<Servers, AtALock<Fencepost<Redis>>> = Machine {
    settings: REDIS_STRING.settings,
    ..REDIS_STRING.with("redis-inspection", |client, crashes, seed| {
        make(&REDIS_STRING, client, crashes, seed)
    })
};

/// Lists of a lock that owners have acquired twice, and breaks: both holds are lost.
pub static REDIS_INSPECTION_OWNERS: Machine<Servers, AtALock<Owner<Redis>>> = Machine {
    settings: REDIS_OWNERS.settings,
    ..REDIS_OWNERS.with("redis-inspection-owners", |client, crashes, seed| {
        make(&REDIS_OWNERS, client, crashes, seed)
    })
};

//! The gallery of mutants: locks as found in real programs, each with its known mistake. The checker must
//! detect the promise that each mutant breaks. In the same runs, the checker must accept the same lock
//! without the mistake: a checker that rejects everything proves nothing.

mod inspections;
pub mod redis;
pub mod zookeeper;

use core::{fmt::Debug, marker::PhantomData, ops::Range, time::Duration};

use fencepost_core::AcquireTimeout;

pub use inspections::CORRECT_INSPECTION;

use crate::{
    backend::Subject,
    checker::Property,
    cut::Spoken,
    faults::Faults,
    machines,
    prove::{self, Counterexample, Provable},
    redis::Servers as RedisServers,
    run::{Machine, by_seed},
    step::Number,
    subject::owner,
    zookeeper::Servers as ZooKeeperServers,
};

/// A lock with a mistake.
#[derive(Debug)]
pub struct Mutant<B, S> {
    /// The mistake.
    pub mistake: &'static str,
    /// The source of the mistake.
    pub source: &'static str,
    /// The promise that it breaks.
    pub breaks: Property,
    machine: Machine<B, S>,
}

/// A mutant on any backend.
pub trait Detectable: Debug + Sync {
    /// Its short name.
    fn name(&self) -> &'static str;
    /// Its mistake.
    fn mistake(&self) -> &'static str;
    /// The source of the mistake.
    fn source(&self) -> &'static str;
    /// The promise that it breaks.
    fn breaks(&self) -> Property;
    /// The lock itself.
    fn machine(&'static self) -> &'static dyn Provable;
    /// The counterexample of the first of these seeds that breaks that promise, if there is one.
    fn detect(&self, seeds: Range<u64>) -> Option<Counterexample>;
}

impl<B: Spoken, S: Subject<B> + Send + Sync + 'static> Detectable for Mutant<B, S> {
    fn name(&self) -> &'static str {
        self.machine.name
    }

    fn mistake(&self) -> &'static str {
        self.mistake
    }

    fn source(&self) -> &'static str {
        self.source
    }

    fn breaks(&self) -> Property {
        self.breaks
    }

    fn machine(&'static self) -> &'static dyn Provable {
        &self.machine
    }

    fn detect(&self, seeds: Range<u64>) -> Option<Counterexample> {
        seeds.into_iter().find_map(|seed| {
            let (run, verdict) = by_seed(&self.machine, seed, &Faults::ALL);
            let violation = verdict.violation.filter(|found| found.property == self.breaks)?;
            Some(prove::counterexample(&self.machine, seed, &run, violation))
        })
    }
}

/// The acquire timeout of the small locks; `None` without a limit.
const fn limit(timeout: AcquireTimeout) -> Option<Duration> {
    match timeout {
        AcquireTimeout::For(limit) => Some(limit),
        AcquireTimeout::Try => Some(Duration::from_millis(500)),
        AcquireTimeout::Forever => None,
    }
}

macro_rules! on {
    (redis) => {
        RedisServers
    };
    (zookeeper) => {
        ZooKeeperServers
    };
}

/// A small lock as a client of that machine.
macro_rules! small {
    (redis, $like:ident, $client:ident, $crashes:ident, $seed:ident, $defect:expr) => {{
        let _ = $seed;
        redis::Small::new(owner($client, $crashes), $defect)
    }};
    (zookeeper, $like:ident, $client:ident, $crashes:ident, $seed:ident, $defect:expr) => {
        zookeeper::small(&machines::$like, $client, $crashes, $seed, $defect)
    };
}

macro_rules! gallery {
    ($($name:ident: $module:ident::$defect:ident on $like:ident, $breaks:ident, $kebab:literal, $mistake:literal, $source:literal;)*) => {
        $(static $name: Mutant<on!($module), $module::Small> = Mutant {
            mistake: $mistake,
            source: $source,
            breaks: Property::$breaks,
            machine: Machine {
                name: $kebab,
                make: |client, crashes, seed| {
                    let defect = Some($module::Defect::$defect);
                    small!($module, $like, client, crashes, seed, defect)
                },
                settings: None,
                fair: machines::$like.fair,
                longest: machines::$like.longest,
                profile: machines::$like.profile,
                on: PhantomData,
            },
        };)*

        static OF_LOCKS: &[&dyn Detectable] = &[$(&$name,)* &ONE_BY_ONE];
    };
}

gallery! {
    EXPIRY_APART: redis::ExpiryApart on REDIS_STRING, S8, "setnx-then-expire",
        "SETNX, then PEXPIRE: the lock of a client that dies in between never ends", "redis-py#554, redis-py#818";
    NO_EXPIRY: redis::NoExpiry on REDIS_STRING, S8, "no-expiry",
        "SET NX without an expiry: the lock of a client that dies never ends", "many home-made locks; the SETNX page of the Redis manual warns of it";
    BLIND_DELETE: redis::BlindDelete on REDIS_STRING, S5, "blind-delete",
        "DEL without a compare: a late release deletes the next holder's key", "Redis manual, \"Distributed Locks\": the reason for the random value";
    DELETE_APART: redis::DeleteApart on REDIS_STRING, S5, "get-compare-delete",
        "GET, compare, DEL: the lock changes hands in between", "redis-py before 3.0, python-redis-lock#20";
    NO_FENCE: redis::NoFence on REDIS_STRING, S4, "no-fence",
        "gives the resource no number to check, so a paused holder writes after its successor", "Kleppmann 2016, \"How to do distributed locking\"";
    FENCE_BY_CLOCK: redis::FenceByClock on REDIS_STRING, S2, "fence-by-clock",
        "uses the holder's own clock as its fence, and clocks differ", "Kleppmann 2016; a common answer";
    FENCE_BY_COUNTER: redis::FenceByCounter on REDIS_STRING, S2, "fence-by-counter",
        "counts fences in a key of the server, and a failover can lose that key", "Redisson's RFencedLock: INCR of a key that a failover can lose";
    VALID_FROM_REPLY: redis::ValidFromReply on REDIS_STRING, S3, "valid-from-reply",
        "counts the lease from the answer, not from the request", "node-redlock: a lock used 276 ms after its end, measured";
    NO_LOSS: redis::NoLoss on REDIS_STRING, S3, "no-loss-signal",
        "the holder does not learn that its lease is over", "redisson#5698, redis-py: no lost-lock signal";
    RENEW_BY_NAME: redis::RenewByName on REDIS_STRING, S5, "renew-by-name",
        "PEXPIRE without a compare: extends the lease of another client", "redisson's multi-lock: a final PEXPIRE without the owner; redisson#1458";
    RENEW_BY_SET: redis::RenewBySet on REDIS_STRING, S5, "renew-by-set",
        "renewal by SET: overwrites the present holder", "home-made watchdogs";
    SILENCE_IS_YES: redis::SilenceIsYes on REDIS_STRING, S3, "silence-is-yes",
        "treats an acquire without an answer as granted", "redisson#1966: a hold that was never confirmed, renewed";
    ONE_TOKEN: redis::OneToken on REDIS_STRING, S3, "one-token",
        "uses one value for all acquires of a client, so a late release of an earlier hold ends this one", "Spring's RedisLockRegistry: the client's id as the value";
    TIMEOUT_ANEW: redis::TimeoutAnew on REDIS_STRING, D, "timeout-anew",
        "gives every try the caller's whole acquire timeout", "kazoo: the timeout starts again with every wake, measured; CURATOR-559";
    MESSAGE_ONLY: redis::MessageOnly on REDIS_STRING, L1, "message-only",
        "waits only for the message of a release, and the end of a lease sends no message", "StackExchange-style home-made waiters; redisson#3004";
    CREATE_AGAIN: zookeeper::CreateAgain on ZOOKEEPER_MUTEX, L1, "create-again",
        "repeats a create that got no answer: its first node then stays before its second one for ever", "CURATOR-45, CURATOR-79";
    WHOLE_NAMES: zookeeper::WholeNames on ZOOKEEPER_MUTEX, S1, "whole-names",
        "orders contenders by their whole names, so a prefix decides which is first", "CURATOR-43, and most ports of the recipe, at some time";
    WATCH_FIRST: zookeeper::WatchFirst on ZOOKEEPER_MUTEX, L2, "watch-first",
        "all waiters watch the holder: one release wakes all", "ZooKeeper recipes: the herd effect";
    PREDECESSOR_GONE: zookeeper::PredecessorGone on ZOOKEEPER_MUTEX, S1, "predecessor-gone",
        "treats the deletion of the predecessor's node as a release, although the predecessor may have given up", "go-zookeeper and shayhatsor/zookeeper: no second list";
    EXISTS_WATCH: zookeeper::ExistsWatch on ZOOKEEPER_MUTEX, L1, "exists-watch",
        "sets a watch by exists and ignores the answer: if the node is already gone, it waits for its creation", "CURATOR-107, shayhatsor/zookeeper#26";
    WATCH_ONLY: zookeeper::WatchOnly on ZOOKEEPER_MUTEX, L1, "watch-only",
        "waits only for the event of its watch, and the event may be lost", "Curator and Kazoo: a server drops the events of a client that may not read any more, and says nothing";
    LEAK_ON_TIMEOUT: zookeeper::LeakOnTimeout on ZOOKEEPER_MUTEX, L1, "leak-on-timeout",
        "gives up and leaves its node, which then gets its turn without a client", "kazoo#732, kazoo#429";
    NO_CONFIRMATION: zookeeper::NoConfirmation on ZOOKEEPER_MUTEX, S3, "no-confirmation",
        "believes in its session until the client library reports its end, which a paused or disconnected holder does not receive", "CURATOR-206; a follower cut off answers for 7.5 s, measured";
    DELETE_FIRST: zookeeper::DeleteFirst on ZOOKEEPER_MUTEX, S5, "delete-first",
        "deletes the first node of the queue, which may belong to another client by now", "home-made recipes";
    NO_BARRIER: zookeeper::NoBarrier on ZOOKEEPER_MUTEX, L1, "no-barrier",
        "trusts a list without its own node from a server that lags, and creates a second node", "CURATOR-211, CURATOR-307, helix#1118";
    REFUSED_BARRIER: zookeeper::RefusedBarrier on ZOOKEEPER_MUTEX, S8, "refused-barrier",
        "trusts a list although the server has refused the sync before it, and so overlooks its own node on a server ahead", "ZooKeeper 3.6 refuses a throttled request, and still answers the list after it; an earlier correct lock of this gallery had the mistake";
    ONE_BREATH: zookeeper::OneBreath on ZOOKEEPER_MUTEX, S3, "one-breath",
        "sends two session probes at once, although the second answer does not show that the leader has seen the first probe", "fencepost before this simulator";
    SYNC_PROVES: zookeeper::SyncProves on ZOOKEEPER_MUTEX, S3, "sync-proves",
        "confirms its session by sync, which a deposed leader also answers while its successor ends the session", "fencepost on real servers: for 4 to 6 s two clients believed that they held the lock";
    DELETE_ONCE: zookeeper::DeleteOnce on ZOOKEEPER_MUTEX, S8, "delete-once",
        "treats a delete without an answer as done", "CURATOR-486, CURATOR-678";
    LATER_WRITERS: zookeeper::LaterWriters on ZOOKEEPER_READ_WRITE, L1, "later-writers",
        "a reader waits for later writers, too: it and the second writer wait for each other", "kazoo#649";
    WRITERS_ONLY: zookeeper::WritersOnly on ZOOKEEPER_READ_WRITE, S1, "writers-only",
        "a writer waits for earlier writers only, and holds beside readers", "home-made recipes that confuse the two rules";
    FIRST_WRITER: zookeeper::FirstWriter on ZOOKEEPER_READ_WRITE, L2, "first-writer",
        "readers watch the first writer of the queue: each earlier writer's release wakes every later reader", "Curator's InterProcessReadWriteLock";
    FRESH_NUMBER: zookeeper::FreshNumber on ZOOKEEPER_READ_WRITE, S1, "fresh-number",
        "turns a writer into a reader with a new number, so a queued writer gets in between", "Curator 5.4: CURATOR-621, CURATOR-276";
    BY_INDEX: zookeeper::ByIndex on ZOOKEEPER_SEMAPHORE, L1, "by-index",
        "a waiter for a permit watches one holder, and misses the release of another one", "Curator's InterProcessSemaphore, deprecated";
    DELETE_AGAIN: zookeeper::DeleteAgain on ZOOKEEPER_SINGLE, S5, "delete-again",
        "repeats a delete that got no answer, and so deletes the next holder's node", "home-made locks of one node";
    NEVER_MINE: zookeeper::NeverMine on ZOOKEEPER_SINGLE, L1, "never-mine",
        "takes every existing node for another client's: after a create without an answer, it waits for its own node", "home-made locks of one node; CURATOR-45 is the same mistake in a queue";
}

/// All mutants of the gallery.
pub fn all() -> impl Iterator<Item = &'static dyn Detectable> {
    OF_LOCKS.iter().chain(inspections::ALL).copied()
}

/// A multi-lock of two small locks, which are acquired in the client's order or in the order of their names.
const fn both(
    name: &'static str,
    make: fn(Number, u8, u64) -> zookeeper::Both,
) -> Machine<ZooKeeperServers, zookeeper::Both> {
    machines::ZOOKEEPER_MULTI_LOCK.with(name, make)
}

static ONE_BY_ONE: Mutant<ZooKeeperServers, zookeeper::Both> = Mutant {
    mistake: "takes many locks one after the other in the caller's order: two callers each hold one, and wait for the other's",
    source: "Curator's InterProcessMultiLock; Coffman, Elphick and Shoshani 1971",
    breaks: Property::L1,
    machine: both("one-by-one", |client, crashes, _seed| {
        zookeeper::Both::new(owner(client, crashes), client.is_multiple_of(2))
    }),
};

/// The same locks without their mistakes.
pub static CORRECT_REDIS: Machine<RedisServers, redis::Small> = machines::REDIS_STRING
    .with("small-redis", |client, crashes, _seed| {
        redis::Small::new(owner(client, crashes), None)
    });

/// See [`CORRECT_REDIS`].
pub static CORRECT_BOTH: Machine<ZooKeeperServers, zookeeper::Both> =
    both("small-both", |client, crashes, _seed| {
        zookeeper::Both::new(owner(client, crashes), true)
    });

macro_rules! correct {
    ($(#[$doc:meta] $name:ident on $like:ident, $kebab:literal;)*) => {
        $(#[$doc]
        pub static $name: Machine<ZooKeeperServers, zookeeper::Small> = Machine {
            name: $kebab,
            make: |client, crashes, seed| zookeeper::small(&machines::$like, client, crashes, seed, None),
            settings: None,
            fair: machines::$like.fair,
            longest: machines::$like.longest,
            profile: machines::$like.profile,
            on: PhantomData,
        };)*
    };
}

correct! {
    /// See [`CORRECT_REDIS`].
    CORRECT_ZOOKEEPER on ZOOKEEPER_MUTEX, "small-zookeeper";
    /// See [`CORRECT_REDIS`].
    CORRECT_READ_WRITE on ZOOKEEPER_READ_WRITE, "small-read-write";
    /// See [`CORRECT_REDIS`].
    CORRECT_SINGLE on ZOOKEEPER_SINGLE, "small-single";
}

//! Cases of the ZooKeeper mutex.

mod acquire_timeout;
mod claims;
mod confirmations;
mod directory;
mod downgrade;
mod forbidden;
mod inspections;
mod late_releases;
mod layouts;
mod leaving;
mod lost_replies;
mod many;
mod misuse;
mod owners;
mod permits;
mod read_write;
mod recheck;
mod recipes;
mod recognition;
mod refusals;
mod semaphore;
mod sessions;
mod setbacks;
mod single;
mod unproved;
mod wait_queue;
mod watches;

use serde_json::{Value, json};

use crate::transcript::Recorder;

pub(super) fn cases() -> Vec<super::Case> {
    [
        wait_queue::cases(),
        directory::cases(),
        lost_replies::cases(),
        watches::cases(),
        sessions::cases(),
        recheck::cases(),
        semaphore::cases(),
        single::cases(),
        confirmations::cases(),
        downgrade::cases(),
        acquire_timeout::cases(),
        leaving::cases(),
        late_releases::cases(),
        refusals::cases(),
        forbidden::cases(),
        misuse::cases(),
        owners::cases(),
        layouts::cases(),
        read_write::cases(),
        recipes::cases(),
        inspections::cases(),
        permits::cases(),
        many::cases(),
        setbacks::cases(),
        unproved::cases(),
        recognition::cases(),
        claims::cases(),
    ]
    .concat()
}

/// The directory of the lock in the cases.
const DIR: &str = "/shop/stock";

/// The error code of a quota for the nodes below a path.
const QUOTA_EXCEEDED: i32 = -125;

fn settings() -> Value {
    json!({"kind": "zookeeper-mutex", "name": "stock", "prefix": "shop"})
}

/// A confirmed session without a confirmation in flight: the usual state at an acquire.
fn warm(story: &mut Recorder) {
    story.connected(1).done("sync");
    let key = story.open(&settings());
    story.close(key);
}

/// A machine that has requested the lock.
fn acquire(story: &mut Recorder) -> u64 {
    let key = story.open(&settings());
    story.acquire(key);
    key
}

/// A machine that holds the lock, alone; its node has number 3.
fn hold(story: &mut Recorder) -> u64 {
    warm(story);
    let key = acquire(story);
    story
        .created(3, 41)
        .children(&[&own(key, 3)])
        .returns(&["acquired"]);
    key
}

/// A machine that waits behind `other(2)`, both watches set; its node has number 3.
fn queue(story: &mut Recorder) -> u64 {
    warm(story);
    let key = acquire(story);
    story.created(3, 41).children(&[&other(2), &own(key, 3)]);
    story.returns(&["get", "queued", "get"]).answer_routine();
    key
}

/// A machine that waits behind `other(1)` and `other(2)`, both watches set; its node has number 3.
fn queue_behind_two(story: &mut Recorder) -> u64 {
    warm(story);
    let key = acquire(story);
    story
        .created(3, 41)
        .children(&[&other(1), &other(2), &own(key, 3)]);
    story.answer_routine();
    key
}

/// The acquire timeout of a waiter ends while its session is suspended.
fn times_out_while_suspended(story: &mut Recorder, key: u64) {
    story.session_is("suspended").timeout_of("acquire-timeout");
    story.returns(&["refused unreachable"]).close(key);
}

/// The path of a child.
fn at(child: &str) -> String {
    format!("{DIR}/{child}")
}

/// The name of another contender's node.
fn other(number: i32) -> String {
    format!("_c_aaaaaaaa-0000-4000-8000-000000000000-lock-{number:010}")
}

/// The name of the first attempt's node of the machine with that key.
fn own(key: u64, number: i32) -> String {
    own_of_attempt(key, 1, number)
}

/// The name of a node of the machine with that key.
fn own_of_attempt(key: u64, attempt: u32, number: i32) -> String {
    let low = 0xfeed + attempt;
    format!("_c_{key:08x}-0000-0000-0000-{low:012x}-lock-{number:010}")
}

/// Error codes of the protocol.
mod code {
    pub(super) const NO_NODE: i32 = -101;
    pub(super) const NO_AUTH: i32 = -102;
    pub(super) const BAD_VERSION: i32 = -103;
    pub(super) const NODE_EXISTS: i32 = -110;
    pub(super) const AUTH_FAILED: i32 = -115;
    pub(super) const UNIMPLEMENTED: i32 = -6;
    pub(super) const OPERATION_TIMEOUT: i32 = -7;
    pub(super) const SESSION_EXPIRED: i32 = -112;
    pub(super) const SESSION_MOVED: i32 = -118;
    pub(super) const THROTTLED: i32 = -127;
    pub(super) const SYSTEM_ERROR: i32 = -1;
}

//! Cases of the ZooKeeper mutex.

mod line;

use serde_json::{Value, json};

use crate::transcript::{Input, Recorder};

pub(super) fn cases() -> Vec<super::Case> {
    [line::cases()].concat()
}

/// The directory of the lock in the cases.
const DIR: &str = "/shop/stock";

fn settings() -> Value {
    json!({"kind": "zookeeper-mutex", "name": "stock", "prefix": "shop"})
}

/// A session whose keeper has confirmed it twice: what every acquire but the first finds.
fn warm(story: &mut Recorder) {
    story.connected(1);
    let key = story.open(&settings());
    story.done("sync").done("sync");
    story.input(Input::Close { key });
}

/// A machine that has asked for the lock.
fn acquire(story: &mut Recorder) -> u64 {
    let key = story.open(&settings());
    story.input(Input::Acquire { key, patience: None });
    key
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

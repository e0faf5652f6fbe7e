//! Cases of the Redis lock in the layout `string`.

mod plain;

use serde_json::{Value, json};

use crate::transcript::{Input, Recorder};

pub(super) fn cases() -> Vec<super::Case> {
    [plain::cases()].concat()
}

fn settings() -> Value {
    json!({"kind": "redis-string", "name": "stock/42", "ttl": 9_000_000})
}

/// A machine that has asked for the lock.
fn acquire(story: &mut Recorder) -> u64 {
    let key = story.open(&settings());
    story.input(Input::Acquire { key, patience: None });
    key
}

//! Cases of the Redis lock in the layout `string`, and of claims.

mod acquire_timeout;
mod claims;
mod errors;
mod hints;
mod holding;
mod inspection;
mod leaving;
mod lost_replies;
mod misuse;
mod owners;
mod plain;

use serde_json::{Value, json};

use crate::transcript::Recorder;

pub(super) fn cases() -> Vec<super::Case> {
    [
        plain::cases(),
        lost_replies::cases(),
        hints::cases(),
        holding::cases(),
        leaving::cases(),
        acquire_timeout::cases(),
        errors::cases(),
        misuse::cases(),
        owners::cases(),
        inspection::cases(),
        claims::cases(),
    ]
    .concat()
}

/// A lease of nine seconds: renewed after three.
fn settings() -> Value {
    json!({"kind": "redis-string", "name": "stock/42", "ttl": 9_000_000})
}

fn open_with(story: &mut Recorder, name: &str, value: Value) -> u64 {
    let mut settings = settings();
    settings[name] = value;
    story.open(&settings)
}

/// A machine that has requested the lock.
fn acquire(story: &mut Recorder) -> u64 {
    let key = story.open(&settings());
    story.acquire(key).returns(&["call"]);
    key
}

/// A machine that holds the lock.
fn hold(story: &mut Recorder) -> u64 {
    let key = acquire(story);
    story.after(150).granted(FENCE).returns(&["acquired"]);
    key
}

/// A machine that waits for the lock and has subscribed.
fn wait(story: &mut Recorder) -> u64 {
    let key = acquire(story);
    story.held_for(5000).returns(&["queued", "subscribe"]);
    story.subscribed().returns(&["call"]);
    story.held_for(5000).returns(&[]).waits_for(Some("poll"));
    key
}

/// The fence of grants in the cases: microseconds of the server's clock.
const FENCE: &str = "1790000000000001";

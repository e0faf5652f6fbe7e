//! Cases of claims and of single steps. `table` has a case for each row of the table in `claim::table`, with
//! every answer of the row; the other files are about time, lost replies and ends.

mod ends;
mod table;
mod waiting;

use serde_json::{Value, json};

use crate::transcript::Recorder;

pub(super) fn cases() -> Vec<crate::cases::Case> {
    [table::cases(), waiting::cases(), ends::cases()].concat()
}

/// A lease of nine seconds: renewed after three.
fn settings() -> Value {
    json!({
        "kind": "redis-claim", "scope": "payments", "key": "order-17", "fingerprint": "print", "lease": 9_000_000,
    })
}

/// A request that is no claim.
fn step(step: &str, more: &Value) -> Value {
    let mut settings =
        json!({"kind": "redis-single-step", "scope": "payments", "key": "order-17", "step": step});
    let more = more.as_object().expect("a map of fields").clone();
    settings.as_object_mut().expect("a map").extend(more);
    settings
}

/// A machine that has claimed.
fn claim(story: &mut Recorder) -> u64 {
    let key = story.open(&settings());
    story.acquire(key).returns(&["call"]);
    key
}

/// A machine that runs the operation.
fn run(story: &mut Recorder) -> u64 {
    let key = claim(story);
    story.after(150).value(claimed(0)).returns(&["acquired"]);
    key
}

/// The fence of claims in the cases: microseconds of the server's clock.
const FENCE: &str = "1790000000000001";

fn claimed(takeovers: u64) -> Value {
    json!(format!("claimed {FENCE} {takeovers}"))
}

fn lost(why: &str) -> Value {
    json!(format!("lost {why}"))
}

/// A script's answer: another attempt runs the operation, and so many ms of its lease are left. `None`: the lease has
/// ended.
fn in_progress(left: Option<u64>) -> Value {
    json!(left.map_or("in-progress".into(), |left| format!("in-progress {left}")))
}

/// A script's answer for a record that does not exist.
const NO_RECORD: &str = "fencepost-record:1\n";

/// A script's answer with the record of an operation that another attempt has completed.
fn with_record(word: &str) -> Value {
    json!(format!(
        "{word} fencepost-record:1\n\
         state:4:done\n\
         attempt:34:6f74686572206f6e6520697320686572-1\n\
         fence:16:1790000000000000\n\
         fingerprint:5:print\n\
         retention:8:86400000\n\
         kept:13:1790086400000\n\
         tag:4:json\n\
         result:12:{{\"paid\": 17}}\n"
    ))
}

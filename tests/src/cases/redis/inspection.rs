//! Inspections: who holds the lock, and taking it from the holder.

use serde_json::{Value, json};

use super::FENCE;
use crate::{cases::cases, transcript::Recorder};

cases! { "redis":
    inspection_finds_the_holder, "A lock that a client of this implementation holds: its token, its fence, and the rest of its lease.";
    inspection_of_a_free_lock, "A free lock has no contenders.";
    inspection_finds_another_library, "A holder of another library counts no fences, so it does not get the fence of an earlier holder.",
        "redis-py's Lock, SET NX PX";
    inspection_is_repeated, "The answer is lost, and the server does not know the script: the inspection asks again, with the script's text.";
    inspection_is_refused, "The key holds a value of another type: refused.",
        "measured: a Redisson lock under the same name";
    inspection_never_answered, "No server answers in time: unreachable.";
    inspection_is_cancelled, "The application gives up: the answer that comes later says nothing.";
    holder_is_broken, "The server takes the lock from the holder that an earlier inspection has found.";
    break_is_repeated, "The answer to a break is lost: the second request of the same attempt finds its own tombstone, so the result is the first one's.",
        "a break that was carried out and reported as no-contender";
    broken_before, "Another contender holds the lock now, or the lock is free: the break changes nothing.",
        "redisson forceUnlock, DEL by hand: they hit any holder";
}

/// A token as this implementation writes it.
const TOKEN: &str = "0000000200000000000000000000beef-3";

fn inspection(action: &str) -> Value {
    json!({"kind": "redis-string", "name": "stock/42", "action": action})
}

fn find(story: &mut Recorder) -> u64 {
    let key = story.open(&inspection("list"));
    story.try_acquire(key).says(&["call"]);
    key
}

fn take(story: &mut Recorder) -> u64 {
    let mut settings = inspection("break");
    settings["node"] = TOKEN.into();
    settings["fence"] = FENCE.into();
    let key = story.open(&settings);
    story.try_acquire(key).says(&["call"]);
    key
}

fn inspection_finds_the_holder(story: &mut Recorder) {
    let key = find(story);
    story.value(json!([TOKEN, 8500, FENCE])).says(&["found"]);
    story.waits_for(None).close(key).leaves(0);
}

fn inspection_of_a_free_lock(story: &mut Recorder) {
    let key = find(story);
    story.value(json!([])).says(&["found"]).close(key).leaves(0);
}

fn inspection_finds_another_library(story: &mut Recorder) {
    find(story);
    story.value(json!(["3f1c", -1, FENCE])).says(&["found"]);
}

fn inspection_is_repeated(story: &mut Recorder) {
    find(story);
    story.fail("call", "unknown").says(&[]).waits_for(Some("retry"));
    story.timeout().says(&["call"]);
    story
        .redis_error("call", "NOSCRIPT No matching script. Please use EVAL.")
        .says(&["call"]);
    story.value(json!([TOKEN, 8500, ""])).says(&["found"]);
}

fn inspection_is_refused(story: &mut Recorder) {
    find(story);
    story
        .redis_error(
            "call",
            "WRONGTYPE Operation against a key holding the wrong kind of value",
        )
        .says(&["refused wrong-type"]);
}

fn inspection_never_answered(story: &mut Recorder) {
    let key = find(story);
    story.timeout().says(&["refused unreachable"]);
    story.value(json!([])).says(&[]).close(key).leaves(0);
}

fn inspection_is_cancelled(story: &mut Recorder) {
    let key = find(story);
    story.cancel(key).says(&["refused cancelled"]);
    story.value(json!([])).says(&[]).close(key).leaves(0);
}

fn holder_is_broken(story: &mut Recorder) {
    let key = take(story);
    story.value(json!([1])).says(&["found"]).close(key).leaves(0);
}

fn break_is_repeated(story: &mut Recorder) {
    take(story);
    story.fail("call", "unknown").says(&[]).timeout().says(&["call"]);
    story.value(json!([1])).says(&["found"]);
}

fn broken_before(story: &mut Recorder) {
    take(story);
    story.value(json!([0])).says(&["refused no-contender"]);
}

//! Inspections: who holds the lock, and breaking the lock.

use serde_json::{Value, json};

use super::FENCE;
use crate::{cases::cases, transcript::Recorder};

cases! { "redis":
    inspection_finds_the_holder,
        "A lock that a client of this implementation holds: its token, its fence, and the rest of its \
         lease.";
    inspection_of_a_free_lock, "A free lock has no contenders.";
    inspection_finds_another_library,
        "A holder of another library counts no fences, so the fence of an earlier holder is not reported \
         for it.",
        "redis-py's Lock, SET NX PX";
    inspection_is_repeated,
        "The answer is lost, and the server does not know the script: the inspection asks again, with the \
         script's text.";
    inspection_is_refused, "The key holds a value of another type: refused.",
        "measured: a Redisson lock under the same name";
    inspection_never_answered, "No server answers in time: unreachable.";
    inspection_is_cancelled, "The application cancels: the answer that comes later is ignored.";
    holder_is_broken, "The server takes the lock from the holder that an earlier inspection has found.";
    break_is_repeated,
        "The answer to a break is lost: the second request of the same attempt finds its own tombstone, so \
         the result is the first one's.",
        "a break that was carried out and reported as no-contender";
    broken_before, "Another contender holds the lock now, or the lock is free: the break changes nothing.",
        "redisson forceUnlock, DEL by hand: they delete any holder's lock";
}

/// A token in the form of this implementation.
const TOKEN: &str = "0000000200000000000000000000beef-3";

fn inspection(action: &str) -> Value {
    json!({"kind": "redis-string", "name": "stock/42", "action": action})
}

fn find(story: &mut Recorder) -> u64 {
    let key = story.open(&inspection("list"));
    story.try_acquire(key).returns(&["call"]);
    key
}

fn take(story: &mut Recorder) -> u64 {
    let mut settings = inspection("break");
    settings["node"] = TOKEN.into();
    settings["fence"] = FENCE.into();
    let key = story.open(&settings);
    story.try_acquire(key).returns(&["call"]);
    key
}

fn inspection_finds_the_holder(story: &mut Recorder) {
    let key = find(story);
    story.value(json!([TOKEN, 8500, FENCE])).returns(&["found"]);
    story.waits_for(None).close(key).leaves(0);
}

fn inspection_of_a_free_lock(story: &mut Recorder) {
    let key = find(story);
    story.value(json!([])).returns(&["found"]).close(key).leaves(0);
}

fn inspection_finds_another_library(story: &mut Recorder) {
    find(story);
    story.value(json!(["3f1c", -1, FENCE])).returns(&["found"]);
}

fn inspection_is_repeated(story: &mut Recorder) {
    find(story);
    story
        .fail("call", "unknown")
        .returns(&[])
        .waits_for(Some("retry"));
    story.timeout().returns(&["call"]);
    story
        .redis_error("call", "NOSCRIPT No matching script. Please use EVAL.")
        .returns(&["call"]);
    story.value(json!([TOKEN, 8500, ""])).returns(&["found"]);
}

fn inspection_is_refused(story: &mut Recorder) {
    find(story);
    story
        .redis_error(
            "call",
            "WRONGTYPE Operation against a key holding the wrong kind of value",
        )
        .returns(&["refused wrong-type"]);
}

fn inspection_never_answered(story: &mut Recorder) {
    let key = find(story);
    story.timeout().returns(&["refused unreachable"]);
    story.value(json!([])).returns(&[]).close(key).leaves(0);
}

fn inspection_is_cancelled(story: &mut Recorder) {
    let key = find(story);
    story.cancel(key).returns(&["refused cancelled"]);
    story.value(json!([])).returns(&[]).close(key).leaves(0);
}

fn holder_is_broken(story: &mut Recorder) {
    let key = take(story);
    story.value(json!([1])).returns(&["found"]).close(key).leaves(0);
}

fn break_is_repeated(story: &mut Recorder) {
    take(story);
    story
        .fail("call", "unknown")
        .returns(&[])
        .timeout()
        .returns(&["call"]);
    story.value(json!([1])).returns(&["found"]);
}

fn broken_before(story: &mut Recorder) {
    take(story);
    story.value(json!([0])).returns(&["refused no-contender"]);
}

//! Sweeps: which records they delete, and how.

use fencepost_core::zookeeper::{Stat, code};
use serde_json::{Value, json};

use super::{OTHER, RETENTION, conflict, done, free, record, running, stat, step, warm, written};
use crate::{
    cases::cases,
    transcript::{Input, Recorder},
};

cases! { "zookeeper":
    sweep, "Records that are free or past their retention are deleted by version, and the bucket changes; leased, fresh and unreadable ones stay.";
    sweep_of_tokens, "A token past its life goes, and so does one that was claimed too late.";
    sweep_of_values, "A value stays; the records of its updates go when they are past their retention, and the bucket changes.";
    sweep_of_nothing, "There is no such scope, it has no buckets, or a bucket has nothing to delete.";
    sweep_of_many, "A large bucket is read and swept in parts.";
    sweep_conflict, "Something has changed since the read: each record is read and deleted alone, once, and stays after another conflict.";
    sweep_not_answered, "A delete without an answer is read back: what is gone counts as deleted.";
    sweep_bucket_gone, "The bucket has gone before it is listed, or before it is read: nothing is deleted.";
    sweep_throttled, "The server sheds load: the same step again, later.";
    sweep_suspended, "The connection is lost in each step: the step again, after the reconnect.";
    sweep_session_over, "The session ends in each step: the step again, in the next session.";
    sweep_after_a_move, "After a move the answer to the delete may be another's: the records are read back.";
    sweep_refused, "The server denies a right: refused, with its reason.";
    sweep_times_out, "A try waits for each step; a limit is for the whole sweep.";
    sweep_ends, "A sweep is cancelled, or its connection closed.";
    sweep_misused, "A sweep is granted nothing.";
}

/// A day and a second after the time of [`stat`].
const LATER: i64 = 1_790_000_000_000 + 86_401_000;

fn settings() -> Value {
    let mut settings = step("sweep", &json!({}));
    settings.as_object_mut().expect("a map").remove("key");
    settings
}

/// A sweep that has asked for the time.
fn begin(story: &mut Recorder) -> u64 {
    let key = story.open(&settings());
    story.acquire(key).says(&["set", "get"]);
    key
}

fn timed(story: &mut Recorder) {
    let stat = Stat {
        modified: LATER,
        ..stat(90, 7)
    };
    let reply = story.reply_stat("", &stat);
    story.done("set").answer("get", reply).says(&["children"]);
}

/// The sweep has listed its one bucket.
fn listed(story: &mut Recorder, keys: &[&str]) {
    timed(story);
    story
        .children(&["0e", "not-a-bucket", "0E", "zz"])
        .says(&["children"]);
    story.children(keys);
}

/// The answer to the read of the bucket.
fn bucket(story: &mut Recorder) {
    let reply = story.reply_stat("", &stat(20, 4));
    story.answer("get", reply);
}

/// The answers to the read of a record.
fn shows(story: &mut Recorder, record: &str, stat: &Stat, children: &[&str]) {
    let reply = story.reply_stat(record, stat);
    story.answer("get", reply).children(children);
}

/// A record has gone.
fn gone(story: &mut Recorder) {
    story.error("get", code::NO_NODE).error("children", code::NO_NODE);
}

/// A sweep that deletes two records, which it has read.
fn deletes_two(story: &mut Recorder) -> u64 {
    let key = begin(story);
    listed(story, &["a", "b"]);
    story.says(&["get", "get", "children", "get", "children"]);
    bucket(story);
    shows(story, &free(), &stat(35, 1), &[]);
    shows(story, &done(OTHER, "[1]"), &stat(35, 2), &[]);
    story.says(&["multi"]);
    key
}

fn sweep(story: &mut Recorder) {
    warm(story);
    let key = begin(story);
    listed(story, &["a", "b", "c", "d", "e", "f", "g", "h"]);
    bucket(story);
    shows(story, &free(), &stat(35, 1), &[]);
    shows(story, &done(OTHER, "[1]"), &stat(35, 2), &[]);
    let fresh = Stat {
        modified: LATER - 86_400_000,
        ..stat(35, 2)
    };
    shows(story, &done(OTHER, "[1]"), &fresh, &[]);
    shows(story, &running(OTHER), &stat(35, 0), &[]);
    shows(story, &running(OTHER), &stat(35, 0), &[OTHER]);
    shows(story, "of another program", &stat(35, 0), &[]);
    shows(story, &free(), &stat(35, 0), &["unexpected"]);
    gone(story);
    story.says(&["multi"]);
    written(story);
    story.says(&["swept"]).close(key).leaves(0);
}

fn sweep_of_tokens(story: &mut Recorder) {
    let token = |state, more: &[(&str, &str)]| {
        let fields = [
            ("state", state),
            ("attempt", OTHER),
            ("binding", "alice"),
            ("life", "1000"),
            RETENTION,
        ];
        record(&[&fields[..], more].concat())
    };
    warm(story);
    let key = begin(story);
    listed(story, &["a", "b", "c", "d"]);
    bucket(story);
    shows(story, &token("issued", &[]), &stat(35, 0), &[]);
    let fresh = Stat {
        modified: LATER - 1000,
        ..stat(35, 0)
    };
    shows(story, &token("issued", &[]), &fresh, &[]);
    // It was claimed within its life, and a millisecond behind it.
    let claimed = |until| token("running", &[("kept", until)]);
    let now = Stat {
        modified: LATER,
        ..stat(35, 1)
    };
    shows(story, &claimed("1790086401000"), &now, &[]);
    shows(story, &claimed("1790086400999"), &now, &[]);
    story.says(&["multi"]);
    written(story);
    story.says(&["swept"]).close(key).leaves(0);
}

fn sweep_of_values(story: &mut Recorder) {
    let value = record(&[("state", "value"), ("attempt", OTHER), ("version", "9")]);
    let of_update = record(&[("state", "done"), ("attempt", OTHER), RETENTION, ("version", "8")]);
    warm(story);
    let key = begin(story);
    listed(story, &["stock", "a"]);
    bucket(story);
    shows(
        story,
        &value,
        &stat(35, 8),
        &["value", "operation-1", "operation-2", "operation-3"],
    );
    shows(story, &free(), &stat(35, 1), &[]);
    story.says(&["multi"]);
    written(story);
    // The records of the updates, the last one first.
    story.says(&["get", "get", "get", "get"]);
    bucket(story);
    let fresh = Stat {
        modified: LATER,
        ..stat(90, 0)
    };
    for stat in [&stat(35, 0), &fresh] {
        let reply = story.reply_stat(&of_update, stat);
        story.answer("get", reply);
    }
    story.error("get", code::NO_NODE).says(&["multi"]);
    written(story);
    story.says(&["swept"]).close(key).leaves(0);
}

fn sweep_of_nothing(story: &mut Recorder) {
    warm(story);
    let key = begin(story);
    story
        .error("set", code::NO_NODE)
        .error("get", code::NO_NODE)
        .says(&["swept"])
        .close(key)
        .leaves(0);
    let key = begin(story);
    timed(story);
    story.children(&[]).says(&["swept"]).close(key).leaves(0);
    let key = begin(story);
    timed(story);
    // The last one first.
    story.children(&["0e", "ff"]).says(&["children"]);
    story.children(&[]).says(&["children"]);
    story.children(&["a"]).says(&["get", "get", "children"]);
    bucket(story);
    shows(story, &running(OTHER), &stat(35, 0), &[OTHER]);
    story.says(&["swept"]).close(key).leaves(0);
}

fn sweep_of_many(story: &mut Recorder) {
    warm(story);
    let names: Vec<String> = (0..33).map(|number| format!("k{number:02}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let key = begin(story);
    listed(story, &names);
    bucket(story);
    for number in 0..32 {
        let children: &[&str] = if number == 31 { &[] } else { &[OTHER] };
        shows(story, &free(), &stat(35, 1), children);
    }
    story.says(&["multi"]);
    written(story);
    story.says(&["get", "get", "children"]);
    bucket(story);
    shows(story, &free(), &stat(35, 1), &[]);
    story.says(&["multi"]);
    written(story);
    story.says(&["swept"]).close(key).leaves(0);
}

fn sweep_conflict(story: &mut Recorder) {
    warm(story);
    let key = deletes_two(story);
    conflict(story, code::BAD_VERSION);
    // The second one has been claimed anew.
    story.says(&["get", "get", "children"]);
    bucket(story);
    shows(story, &running(OTHER), &stat(91, 3), &[OTHER]);
    story.says(&["get", "get", "children"]);
    bucket(story);
    shows(story, &free(), &stat(35, 1), &[]);
    story.says(&["multi"]);
    written(story);
    story.says(&["swept"]).close(key).leaves(0);
    let key = deletes_two(story);
    conflict(story, code::NO_NODE);
    for error in [code::BAD_VERSION, code::NOT_EMPTY] {
        story.says(&["get", "get", "children"]);
        bucket(story);
        shows(story, &free(), &stat(35, 1), &[]);
        story.says(&["multi"]);
        conflict(story, error);
    }
    story.says(&["swept"]).close(key).leaves(0);
}

fn sweep_not_answered(story: &mut Recorder) {
    warm(story);
    let key = deletes_two(story);
    story.fail("multi", "unknown").timeout_of("retry");
    story.says(&["get", "get", "children", "get", "children"]);
    bucket(story);
    gone(story);
    gone(story);
    story.says(&["swept"]).close(key).leaves(0);
    let key = deletes_two(story);
    story.fail("multi", "not-sent").timeout_of("retry");
    story.says(&["get", "get", "children", "get", "children"]);
    bucket(story);
    gone(story);
    shows(story, &free(), &stat(35, 1), &[]);
    story.says(&["multi"]);
    written(story);
    story.says(&["swept"]).close(key).leaves(0);
}

fn sweep_bucket_gone(story: &mut Recorder) {
    warm(story);
    let key = begin(story);
    timed(story);
    story.children(&["0e", "ff"]).says(&["children"]);
    story.error("children", code::NO_NODE).says(&["children"]);
    story.children(&["a"]).says(&["get", "get", "children"]);
    story.error("get", code::NO_NODE);
    shows(story, &free(), &stat(35, 1), &[]);
    story.says(&["swept"]).close(key).leaves(0);
}

fn sweep_throttled(story: &mut Recorder) {
    warm(story);
    let key = begin(story);
    story
        .error("set", code::THROTTLED)
        .error("get", code::THROTTLED)
        .timeout_of("retry")
        .says(&["set", "get"]);
    timed(story);
    story
        .error("children", code::THROTTLED)
        .timeout_of("retry")
        .says(&["children"]);
    story.children(&["0e"]).says(&["children"]);
    story.children(&["a"]);
    bucket(story);
    story
        .error("get", code::THROTTLED)
        .children(&[])
        .timeout_of("retry")
        .says(&["get", "get", "children"]);
    bucket(story);
    shows(story, &free(), &stat(35, 1), &[]);
    story.says(&["multi"]);
    story.error("multi", code::THROTTLED).timeout_of("retry");
    story.says(&["get", "get", "children"]);
    bucket(story);
    shows(story, &free(), &stat(35, 1), &[]);
    story.says(&["multi"]);
    written(story);
    story.says(&["swept"]).close(key).leaves(0);
}

/// What breaks a step, and mends it.
fn sweep_broken(story: &mut Recorder, breaks: impl Fn(&mut Recorder)) {
    warm(story);
    begin(story);
    breaks(story);
    timed(story);
    breaks(story);
    story.children(&["0e"]).says(&["children"]);
    breaks(story);
    story.children(&["a", "b"]);
    breaks(story);
    bucket(story);
    shows(story, &free(), &stat(35, 1), &[]);
    shows(story, &free(), &stat(35, 1), &[]);
    story.says(&["multi"]);
    breaks(story);
    bucket(story);
    gone(story);
    shows(story, &free(), &stat(35, 1), &[]);
    story.says(&["multi"]);
}

fn sweep_suspended(story: &mut Recorder) {
    sweep_broken(story, |story| {
        story.session_is("suspended").fail_all("unknown").connected(1);
        story.done("sync");
    });
    // The session has moved, so the answer proves nothing.
    written(story);
    bucket(story);
    gone(story);
    story.says(&["swept"]);
}

fn sweep_session_over(story: &mut Recorder) {
    let session = core::cell::Cell::new(1);
    sweep_broken(story, |story| {
        session.set(session.get() + 1);
        story
            .session_is("suspended")
            .session_is("expired")
            .fail_all("unknown")
            .connected(session.get());
        story.done("sync");
    });
    written(story);
    story.says(&["swept"]);
}

fn sweep_after_a_move(story: &mut Recorder) {
    warm(story);
    story.session_is("suspended").fail_all("unknown").connected(1);
    story.answer_routine();
    let key = deletes_two(story);
    written(story);
    story.says(&["get", "get", "children", "get", "children"]);
    bucket(story);
    gone(story);
    shows(story, &free(), &stat(35, 1), &[]);
    story.says(&["multi"]);
    written(story);
    bucket(story);
    gone(story);
    story.says(&["swept"]).close(key).leaves(0);
}

fn sweep_refused(story: &mut Recorder) {
    warm(story);
    let key = begin(story);
    story
        .error("set", code::NO_AUTH)
        .error("get", code::NO_AUTH)
        .says(&["refused no-permission"])
        .close(key)
        .leaves(0);
    let key = begin(story);
    timed(story);
    story
        .error("children", code::NO_AUTH)
        .says(&["refused no-permission"]);
    story.close(key).leaves(0);
    let key = deletes_two(story);
    story
        .error("multi", code::NO_AUTH)
        .says(&["refused no-permission"]);
    story.close(key).leaves(0);
}

fn sweep_times_out(story: &mut Recorder) {
    warm(story);
    // Five seconds for each step.
    let key = story.open(&settings());
    story.try_acquire(key).after(4_000_000);
    timed(story);
    story.after(4_000_000).children(&["0e"]);
    story.silence("children");
    story.timeout_of("acquire-timeout").says(&["refused unreachable"]);
    story.close(key).leaves(0);
    let key = story.open(&settings());
    story.acquire_within(key, 6_000_000).after(4_000_000);
    timed(story);
    story.silence("children");
    story.timeout_of("acquire-timeout").says(&["refused unreachable"]);
    story.close(key).leaves(0);
}

fn sweep_ends(story: &mut Recorder) {
    warm(story);
    let key = deletes_two(story);
    story.cancel(key).says(&["refused cancelled"]);
    written(story);
    story.close(key).leaves(0);
    let key = begin(story);
    story.session_is("closed").says(&["refused connection-closed"]);
    story.acquire(key).says(&["refused connection-closed"]);
    story.close(key).leaves(0);
}

fn sweep_misused(story: &mut Recorder) {
    warm(story);
    let key = begin(story);
    story.misuse(
        Input::Acquire {
            key,
            acquire_timeout: None,
        },
        "busy",
    );
    story.misuse(Input::Release { key }, "not-held");
    story.error("set", code::NO_NODE).error("get", code::NO_NODE);
    story.misuse(Input::Cancel { key }, "not-waiting");
    story.close(key).leaves(0);
}

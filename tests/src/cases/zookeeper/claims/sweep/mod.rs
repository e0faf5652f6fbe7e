//! Sweeps. `records` tests which records they delete, `faults` tests failures.

mod faults;
mod records;

use fencepost_core::zookeeper::{Stat, code};
use serde_json::{Value, json};

use super::{OTHER, RETENTION, conflict, done, free, record, running, stat, step, warm, written};
use crate::transcript::Recorder;

pub(super) fn cases() -> Vec<crate::cases::Case> {
    [records::cases(), faults::cases()].concat()
}

/// A day and a second after the time of [`stat`].
const LATER: i64 = 1_790_000_000_000 + 86_401_000;

fn settings() -> Value {
    let mut settings = step("sweep", &json!({}));
    settings.as_object_mut().expect("a map").remove("key");
    settings
}

/// A sweep that has requested the time.
fn begin(story: &mut Recorder) -> u64 {
    let key = story.open(&settings());
    story.acquire(key).returns(&["set", "get"]);
    key
}

fn timed(story: &mut Recorder) {
    let reply = story.reply_stat("", &modified(LATER, stat(90, 7)));
    story.done("set").answer("get", reply).returns(&["children"]);
}

/// The sweep has listed its one bucket.
fn listed(story: &mut Recorder, keys: &[&str]) {
    timed(story);
    story
        .children(&["0e", "not-a-bucket", "0E", "zz"])
        .returns(&["children"]);
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

/// The answers to the read of a record that no longer exists.
fn gone(story: &mut Recorder) {
    story.error("get", code::NO_NODE).error("children", code::NO_NODE);
}

/// A record that is free is read, and a part of the bucket with it deleted.
fn deletes_free(story: &mut Recorder) {
    shows(story, &free(), &stat(35, 1), &[]);
    story.returns(&["multi"]);
}

/// One record is read.
fn reads_one(story: &mut Recorder) {
    story.returns(&["get", "get", "children"]);
    bucket(story);
}

/// Two records are read.
fn reads_two(story: &mut Recorder) {
    story.returns(&["get", "get", "children", "get", "children"]);
    bucket(story);
}

/// The sweep is done.
fn swept(story: &mut Recorder, key: u64) {
    story.returns(&["swept"]).close(key).leaves(0);
}

/// The last records are deleted.
fn deleted(story: &mut Recorder, key: u64) {
    written(story);
    swept(story, key);
}

/// Both requests for the time fail with this error.
fn untimed(story: &mut Recorder, code: i32) -> &mut Recorder {
    story.error("set", code).error("get", code)
}

/// A node that was last changed at this time.
const fn modified(modified: i64, stat: Stat) -> Stat {
    Stat { modified, ..stat }
}

/// A sweep that deletes two records, which it has read.
fn deletes_two(story: &mut Recorder) -> u64 {
    let key = begin(story);
    listed(story, &["a", "b"]);
    reads_two(story);
    shows(story, &free(), &stat(35, 1), &[]);
    shows(story, &done(OTHER, "[1]"), &stat(35, 2), &[]);
    story.returns(&["multi"]);
    key
}

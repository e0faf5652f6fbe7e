//! Operations: reads while other clients write, and answers after a move.

use fencepost_core::zookeeper::{Stat, code};
use serde_json::{Value, json};

use super::super::warm;
use crate::{cases::cases, transcript::Recorder};

cases! { "zookeeper":
    claim_of_what_ends_meanwhile,
        "The operation is completed between the read of its record and the list of its leases: the claim \
         gets the result.";
    claim_of_what_has_lapsed,
        "The record is still the same after the list: the lease is over, and the outcome unknown.";
    step_after_a_move,
        "The session has moved before the request was opened: an answer may be that of an earlier request, \
         so the record is read.";
}

fn settings(kind: &str) -> Value {
    json!({
        "kind": kind, "scope": "payments", "key": "order-17", "prefix": "shop", "fingerprint": "print",
    })
}

/// The record of another attempt.
fn record(state: &str) -> String {
    let text = [
        "fencepost-record:1\n".into(),
        format!("state:{}:{state}\n", state.len()),
        "attempt:34:6f74686572206f6e6520697320686572-1\n".into(),
        "fingerprint:5:print\npolicy:13:indeterminate\nretention:8:86400000\n".into(),
    ];
    text.concat() + if state == "done" { "result:2:17\n" } else { "" }
}

fn node(data: &str, version: i32, mzxid: i64) -> (String, Stat) {
    let stat = Stat {
        czxid: 40,
        mzxid,
        ephemeral_owner: 0,
        version,
        created: 0,
        modified: 1_790_000_000_000,
    };
    (data.into(), stat)
}

/// The answers to a read of the bucket, the record and the leases.
fn read(story: &mut Recorder, record: (String, Stat), leases: &[&str]) {
    for (data, stat) in [node("", 0, 39), record] {
        let reply = story.reply_stat(&data, &stat);
        story.answer("get", reply);
    }
    story.children(leases);
}

/// A claim that finds a running operation without a lease.
fn lapsed(story: &mut Recorder) {
    warm(story);
    let mut settings = settings("zookeeper-claim");
    settings["on_lease_end"] = json!("indeterminate");
    let key = story.open(&settings);
    story.try_acquire(key).returns(&["multi", "get"]);
    story.error("multi", code::NODE_EXISTS);
    story.error("get", code::NO_NODE);
    story.returns(&["get", "get", "children"]);
    read(story, node(&record("running"), 0, 40), &[]);
    story.returns(&["get", "get", "children"]);
}

fn claim_of_what_ends_meanwhile(story: &mut Recorder) {
    lapsed(story);
    read(story, node(&record("done"), 1, 41), &[]);
    story.returns(&["replayed"]);
}

fn claim_of_what_has_lapsed(story: &mut Recorder) {
    lapsed(story);
    read(story, node(&record("running"), 0, 40), &[]);
    story.returns(&["refused indeterminate"]);
}

fn step_after_a_move(story: &mut Recorder) {
    warm(story);
    story.disconnected().connected(1).answer_routine();
    let mut settings = settings("zookeeper-single-step");
    settings["step"] = json!("register");
    settings["result"] = json!("18");
    let key = story.open(&settings);
    story.acquire(key).returns(&["multi"]);
    // The answer to a request from before the move. This machine's request has failed.
    let reply = story.reply_children(&[]);
    story.answer("multi", reply);
    story.returns(&["sync", "check", "get", "get", "children"]);
    let reply = story.reply_children(&[]);
    story.done("sync").answer("check", reply);
    read(story, node(&record("done"), 1, 41), &[]);
    story.returns(&["replayed"]);
}

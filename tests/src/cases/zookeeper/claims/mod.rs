//! Cases of claims and of single steps. `table` has a case for each row of the table in `claim::table`, with
//! every answer of the row; `steps` has the requests that are no claims; `sweep` has sweeps; the others are
//! about waiting, sessions, late answers and lost replies.

mod ends;
mod in_doubt;
mod late;
mod meanwhile;
mod steps;
mod sweep;
mod table;
mod tokens;
mod waiting;

use fencepost_core::zookeeper::Stat;
use serde_json::{Value, json};

use super::{code, times_out_while_suspended, warm};
use crate::transcript::Recorder;

pub(super) fn cases() -> Vec<crate::cases::Case> {
    [
        table::cases(),
        tokens::cases(),
        waiting::cases(),
        in_doubt::cases(),
        ends::cases(),
        meanwhile::cases(),
        late::cases(),
        steps::cases(),
        sweep::cases(),
    ]
    .concat()
}

/// The record of the operation in the cases.
const RECORD: &str = "/shop/fencepost/payments/0e/order-17";

/// Another attempt.
const OTHER: &str = "6f74686572206f6e6520697320686572-1";

fn settings() -> Value {
    json!({
        "kind": "zookeeper-claim", "scope": "payments", "key": "order-17", "prefix": "shop", "fingerprint": "print",
    })
}

/// The settings with a policy.
fn with_policy(policy: &str) -> Value {
    let mut settings = settings();
    settings["on_lease_end"] = policy.into();
    settings
}

/// A request that is no claim.
fn step(step: &str, more: &Value) -> Value {
    let mut settings = json!({
        "kind": "zookeeper-single-step", "scope": "payments", "key": "order-17", "prefix": "shop", "step": step,
    });
    let more = more.as_object().expect("a map of fields").clone();
    settings.as_object_mut().expect("a map").extend(more);
    settings
}

/// The first attempt of the machine with that key.
fn own(key: u64) -> String {
    format!("{key:08x}00000000000000000000feed-1")
}

/// The bytes of a record with these fields, which must be in order.
fn record(fields: &[(&str, &str)]) -> String {
    let lines = fields
        .iter()
        .map(|(name, value)| format!("{name}:{}:{value}\n", value.len()));
    format!("fencepost-record:1\n{}", lines.collect::<String>())
}

const RETENTION: (&str, &str) = ("retention", "86400000");
const PRINT: (&str, &str) = ("fingerprint", "print");

/// An operation that this attempt runs.
fn running(attempt: &str) -> String {
    record(&[("state", "running"), ("attempt", attempt), PRINT, RETENTION])
}

/// The same with a policy other than the default.
fn running_by(attempt: &str, policy: &str) -> String {
    let policy = ("policy", policy);
    record(&[
        ("state", "running"),
        ("attempt", attempt),
        PRINT,
        policy,
        RETENTION,
    ])
}

/// An operation that this attempt has completed.
fn done(attempt: &str, result: &str) -> String {
    let fields = [
        ("state", "done"),
        ("attempt", attempt),
        ("fence", "41"),
        PRINT,
        RETENTION,
        ("tag", "json"),
        ("result", result),
    ];
    record(&fields)
}

/// A record that was freed.
fn free() -> String {
    record(&[])
}

/// A node that was last changed by this transaction, and then has this version.
const fn stat(mzxid: i64, version: i32) -> Stat {
    Stat {
        czxid: 30,
        mzxid,
        ephemeral_owner: 0,
        version,
        created: 1_790_000_000_000,
        modified: 1_790_000_000_000,
    }
}

/// A machine that has claimed, and waits for the answer.
fn claim(story: &mut Recorder) -> u64 {
    claim_as(story, &settings())
}

fn claim_as(story: &mut Recorder, settings: &Value) -> u64 {
    let key = story.open(settings);
    story.acquire(key).returns(&["multi", "get"]);
    key
}

/// The transaction of a claim was executed, as the transaction with this number.
fn granted(story: &mut Recorder, key: u64, czxid: i64) {
    let names = story.reply_children(&["order-17", &own(key)]);
    story.answer("multi", names).present(czxid);
}

/// A machine that runs the operation.
fn run(story: &mut Recorder) -> u64 {
    let key = claim(story);
    granted(story, key, 41);
    story.returns(&["acquired"]);
    key
}

/// The server answers nothing until the claim is about to end by its client's clock.
fn until_the_end(story: &mut Recorder) {
    while !story.is_waiting_for("validity") {
        story.timeout().fail_all("unknown");
    }
}

/// A machine whose claim has ended by its own clock.
fn lapsed(story: &mut Recorder) -> u64 {
    let key = run(story);
    until_the_end(story);
    story.timeout().returns(&["lost lease-ended", "multi"]);
    key
}

/// A machine whose connection was lost and opened again.
fn reconnected(story: &mut Recorder) -> u64 {
    warm(story);
    let key = run(story);
    story.session_is("suspended").fail_all("unknown");
    story.session_is("connected").returns(&["check", "get"]);
    story.checked();
    key
}

/// A write fails because something has changed.
fn conflict(story: &mut Recorder, code: i32) {
    story.error("multi", code);
}

/// The claim has found a record, and reads it.
fn found(story: &mut Recorder) {
    conflict(story, code::NODE_EXISTS);
    story
        .error("get", code::NO_NODE)
        .returns(&["get", "get", "children"]);
}

/// The answers to a read of the bucket, the record and its children.
fn shows(story: &mut Recorder, record: &str, stat: &Stat, children: &[&str]) {
    let bucket = story.reply_stat("", &self::stat(20, 4));
    let record = story.reply_stat(record, stat);
    story
        .answer("get", bucket)
        .answer("get", record)
        .children(children);
}

/// The answers to a read: there is no record.
fn shows_nothing(story: &mut Recorder) {
    let bucket = story.reply_stat("", &stat(20, 4));
    story
        .answer("get", bucket)
        .error("get", code::NO_NODE)
        .error("children", code::NO_NODE);
}

/// A read behind a barrier has been sent; the barrier is passed.
fn passed(story: &mut Recorder) {
    story.returns(&["sync", "check", "get", "get", "children"]);
    story.done("sync").checked();
}

/// The write was executed.
fn written(story: &mut Recorder) {
    let names = story.reply_children(&[]);
    story.answer("multi", names);
}

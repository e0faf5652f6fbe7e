//! Multi-locks, and inspections.

use serde_json::{Value, json};

use super::{QUOTA_EXCEEDED, at, code, other, own, warm};
use crate::{cases::cases, transcript::Recorder};

cases! { "zookeeper":
    many_locks,
        "Two queues are entered in one transaction; the reads that watch the own nodes return the fence.";
    many_locks_wait, "Another contender is ahead in one queue: the grant waits for both locks.";
    many_locks_last_as_one,
        "The proof that lets one place be granted extends the other one, too: the grant is valid for as \
         long as both.",
        "the simulator: a grant was reported as valid only until the first of its places ended";
    many_locks_place_lost,
        "One of two places is deleted: the other one is given up, too, and the contender enqueues again for \
         both together.";
    many_locks_outcome_unknown,
        "The transaction's outcome is unknown: both directories are searched before the next transaction.";
    many_locks_capped,
        "The longest hold of a multi-lock is counted from the moment at which all locks are held, not from \
         the first one.";
    many_locks_wanted,
        "Another client writes a revocation request for one lock while the contender still waits for the \
         other: reported as soon as all are held.";
    many_locks_parents_forbidden, "The directories are missing, and the client may not create them.";
    many_locks_parents_over_quota,
        "The directories are missing, and the server refuses to create them: its error is the reason.";
    contenders, "An inspection finds holders and waiters: one list, and then all reads together.",
        "Kazoo reads one after the other";
    break_contender, "A contender is deleted if it is the one that the application has named.";
    break_another, "The named node has another fence by now: nothing is deleted.";
    revoke_contender, "A revocation request is written in Curator's form.",
        "Curator's Revoker";
}

pub(super) fn begin(story: &mut Recorder, settings: &Value) -> u64 {
    warm(story);
    let key = story.open(settings);
    story.acquire(key);
    key
}

pub(super) fn many() -> Value {
    json!({"kind": "zookeeper-multi-lock", "names": ["stock", "till"], "prefix": "shop"})
}

fn multi(story: &mut Recorder, settings: &Value) -> u64 {
    let key = begin(story, settings);
    story.returns(&["multi"]);
    key
}

/// Both nodes are created.
pub(super) fn enqueued(story: &mut Recorder, key: u64) {
    let names = story.reply_children(&[&own(key, 3), &own(key, 8)]);
    story.answer("multi", names);
    story.returns(&["children", "get", "children", "get"]);
}

/// Both are held.
pub(super) fn hold_many(story: &mut Recorder) -> u64 {
    let key = multi(story, &many());
    enqueued(story, key);
    story.children(&[&own(key, 3)]).present(41);
    story.children(&[&own(key, 8)]).present(41).returns(&["acquired"]);
    key
}

/// Both are held, and released.
pub(super) fn release_many(story: &mut Recorder) -> u64 {
    let key = hold_many(story);
    story.release(key).returns(&["delete", "delete"]);
    key
}

fn many_locks(story: &mut Recorder) {
    let key = release_many(story);
    story
        .done("delete")
        .returns(&[])
        .done("delete")
        .returns(&["released"]);
    story.close(key).leaves(0);
}

/// First in one queue, and behind another contender in the other one.
pub(super) fn queue_for_many(story: &mut Recorder) -> u64 {
    let key = multi(story, &many());
    queue_in_one(story, key);
    key
}

fn queue_in_one(story: &mut Recorder, key: u64) {
    enqueued(story, key);
    story.children(&[&own(key, 3)]).present(41).present(41);
    story.children(&[&other(2), &own(key, 8)]);
    story.returns(&["queued", "get"]).answer_routine();
}

/// The contender is first in the other queue, too.
fn last_of_many(story: &mut Recorder) -> &mut Recorder {
    story.watch(&format!("/shop/till/{}", other(2)), "deleted")
}

fn many_locks_wait(story: &mut Recorder) {
    queue_for_many(story);
    last_of_many(story).returns(&["acquired"]);
}

fn many_locks_capped(story: &mut Recorder) {
    let mut settings = many();
    settings["max_hold"] = json!(1_000_000);
    let key = multi(story, &settings);
    queue_in_one(story, key);
    story.after(1_500_000);
    last_of_many(story).returns(&["acquired"]);
    story.waits_for(Some("max-hold")).timeout();
    story.returns(&["lost max-hold", "delete", "delete"]);
}

fn many_locks_wanted(story: &mut Recorder) {
    let key = queue_for_many(story);
    story.watch(&at(&own(key, 3)), "changed").returns(&["get"]);
    let reply = story.reply_data("__REVOKE__", 1, 41);
    story.answer("get", reply).returns(&[]);
    last_of_many(story).returns(&["acquired", "revoke-requested"]);
}

fn many_locks_parents_forbidden(story: &mut Recorder) {
    many_locks_parents_denied(story, code::NO_AUTH, "refused no-permission");
}

fn many_locks_parents_over_quota(story: &mut Recorder) {
    many_locks_parents_denied(story, QUOTA_EXCEEDED, "refused server-error");
}

fn many_locks_parents_denied(story: &mut Recorder, error: i32, expected: &str) {
    let key = multi(story, &many());
    for _ in 0..4 {
        story.error("multi", code::NO_NODE);
        story.returns(&["create", "create", "create", "create", "multi"]);
        for error in [code::NODE_EXISTS, error, code::NODE_EXISTS, error] {
            story.parent_error(error);
        }
    }
    story.error("multi", code::NO_NODE);
    story.returns(&[expected]).close(key).leaves(0);
}

fn many_locks_last_as_one(story: &mut Recorder) {
    let key = multi(story, &many());
    enqueued(story, key);
    story.children(&[&other(2), &own(key, 3)]).present(41);
    story.children(&[&own(key, 8)]).present(41).answer_routine();
    story.timeout().returns(&["check"]).confirmed().answer_routine();
    story.timeout().returns(&["check"]).after(1_850_000);
    story.watch(&at(&other(2)), "deleted").returns(&[]);
    story
        .checked()
        .returns(&["sync"])
        .done("sync")
        .returns(&["acquired"]);
    story.waits_for(Some("renew"));
}

fn many_locks_place_lost(story: &mut Recorder) {
    let key = queue_for_many(story);
    story.watch(&at(&own(key, 3)), "deleted").returns(&["delete"]);
    story.done("delete").returns(&["multi"]);
}

fn many_locks_outcome_unknown(story: &mut Recorder) {
    multi(story, &many());
    story.fail("multi", "unknown");
    story.returns(&["sync", "check", "children", "sync", "check", "children"]);
    for _ in 0..2 {
        story.done("sync").checked().children(&[]);
    }
    story.returns(&[]).timeout_of("retry").returns(&["multi"]);
}

fn inspect(story: &mut Recorder, more: &[(&str, &str)]) -> u64 {
    let mut settings =
        json!({"kind": "zookeeper-inspection", "name": "stock", "prefix": "shop", "of": "read-write"});
    for (key, value) in more {
        settings[*key] = json!(value);
    }
    begin(story, &settings)
}

const READERS: [&str; 2] = ["_c_a-__READ__0000000001", "_c_b-__READ__0000000002"];
const WRITER: &str = "_c_c-__WRIT__0000000003";

fn contenders(story: &mut Recorder) {
    let key = inspect(story, &[]);
    story.returns(&["children"]);
    story.children(&[WRITER, READERS[1], READERS[0], "notes"]);
    story.returns(&["get", "get", "get"]);
    for (who, session, number) in [("till 3", 3, 43), ("till 2", 2, 42), ("till 1", 1, 41)] {
        let reply = story.reply_data(who, session, number);
        story.answer("get", reply);
    }
    story.returns(&["found"]).close(key).leaves(0);
}

fn act_on(story: &mut Recorder, action: &str) -> u64 {
    let key = inspect(
        story,
        &[("action", action), ("node", &at(WRITER)), ("fence", "43")],
    );
    story.returns(&["get"]);
    key
}

fn break_contender(story: &mut Recorder) {
    act_on(story, "break");
    let reply = story.reply_data("till 3", 3, 43);
    story.answer("get", reply).returns(&["delete"]);
    story.done("delete").returns(&["found"]);
}

fn break_another(story: &mut Recorder) {
    act_on(story, "break");
    let reply = story.reply_data("till 4", 4, 44);
    story.answer("get", reply).returns(&["refused no-contender"]);
}

fn revoke_contender(story: &mut Recorder) {
    act_on(story, "revoke");
    let reply = story.reply_data("till 3", 3, 43);
    story.answer("get", reply).returns(&["set"]);
    story.error("set", code::THROTTLED).timeout().returns(&["get"]);
    let reply = story.reply_data("till 3", 3, 43);
    story
        .answer("get", reply)
        .returns(&["set"])
        .done("set")
        .returns(&["found"]);
}

//! Many locks at once, and looks from outside.

use serde_json::{Value, json};

use super::{at, code, other, own, warm};
use crate::{cases::cases, transcript::Recorder};

cases! { "zookeeper":
    many_locks, "Two lines are entered in one transaction; the looks that watch the own nodes tell the fence.";
    many_locks_wait, "In one line somebody comes first: the grant waits for both.";
    many_locks_last_as_one, "The proof that lets one place be granted makes the other last longer, too: the grant is valid for as long as both.",
        "the simulator: a grant that said it was over before the last of its places was";
    many_locks_place_lost, "One of two places is deleted: the other one is given up too, and both are taken anew together.";
    many_locks_outcome_unknown, "Nobody knows whether the transaction was carried out: both directories are searched before the next one.";
    many_locks_capped, "A hold of many locks is capped from the moment on at which all are held, not from the first one's.";
    many_locks_wanted, "Somebody wants one of many locks back while another one is waited for: told as soon as all are held.";
    many_locks_parents_forbidden, "The directories are missing, and not ours to make.";
    contenders, "Who holds and who waits: one flight lists, one reads all.",
        "Kazoo reads one after the other";
    break_contender, "A contender is deleted if it is the one that was meant.";
    break_another, "The node that was meant has another fence by now: nothing is deleted.";
    revoke_contender, "A contender is asked for the lock in Curator's words.",
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
    story.says(&["multi"]);
    key
}

/// Both nodes are made.
pub(super) fn enqueued(story: &mut Recorder, key: u64) {
    let names = story.reply_children(&[&own(key, 3), &own(key, 8)]);
    story.answer("multi", names);
    story.says(&["children", "get", "children", "get"]);
}

/// Both are held.
pub(super) fn hold_many(story: &mut Recorder) -> u64 {
    let key = multi(story, &many());
    enqueued(story, key);
    story.children(&[&own(key, 3)]).present(41);
    story.children(&[&own(key, 8)]).present(41).says(&["acquired"]);
    key
}

/// Both are held, and given back.
pub(super) fn release_many(story: &mut Recorder) -> u64 {
    let key = hold_many(story);
    story.release(key).says(&["delete", "delete"]);
    key
}

fn many_locks(story: &mut Recorder) {
    let key = release_many(story);
    story.done("delete").says(&[]).done("delete").says(&["released"]);
    story.close(key).leaves(0);
}

/// First in one line, and behind somebody in the other.
pub(super) fn queue_for_many(story: &mut Recorder) -> u64 {
    let key = multi(story, &many());
    queue_in_one(story, key);
    key
}

fn queue_in_one(story: &mut Recorder, key: u64) {
    enqueued(story, key);
    story.children(&[&own(key, 3)]).present(41).present(41);
    story.children(&[&other(2), &own(key, 8)]);
    story.says(&["queued", "get"]).answer_routine();
}

/// The other one's turn has come, too.
fn last_of_many(story: &mut Recorder) -> &mut Recorder {
    story.watch(&format!("/shop/till/{}", other(2)), "deleted")
}

fn many_locks_wait(story: &mut Recorder) {
    queue_for_many(story);
    last_of_many(story).says(&["acquired"]);
}

fn many_locks_capped(story: &mut Recorder) {
    let mut settings = many();
    settings["max_hold"] = json!(1_000_000);
    let key = multi(story, &settings);
    queue_in_one(story, key);
    story.after(1_500_000);
    last_of_many(story).says(&["acquired"]);
    story.waits_for(Some("max-hold")).timeout();
    story.says(&["lost max-hold", "delete", "delete"]);
}

fn many_locks_wanted(story: &mut Recorder) {
    let key = queue_for_many(story);
    story.watch(&at(&own(key, 3)), "changed").says(&["get"]);
    let reply = story.reply_data("__REVOKE__", 1, 41);
    story.answer("get", reply).says(&[]);
    last_of_many(story).says(&["acquired", "revoke-requested"]);
}

fn many_locks_parents_forbidden(story: &mut Recorder) {
    let key = multi(story, &many());
    for _ in 0..4 {
        story.error("multi", code::NO_NODE);
        story.says(&["create", "create", "create", "create", "multi"]);
        for error in [code::NODE_EXISTS, code::NO_AUTH, code::NODE_EXISTS, code::NO_AUTH] {
            story.parent_error(error);
        }
    }
    story.error("multi", code::NO_NODE);
    story.says(&["refused no-permission"]).close(key).leaves(0);
}

fn many_locks_last_as_one(story: &mut Recorder) {
    let key = multi(story, &many());
    enqueued(story, key);
    story.children(&[&other(2), &own(key, 3)]).present(41);
    story.children(&[&own(key, 8)]).present(41).answer_routine();
    story.timeout().says(&["check"]).confirmed().answer_routine();
    story.timeout().says(&["check"]).after(1_850_000);
    story.watch(&at(&other(2)), "deleted").says(&[]);
    story.checked().says(&["sync"]).done("sync").says(&["acquired"]);
    story.waits_for(Some("renew"));
}

fn many_locks_place_lost(story: &mut Recorder) {
    let key = queue_for_many(story);
    story.watch(&at(&own(key, 3)), "deleted").says(&["delete"]);
    story.done("delete").says(&["multi"]);
}

fn many_locks_outcome_unknown(story: &mut Recorder) {
    multi(story, &many());
    story.fail("multi", "unknown");
    story.says(&["sync", "check", "children", "sync", "check", "children"]);
    for _ in 0..2 {
        story.done("sync").checked().children(&[]);
    }
    story.says(&["multi"]);
}

fn look(story: &mut Recorder, more: &[(&str, &str)]) -> u64 {
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
    let key = look(story, &[]);
    story.says(&["children"]);
    story.children(&[WRITER, READERS[1], READERS[0], "notes"]);
    story.says(&["get", "get", "get"]);
    for (who, session, number) in [("till 3", 3, 43), ("till 2", 2, 42), ("till 1", 1, 41)] {
        let reply = story.reply_data(who, session, number);
        story.answer("get", reply);
    }
    story.says(&["found"]).close(key).leaves(0);
}

fn mean(story: &mut Recorder, action: &str) -> u64 {
    let key = look(
        story,
        &[("action", action), ("node", &at(WRITER)), ("fence", "43")],
    );
    story.says(&["get"]);
    key
}

fn break_contender(story: &mut Recorder) {
    mean(story, "break");
    let reply = story.reply_data("till 3", 3, 43);
    story.answer("get", reply).says(&["delete"]);
    story.done("delete").says(&["found"]);
}

fn break_another(story: &mut Recorder) {
    mean(story, "break");
    let reply = story.reply_data("till 4", 4, 44);
    story.answer("get", reply).says(&["refused no-contender"]);
}

fn revoke_contender(story: &mut Recorder) {
    mean(story, "revoke");
    let reply = story.reply_data("till 3", 3, 43);
    story.answer("get", reply).says(&["set"]);
    story.error("set", code::THROTTLED).timeout().says(&["get"]);
    let reply = story.reply_data("till 3", 3, 43);
    story
        .answer("get", reply)
        .says(&["set"])
        .done("set")
        .says(&["found"]);
}

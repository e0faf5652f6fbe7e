//! Semaphores, many locks at once, and looks from outside.

use serde_json::{Value, json};

use super::{DIR, at, code, other, own, warm};
use crate::{cases::cases, transcript::Recorder};

cases! { "zookeeper":
    permit_free, "A permit that is free: the line, then the number of permits, the own node and the list in one flight; the line goes on without us.",
        "Curator takes five round trips";
    permit_first_ever, "The first contender ever writes how many permits there are, as Kazoo does.";
    permit_without_a_directory, "Nobody has ever been there: the number of permits is written once the permit's node has brought the directory with it.";
    permit_comes_back, "All permits are taken: only the head of the line watches them, and one that comes back is one list.";
    permit_tried, "A try that comes while another contender is being served: permits are left, so it waits for its turn in the line.";
    permit_tried_in_vain, "A try finds others in the line, and all permits taken: refused at once.";
    permits_inconsistent, "Somebody else has given another number of permits: refused before a permit is taken.",
        "kazoo's Semaphore raises ValueError";
    line_lost_while_taking, "The head of the line is deleted while it waits for a permit: all is given back, and queued for anew.";
    many_locks, "Two lines are entered in one transaction; the looks that watch the own nodes tell the fence.";
    many_locks_wait, "In one line somebody comes first: the grant waits for both.";
    many_locks_last_as_one, "The proof that lets one place be granted makes the other last longer, too: the grant is valid for as long as both.",
        "the simulator: a grant that said it was over before the last of its places was";
    many_locks_place_lost, "One of two places is deleted: the other one is given up too, and both are taken anew together.";
    many_locks_outcome_unknown, "Nobody knows whether the transaction was carried out: both directories are searched before the next one.";
    contenders, "Who holds and who waits: one flight lists, one reads all.",
        "Kazoo reads one after the other";
    break_contender, "A contender is deleted if it is the one that was meant.";
    break_another, "The node that was meant has another fence by now: nothing is deleted.";
    revoke_contender, "A contender is asked for the lock in Curator's words.",
        "Curator's Revoker";
}

fn begin(story: &mut Recorder, settings: &Value) -> u64 {
    warm(story);
    let key = story.open(settings);
    story.acquire(key);
    key
}

pub(super) fn semaphore(story: &mut Recorder) -> u64 {
    let settings = json!({"kind": "zookeeper-semaphore", "name": "stock", "prefix": "shop", "permits": 2});
    let key = begin(story, &settings);
    let line = own(key, 3);
    story
        .created_at(&format!("{DIR}/locks/{line}"), 41)
        .children(&[&line]);
    story.says(&["get", "create", "children"]);
    key
}

pub(super) fn lease(key: u64, number: i32) -> String {
    own(key, number).replace("-lock-", "-lease-")
}

/// The permit is asked for, and these are taken.
pub(super) fn take(story: &mut Recorder, key: u64, taken: &[&str]) {
    let own = lease(key, 7);
    story.created_at(&format!("{DIR}/leases/{own}"), 42);
    let mut names = taken.to_vec();
    names.push(&own);
    story.children(&names);
}

fn permit_free(story: &mut Recorder) {
    let key = semaphore(story);
    let number = story.reply_data("2", 0, 9);
    story.answer("get", number).says(&[]);
    take(
        story,
        key,
        &["_c_aaaaaaaa-0000-4000-8000-000000000000-lease-0000000006"],
    );
    story.says(&["acquired", "delete"]).done("delete").says(&[]);
    story
        .release(key)
        .says(&["delete"])
        .done("delete")
        .says(&["released"]);
    story.close(key).leaves(0);
}

fn permit_first_ever(story: &mut Recorder) {
    semaphore(story);
    let number = story.reply_data("", 0, 9);
    story.answer("get", number).says(&["set"]);
}

fn permit_without_a_directory(story: &mut Recorder) {
    let key = semaphore(story);
    story.error("get", code::NO_NODE).says(&[]);
    take(story, key, &[]);
    story.says(&["set", "acquired", "delete"]);
}

/// A semaphore that waits for a permit: both are taken.
pub(super) fn wait_for_a_permit(story: &mut Recorder) -> (u64, [String; 2]) {
    let key = semaphore(story);
    let number = story.reply_data("2", 0, 9);
    story.answer("get", number);
    let others = ["a", "b"].map(|name| format!("{name}-lease-0000000001"));
    take(story, key, &[&others[0], &others[1]]);
    story.says(&["queued", "get"]).answer_routine();
    (key, others)
}

fn permit_comes_back(story: &mut Recorder) {
    let (key, [_, second]) = wait_for_a_permit(story);
    let leases = format!("{DIR}/leases");
    story.watch(&leases, "changed").says(&["children"]);
    story.children(&[&second, &lease(key, 7)]);
    story.says(&["acquired", "delete"]);
}

/// A try that has found somebody in the line before it, and counts the permits.
fn behind_in_the_line(story: &mut Recorder) -> u64 {
    warm(story);
    let settings = json!({"kind": "zookeeper-semaphore", "name": "stock", "prefix": "shop", "permits": 2});
    let key = story.open(&settings);
    story.try_acquire(key);
    let line = own(key, 3);
    story
        .created_at(&format!("{DIR}/locks/{line}"), 41)
        .children(&[&other(2), &line]);
    story.says(&["children", "get", "get"]);
    key
}

fn permit_tried(story: &mut Recorder) {
    let key = behind_in_the_line(story);
    story.children(&["a-lease-0000000001"]).says(&[]).answer_routine();
    story.watch(&format!("{DIR}/locks/{}", other(2)), "deleted");
    story.says(&["get", "create", "children"]);
    take(story, key, &["a-lease-0000000001"]);
    story.says(&["acquired", "delete"]);
}

fn permit_tried_in_vain(story: &mut Recorder) {
    let key = behind_in_the_line(story);
    story.children(&["a-lease-0000000001", "b-lease-0000000002"]);
    story
        .says(&["delete"])
        .done("delete")
        .says(&["refused not-available"]);
    story.close(key).leaves(0);
}

fn permits_inconsistent(story: &mut Recorder) {
    semaphore(story);
    let number = story.reply_data("3", 0, 9);
    story.answer("get", number);
    story.says(&["refused inconsistent-permits", "delete"]);
}

/// A semaphore that waits for a permit, and whose place in the line is deleted.
pub(super) fn lose_the_line(story: &mut Recorder) -> u64 {
    let key = semaphore(story);
    let number = story.reply_data("2", 0, 9);
    story.answer("get", number);
    take(story, key, &["a-lease-0000000001", "b-lease-0000000002"]);
    story.says(&["queued", "get"]).answer_routine();
    // The first confirmation after the grant of the line has it watched.
    story.after(3_000_000).timeout();
    story.confirmed().answer_routine();
    story.watch(&format!("{DIR}/locks/{}", own(key, 3)), "deleted");
    story.says(&["delete"]);
    key
}

fn line_lost_while_taking(story: &mut Recorder) {
    lose_the_line(story);
    story.done("delete").says(&["create", "children"]);
}

fn multi(story: &mut Recorder) -> u64 {
    let settings = json!({"kind": "zookeeper-multi-lock", "names": ["stock", "till"], "prefix": "shop"});
    let key = begin(story, &settings);
    story.says(&["multi"]);
    key
}

/// Both nodes are made.
fn enqueued(story: &mut Recorder, key: u64) {
    let names = story.reply_children(&[&own(key, 3), &own(key, 8)]);
    story.answer("multi", names);
    story.says(&["children", "get", "children", "get"]);
}

/// Both are held, and given back.
pub(super) fn release_many(story: &mut Recorder) -> u64 {
    let key = multi(story);
    enqueued(story, key);
    story.children(&[&own(key, 3)]).present(41);
    story.children(&[&own(key, 8)]).present(41).says(&["acquired"]);
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
    let key = multi(story);
    enqueued(story, key);
    story.children(&[&own(key, 3)]).present(41).present(41);
    story.children(&[&other(2), &own(key, 8)]);
    story.says(&["queued", "get"]).answer_routine();
    key
}

fn many_locks_wait(story: &mut Recorder) {
    queue_for_many(story);
    story.watch(&format!("/shop/till/{}", other(2)), "deleted");
    story.says(&["acquired"]);
}

fn many_locks_last_as_one(story: &mut Recorder) {
    let key = multi(story);
    enqueued(story, key);
    story.children(&[&other(2), &own(key, 3)]).present(41);
    story.children(&[&own(key, 8)]).present(41).answer_routine();
    story.timeout().says(&["sync"]).confirmed().answer_routine();
    story.timeout().says(&["sync"]).after(1_850_000);
    story.watch(&at(&other(2)), "deleted").says(&[]);
    story
        .done("sync")
        .says(&["sync"])
        .done("sync")
        .says(&["acquired"]);
    story.waits_for(Some("renew"));
}

fn many_locks_place_lost(story: &mut Recorder) {
    let key = queue_for_many(story);
    story.watch(&at(&own(key, 3)), "deleted").says(&["delete"]);
    story.done("delete").says(&["multi"]);
}

fn many_locks_outcome_unknown(story: &mut Recorder) {
    multi(story);
    story.fail("multi", "unknown");
    story.says(&["sync", "children", "sync", "children"]);
    story.done("sync").children(&[]).done("sync").children(&[]);
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

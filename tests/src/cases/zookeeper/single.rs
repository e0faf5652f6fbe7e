//! A single node that is the lock.

use serde_json::json;

use super::{DIR, code, warm};
use crate::{cases::cases, transcript::Recorder};

cases! { "zookeeper":
    single, "A lock that is one node: created and looked at in one flight, released by one delete.";
    single_first_ever, "The directories above it are made when they are missing.";
    single_held, "Another one holds: its node is watched, and when it goes the node is created again.";
    single_try, "Another one holds: a try says so at once.";
    single_tried, "A try that is granted has set no watch: the next confirmation does, if the grant lasts.";
    single_snatched, "Between the release and our create somebody else was quicker: it is watched in its turn.";
    single_create_lost, "The create is not answered, and was carried out: what stands in the node says that it is ours.",
        "kazoo and Curator leave such a node behind on a living session";
    single_release_lost, "The delete is not answered: it is repeated only when a look behind a barrier shows the node to be still ours.",
        "every fresh node has version 0: a blind or guarded second delete can hit a stranger's";
    single_release_lost_and_taken, "The delete was carried out, and a stranger holds meanwhile: its node is left alone.";
    single_taken_away, "Somebody deletes the node of a holder: lost.";
    single_that_stays, "What is there goes with no session: it is no lock, and would be waited for for ever.";
    single_watch_first, "The watch fires before the answer that set it: the node is looked at again.";
    single_given_up, "Given up before the create was answered: the node is deleted if a look behind a barrier shows that it is ours still.",
        "the simulator: an operator had deleted it, and a stranger held when our delete came";
    single_seen_late, "After a reconnect a server that is behind shows the node of an earlier holder: lost, and what is ours is looked for behind a barrier and deleted.",
        "the simulator: the node stayed behind on a living session";
}

fn single(story: &mut Recorder) {
    let key = hold(story);
    story
        .release(key)
        .says(&["delete"])
        .done("delete")
        .says(&["released"]);
    story.close(key).leaves(0);
}

fn ask(story: &mut Recorder) -> u64 {
    warm(story);
    let key = story.open(&json!({"kind": "zookeeper-single", "name": "stock", "prefix": "shop"}));
    story.acquire(key).says(&["create", "get"]);
    key
}

/// What stands in the node of a machine's attempt.
fn data(key: u64, attempt: u32) -> String {
    format!("{key:08x}00000000000000000000feed-{attempt}")
}

fn made(story: &mut Recorder, czxid: i64) {
    let reply = story.reply_created(DIR, czxid);
    story.answer("create", reply);
}

/// The node is there, made by an attempt of ours.
fn ours(story: &mut Recorder, key: u64, attempt: u32, czxid: i64) {
    let reply = story.reply_data(&data(key, attempt), 1, czxid);
    story.answer("get", reply);
}

/// Somebody else's node is there.
fn theirs(story: &mut Recorder) {
    let reply = story.reply_data("somebody", 9, 39);
    story.error("create", code::NODE_EXISTS).answer("get", reply);
}

pub(super) fn hold(story: &mut Recorder) -> u64 {
    let key = ask(story);
    made(story, 41);
    ours(story, key, 1, 41);
    story.says(&["acquired"]);
    key
}

fn single_first_ever(story: &mut Recorder) {
    let key = ask(story);
    story.error("create", code::NO_NODE).error("get", code::NO_NODE);
    story.says(&["create", "create", "get"]).created_parent();
    made(story, 41);
    ours(story, key, 2, 41);
    story.says(&["acquired"]);
}

/// A waiter behind another one's node.
pub(super) fn behind_theirs(story: &mut Recorder) -> u64 {
    let key = ask(story);
    theirs(story);
    story.says(&["queued"]);
    key
}

fn single_held(story: &mut Recorder) {
    let key = behind_theirs(story);
    story.watch(DIR, "deleted").says(&["create", "get"]);
    made(story, 41);
    ours(story, key, 2, 41);
    story.says(&["acquired"]);
}

fn try_it(story: &mut Recorder) -> u64 {
    warm(story);
    let key = story.open(&json!({"kind": "zookeeper-single", "name": "stock", "prefix": "shop"}));
    story.try_acquire(key).says(&["create", "get"]);
    key
}

fn single_tried(story: &mut Recorder) {
    let key = try_it(story);
    made(story, 41);
    ours(story, key, 1, 41);
    story.says(&["acquired"]).after(3_000_000).timeout();
    story.confirmed().says(&["extended", "get"]);
    ours(story, key, 1, 41);
    story.watch(DIR, "deleted").says(&["lost deleted"]);
}

fn single_try(story: &mut Recorder) {
    let key = try_it(story);
    theirs(story);
    story.says(&["refused not-available"]).close(key).leaves(0);
}

fn single_snatched(story: &mut Recorder) {
    behind_theirs(story);
    story.watch(DIR, "deleted").says(&["create", "get"]);
    theirs(story);
    story.says(&["queued"]);
}

fn single_create_lost(story: &mut Recorder) {
    let key = ask(story);
    story.disconnected().given(1).says(&["check", "create", "get"]);
    story.checked().error("create", code::NODE_EXISTS);
    ours(story, key, 1, 41);
    story.says(&["acquired"]);
}

fn single_release_lost(story: &mut Recorder) {
    let key = hold(story);
    story.release(key).fail("delete", "unknown").says(&[]).timeout();
    story.says(&["sync", "check", "get"]).done("sync").checked();
    ours(story, key, 1, 41);
    story.says(&["delete"]).done("delete").says(&["released"]);
}

fn single_release_lost_and_taken(story: &mut Recorder) {
    let key = hold(story);
    story.release(key).fail("delete", "unknown").says(&[]).timeout();
    story.says(&["sync", "check", "get"]).done("sync").checked();
    let reply = story.reply_data("somebody", 9, 45);
    story.answer("get", reply).says(&["released"]);
    story.close(key).leaves(0);
}

fn single_taken_away(story: &mut Recorder) {
    let key = hold(story);
    story.watch(DIR, "deleted").says(&["lost deleted"]);
    story.close(key).leaves(0);
}

fn single_that_stays(story: &mut Recorder) {
    let key = ask(story);
    let reply = story.reply_data("notes", 0, 39);
    story.error("create", code::NODE_EXISTS).answer("get", reply);
    story.says(&["refused wrong-type"]).close(key).leaves(0);
}

fn single_watch_first(story: &mut Recorder) {
    ask(story);
    story.error("create", code::NODE_EXISTS).watch(DIR, "deleted");
    let reply = story.reply_data("somebody", 9, 39);
    story.answer("get", reply).says(&["get"]);
    story.error("get", code::NO_NODE).says(&["create", "get"]);
}

fn single_given_up(story: &mut Recorder) {
    let key = ask(story);
    story.cancel(key).says(&["refused cancelled"]);
    made(story, 41);
    story.says(&["sync", "check", "get"]);
    // The answer to the first look has nothing to say any more.
    ours(story, key, 1, 41);
    still_ours(story, key);
}

/// A look behind a barrier, and the node deleted.
fn still_ours(story: &mut Recorder, key: u64) {
    story.done("sync");
    ours(story, key, 1, 41);
    story.says(&["delete"]).done("delete").close(key).leaves(0);
}

fn single_seen_late(story: &mut Recorder) {
    let key = hold(story);
    story.session_is("suspended").says(&["suspended"]);
    story.after(300_000).given(1).says(&["check", "get"]).checked();
    let reply = story.reply_data("somebody", 9, 39);
    story
        .answer("get", reply)
        .says(&["lost deleted", "sync", "check", "get"]);
    still_ours(story, key);
}

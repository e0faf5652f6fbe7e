//! A single node that is the lock.

use serde_json::json;

use super::{DIR, code, warm};
use crate::{cases::cases, transcript::Recorder};

cases! { "zookeeper":
    single, "A lock that is one node: its create and a read are sent together, and one delete releases it.";
    single_first_ever, "The directories above it are created when they are missing.";
    single_held,
        "Another client holds the lock: its node is watched, and when it is gone, the contender creates the \
         node again.";
    single_try, "Another client holds the lock: a nonblocking acquire is refused at once.";
    single_tried,
        "A nonblocking acquire that is granted has set no watch: the next confirmation sets it, if the \
         grant lasts that long.";
    single_snatched,
        "Another client creates the node between the release and the contender's create: that node is \
         watched next.";
    single_create_lost,
        "The create is not answered, and was executed: the node's data show that it is the contender's own.",
        "kazoo and Curator leave such a node behind on a living session";
    single_release_lost,
        "The delete is not answered: it is repeated only when a read behind a barrier shows that the node \
         is still the contender's own.",
        "every fresh node has version 0: a blind or guarded second delete can delete another client's node";
    single_release_lost_and_taken,
        "The delete was executed, and another client holds the lock meanwhile: its node is left alone.";
    single_taken_away, "Another client deletes the node of a holder: lost.";
    single_that_stays,
        "The existing node belongs to no session: it is no lock, and a wait for it would never end.";
    single_watch_first, "The watch fires before the answer that set it: the node is read again.";
    single_given_up,
        "The acquire is given up before the create is answered: the node is deleted if a read behind a \
         barrier shows that it is still the contender's own.",
        "the simulator: an operator had deleted it, and another client held the lock when the delete came";
    single_seen_late,
        "After a reconnect a server that is behind shows the node of an earlier holder: lost, and the \
         contender's own node is searched for behind a barrier and deleted.",
        "the simulator: the node stayed behind on a living session";
}

fn single(story: &mut Recorder) {
    let key = hold(story);
    story
        .release(key)
        .returns(&["delete"])
        .done("delete")
        .returns(&["released"]);
    story.close(key).leaves(0);
}

fn ask(story: &mut Recorder) -> u64 {
    warm(story);
    let key = story.open(&json!({"kind": "zookeeper-single", "name": "stock", "prefix": "shop"}));
    story.acquire(key).returns(&["create", "get"]);
    key
}

/// The data of the node of a machine's attempt.
fn data(key: u64, attempt: u32) -> String {
    format!("{key:08x}00000000000000000000feed-{attempt}")
}

fn made(story: &mut Recorder, czxid: i64) {
    let reply = story.reply_created(DIR, czxid);
    story.answer("create", reply);
}

/// The node exists, and is this attempt's.
fn ours(story: &mut Recorder, key: u64, attempt: u32, czxid: i64) {
    let reply = story.reply_data(&data(key, attempt), 1, czxid);
    story.answer("get", reply);
}

/// Another client's node exists.
fn theirs(story: &mut Recorder) {
    let reply = story.reply_data("somebody", 9, 39);
    story.error("create", code::NODE_EXISTS).answer("get", reply);
}

pub(super) fn hold(story: &mut Recorder) -> u64 {
    let key = ask(story);
    made(story, 41);
    ours(story, key, 1, 41);
    story.returns(&["acquired"]);
    key
}

fn single_first_ever(story: &mut Recorder) {
    let key = ask(story);
    story.error("create", code::NO_NODE).error("get", code::NO_NODE);
    story.returns(&["create", "create", "get"]).created_parent();
    made(story, 41);
    ours(story, key, 2, 41);
    story.returns(&["acquired"]);
}

/// A waiter behind another client's node.
pub(super) fn behind_theirs(story: &mut Recorder) -> u64 {
    let key = ask(story);
    theirs(story);
    story.returns(&["queued"]);
    key
}

fn single_held(story: &mut Recorder) {
    let key = behind_theirs(story);
    story.watch(DIR, "deleted").returns(&["create", "get"]);
    made(story, 41);
    ours(story, key, 2, 41);
    story.returns(&["acquired"]);
}

fn try_it(story: &mut Recorder) -> u64 {
    warm(story);
    let key = story.open(&json!({"kind": "zookeeper-single", "name": "stock", "prefix": "shop"}));
    story.try_acquire(key).returns(&["create", "get"]);
    key
}

fn single_tried(story: &mut Recorder) {
    let key = try_it(story);
    made(story, 41);
    ours(story, key, 1, 41);
    story.returns(&["acquired"]).after(3_000_000).timeout();
    story.confirmed().returns(&["extended", "get"]);
    ours(story, key, 1, 41);
    story.watch(DIR, "deleted").returns(&["lost deleted"]);
}

fn single_try(story: &mut Recorder) {
    let key = try_it(story);
    theirs(story);
    story.returns(&["refused not-available"]).close(key).leaves(0);
}

fn single_snatched(story: &mut Recorder) {
    behind_theirs(story);
    story.watch(DIR, "deleted").returns(&["create", "get"]);
    theirs(story);
    story.returns(&["queued"]);
}

fn single_create_lost(story: &mut Recorder) {
    let key = ask(story);
    story.disconnected().given(1).returns(&["check", "create", "get"]);
    story.checked().error("create", code::NODE_EXISTS);
    ours(story, key, 1, 41);
    story.returns(&["acquired"]);
}

fn single_release_lost(story: &mut Recorder) {
    let key = hold(story);
    story
        .release(key)
        .fail("delete", "unknown")
        .returns(&[])
        .timeout();
    story.returns(&["sync", "check", "get"]).done("sync").checked();
    ours(story, key, 1, 41);
    story.returns(&["delete"]).done("delete").returns(&["released"]);
}

fn single_release_lost_and_taken(story: &mut Recorder) {
    let key = hold(story);
    story
        .release(key)
        .fail("delete", "unknown")
        .returns(&[])
        .timeout();
    story.returns(&["sync", "check", "get"]).done("sync").checked();
    let reply = story.reply_data("somebody", 9, 45);
    story.answer("get", reply).returns(&["released"]);
    story.close(key).leaves(0);
}

fn single_taken_away(story: &mut Recorder) {
    let key = hold(story);
    story.watch(DIR, "deleted").returns(&["lost deleted"]);
    story.close(key).leaves(0);
}

fn single_that_stays(story: &mut Recorder) {
    let key = ask(story);
    let reply = story.reply_data("notes", 0, 39);
    story.error("create", code::NODE_EXISTS).answer("get", reply);
    story.returns(&["refused wrong-type"]).close(key).leaves(0);
}

fn single_watch_first(story: &mut Recorder) {
    ask(story);
    story.error("create", code::NODE_EXISTS).watch(DIR, "deleted");
    let reply = story.reply_data("somebody", 9, 39);
    story.answer("get", reply).returns(&["get"]);
    story.error("get", code::NO_NODE).returns(&["create", "get"]);
}

fn single_given_up(story: &mut Recorder) {
    let key = ask(story);
    story.cancel(key).returns(&["refused cancelled"]);
    made(story, 41);
    story.returns(&["sync", "check", "get"]);
    // The answer to the first read no longer counts.
    ours(story, key, 1, 41);
    still_ours(story, key);
}

/// A read behind a barrier; then the node is deleted.
fn still_ours(story: &mut Recorder, key: u64) {
    story.done("sync");
    ours(story, key, 1, 41);
    story.returns(&["delete"]).done("delete").close(key).leaves(0);
}

fn single_seen_late(story: &mut Recorder) {
    let key = hold(story);
    story.session_is("suspended").returns(&["suspended"]);
    story.after(300_000).given(1).returns(&["check", "get"]).checked();
    let reply = story.reply_data("somebody", 9, 39);
    story
        .answer("get", reply)
        .returns(&["lost deleted", "sync", "check", "get"]);
    still_ours(story, key);
}

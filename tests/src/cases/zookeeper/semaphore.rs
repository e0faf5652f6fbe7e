//! Semaphores: the wait queue, the number of permits, the permits.

use serde_json::json;

use super::{DIR, code, other, own, recipes::begin, warm};
use crate::{cases::cases, transcript::Recorder};

cases! { "zookeeper":
    permit_free,
        "A permit is free: the number of permits is read while the contender enqueues, and then the permit \
         node is created and listed together. The next contender in the queue follows at once.",
        "Curator takes five round trips";
    permit_first_ever,
        "The number of permits was never written: it is read again at the head of the queue, where no other \
         client can write it, and written, as Kazoo does.";
    permit_without_a_directory,
        "No client has used the semaphore before: the number of permits is written once the permit node's \
         create has made the directory.";
    permit_comes_back,
        "All permits are taken: only the head of the queue watches them, and lists once when a permit is \
         released.";
    permit_tried,
        "A nonblocking acquire comes while another contender is being served: permits are left, so it waits \
         for its turn in the queue.";
    permit_tried_behind_a_stopped_one,
        "A nonblocking acquire is behind a contender that takes none of the free permits: it does not wait \
         for that one, and is refused.",
        "a process that was stopped in the queue: a nonblocking acquire took five seconds";
    permit_try_failed,
        "A nonblocking acquire finds other contenders in the queue, and all permits taken: refused at once.";
    permit_wanted,
        "Another client writes a revocation request into the queue node of a contender that still waits: \
         reported as soon as it has a permit.";
    permits_inconsistent,
        "Another client has given another number of permits: refused before the contender's turn comes.",
        "kazoo's Semaphore raises ValueError";
    permits_inconsistent_meanwhile,
        "Another client has written another number of permits while the contender enqueued: refused before \
         a permit is taken.";
    permits_not_ours_to_read,
        "The number of permits may not be read: the holders could have another one, so the contender is \
         refused.";
    permits_not_compared,
        "The number of permits was requested twice, and no answer came: the permit is released, and \
         everything begins again after a pause.";
    permits_compared_after_a_suspend,
        "The connection is lost while the number of permits is being read: the number is read again before \
         anything else.";
    queue_place_lost_while_taking,
        "The head of the queue waits for a permit, and its queue node is deleted: everything is given up, \
         and the contender enqueues again.";
}

/// The contender enqueues, and requests the number of permits.
pub(super) fn ask(story: &mut Recorder) -> u64 {
    let settings = json!({"kind": "zookeeper-semaphore", "name": "stock", "prefix": "shop", "permits": 2});
    let key = begin(story, &settings);
    story.returns(&["create", "children", "get"]);
    key
}

/// The answer to the read of the number of permits.
pub(super) fn written(story: &mut Recorder, number: &str) {
    let number = story.reply_data(number, 0, 9);
    story.answer("get", number);
}

pub(super) fn enqueued_for_a_permit(story: &mut Recorder, key: u64) -> &mut Recorder {
    story.created_at(&format!("{DIR}/locks/{}", own(key, 3)), 41)
}

/// First in the queue.
fn lead(story: &mut Recorder, key: u64) {
    enqueued_for_a_permit(story, key).children(&[&own(key, 3)]);
}

/// The head of the queue: it requests a permit.
pub(super) fn semaphore(story: &mut Recorder) -> u64 {
    let key = ask(story);
    written(story, "2");
    lead(story, key);
    story.returns(&["create", "children"]);
    key
}

/// The head of the queue, when the number of permits was never written.
fn ask_again(story: &mut Recorder, key: u64) {
    lead(story, key);
    story.returns(&["get", "create", "children"]);
}

pub(super) fn lease(key: u64, number: i32) -> String {
    own(key, number).replace("-lock-", "-lease-")
}

/// The permit is requested, and these are taken.
pub(super) fn take(story: &mut Recorder, key: u64, taken: &[&str]) {
    let own = lease(key, 7);
    story.created_at(&format!("{DIR}/leases/{own}"), 42);
    let mut names = taken.to_vec();
    names.push(&own);
    story.children(&names);
}

/// A permit is held, and another client holds one, too. The contender has left the queue.
pub(super) fn held(story: &mut Recorder) -> u64 {
    let key = semaphore(story);
    let other = "_c_aaaaaaaa-0000-4000-8000-000000000000-lease-0000000006";
    take(story, key, &[other]);
    story.returns(&["acquired", "delete"]).done("delete").returns(&[]);
    key
}

fn permit_free(story: &mut Recorder) {
    let key = held(story);
    story
        .release(key)
        .returns(&["delete"])
        .done("delete")
        .returns(&["released"]);
    story.close(key).leaves(0);
}

fn permit_first_ever(story: &mut Recorder) {
    let key = ask(story);
    written(story, "");
    ask_again(story, key);
    written(story, "");
    take(story, key, &[]);
    story.returns(&["set", "acquired", "delete"]);
}

fn permit_without_a_directory(story: &mut Recorder) {
    let key = ask(story);
    story.error("get", code::NO_NODE);
    ask_again(story, key);
    story.error("get", code::NO_NODE).returns(&[]);
    take(story, key, &[]);
    story.returns(&["set", "acquired", "delete"]);
}

/// A semaphore that waits for a permit: both are taken.
pub(super) fn wait_for_a_permit(story: &mut Recorder) -> (u64, [String; 2]) {
    let key = semaphore(story);
    let others = ["a", "b"].map(|name| format!("{name}-lease-0000000001"));
    take(story, key, &[&others[0], &others[1]]);
    story.returns(&["queued", "get"]).answer_routine();
    (key, others)
}

fn permit_comes_back(story: &mut Recorder) {
    let (key, [_, second]) = wait_for_a_permit(story);
    permit_is_back(story, key, &second);
    story.returns(&["acquired", "delete"]);
}

pub(super) fn permit_is_back(story: &mut Recorder, key: u64, left: &str) {
    let leases = format!("{DIR}/leases");
    story.watch(&leases, "changed").returns(&["children"]);
    story.children(&[left, &lease(key, 7)]);
}

/// A nonblocking acquire that has found another contender ahead in the queue, and counts the permits.
fn behind_in_the_queue(story: &mut Recorder) -> u64 {
    warm(story);
    let settings = json!({"kind": "zookeeper-semaphore", "name": "stock", "prefix": "shop", "permits": 2});
    let key = story.open(&settings);
    story.try_acquire(key);
    written(story, "2");
    enqueued_for_a_permit(story, key).children(&[&other(2), &own(key, 3)]);
    story.returns(&["children", "get", "get"]);
    key
}

fn permit_tried(story: &mut Recorder) {
    let key = behind_in_the_queue(story);
    story
        .children(&["a-lease-0000000001"])
        .returns(&[])
        .answer_routine();
    story.watch(&format!("{DIR}/locks/{}", other(2)), "deleted");
    story.returns(&["create", "children"]);
    take(story, key, &["a-lease-0000000001"]);
    story.returns(&["acquired", "delete"]);
}

fn permit_tried_behind_a_stopped_one(story: &mut Recorder) {
    let key = behind_in_the_queue(story);
    story
        .children(&["a-lease-0000000001"])
        .returns(&[])
        .answer_routine();
    story.waits_for(Some("acquire-timeout")).timeout_after(50_000);
    story.returns(&["delete"]).done("delete");
    story.returns(&["refused not-available"]).close(key).leaves(0);
}

fn permit_try_failed(story: &mut Recorder) {
    let key = behind_in_the_queue(story);
    story.children(&["a-lease-0000000001", "b-lease-0000000002"]);
    story
        .returns(&["delete"])
        .done("delete")
        .returns(&["refused not-available"]);
    story.close(key).leaves(0);
}

/// A semaphore that waits for a permit, and watches its place in the queue, too: the first confirmation at
/// the head of the queue sets that watch.
pub(super) fn wait_and_watch_the_queue(story: &mut Recorder) -> u64 {
    let (key, _) = wait_for_a_permit(story);
    story.after(3_000_000).timeout();
    story.confirmed().answer_routine();
    key
}

fn permit_wanted(story: &mut Recorder) {
    let key = wait_and_watch_the_queue(story);
    let place = format!("{DIR}/locks/{}", own(key, 3));
    story.watch(&place, "changed").returns(&["get"]);
    let request = story.reply_data("__REVOKE__", 1, 41);
    story.answer("get", request).returns(&[]);
    permit_is_back(story, key, "b-lease-0000000001");
    story.returns(&["acquired", "revoke-requested", "delete"]);
}

fn permits_inconsistent(story: &mut Recorder) {
    let key = ask(story);
    written(story, "3");
    story.returns(&["refused inconsistent-permits"]);
    enqueued_for_a_permit(story, key)
        .returns(&["delete"])
        .done("delete");
    story.close(key).leaves(0);
}

fn permits_inconsistent_meanwhile(story: &mut Recorder) {
    let key = ask(story);
    written(story, "");
    ask_again(story, key);
    written(story, "3");
    story.returns(&["refused inconsistent-permits", "delete"]);
}

fn permits_not_ours_to_read(story: &mut Recorder) {
    let key = ask(story);
    story
        .error("get", code::NO_AUTH)
        .returns(&["refused no-permission"]);
    enqueued_for_a_permit(story, key)
        .returns(&["delete"])
        .done("delete");
    story.close(key).leaves(0);
}

fn permits_not_compared(story: &mut Recorder) {
    let key = ask(story);
    story.fail("get", "unknown");
    ask_again(story, key);
    story.fail("get", "unknown").returns(&[]);
    take(story, key, &[]);
    story.returns(&["delete", "delete"]).done("delete").done("delete");
    story.returns(&[]).waits_for(Some("retry")).timeout();
    story.returns(&["create", "children", "get"]);
}

fn permits_compared_after_a_suspend(story: &mut Recorder) {
    let key = ask(story);
    lead(story, key);
    story.returns(&["create", "children"]).disconnected();
    story
        .connected(1)
        .returns(&["check", "get", "get", "create", "children"]);
}

/// A semaphore that waits for a permit, and whose place in the queue is deleted.
pub(super) fn lose_the_queue_place(story: &mut Recorder) -> u64 {
    let key = wait_and_watch_the_queue(story);
    story.watch(&format!("{DIR}/locks/{}", own(key, 3)), "deleted");
    story.returns(&["delete"]);
    key
}

fn queue_place_lost_while_taking(story: &mut Recorder) {
    lose_the_queue_place(story);
    story.done("delete").returns(&["create", "children", "get"]);
}

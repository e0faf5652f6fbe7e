//! Failures of semaphores: refusals, suspensions and revocation requests in each phase.

use serde_json::json;

use super::{
    DIR, code, other, own,
    semaphore::{
        ask, enqueued_for_a_permit, held, lease, permit_is_back, take, wait_and_watch_the_queue,
        wait_for_a_permit, written,
    },
    times_out_while_suspended, warm,
};
use crate::{
    cases::cases,
    transcript::{Input, Recorder},
};

cases! { "zookeeper":
    permit_behind_another,
        "Another contender is ahead in the queue: reported, and this contender's turn comes when the other \
         one leaves.";
    permit_behind_a_foreign_one, "A contender of another layout is in the queue: reported.";
    permit_queue_forbidden, "The server denies the place in the queue: refused with its reason.";
    permit_extended,
        "The session's confirmations extend the grant. A suspension is reported, and ends when the node has \
         been read again.";
    permit_requested, "Another client writes a revocation request for a permit that is held: reported.";
    permit_requested_twice,
        "A revocation request came during the wait, and another one comes later: reported once.";
    permit_cancelled_while_leaving,
        "The acquire timeout has ended, and a cancel comes before the cleanup is done: the refusal comes at \
         once. A release cannot be cancelled.";
    permit_timeout_and_cut_off,
        "The connection is lost while the cleanup is in flight: the refusal does not wait for it.";
    permit_timeout_while_suspended,
        "The acquire timeout ends in the queue, without a connection: refused as unreachable.";
    permits_read_anew_in_the_queue,
        "The connection is lost in the queue, when the number of permits is known: the directory may be \
         another one, so the number is read again.";
    permits_known_at_the_head,
        "The connection is lost at the head of the queue: the number of permits is known, and cannot have \
         changed.";
    permits_answer_made_up,
        "The client library has made up an answer to the read of the number: the number is read again at \
         the head of the queue.";
}

fn settings() -> serde_json::Value {
    json!({"kind": "zookeeper-semaphore", "name": "stock", "prefix": "shop", "permits": 2})
}

/// The path of a place in the queue.
fn in_queue(name: &str) -> String {
    format!("{DIR}/locks/{name}")
}

/// A contender that waits in the queue.
fn wait_in_queue(story: &mut Recorder) -> u64 {
    let key = ask(story);
    written(story, "2");
    enqueued_for_a_permit(story, key).children(&[&other(2), &own(key, 3)]);
    story.returns(&["queued", "get", "get"]).answer_routine();
    key
}

fn permit_behind_another(story: &mut Recorder) {
    let key = wait_in_queue(story);
    story.watch(&in_queue(&other(2)), "deleted");
    story.returns(&["create", "children"]);
    take(story, key, &[]);
    story.returns(&["acquired", "delete"]);
}

fn permit_behind_a_foreign_one(story: &mut Recorder) {
    let key = ask(story);
    written(story, "2");
    let foreign = "0f0e0d0c-__lock__-0000000002";
    enqueued_for_a_permit(story, key).children(&[foreign, &own(key, 3)]);
    story.returns(&["mixed-layouts", "queued", "get", "get"]);
}

fn permit_queue_forbidden(story: &mut Recorder) {
    let key = ask(story);
    written(story, "2");
    story.error("create", code::NO_AUTH);
    story.error("children", code::NO_AUTH);
    story.returns(&["refused no-permission"]).close(key).leaves(0);
}

fn permit_extended(story: &mut Recorder) {
    let key = held(story);
    story.timeout_of("renew").returns(&["check"]).confirmed();
    story.returns(&["extended", "get"]).answer_routine();
    story.disconnected().returns(&["suspended"]);
    story.connected(1).returns(&["check", "get"]);
    story.present(42).returns(&["resumed"]);
    story.release(key).returns(&["delete"]);
}

/// A revocation request is written into a node that is watched.
fn request(story: &mut Recorder, node: &str, number: i64) {
    story.watch(node, "changed").returns(&["get"]);
    let reply = story.reply_data("__REVOKE__", 1, number);
    story.answer("get", reply);
}

/// The path of the own permit.
fn permit(key: u64) -> String {
    format!("{DIR}/leases/{}", lease(key, 7))
}

fn permit_requested(story: &mut Recorder) {
    let key = held(story);
    story.timeout_of("renew").confirmed().answer_routine();
    request(story, &permit(key), 42);
    story.returns(&["revoke-requested"]);
    request(story, &permit(key), 42);
    story.returns(&[]);
}

fn permit_requested_twice(story: &mut Recorder) {
    let key = wait_and_watch_the_queue(story);
    request(story, &in_queue(&own(key, 3)), 41);
    story.returns(&[]);
    permit_is_back(story, key, "b-lease-0000000001");
    story.returns(&["acquired", "revoke-requested", "delete"]);
    request(story, &permit(key), 42);
    story.returns(&[]);
}

/// A contender behind another one, whose acquire has a timeout.
fn queue_with_a_timeout(story: &mut Recorder) -> u64 {
    warm(story);
    let key = story.open(&settings());
    story.acquire_within(key, 200_000);
    written(story, "2");
    enqueued_for_a_permit(story, key).children(&[&other(2), &own(key, 3)]);
    story.answer_routine();
    key
}

fn permit_timeout_while_suspended(story: &mut Recorder) {
    let key = queue_with_a_timeout(story);
    times_out_while_suspended(story, key);
}

/// The acquire timeout ends in the queue.
fn leave_the_queue(story: &mut Recorder) -> u64 {
    let key = queue_with_a_timeout(story);
    story.waits_for(Some("acquire-timeout")).timeout();
    story.returns(&["delete"]);
    key
}

fn permit_cancelled_while_leaving(story: &mut Recorder) {
    let key = leave_the_queue(story);
    story.cancel(key).returns(&["refused timeout"]);
    story.misuse(Input::Cancel { key }, "not-waiting");
    story.done("delete").returns(&[]).close(key).leaves(0);
    let key = story.open(&settings());
    story.acquire(key);
    written(story, "2");
    enqueued_for_a_permit(story, key).children(&[&own(key, 3)]);
    take(story, key, &[]);
    story.done("delete").release(key).returns(&["delete"]);
    story.misuse(Input::Cancel { key }, "not-waiting");
    story.done("delete").returns(&["released"]);
}

fn permit_timeout_and_cut_off(story: &mut Recorder) {
    let key = leave_the_queue(story);
    story.session_is("suspended").returns(&["refused timeout"]);
    story.fail("delete", "unknown").returns(&[]);
    story.connected(1).returns(&["check", "delete"]);
    story.done("delete").returns(&[]).close(key).leaves(0);
}

fn permits_read_anew_in_the_queue(story: &mut Recorder) {
    let key = wait_in_queue(story);
    story.disconnected();
    story.connected(1).returns(&["check", "sync", "children", "get"]);
    written(story, "3");
    story.returns(&["delete"]).done("delete");
    story.returns(&["refused inconsistent-permits"]);
    story.close(key).leaves(0);
}

fn permits_known_at_the_head(story: &mut Recorder) {
    wait_for_a_permit(story);
    story.disconnected();
    story.connected(1).returns(&["check", "sync", "children", "get"]);
}

fn permits_answer_made_up(story: &mut Recorder) {
    let key = ask(story);
    story.error("get", code::OPERATION_TIMEOUT).returns(&[]);
    enqueued_for_a_permit(story, key).children(&[&own(key, 3)]);
    story.returns(&["get", "create", "children"]);
}

//! Semaphores, where something goes wrong: refusals, suspensions and revocation requests in each phase.

use serde_json::json;

use super::{
    DIR, code, other, own,
    semaphore::{
        ask, held, lease, line_joined, permit_is_back, take, wait_and_watch_the_line, wait_for_a_permit,
        written,
    },
    warm,
};
use crate::{
    cases::cases,
    transcript::{Input, Recorder},
};

cases! { "zookeeper":
    permit_behind_another, "Another contender comes first in the line: reported, and its turn comes with that one's end.";
    permit_behind_a_foreign_one, "A contender of another layout is in the line: reported.";
    permit_line_forbidden, "The server denies the place in the line: refused with its reason.";
    permit_extended, "The session's confirmations extend the grant, and a suspension is reported and over when the node has been read again.";
    permit_requested, "Another client requests a permit that is held: reported.";
    permit_requested_twice, "The permit was requested while it was waited for, and again: reported once.";
    permit_cancelled_while_leaving, "The acquire's time is over, and a cancel comes before the cleanup is done: the refusal comes at once. A release cannot be cancelled.";
    permit_timeout_and_cut_off, "The connection is lost while the cleanup is under way: the refusal does not wait for it.";
    permits_read_anew_in_the_line, "The connection is lost in the line, when the number of permits is known: the directory may be another one, so it is read anew.";
    permits_known_at_the_head, "The connection is lost at the head of the line: the number of permits is known, and cannot have changed.";
    permits_answer_made_up, "The client library has made up an answer to the read of the number: read again at the head of the line.";
}

fn settings() -> serde_json::Value {
    json!({"kind": "zookeeper-semaphore", "name": "stock", "prefix": "shop", "permits": 2})
}

/// The path of a place in the line.
fn in_line(name: &str) -> String {
    format!("{DIR}/locks/{name}")
}

/// A contender that waits in the line.
fn wait_in_line(story: &mut Recorder) -> u64 {
    let key = ask(story);
    written(story, "2");
    line_joined(story, key).children(&[&other(2), &own(key, 3)]);
    story.says(&["queued", "get", "get"]).answer_routine();
    key
}

fn permit_behind_another(story: &mut Recorder) {
    let key = wait_in_line(story);
    story.watch(&in_line(&other(2)), "deleted");
    story.says(&["create", "children"]);
    take(story, key, &[]);
    story.says(&["acquired", "delete"]);
}

fn permit_behind_a_foreign_one(story: &mut Recorder) {
    let key = ask(story);
    written(story, "2");
    let foreign = "0f0e0d0c-__lock__-0000000002";
    line_joined(story, key).children(&[foreign, &own(key, 3)]);
    story.says(&["mixed-layouts", "queued", "get", "get"]);
}

fn permit_line_forbidden(story: &mut Recorder) {
    let key = ask(story);
    written(story, "2");
    story.error("create", code::NO_AUTH);
    story.error("children", code::NO_AUTH);
    story.says(&["refused no-permission"]).close(key).leaves(0);
}

fn permit_extended(story: &mut Recorder) {
    let key = held(story);
    story.timeout_of("renew").says(&["check"]).confirmed();
    story.says(&["extended", "get"]).answer_routine();
    story.disconnected().says(&["suspended"]);
    story.connected(1).says(&["check", "get"]);
    story.present(42).says(&["resumed"]);
    story.release(key).says(&["delete"]);
}

/// A revocation request is written into a node that is watched.
fn request(story: &mut Recorder, node: &str, number: i64) {
    story.watch(node, "changed").says(&["get"]);
    let wish = story.reply_data("__REVOKE__", 1, number);
    story.answer("get", wish);
}

/// The path of the own permit.
fn permit(key: u64) -> String {
    format!("{DIR}/leases/{}", lease(key, 7))
}

fn permit_requested(story: &mut Recorder) {
    let key = held(story);
    story.timeout_of("renew").confirmed().answer_routine();
    request(story, &permit(key), 42);
    story.says(&["revoke-requested"]);
    request(story, &permit(key), 42);
    story.says(&[]);
}

fn permit_requested_twice(story: &mut Recorder) {
    let key = wait_and_watch_the_line(story);
    request(story, &in_line(&own(key, 3)), 41);
    story.says(&[]);
    permit_is_back(story, key, "b-lease-0000000001");
    story.says(&["acquired", "revoke-requested", "delete"]);
    request(story, &permit(key), 42);
    story.says(&[]);
}

/// The acquire's time is over in the line.
fn leave_the_line(story: &mut Recorder) -> u64 {
    warm(story);
    let key = story.open(&settings());
    story.acquire_within(key, 200_000);
    written(story, "2");
    line_joined(story, key).children(&[&other(2), &own(key, 3)]);
    story.answer_routine();
    story.waits_for(Some("acquire-timeout")).timeout();
    story.says(&["delete"]);
    key
}

fn permit_cancelled_while_leaving(story: &mut Recorder) {
    let key = leave_the_line(story);
    story.cancel(key).says(&["refused timeout"]);
    story.misuse(Input::Cancel { key }, "not-waiting");
    story.done("delete").says(&[]).close(key).leaves(0);
    let key = story.open(&settings());
    story.acquire(key);
    written(story, "2");
    line_joined(story, key).children(&[&own(key, 3)]);
    take(story, key, &[]);
    story.done("delete").release(key).says(&["delete"]);
    story.misuse(Input::Cancel { key }, "not-waiting");
    story.done("delete").says(&["released"]);
}

fn permit_timeout_and_cut_off(story: &mut Recorder) {
    let key = leave_the_line(story);
    story.session_is("suspended").says(&["refused timeout"]);
    story.fail("delete", "unknown").says(&[]);
    story.connected(1).says(&["check", "delete"]);
    story.done("delete").says(&[]).close(key).leaves(0);
}

fn permits_read_anew_in_the_line(story: &mut Recorder) {
    let key = wait_in_line(story);
    story.disconnected();
    story.connected(1).says(&["check", "sync", "children", "get"]);
    written(story, "3");
    story.says(&["delete"]).done("delete");
    story.says(&["refused inconsistent-permits"]);
    story.close(key).leaves(0);
}

fn permits_known_at_the_head(story: &mut Recorder) {
    wait_for_a_permit(story);
    story.disconnected();
    story.connected(1).says(&["check", "sync", "children", "get"]);
}

fn permits_answer_made_up(story: &mut Recorder) {
    let key = ask(story);
    story.error("get", code::OPERATION_TIMEOUT).says(&[]);
    line_joined(story, key).children(&[&own(key, 3)]);
    story.says(&["get", "create", "children"]);
}

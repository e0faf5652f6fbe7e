//! Failures of multi-locks: answers to the transaction, suspensions, and cancels in each phase.

use serde_json::json;

use super::{
    at, code, other, own, own_of_attempt,
    recipes::{begin, enqueued, hold_many, many, queue_for_many},
    warm,
};
use crate::{
    cases::cases,
    transcript::{Recorder, Reply},
};

cases! { "zookeeper":
    many_locks_extended, "One confirmation extends both places: reported once.";
    many_locks_of_one, "A multi-lock of one name: its only place's confirmation is reported.";
    many_locks_tried,
        "A nonblocking acquire finds another contender first in one of the queues: refused, and all places \
         are given up.";
    many_locks_waiting_place_lost,
        "The place that still waits is deleted: the contender enqueues again for both locks together.";
    many_locks_parents_answered_late,
        "The directories' creates are answered after the transaction, and after the lists: each answer \
         belongs to its own request.";
    many_locks_suspended,
        "The connection is lost: reported once, and resumed when both nodes have been read again.";
    many_locks_suspended_while_waiting,
        "The connection is lost while one place is held and the other one waits: all are granted when both \
         have been read again.";
    many_locks_requested, "Two locks of a multi-lock get a revocation request: reported once.";
    many_locks_refused_in_one_queue,
        "The server denies the read of the predecessor in one queue: all are refused.";
    many_locks_parents_made,
        "The directories are missing and are created: the contender enters all queues, and later enters \
         them again together with the directories.";
    many_locks_parents_not_answered,
        "The creates of the directories have no answer: that they are missing is no reason to give up.";
    many_locks_parents_throttled, "The server has not executed the creates of the directories: the same.";
    many_locks_throttled,
        "The server has not executed the transaction: it is sent again after a pause, and not before.";
    many_locks_throttled_and_cut_off,
        "The connection is lost during that pause: the transaction is sent again after the reconnect, \
         without the directories.";
    many_locks_parents_and_cut_off,
        "The directories were missing, and the connection is lost: the transaction is sent again with the \
         directories.";
    many_locks_denied, "The server denies the transaction: refused.";
    many_locks_not_sent, "The transaction was certainly not sent: it is sent again after a pause.";
    many_locks_driver_closed, "The driver is closed before the answer: refused.";
    many_locks_cancelled_before_the_answer,
        "The acquire is cancelled while the transaction is in flight: its answer causes no second report.";
    many_locks_other_names,
        "The answer names nodes of another contender, or too few: it has the wrong shape, and both \
         directories are searched.";
    many_locks_answered_in_another_session,
        "The answer is another session's: it does not count, and both directories are searched.";
    many_locks_answer_made_up, "The client library has made up the answer: it does not count.";
    many_locks_of_a_closed_client, "No session will come: refused, and so is the next acquire.";
    many_locks_not_authenticated, "The same where the server has not accepted the client's credentials.";
    many_locks_without_containers,
        "The server does not know persistent directories, and the acquire is cancelled before that answer: \
         nothing is reported a second time.";
}

/// The transaction is in flight.
fn enter(story: &mut Recorder) -> u64 {
    let key = begin(story, &many());
    story.returns(&["multi"]);
    key
}

const PARENTS: [&str; 5] = ["create", "create", "create", "create", "multi"];

/// Both are first in their queues.
pub(super) fn both_first(story: &mut Recorder, key: u64, attempt: u32) {
    let names = [3, 8].map(|number| own_of_attempt(key, attempt, number));
    let reply = story.reply_children(&[&names[0], &names[1]]);
    story.answer("multi", reply);
    story.returns(&["children", "get", "children", "get"]);
    for (name, number) in names.iter().zip([41, 41]) {
        story.children(&[name]).present(number);
    }
    story.returns(&["acquired"]);
}

fn many_locks_extended(story: &mut Recorder) {
    hold_many(story);
    story.timeout_of("renew").returns(&["check"]).confirmed();
    story.returns(&["extended"]);
}

fn many_locks_of_one(story: &mut Recorder) {
    let mut settings = many();
    settings["names"] = json!(["stock"]);
    let key = begin(story, &settings);
    let name = story.reply_children(&[&own(key, 3)]);
    story.answer("multi", name).returns(&["children", "get"]);
    story.children(&[&own(key, 3)]).present(41).returns(&["acquired"]);
    story.timeout_of("renew").returns(&["check"]).confirmed();
    story.returns(&["extended"]);
}

fn many_locks_tried(story: &mut Recorder) {
    warm(story);
    let key = story.open(&many());
    story.try_acquire(key).waits_for(Some("renew"));
    enqueued(story, key);
    story.children(&[&own(key, 3)]).present(41).present(41);
    story.children(&[&other(2), &own(key, 8)]);
    story.returns(&["delete", "delete"]).done("delete").done("delete");
    story.returns(&["refused not-available"]).close(key).leaves(0);
}

fn many_locks_waiting_place_lost(story: &mut Recorder) {
    let key = queue_for_many(story);
    story.watch(&format!("/shop/till/{}", own(key, 8)), "deleted");
    story.returns(&["delete"]).done("delete").returns(&["multi"]);
}

fn many_locks_parents_answered_late(story: &mut Recorder) {
    let key = enter(story);
    story.error("multi", code::NO_NODE).returns(&PARENTS);
    both_first(story, key, 2);
    parents_made(story);
    story.release(key).returns(&["delete", "delete"]);
}

fn many_locks_suspended(story: &mut Recorder) {
    let key = hold_many(story);
    story.disconnected();
    let suspensions = story.text().matches("\"event\":\"suspended\"").count();
    assert_eq!(suspensions, 1);
    story.connected(1).returns(&["check", "get", "get"]);
    story.present(41).returns(&[]).present(41).returns(&["resumed"]);
    story.release(key).returns(&["delete", "delete"]);
}

fn many_locks_suspended_while_waiting(story: &mut Recorder) {
    let key = queue_for_many(story);
    story.disconnected().connected(1);
    story.returns(&["check", "get", "sync", "children"]);
    // The contender gets its turn in the other queue, before its held place was read again.
    story.done("sync").children(&[&own(key, 8)]).returns(&[]);
    story.present(41).returns(&["acquired"]);
}

/// A revocation request is written into a node that is watched.
fn request(story: &mut Recorder, node: &str) {
    story.watch(node, "changed").returns(&["get"]);
    let reply = story.reply_data("__REVOKE__", 1, 41);
    story.answer("get", reply);
}

fn many_locks_requested(story: &mut Recorder) {
    let key = hold_many(story);
    request(story, &at(&own(key, 3)));
    story.returns(&["revoke-requested"]);
    request(story, &format!("/shop/till/{}", own(key, 8)));
    story.returns(&[]);
}

fn many_locks_refused_in_one_queue(story: &mut Recorder) {
    let key = enter(story);
    enqueued(story, key);
    story.children(&[&own(key, 3)]).present(41).present(41);
    story
        .children(&[&other(2), &own(key, 8)])
        .returns(&["queued", "get"]);
    story.error("get", code::NO_AUTH).returns(&["delete", "delete"]);
    story.done("delete").returns(&[]).done("delete");
    story.returns(&["refused no-permission"]).close(key).leaves(0);
}

fn parents_made(story: &mut Recorder) {
    for _ in 0..4 {
        story.created_parent().returns(&[]);
    }
}

fn many_locks_parents_made(story: &mut Recorder) {
    let key = enter(story);
    story.error("multi", code::NO_NODE).returns(&PARENTS);
    parents_made(story);
    both_first_but_one(story, key, 2);
    // One place is lost, and the machine joins all queues again.
    story.watch(&at(&own_of_attempt(key, 2, 3)), "deleted");
    story.returns(&["delete"]).done("delete").returns(&PARENTS);
}

/// The contender is first in one queue, and waits in the other.
fn both_first_but_one(story: &mut Recorder, key: u64, attempt: u32) {
    let names = [3, 8].map(|number| own_of_attempt(key, attempt, number));
    let reply = story.reply_children(&[&names[0], &names[1]]);
    story.answer("multi", reply);
    story.children(&[&names[0]]).present(41).present(41);
    story
        .children(&[&other(2), &names[1]])
        .returns(&["queued", "get"]);
    story.answer_routine();
}

fn many_locks_parents_not_answered(story: &mut Recorder) {
    enter(story);
    story.error("multi", code::NO_NODE).returns(&PARENTS);
    for failure in ["not-sent", "unknown", "not-sent", "unknown"] {
        story.fail("create", failure).returns(&[]);
    }
    postponed(story);
}

/// The transaction finds no directory, perhaps because its create was not executed.
fn postponed(story: &mut Recorder) {
    story.error("multi", code::NO_NODE).returns(&[]);
    story.waits_for(Some("retry")).timeout().returns(&PARENTS);
    parents_made(story);
    story.error("multi", code::NO_NODE).returns(&PARENTS);
}

fn many_locks_parents_throttled(story: &mut Recorder) {
    enter(story);
    story.error("multi", code::NO_NODE).returns(&PARENTS);
    for _ in 0..4 {
        story.parent_error(code::THROTTLED).returns(&[]);
    }
    postponed(story);
}

fn many_locks_throttled(story: &mut Recorder) {
    let key = enter(story);
    story.error("multi", code::THROTTLED).returns(&[]);
    story.waits_for(Some("retry")).timeout_after(1).returns(&[]);
    story.timeout().returns(&["multi"]);
    both_first(story, key, 2);
}

fn many_locks_throttled_and_cut_off(story: &mut Recorder) {
    let key = enter(story);
    story.error("multi", code::THROTTLED).returns(&[]);
    story.disconnected().returns(&[]).waits_for(None);
    story.connected(1).returns(&["check", "multi"]);
    both_first(story, key, 2);
}

fn many_locks_parents_and_cut_off(story: &mut Recorder) {
    enter(story);
    story.error("multi", code::NO_NODE).returns(&PARENTS);
    parents_made(story);
    story.error("multi", code::THROTTLED).returns(&[]);
    story.disconnected().connected(1);
    story.returns(&["check", "create", "create", "create", "create", "multi"]);
}

fn many_locks_denied(story: &mut Recorder) {
    let key = enter(story);
    story.error("multi", code::NO_AUTH);
    story.returns(&["refused no-permission"]).close(key).leaves(0);
}

fn many_locks_not_sent(story: &mut Recorder) {
    let key = enter(story);
    story.fail("multi", "not-sent").returns(&[]);
    story.waits_for(Some("retry")).timeout().returns(&["multi"]);
    both_first(story, key, 2);
}

fn many_locks_driver_closed(story: &mut Recorder) {
    let key = enter(story);
    story.fail("multi", "closed");
    story.returns(&["refused connection-closed"]).close(key).leaves(0);
}

fn many_locks_cancelled_before_the_answer(story: &mut Recorder) {
    warm(story);
    let key = story.open(&many());
    let mut attempt = 0;
    let mut cancelled = |story: &mut Recorder| {
        attempt += 1;
        story.acquire(key).returns(&["multi"]).cancel(key);
        story.returns(&["refused cancelled"]);
        attempt
    };
    for error in [code::NO_NODE, code::NO_AUTH, code::THROTTLED] {
        cancelled(story);
        story.error("multi", error).returns(&[]);
    }
    for failure in ["not-sent", "closed"] {
        cancelled(story);
        story.fail("multi", failure).returns(&[]);
    }
    let attempt = cancelled(story);
    let names = [3, 8].map(|number| own_of_attempt(key, attempt, number));
    let reply = story.reply_children(&[&names[0], &names[1]]);
    story.answer("multi", reply);
    story.done("delete").done("delete").returns(&[]);
    story.children(&[]).children(&[]).answer_routine();
    cancelled(story);
    story.fail("multi", "unknown");
    story.returns(&["sync", "check", "children", "sync", "check", "children"]);
    for _ in 0..2 {
        story.done("sync").checked().children(&[]);
    }
    story.returns(&[]).close(key).leaves(0);
}

/// The answer to the transaction proves nothing.
fn searched(story: &mut Recorder) {
    story.returns(&["sync", "check", "children", "sync", "check", "children"]);
    for _ in 0..2 {
        story.done("sync").checked().children(&[]);
    }
    story.returns(&[]).timeout_of("retry").returns(&["multi"]);
}

fn many_locks_other_names(story: &mut Recorder) {
    let key = enter(story);
    for (attempt, names) in [
        (1, vec![3]),
        (2, vec![3, -1]),
        (3, vec![-1, 8]),
        (4, vec![3, 8, 9]),
    ] {
        let names: Vec<String> = names
            .into_iter()
            .map(|number| match number {
                -1 => other(2),
                number => own_of_attempt(key, attempt, number),
            })
            .collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let reply = story.reply_children(&names);
        story.answer_wrongly("multi", reply);
        searched(story);
    }
}

fn many_locks_answered_in_another_session(story: &mut Recorder) {
    let key = enter(story);
    let (session, names) = ("2".into(), vec![own(key, 3), own(key, 8)]);
    story.answer("multi", Reply::Children { session, names });
    searched(story);
}

fn many_locks_answer_made_up(story: &mut Recorder) {
    enter(story);
    story.error("multi", code::OPERATION_TIMEOUT);
    searched(story);
}

fn many_locks_of_a_closed_client(story: &mut Recorder) {
    let key = enter(story);
    story.session_is("closed").returns(&["refused connection-closed"]);
    story.acquire(key).returns(&["refused connection-closed"]);
    story.close(key).leaves(0);
}

fn many_locks_not_authenticated(story: &mut Recorder) {
    let key = enter(story);
    story.session_is("auth-failed").returns(&["refused auth-failed"]);
    story.acquire(key).returns(&["refused auth-failed"]);
    story.close(key).leaves(0);
}

fn many_locks_without_containers(story: &mut Recorder) {
    let mut settings = many();
    settings["layout"] = json!("kazoo");
    let key = begin(story, &settings);
    story.error("multi", code::NO_NODE).returns(&PARENTS);
    story.cancel(key).returns(&["refused cancelled"]);
    for _ in 0..4 {
        story.parent_error(code::UNIMPLEMENTED).returns(&[]);
    }
    story.error("multi", code::NO_NODE).returns(&[]);
    story.close(key).leaves(0);
}

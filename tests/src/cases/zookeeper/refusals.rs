//! Acquires that cannot be granted fail with a clear reason, and leave no node behind.

use serde_json::json;

use super::{acquire, code, other, own, own_of_attempt, settings, warm};
use crate::{cases::cases, transcript::Recorder};

cases! { "zookeeper":
    create_forbidden,
        "The server does not permit the create: refused, with the command that got this answer.";
    list_forbidden, "The server does not permit the list: refused, and the created node is deleted.";
    predecessor_forbidden,
        "The server does not permit the read of the predecessor: refused, because its watch would never \
         fire.",
        "ZOOKEEPER-2590, ZOOKEEPER-4799";
    sequence_near_its_end,
        "The directory's 32-bit sequence is nearly used up: refused before numbers are handed out twice.",
        "ZOOKEEPER-3249; measured: four of four Kazoo clients held the same lock at once";
    sequence_at_its_end,
        "The sequence stops at its end: all contenders get the same number, and none is granted the lock.",
        "ZOOKEEPER-3249";
    sequence_stuck,
        "The sequence stops at its end, and in the plain layout names differ only in the number: another \
         contender already has the name.",
        "measured: a server whose parent was made to count from 2147483647";
    sequence_wrapped, "Negative numbers, nine digits and a sign: read as numbers, and refused.",
        "ZOOKEEPER-4372, kazoo#606, kazoo#730: the sign was lost";
    create_throttled,
        "The create is rejected without being executed, and the list behind it succeeds: each outcome is \
         classified by itself, and the create is sent again.",
        "THROTTLEDOP, 3.6";
    list_throttled, "The node is created, and the list is rejected: only the list is repeated.";
    unexpected_error, "An unexpected error is not retried: refused.";
    connection_closed_under_way, "The client library reports that it will send nothing more: refused.";
}

fn create_forbidden(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story.error("create", code::NO_AUTH).returns(&[]).children(&[]);
    story.returns(&["refused no-permission"]).close(key).leaves(0);
}

fn list_forbidden(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story.created(3, 41).error("children", code::NO_AUTH);
    story
        .returns(&["delete"])
        .done("delete")
        .returns(&["refused no-permission"]);
    story.close(key).leaves(0);
}

fn predecessor_forbidden(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story.created(3, 41).children(&[&other(2), &own(key, 3)]);
    story.error("get", code::NO_AUTH).returns(&["delete"]);
    story.present(41).returns(&[]);
    story.done("delete").returns(&["refused no-permission"]);
    story.close(key).leaves(0);
}

fn sequence_near_its_end(story: &mut Recorder) {
    warm(story);
    let number = i32::MAX - 1000;
    let last = acquire(story);
    story
        .created(number - 1, 40)
        .children(&[&own(last, number - 1)])
        .returns(&["acquired"]);
    story.release(last).done("delete");
    let key = acquire(story);
    story.created(number, 41).children(&[&own(key, number)]);
    story.returns(&["delete"]).done("delete");
    story.returns(&["refused sequence-exhausted"]);
}

fn sequence_at_its_end(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story
        .created(i32::MAX, 41)
        .children(&[&other(i32::MAX), &own(key, i32::MAX)]);
    story.returns(&["delete"]).done("delete");
    story
        .returns(&["refused sequence-exhausted"])
        .close(key)
        .leaves(0);
}

fn sequence_stuck(story: &mut Recorder) {
    warm(story);
    let mut settings = settings();
    settings["layout"] = json!("plain");
    let key = story.open(&settings);
    story.acquire(key).error("create", code::NODE_EXISTS);
    story
        .children(&["2147483647"])
        .returns(&["refused sequence-exhausted"]);
    story.close(key).leaves(0);
}

fn sequence_wrapped(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story.created(-3, 41).children(&[&other(i32::MAX), &own(key, -3)]);
    story.returns(&["delete"]).done("delete");
    story.returns(&["refused sequence-exhausted"]);
}

fn create_throttled(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story.error("create", code::THROTTLED).children(&[]).returns(&[]);
    story
        .waits_for(Some("retry"))
        .timeout()
        .returns(&["create", "children"]);
    story
        .created(3, 41)
        .children(&[&own_of_attempt(key, 2, 3)])
        .returns(&["acquired"]);
}

fn list_throttled(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story
        .created(3, 41)
        .error("children", code::THROTTLED)
        .returns(&[]);
    story.timeout().returns(&["sync", "children"]);
    story
        .done("sync")
        .children(&[&own(key, 3)])
        .returns(&["acquired"]);
}

fn unexpected_error(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story.error("create", code::SYSTEM_ERROR).children(&[]);
    story.returns(&["refused server-error"]).close(key).leaves(0);
}

fn connection_closed_under_way(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story.fail("create", "closed").fail("children", "closed");
    story.returns(&["refused connection-closed"]).close(key).leaves(0);
}

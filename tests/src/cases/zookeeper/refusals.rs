//! What cannot be: refused clearly, with nothing left behind.

use serde_json::json;

use super::{acquire, code, other, own, own_of_attempt, settings, warm};
use crate::{cases::cases, transcript::Recorder};

cases! { "zookeeper":
    create_forbidden, "The server does not permit the create: refused, with the command that was answered so.";
    list_forbidden, "The server does not permit the list: refused, and the node that was created is deleted.";
    neighbour_forbidden, "The server does not permit a look at the neighbour: refused, because its watch would be silent.",
        "ZOOKEEPER-2590, ZOOKEEPER-4799";
    sequence_near_its_end, "The directory's 32-bit sequence is nearly used up: refused before numbers are handed out twice.",
        "ZOOKEEPER-3249; measured: four of four Kazoo clients held the same lock at once";
    sequence_at_its_end, "The sequence sticks at its end: everybody gets the same number, and nobody is granted anything.",
        "ZOOKEEPER-3249";
    sequence_stuck, "The sequence sticks at its end, and in the plain layout nothing else in a name differs: somebody has ours already.",
        "measured: a server whose parent was made to count from 2147483647";
    sequence_wrapped, "Negative numbers, nine digits and a sign: read as numbers, and refused.",
        "ZOOKEEPER-4372, kazoo#606, kazoo#730: the sign was lost";
    create_throttled, "The create is rejected unexecuted while the list behind it succeeds: each is judged by itself, and the create tried again.",
        "THROTTLEDOP, 3.6";
    list_throttled, "The node is made and the list rejected: only the list is repeated.";
    unexpected_error, "An error that nobody expects is no reason to try for ever.";
    connection_closed_under_way, "The client library says that nothing will be sent any more: refused.";
}

fn create_forbidden(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story.error("create", code::NO_AUTH).says(&[]).children(&[]);
    story.says(&["refused no-permission"]).close(key).leaves(0);
}

fn list_forbidden(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story.created(3, 41).error("children", code::NO_AUTH);
    story
        .says(&["delete"])
        .done("delete")
        .says(&["refused no-permission"]);
    story.close(key).leaves(0);
}

fn neighbour_forbidden(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story.created(3, 41).children(&[&other(2), &own(key, 3)]);
    story.error("get", code::NO_AUTH).says(&["delete"]);
    story.present(41).says(&[]);
    story.done("delete").says(&["refused no-permission"]);
    story.close(key).leaves(0);
}

fn sequence_near_its_end(story: &mut Recorder) {
    warm(story);
    let number = i32::MAX - 1000;
    let key = acquire(story);
    story.created(number, 41).children(&[&own(key, number)]);
    story.says(&["delete"]).done("delete");
    story.says(&["refused sequence-exhausted"]);
}

fn sequence_at_its_end(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story
        .created(i32::MAX, 41)
        .children(&[&other(i32::MAX), &own(key, i32::MAX)]);
    story.says(&["delete"]).done("delete");
    story.says(&["refused sequence-exhausted"]).close(key).leaves(0);
}

fn sequence_stuck(story: &mut Recorder) {
    warm(story);
    let mut settings = settings();
    settings["layout"] = json!("plain");
    let key = story.open(&settings);
    story.acquire(key).error("create", code::NODE_EXISTS);
    story
        .children(&["2147483647"])
        .says(&["refused sequence-exhausted"]);
    story.close(key).leaves(0);
}

fn sequence_wrapped(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story.created(-3, 41).children(&[&other(i32::MAX), &own(key, -3)]);
    story.says(&["delete"]).done("delete");
    story.says(&["refused sequence-exhausted"]);
}

fn create_throttled(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story.error("create", code::THROTTLED).children(&[]).says(&[]);
    story
        .waits_for(Some("retry"))
        .timeout()
        .says(&["create", "children"]);
    story
        .created(3, 41)
        .children(&[&own_of_attempt(key, 2, 3)])
        .says(&["acquired"]);
}

fn list_throttled(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story.created(3, 41).error("children", code::THROTTLED).says(&[]);
    story.timeout().says(&["sync", "children"]);
    story.done("sync").children(&[&own(key, 3)]).says(&["acquired"]);
}

fn unexpected_error(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story.error("create", code::SYSTEM_ERROR).children(&[]);
    story.says(&["refused server-error"]).close(key).leaves(0);
}

fn connection_closed_under_way(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story.fail("create", "closed").fail("children", "closed");
    story.says(&["refused connection-closed"]).close(key).leaves(0);
}

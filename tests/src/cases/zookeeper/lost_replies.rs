//! Missing replies: the client finds out whether the request was executed, and keeps or undoes its effect.

use super::{acquire, at, code, other, own, own_of_attempt, queue_behind_two, warm};
use crate::{cases::cases, transcript::Recorder};

cases! { "zookeeper":
    create_lost_and_executed,
        "The create's reply is lost with the connection, and its node exists: a second create is the \
         barrier, the older duplicate node is read and kept with its place, and the younger one is deleted.",
        "CURATOR-45, CURATOR-79, zk-ruby#54, accumulo#637";
    create_lost_and_not_executed,
        "The create's reply is lost, and its node was never created: the second create's node is the only \
         one.";
    create_timed_out,
        "A client library's own timeout is no answer: the create may have been executed, so the list behind \
         the next create is searched.",
        "CURATOR-79";
    create_lost_twice,
        "Two creates are in doubt, and another client has deleted the oldest node: the middle one is found, \
         and the contender does not wait for it.",
        "CURATOR-504: contenders that block themselves";
    create_lost_and_old_list,
        "The create's reply is lost, and the list behind the next create is too old for both nodes: the \
         older node is still searched for.",
        "a deposed leader answers the barrier of a list alone";
    create_lost_and_expired,
        "The create's reply is lost and the session ends: its nodes are gone, and a new attempt enqueues in \
         the new session.",
        "CURATOR-498";
    node_of_another_session,
        "A node with the attempt's name belongs to another session, which is about to end: the contender \
         waits behind it.",
        "CURATOR-498, CURATOR-604, CURATOR-696";
    duplicate_not_readable,
        "The duplicate node of a create in doubt may not be read: refused, and all nodes of the attempt are \
         searched for and deleted.";
    list_lost,
        "The list's reply is lost: the client lists again behind a barrier, because the server may be \
         another one.";
    barrier_lost,
        "The barrier before a list fails: the list behind it proves nothing, and both are repeated.",
        "helix#1118: a lagging server";
    own_node_missing,
        "The own node is not in the list although it was created: another client has deleted it, so the \
         contender enqueues again.",
        "CURATOR-211, CURATOR-307";
    list_lost_while_queued,
        "The predecessor is gone, and the list that follows is lost: the list is repeated, and nothing is \
         assumed.";
}

fn create_lost_and_executed(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story.after(100).disconnected().returns(&[]);
    story
        .after(900)
        .connected(1)
        .returns(&["check", "create", "children"]);
    story.checked().created(5, 50);
    let queue = [own(key, 3), other(4), own(key, 5)];
    let queue: Vec<&str> = queue.iter().map(String::as_str).collect();
    story.children(&queue).returns(&["get", "children"]);
    story
        .present(41)
        .returns(&[])
        .children(&queue)
        .returns(&["delete", "acquired"]);
    story.done("delete").returns(&[]);
    story
        .release(key)
        .returns(&["delete"])
        .done("delete")
        .returns(&["released"]);
}

fn create_lost_and_not_executed(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story.disconnected().connected(1).checked().created(3, 41);
    story.children(&[&own(key, 3)]).returns(&["acquired"]);
}

fn create_timed_out(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story.error("create", code::OPERATION_TIMEOUT);
    story.children(&[]).returns(&[]).waits_for(Some("retry"));
    story.timeout().returns(&["create", "children"]).created(4, 44);
    story
        .children(&[&own(key, 3), &own(key, 4)])
        .returns(&["get", "children"]);
    story.present(41).children(&[&own(key, 3), &own(key, 4)]);
    story.returns(&["delete", "acquired"]);
}

fn create_lost_twice(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story.disconnected().connected(1).disconnected().connected(1);
    story.answer_routine().created(5, 50);
    story.children(&[&own(key, 3), &own(key, 4), &own(key, 5)]);
    story
        .returns(&["get", "children"])
        .error("get", code::NO_NODE)
        .returns(&[]);
    story
        .children(&[&own(key, 4), &own(key, 5)])
        .returns(&["get", "children"]);
    story.present(45).children(&[&own(key, 4), &own(key, 5)]);
    story.returns(&["delete", "acquired"]);
}

fn create_lost_and_old_list(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story.disconnected().connected(1).checked().created(5, 50);
    let queue = [own(key, 3), own(key, 5), own(key, 6)];
    let queue: Vec<&str> = queue.iter().map(String::as_str).collect();
    story
        .children(&[&other(2)])
        .returns(&["create", "children", "delete"]);
    story.done("delete").created(6, 53);
    story
        .children(&[queue[0], queue[2]])
        .returns(&["get", "children"])
        .present(41)
        .children(&[queue[0], queue[2]])
        .returns(&["delete", "acquired"]);
}

fn create_lost_and_expired(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story.disconnected().session_is("expired").returns(&[]);
    story
        .after(5000)
        .connected(2)
        .returns(&["sync", "create", "children"]);
    story.done("sync").created(4, 60);
    story
        .children(&[&own_of_attempt(key, 2, 4)])
        .returns(&["acquired"]);
}

fn node_of_another_session(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story.disconnected().connected(1).answer_routine().created(5, 50);
    story
        .children(&[&own(key, 3), &own(key, 5)])
        .returns(&["get", "children"]);
    story.present_of(77, 41).children(&[&own(key, 3), &own(key, 5)]);
    story.returns(&["get", "queued", "get"]).answer_routine();
    story.watch(&at(&own(key, 3)), "deleted").returns(&["acquired"]);
}

fn duplicate_not_readable(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story.disconnected().connected(1).answer_routine().created(5, 50);
    story.children(&[&own(key, 3), &own(key, 5)]);
    story
        .error("get", code::NO_AUTH)
        .children(&[&own(key, 3), &own(key, 5)]);
    story.returns(&["delete", "sync", "check", "children"]);
    story
        .done("delete")
        .done("sync")
        .checked()
        .children(&[&own(key, 3)]);
    story.returns(&["delete"]).done("delete");
    story.returns(&["refused no-permission"]).close(key).leaves(0);
}

fn list_lost(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story.created(3, 41).disconnected().returns(&[]);
    story.connected(1).returns(&["check", "sync", "children"]);
    story
        .done("sync")
        .checked()
        .children(&[&own(key, 3)])
        .returns(&["acquired"]);
}

fn barrier_lost(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story.created(3, 41).fail("children", "unknown");
    story.timeout().returns(&["sync", "children"]);
    // The list is answered before its barrier, and shows an earlier state.
    story.children(&[&own(key, 3)]).returns(&[]);
    story
        .fail("sync", "unknown")
        .returns(&[])
        .waits_for(Some("retry"));
    story.timeout().returns(&["sync", "children"]);
    story
        .done("sync")
        .children(&[&own(key, 3)])
        .returns(&["acquired"]);
}

fn own_node_missing(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story.created(3, 41).children(&[&other(2)]);
    // The node may still exist, if the list was not an answer to this request.
    story.returns(&["create", "children", "delete"]).created(4, 44);
    story
        .children(&[&own_of_attempt(key, 2, 4)])
        .returns(&["acquired"]);
    story.error("delete", code::NO_NODE).returns(&[]);
}

fn list_lost_while_queued(story: &mut Recorder) {
    let key = queue_behind_two(story);
    story.watch(&at(&other(2)), "deleted");
    story
        .fail("children", "unknown")
        .returns(&[])
        .waits_for(Some("retry"));
    story.timeout().returns(&["sync", "children"]);
    story
        .done("sync")
        .children(&[&own(key, 3)])
        .returns(&["acquired"]);
}

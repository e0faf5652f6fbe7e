//! Replies that never come: what was done is found out, kept or undone.

use super::{acquire, at, code, other, own, own_of_attempt, queue_behind_two, warm};
use crate::{cases::cases, transcript::Recorder};

cases! { "zookeeper":
    create_lost_and_executed, "The create's reply is lost with the connection, and the node is there: a second create is the barrier, the elder twin is looked at, kept with its place, and the younger deleted.",
        "CURATOR-45, CURATOR-79, zk-ruby#54, accumulo#637";
    create_lost_and_not_executed, "The create's reply is lost and the node was never made: the second create is the only one.";
    create_timed_out, "A client library's own time-out is no answer: the create may have been executed, so the list behind the next one is searched.",
        "CURATOR-79";
    create_lost_twice, "Two creates in doubt, and the eldest node has been deleted by somebody: the middle one is found, and not waited for.",
        "CURATOR-504: contenders that block themselves";
    create_lost_and_old_list, "The create's reply is lost, and the list behind the next one is too old for both nodes: the elder is still looked for.",
        "a deposed leader answers the barrier of a list alone";
    create_lost_and_expired, "The create's reply is lost and the session ends: its nodes are gone, and a new attempt enters in the new session.",
        "CURATOR-498";
    node_of_another_session, "A node with our attempt's name belongs to another session: it is dying and not ours, so we stand behind it.",
        "CURATOR-498, CURATOR-604, CURATOR-696";
    twin_not_readable, "The twin of a doubtful create may not be looked at: refused, and everything of the attempt searched for and deleted.";
    list_lost, "The list's reply is lost: it is listed again behind a barrier, because the server may be another one.";
    barrier_lost, "The barrier before a list fails: what the list says behind it proves nothing, and both are repeated.",
        "helix#1118: a lagging server";
    own_node_missing, "The list does not have the own node although it was created: somebody has deleted it, so the contender enters anew.",
        "CURATOR-211, CURATOR-307";
    list_lost_while_queued, "The list of a contender whose neighbour has gone is lost: it is repeated, nothing is assumed.";
}

fn create_lost_and_executed(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story.after(100).disconnected().says(&[]);
    story
        .after(900)
        .connected(1)
        .says(&["check", "create", "children"]);
    story.checked().created(5, 50);
    let line = [own(key, 3), other(4), own(key, 5)];
    let line: Vec<&str> = line.iter().map(String::as_str).collect();
    story.children(&line).says(&["get", "children"]);
    story
        .present(41)
        .says(&[])
        .children(&line)
        .says(&["delete", "acquired"]);
    story.done("delete").says(&[]);
    story
        .release(key)
        .says(&["delete"])
        .done("delete")
        .says(&["released"]);
}

fn create_lost_and_not_executed(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story.disconnected().connected(1).checked().created(3, 41);
    story.children(&[&own(key, 3)]).says(&["acquired"]);
}

fn create_timed_out(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story.error("create", code::OPERATION_TIMEOUT);
    story.children(&[]).says(&[]).waits_for(Some("retry"));
    story.timeout().says(&["create", "children"]).created(4, 44);
    story
        .children(&[&own(key, 3), &own(key, 4)])
        .says(&["get", "children"]);
    story.present(41).children(&[&own(key, 3), &own(key, 4)]);
    story.says(&["delete", "acquired"]);
}

fn create_lost_twice(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story.disconnected().connected(1).disconnected().connected(1);
    story.answer_routine().created(5, 50);
    story.children(&[&own(key, 3), &own(key, 4), &own(key, 5)]);
    story
        .says(&["get", "children"])
        .error("get", code::NO_NODE)
        .says(&[]);
    story
        .children(&[&own(key, 4), &own(key, 5)])
        .says(&["get", "children"]);
    story.present(45).children(&[&own(key, 4), &own(key, 5)]);
    story.says(&["delete", "acquired"]);
}

fn create_lost_and_old_list(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story.disconnected().connected(1).checked().created(5, 50);
    let line = [own(key, 3), own(key, 5), own(key, 6)];
    let line: Vec<&str> = line.iter().map(String::as_str).collect();
    story
        .children(&[&other(2)])
        .says(&["create", "children", "delete"]);
    story.done("delete").created(6, 53);
    story
        .children(&[line[0], line[2]])
        .says(&["get", "children"])
        .present(41)
        .children(&[line[0], line[2]])
        .says(&["delete", "acquired"]);
}

fn create_lost_and_expired(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story.disconnected().session_is("expired").says(&[]);
    story
        .after(5000)
        .connected(2)
        .says(&["sync", "create", "children"]);
    story.done("sync").created(4, 60);
    story.children(&[&own_of_attempt(key, 2, 4)]).says(&["acquired"]);
}

fn node_of_another_session(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story.disconnected().connected(1).answer_routine().created(5, 50);
    story
        .children(&[&own(key, 3), &own(key, 5)])
        .says(&["get", "children"]);
    story.present_of(77, 41).children(&[&own(key, 3), &own(key, 5)]);
    story.says(&["get", "queued", "get"]).answer_routine();
    story.watch(&at(&own(key, 3)), "deleted").says(&["acquired"]);
}

fn twin_not_readable(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story.disconnected().connected(1).answer_routine().created(5, 50);
    story.children(&[&own(key, 3), &own(key, 5)]);
    story
        .error("get", code::NO_AUTH)
        .children(&[&own(key, 3), &own(key, 5)]);
    story.says(&["delete", "sync", "check", "children"]);
    story
        .done("delete")
        .done("sync")
        .checked()
        .children(&[&own(key, 3)]);
    story.says(&["delete"]).done("delete");
    story.says(&["refused no-permission"]).close(key).leaves(0);
}

fn list_lost(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story.created(3, 41).disconnected().says(&[]);
    story.connected(1).says(&["check", "sync", "children"]);
    story
        .done("sync")
        .checked()
        .children(&[&own(key, 3)])
        .says(&["acquired"]);
}

fn barrier_lost(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story.created(3, 41).fail("children", "unknown");
    story.timeout().says(&["sync", "children"]);
    // The list overtakes its barrier, and says what was true before.
    story.children(&[&own(key, 3)]).says(&[]);
    story.fail("sync", "unknown").says(&[]).waits_for(Some("retry"));
    story.timeout().says(&["sync", "children"]);
    story.done("sync").children(&[&own(key, 3)]).says(&["acquired"]);
}

fn own_node_missing(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story.created(3, 41).children(&[&other(2)]);
    // It may be there all the same, if the list was no answer to this request.
    story.says(&["create", "children", "delete"]).created(4, 44);
    story.children(&[&own_of_attempt(key, 2, 4)]).says(&["acquired"]);
    story.error("delete", code::NO_NODE).says(&[]);
}

fn list_lost_while_queued(story: &mut Recorder) {
    let key = queue_behind_two(story);
    story.watch(&at(&other(2)), "deleted");
    story
        .fail("children", "unknown")
        .says(&[])
        .waits_for(Some("retry"));
    story.timeout().says(&["sync", "children"]);
    story.done("sync").children(&[&own(key, 3)]).says(&["acquired"]);
}

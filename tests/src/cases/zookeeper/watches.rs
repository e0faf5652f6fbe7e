//! Watches: early, doubled, missing, gone, late.

use super::{acquire, at, code, hold, other, own, own_of_attempt, queue, queue_behind_two, warm};
use crate::{cases::cases, transcript::Recorder};

cases! { "zookeeper":
    watch_before_its_reply, "The neighbour's watch fires before the reply of the get that set it, as on a client library with two threads: the grant is right, the late reply adds nothing.",
        "kazoo: replies and watches come on two threads";
    watch_twice, "A watch fires twice: the second time says nothing about the neighbour of now.";
    watch_never_fires, "The neighbour's deletion is never told, because the watch was lost with a connection: the reconnect reads again.",
        "kazoo#170, kazoo#282, CURATOR-283";
    watch_gone, "The client library says that a watch is lost: it is set again, and finds the neighbour gone.";
    neighbour_changed, "A changed neighbour (Curator's revocation writes data) has not gone: the watch is set again.";
    watch_after_a_suspend, "A watch that fires after the connection has gone sends nothing: everything is read again anyway.",
        "kazoo forgets every watch on SUSPENDED, and fires it";
    watch_of_an_earlier_neighbour, "A watch that was set on an earlier neighbour fires late: it says nothing about this one.";
    own_node_deleted_while_waiting, "Somebody deletes the node of a waiter: it queues again, behind those who came meanwhile, and does not hang.";
    own_node_deleted_before_its_watch, "The own node has gone before it could be watched, or is not there yet on a server that is behind: the waiter queues again, and deletes it in any case.";
    own_node_deleted_while_holding, "Somebody deletes the node of a holder: the grant is lost at once, and the command that told is named.",
        "CURATOR-206, and Curator's open request to tell holders";
    own_node_replaced, "The own node's path belongs to another session: it is not ours any more.",
        "CURATOR-696";
    own_watch_refused_for_now, "The watch on the own node fails while waiting: it is set again, or a contender without a node could be granted the lock.";
}

fn watch_before_its_reply(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story.created(3, 41).children(&[&other(2), &own(key, 3)]);
    story.watch(&at(&other(2)), "deleted").says(&["acquired"]);
    story.present(40).says(&[]).present(41).says(&[]);
}

fn watch_twice(story: &mut Recorder) {
    let key = queue_behind_two(story);
    story.watch(&at(&other(2)), "deleted").says(&["children"]);
    story.watch(&at(&other(2)), "deleted").says(&[]);
    story
        .children(&[&other(1), &own(key, 3)])
        .says(&["get", "queued"])
        .present(39);
    story.watch(&at(&other(2)), "deleted").says(&[]);
}

fn watch_never_fires(story: &mut Recorder) {
    let key = queue(story);
    story.after(1_000_000).disconnected().says(&[]);
    story
        .after(1_000_000)
        .connected(1)
        .says(&["check", "sync", "children"]);
    story
        .answer_routine()
        .children(&[&own(key, 3)])
        .says(&["acquired"]);
}

fn watch_gone(story: &mut Recorder) {
    queue(story);
    story.watch(&at(&other(2)), "gone").says(&["get"]);
    story.error("get", code::NO_NODE).says(&["acquired"]);
}

fn neighbour_changed(story: &mut Recorder) {
    let key = queue(story);
    let first = story.watch_on(&at(&other(2)));
    story.watch(&at(&other(2)), "changed").says(&["get"]).present(40);
    story.watch_id(first, "deleted").says(&[]);
    story
        .watch(&at(&own(key, 3)), "changed")
        .says(&["get"])
        .present(41);
    story.watch(&at(&other(2)), "deleted").says(&["acquired"]);
}

fn watch_after_a_suspend(story: &mut Recorder) {
    let key = queue(story);
    story.disconnected();
    story.watch(&at(&other(2)), "gone").says(&[]);
    story.watch(&at(&own(key, 3)), "gone").says(&[]);
    story.connected(1).says(&["check", "sync", "children"]);
    story.answer_routine().children(&[&other(2), &own(key, 3)]);
    story.says(&["get", "queued", "get"]).answer_routine();
    story.watch(&at(&other(2)), "deleted").says(&["acquired"]);
}

fn watch_of_an_earlier_neighbour(story: &mut Recorder) {
    let key = queue(story);
    let first = story.watch_on(&at(&other(2)));
    story.disconnected().connected(1).answer_routine();
    story.children(&[&other(2), &own(key, 3)]).answer_routine();
    story.watch_id(first, "deleted").says(&[]);
    story.watch(&at(&other(2)), "deleted").says(&["acquired"]);
}

fn own_node_deleted_while_waiting(story: &mut Recorder) {
    let key = queue(story);
    story
        .watch(&at(&own(key, 3)), "deleted")
        .says(&["create", "children"]);
    story.created(5, 50);
    story.children(&[&other(2), &other(4), &own_of_attempt(key, 2, 5)]);
    story.says(&["get", "queued", "get"]);
}

fn own_node_deleted_before_its_watch(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story.created(3, 41).children(&[&other(2), &own(key, 3)]);
    story
        .present(40)
        .error("get", code::NO_NODE)
        .says(&["create", "children", "delete"]);
    story
        .error("delete", code::NO_NODE)
        .created(4, 44)
        .children(&[&other(2), &own_of_attempt(key, 2, 4)]);
    story.says(&["get", "queued", "get"]);
}

fn own_node_deleted_while_holding(story: &mut Recorder) {
    let key = hold(story);
    story
        .timeout()
        .says(&["check"])
        .confirmed()
        .says(&["extended", "get"]);
    story.present(41).after(500);
    story.watch(&at(&own(key, 3)), "deleted").says(&["lost deleted"]);
    story.close(key).leaves(0);
}

fn own_node_replaced(story: &mut Recorder) {
    hold(story);
    story.timeout().confirmed().says(&["extended", "get"]);
    story.present_of(77, 90).says(&["lost deleted"]);
}

fn own_watch_refused_for_now(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story.created(3, 41).children(&[&other(2), &own(key, 3)]);
    story.present(40).error("get", code::THROTTLED).says(&[]);
    story.waits_for(Some("retry")).timeout().says(&["get"]);
    story
        .error("get", code::NO_NODE)
        .says(&["create", "children", "delete"]);
}

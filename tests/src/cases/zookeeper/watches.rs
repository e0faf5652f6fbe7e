//! Watches: early, duplicated, missing, lost, late.

use super::{acquire, at, code, hold, other, own, own_of_attempt, queue, queue_behind_two, warm};
use crate::{cases::cases, transcript::Recorder};

cases! { "zookeeper":
    watch_before_its_reply,
        "The predecessor's watch fires before the reply of the get that set it, as in a client library with \
         two threads: the grant is right, and the late reply adds nothing.",
        "kazoo: replies and watches come on two threads";
    watch_twice, "A watch fires twice: the second event is not one of the present predecessor.";
    watch_never_fires,
        "The predecessor's deletion is never reported, because the watch was lost with a connection: the \
         reconnect reads again.",
        "kazoo#170, kazoo#282, CURATOR-283";
    watch_gone,
        "The client library reports that a watch is lost: the watch is set again, and the predecessor is \
         gone.";
    predecessor_changed,
        "A predecessor that changes (Curator's revocation writes data) is not gone: the watch is set again.";
    watch_after_a_suspend,
        "A watch that fires after the disconnect causes no request: everything is read again anyway.",
        "kazoo forgets every watch on SUSPENDED, and fires it";
    watch_of_an_earlier_predecessor,
        "A watch that was set on an earlier predecessor fires late: the event is not one of the present \
         predecessor.";
    own_node_deleted_while_waiting,
        "Another client deletes the node of a waiter: the waiter enqueues again, behind the contenders that \
         came meanwhile, and does not hang.";
    own_node_deleted_before_its_watch,
        "The own node is gone before it could be watched, or a server that is behind does not have it yet: \
         the waiter enqueues again, and deletes the node in any case.";
    own_node_deleted_while_holding,
        "Another client deletes the node of a holder: the grant is lost at once, with the command that set \
         the watch.",
        "CURATOR-206, and Curator's open request to notify holders";
    own_node_replaced,
        "The own node's path belongs to another session: it is not the contender's node any more.",
        "CURATOR-696";
    own_watch_refused_for_now,
        "The watch on the own node fails while waiting: it is set again, or a contender without a node \
         could be granted the lock.";
}

fn watch_before_its_reply(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story.created(3, 41).children(&[&other(2), &own(key, 3)]);
    story.watch(&at(&other(2)), "deleted").returns(&["acquired"]);
    story.present(40).returns(&[]).present(41).returns(&[]);
}

fn watch_twice(story: &mut Recorder) {
    let key = queue_behind_two(story);
    story.watch(&at(&other(2)), "deleted").returns(&["children"]);
    story.watch(&at(&other(2)), "deleted").returns(&[]);
    story
        .children(&[&other(1), &own(key, 3)])
        .returns(&["get", "queued"])
        .present(39);
    story.watch(&at(&other(2)), "deleted").returns(&[]);
}

fn watch_never_fires(story: &mut Recorder) {
    let key = queue(story);
    story.after(1_000_000).disconnected().returns(&[]);
    story
        .after(1_000_000)
        .connected(1)
        .returns(&["check", "sync", "children"]);
    story
        .answer_routine()
        .children(&[&own(key, 3)])
        .returns(&["acquired"]);
}

fn watch_gone(story: &mut Recorder) {
    queue(story);
    story.watch(&at(&other(2)), "gone").returns(&["get"]);
    story.error("get", code::NO_NODE).returns(&["acquired"]);
}

fn predecessor_changed(story: &mut Recorder) {
    let key = queue(story);
    let first = story.watch_on(&at(&other(2)));
    story
        .watch(&at(&other(2)), "changed")
        .returns(&["get"])
        .present(40);
    story.watch_id(first, "deleted").returns(&[]);
    story
        .watch(&at(&own(key, 3)), "changed")
        .returns(&["get"])
        .present(41);
    story.watch(&at(&other(2)), "deleted").returns(&["acquired"]);
}

fn watch_after_a_suspend(story: &mut Recorder) {
    let key = queue(story);
    story.disconnected();
    story.watch(&at(&other(2)), "gone").returns(&[]);
    story.watch(&at(&own(key, 3)), "gone").returns(&[]);
    story.connected(1).returns(&["check", "sync", "children"]);
    story.answer_routine().children(&[&other(2), &own(key, 3)]);
    story.returns(&["get", "queued", "get"]).answer_routine();
    story.watch(&at(&other(2)), "deleted").returns(&["acquired"]);
}

fn watch_of_an_earlier_predecessor(story: &mut Recorder) {
    let key = queue(story);
    let first = story.watch_on(&at(&other(2)));
    story.disconnected().connected(1).answer_routine();
    story.children(&[&other(2), &own(key, 3)]).answer_routine();
    story.watch_id(first, "deleted").returns(&[]);
    story.watch(&at(&other(2)), "deleted").returns(&["acquired"]);
}

fn own_node_deleted_while_waiting(story: &mut Recorder) {
    let key = queue(story);
    story
        .watch(&at(&own(key, 3)), "deleted")
        .returns(&["create", "children"]);
    story.created(5, 50);
    story.children(&[&other(2), &other(4), &own_of_attempt(key, 2, 5)]);
    story.returns(&["get", "queued", "get"]);
}

fn own_node_deleted_before_its_watch(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story.created(3, 41).children(&[&other(2), &own(key, 3)]);
    story
        .present(40)
        .error("get", code::NO_NODE)
        .returns(&["create", "children", "delete"]);
    story
        .error("delete", code::NO_NODE)
        .created(4, 44)
        .children(&[&other(2), &own_of_attempt(key, 2, 4)]);
    story.returns(&["get", "queued", "get"]);
}

fn own_node_deleted_while_holding(story: &mut Recorder) {
    let key = hold(story);
    story
        .timeout()
        .returns(&["check"])
        .confirmed()
        .returns(&["extended", "get"]);
    story.present(41).after(500);
    story
        .watch(&at(&own(key, 3)), "deleted")
        .returns(&["lost deleted"]);
    story.close(key).leaves(0);
}

fn own_node_replaced(story: &mut Recorder) {
    hold(story);
    story.timeout().confirmed().returns(&["extended", "get"]);
    story.present_of(77, 90).returns(&["lost deleted"]);
}

fn own_watch_refused_for_now(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story.created(3, 41).children(&[&other(2), &own(key, 3)]);
    story.present(40).error("get", code::THROTTLED).returns(&[]);
    story.waits_for(Some("retry")).timeout().returns(&["get"]);
    story
        .error("get", code::NO_NODE)
        .returns(&["create", "children", "delete"]);
}

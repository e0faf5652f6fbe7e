//! Entering the wait queue, waiting in it, and handing the lock over, with a server that answers.

use super::{acquire, at, code, hold, other, own, queue, queue_behind_two, settings, warm};
use crate::{cases::cases, transcript::Recorder};

cases! { "zookeeper":
    uncontended,
        "A free lock on a warm session: create and list are sent together, the czxid is the fence, and one \
         delete releases the lock.";
    hand_over,
        "The list named one predecessor: its deletion is the grant, with no request between the watch event \
         and the grant.";
    second_to_last_leaves,
        "The predecessor of a contender with two ahead goes: it may have held the lock or given up, so the \
         list is read, and then the next predecessor is watched.",
        "as kazoo's Lock and Curator do: most contenders that go have held the lock, and then the list is \
         enough";
    middle_waiter_cancels,
        "A predecessor that goes is no grant while an earlier contender holds: a watch event does not prove \
         that the contender is first.",
        "CURATOR-527, CURATOR-641";
    all_ahead_leave_at_once,
        "The predecessor of a contender with two ahead goes, and the other one, too: the list shows the \
         contender first, and no other request is sent.";
    predecessor_gone_before_its_watch,
        "The predecessor goes between the list and the watch: get sets no watch on a missing node and \
         returns an error, where exists would wait for a creation for ever.",
        "CURATOR-107, shayhatsor/zookeeper#26";
    try_on_a_free_lock, "A nonblocking acquire of a free lock is granted at once.";
    try_on_a_held_lock,
        "A nonblocking acquire of a held lock is refused with the first list, and its node is deleted.",
        "kazoo#732: a failed non-blocking acquire left its node";
    unrelated_nodes_are_ignored,
        "Children that are no contenders cannot hold a lock: they block no contender, and no contender \
         waits for them.",
        "CURATOR-43, go-zookeeper: an unparsable child stopped all contenders";
    contenders_of_other_clients_are_waited_for,
        "Curator's, the Go client's and unprotected nodes are in the same queue, ordered by number and not \
         by name.",
        "ZOOKEEPER-2931, shayhatsor/zookeeper#4";
    two_machines_in_one_hub,
        "Two contenders of one client exclude each other through the server, and each receives its own \
         watch event.",
        "Netflix/curator#75";
    acquire_again,
        "A machine that has released acquires again: with a new attempt, so nothing late of the old one can \
         affect it.";
}

fn uncontended(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story
        .returns(&["create", "children"])
        .created(3, 41)
        .returns(&[])
        .children(&[&own(key, 3)])
        .returns(&["acquired"]);
    story.after(2000).release(key).returns(&["delete"]);
    story.done("delete").returns(&["released"]);
    story.close(key).leaves(0);
}

fn hand_over(story: &mut Recorder) {
    queue(story);
    story
        .after(700)
        .watch(&at(&other(2)), "deleted")
        .returns(&["acquired"]);
}

fn second_to_last_leaves(story: &mut Recorder) {
    let key = queue_behind_two(story);
    story.after(700);
    story.watch(&at(&other(2)), "deleted").returns(&["children"]);
    story
        .children(&[&other(1), &own(key, 3)])
        .returns(&["get", "queued"])
        .present(39);
    story.watch(&at(&other(1)), "deleted").returns(&["acquired"]);
}

fn middle_waiter_cancels(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    let [first, second, third] = [0, 1, 2].map(other);
    story
        .created(3, 41)
        .children(&[&first, &second, &third, &own(key, 3)]);
    story.answer_routine().after(700);
    story.watch(&at(&third), "deleted").returns(&["children"]);
    // The second contender has also left.
    story
        .children(&[&first, &own(key, 3)])
        .returns(&["get", "queued"]);
    story.present(38).returns(&[]);
}

fn all_ahead_leave_at_once(story: &mut Recorder) {
    let key = queue_behind_two(story);
    story.after(700);
    story.watch(&at(&other(2)), "deleted").returns(&["children"]);
    story.children(&[&own(key, 3)]).returns(&["acquired"]);
}

fn predecessor_gone_before_its_watch(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story.created(3, 41).children(&[&other(2), &own(key, 3)]);
    story.error("get", code::NO_NODE).returns(&["acquired"]);
    story.present(41).returns(&[]);
}

fn try_on_a_free_lock(story: &mut Recorder) {
    warm(story);
    let key = story.open(&settings());
    story.try_acquire(key).created(3, 41);
    story.children(&[&own(key, 3)]).returns(&["acquired"]);
}

fn try_on_a_held_lock(story: &mut Recorder) {
    warm(story);
    let key = story.open(&settings());
    story.try_acquire(key).created(3, 41);
    story.children(&[&own(key, 3), &other(2)]);
    story.returns(&["delete"]).done("delete");
    story.returns(&["refused not-available"]).close(key).leaves(0);
}

fn unrelated_nodes_are_ignored(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    let children = [
        "notes",
        "lock-",
        "lock-12",
        "_c_x-lock-00000000xx",
        "write-0000000001",
    ];
    story.created(3, 41);
    story
        .children(&[&children[..], &[&own(key, 3)]].concat())
        .returns(&["acquired"]);
}

fn contenders_of_other_clients_are_waited_for(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    let unprotected = "lock-0000000001";
    let go = "_c_ffffffffffffffffffffffffffffffff-lock-0000000002";
    story.created(3, 41).children(&[go, &own(key, 3), unprotected]);
    story.returns(&["get", "queued", "get"]).answer_routine();
    story.watch(&at(go), "deleted").returns(&["children"]);
    story
        .children(&[unprotected, &own(key, 3)])
        .returns(&["get", "queued"]);
    story.present(39);
    story.watch(&at(unprotected), "deleted").returns(&["acquired"]);
}

fn two_machines_in_one_hub(story: &mut Recorder) {
    let first = hold(story);
    let second = acquire(story);
    story.created(4, 42).children(&[&own(first, 3), &own(second, 4)]);
    story.returns(&["get", "queued", "get"]).answer_routine();
    story.release(first).returns(&["delete"]);
    story.watch(&at(&own(first, 3)), "deleted").returns(&["acquired"]);
    story.done("delete").returns(&["released"]);
}

fn acquire_again(story: &mut Recorder) {
    let key = hold(story);
    story.release(key).done("delete").returns(&["released"]);
    story.acquire(key).returns(&["create", "children"]);
    story.created(4, 44);
    story
        .children(&[&super::own_of_attempt(key, 2, 4)])
        .returns(&["acquired"]);
}

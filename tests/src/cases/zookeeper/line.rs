//! Getting into the line, waiting in it, handing over: with a server that answers.

use super::{acquire, at, code, hold, other, own, queue, queue_behind_two, settings, warm};
use crate::{cases::cases, transcript::Recorder};

cases! { "zookeeper":
    uncontended, "A free lock on a warm session: create and list in one flight, the czxid is the fence, delete.";
    hand_over, "The list named one predecessor: its deletion is the grant, with no request between the watch event and the grant.";
    second_to_last_leaves, "The neighbour of two ahead goes: it may have held or given up, so the list is read, and then the next one watched.",
        "as kazoo's Lock and Curator do: most who go have held, and then the list is all";
    middle_waiter_cancels, "A vanished neighbour is no grant while somebody earlier holds: waking is no proof of being first.",
        "CURATOR-527, CURATOR-641";
    all_ahead_leave_at_once, "The neighbour of two ahead goes, and it was the one who held: the list shows us first, and nothing else was asked.";
    neighbour_gone_before_its_watch, "The neighbour has gone between the list and the watch: get sets no watch on nothing and says so, where exists would wait for a creation for ever.",
        "CURATOR-107, shayhatsor/zookeeper#26";
    try_on_a_free_lock, "A try that finds nobody holds at once.";
    try_on_a_held_lock, "A try that finds somebody is refused with the first list, and its node is deleted.",
        "kazoo#732: a failed non-blocking acquire left its node";
    bystanders_are_ignored, "Children that are no contenders cannot hold a lock: they neither block nor are waited for.",
        "CURATOR-43, go-zookeeper: an unparsable child stopped everybody";
    contenders_of_other_clients_are_waited_for, "Curator's, the Go client's and unprotected nodes stand in the same line, ordered by number and not by name.",
        "ZOOKEEPER-2931, shayhatsor/zookeeper#4";
    two_machines_in_one_hub, "Two contenders of one client exclude each other through the server, and each hears its own watch.",
        "Netflix/curator#75";
    acquire_again, "A machine that has released acquires anew: with a new attempt, so nothing late of the old one can touch it.";
}

fn uncontended(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story
        .says(&["create", "children"])
        .created(3, 41)
        .says(&[])
        .children(&[&own(key, 3)])
        .says(&["acquired"]);
    story.after(2000).release(key).says(&["delete"]);
    story.done("delete").says(&["released"]);
    story.close(key).leaves(0);
}

fn hand_over(story: &mut Recorder) {
    queue(story);
    story
        .after(700)
        .watch(&at(&other(2)), "deleted")
        .says(&["acquired"]);
}

fn second_to_last_leaves(story: &mut Recorder) {
    let key = queue_behind_two(story);
    story.after(700);
    story.watch(&at(&other(2)), "deleted").says(&["children"]);
    story
        .children(&[&other(1), &own(key, 3)])
        .says(&["get", "queued"])
        .present(39);
    story.watch(&at(&other(1)), "deleted").says(&["acquired"]);
}

fn middle_waiter_cancels(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    let [first, second, third] = [0, 1, 2].map(other);
    story
        .created(3, 41)
        .children(&[&first, &second, &third, &own(key, 3)]);
    story.answer_routine().after(700);
    story.watch(&at(&third), "deleted").says(&["children"]);
    // The second one has gone meanwhile, too.
    story.children(&[&first, &own(key, 3)]).says(&["get", "queued"]);
    story.present(38).says(&[]);
}

fn all_ahead_leave_at_once(story: &mut Recorder) {
    let key = queue_behind_two(story);
    story.after(700);
    story.watch(&at(&other(2)), "deleted").says(&["children"]);
    story.children(&[&own(key, 3)]).says(&["acquired"]);
}

fn neighbour_gone_before_its_watch(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story.created(3, 41).children(&[&other(2), &own(key, 3)]);
    story.error("get", code::NO_NODE).says(&["acquired"]);
    story.present(41).says(&[]);
}

fn try_on_a_free_lock(story: &mut Recorder) {
    warm(story);
    let key = story.open(&settings());
    story.try_acquire(key).created(3, 41);
    story.children(&[&own(key, 3)]).says(&["acquired"]);
}

fn try_on_a_held_lock(story: &mut Recorder) {
    warm(story);
    let key = story.open(&settings());
    story.try_acquire(key).created(3, 41);
    story.children(&[&own(key, 3), &other(2)]);
    story.says(&["delete"]).done("delete");
    story.says(&["refused not-available"]).close(key).leaves(0);
}

fn bystanders_are_ignored(story: &mut Recorder) {
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
        .says(&["acquired"]);
}

fn contenders_of_other_clients_are_waited_for(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    let unprotected = "lock-0000000001";
    let go = "_c_ffffffffffffffffffffffffffffffff-lock-0000000002";
    story.created(3, 41).children(&[go, &own(key, 3), unprotected]);
    story.says(&["get", "queued", "get"]).answer_routine();
    story.watch(&at(go), "deleted").says(&["children"]);
    story
        .children(&[unprotected, &own(key, 3)])
        .says(&["get", "queued"]);
    story.present(39);
    story.watch(&at(unprotected), "deleted").says(&["acquired"]);
}

fn two_machines_in_one_hub(story: &mut Recorder) {
    let first = hold(story);
    let second = acquire(story);
    story.created(4, 42).children(&[&own(first, 3), &own(second, 4)]);
    story.says(&["get", "queued", "get"]).answer_routine();
    story.release(first).says(&["delete"]);
    story.watch(&at(&own(first, 3)), "deleted").says(&["acquired"]);
    story.done("delete").says(&["released"]);
}

fn acquire_again(story: &mut Recorder) {
    let key = hold(story);
    story.release(key).done("delete").says(&["released"]);
    story.acquire(key).says(&["create", "children"]);
    story.created(4, 44);
    story
        .children(&[&super::own_of_attempt(key, 2, 4)])
        .says(&["acquired"]);
}

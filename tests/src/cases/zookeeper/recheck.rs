//! Waiters and holders read again from time to time. A server sends no watch event to a client that may no
//! longer read the node, and a client library can lose a watch.

use super::{
    DIR, at, code,
    downgrade::write,
    hold, other, own, own_of_attempt, queue, queue_behind_two,
    semaphore::{lease, wait_for_a_permit},
    single,
};
use crate::{cases::cases, transcript::Recorder};

cases! { "zookeeper":
    looks_again, "The predecessor still exists: nothing is reported, and it is read again later.";
    look_finds_it_gone, "The predecessor is gone, and its watch has not fired: the lock is granted.",
        "ZooKeeper sends no event of a node to a client that may not read it; Curator and Kazoo wait for \
         ever";
    look_finds_it_gone_behind_others,
        "The predecessor is gone without an event, and an earlier contender was there: the list decides.";
    look_forbidden,
        "The predecessor may not be read any more, so no event would report its end: refused, because the \
         wait would never end.";
    look_refused_for_now, "The server is overloaded: the next recheck decides.";
    look_comes_late,
        "The answer to a recheck comes when the contender waits for another predecessor: the answer does \
         not count.";
    look_while_suspended, "Without a connection there is no recheck: the reconnect reads everything anyway.";
    permit_found,
        "A permit was released without an event: a list without a watch finds it. While all permits are \
         taken, the existing watch stays.";
    permits_forbidden, "The permits may not be listed any more: refused.";
    single_found_gone, "The single node is gone without an event: it is created.";
    single_found_to_be_anothers,
        "The single node is gone without an event, and another client has created it again: that node is \
         watched.";
    own_look_refused_for_now, "The recheck of the own node fails: its watch still reports a deletion.";
    own_node_found_gone,
        "A waiter's own node was deleted without an event: the waiter enqueues again, and is not granted \
         the lock without a node.";
    held_node_found_gone, "A holder's node was deleted without an event: the grant is lost.";
    revocation_request_found,
        "Another client has written a revocation request, and the event was lost: reported once.";
    look_at_what_the_node_was,
        "The answer to a recheck of a writer's node comes after its downgrade: no loss.";
}

/// Lets time pass until the recheck: the own node exists.
fn recheck(story: &mut Recorder) -> &mut Recorder {
    story.timeout_of("poll").returns(&["get", "get"]).present(41)
}

/// A machine that holds and watches its node, at its recheck of it.
fn hold_and_recheck(story: &mut Recorder) -> u64 {
    let key = hold(story);
    story.timeout_of("poll").returns(&["get"]);
    key
}

fn looks_again(story: &mut Recorder) {
    let key = queue(story);
    for _ in 0..2 {
        recheck(story).present(40).returns(&[]);
    }
    story.watch(&at(&other(2)), "deleted").returns(&["acquired"]);
    story.close(key);
}

fn look_finds_it_gone(story: &mut Recorder) {
    queue(story);
    recheck(story).error("get", code::NO_NODE);
    story.returns(&["acquired"]);
}

fn look_finds_it_gone_behind_others(story: &mut Recorder) {
    let key = queue_behind_two(story);
    recheck(story).error("get", code::NO_NODE).returns(&["children"]);
    story
        .children(&[&other(1), &own(key, 3)])
        .returns(&["get", "queued"]);
}

fn look_forbidden(story: &mut Recorder) {
    let key = queue(story);
    recheck(story).error("get", code::NO_AUTH).returns(&["delete"]);
    story.done("delete").returns(&["refused no-permission"]);
    story.close(key).leaves(0);
}

fn look_refused_for_now(story: &mut Recorder) {
    queue(story);
    recheck(story).error("get", code::THROTTLED).returns(&[]);
    recheck(story).error("get", code::NO_NODE).returns(&["acquired"]);
}

fn look_comes_late(story: &mut Recorder) {
    let key = queue_behind_two(story);
    recheck(story);
    let read = story.last_id("get");
    story.watch(&at(&other(2)), "deleted").returns(&["children"]);
    story
        .children(&[&other(1), &own(key, 3)])
        .returns(&["get", "queued"]);
    let gone = story.reply_error(code::NO_NODE);
    story.answer_id(read, gone).returns(&[]);
    story.present(39);
    story.watch(&at(&other(1)), "deleted").returns(&["acquired"]);
}

fn look_while_suspended(story: &mut Recorder) {
    let key = queue(story);
    story
        .disconnected()
        .waits_for(Some("poll"))
        .timeout()
        .returns(&[]);
    story.connected(1).returns(&["check", "sync", "children"]);
    story.answer_routine().children(&[&other(2), &own(key, 3)]);
    story
        .returns(&["get", "queued", "get"])
        .waits_for(Some("renew"))
        .answer_routine();
    recheck(story).present(40);
}

/// Its recheck: of its own permit, of all permits, and of its place in the queue.
fn count_again(story: &mut Recorder) -> &mut Recorder {
    story.timeout_of("poll").returns(&["get", "children", "get"]);
    story.present(42).present(41)
}

fn permit_found(story: &mut Recorder) {
    let (key, [first, second]) = wait_for_a_permit(story);
    count_again(story);
    story.children(&[&first, &second, &lease(key, 7)]).returns(&[]);
    count_again(story);
    story
        .children(&[&second, &lease(key, 7)])
        .returns(&["acquired", "delete"]);
}

fn permits_forbidden(story: &mut Recorder) {
    let (key, _) = wait_for_a_permit(story);
    count_again(story).error("children", code::NO_AUTH);
    story.returns(&["delete", "delete"]).done("delete").done("delete");
    story.returns(&["refused no-permission"]).close(key).leaves(0);
}

fn single_found_gone(story: &mut Recorder) {
    single::behind_theirs(story);
    story
        .timeout_of("poll")
        .error("get", code::NO_NODE)
        .returns(&["create", "get"]);
}

fn single_found_to_be_anothers(story: &mut Recorder) {
    single::behind_theirs(story);
    story
        .timeout_of("poll")
        .present_of(9, 77)
        .returns(&["get"])
        .present_of(9, 77);
    story.returns(&["queued"]);
    story.watch(DIR, "deleted").returns(&["create", "get"]);
}

fn own_look_refused_for_now(story: &mut Recorder) {
    let key = queue(story);
    story.timeout_of("poll").error("get", code::THROTTLED).present(40);
    story
        .watch(&at(&own(key, 3)), "deleted")
        .returns(&["create", "children"]);
}

fn own_node_found_gone(story: &mut Recorder) {
    let key = queue(story);
    story.timeout_of("poll").returns(&["get", "get"]);
    story
        .error("get", code::NO_NODE)
        .returns(&["create", "children", "delete"]);
    story.error("delete", code::NO_NODE).created(4, 44);
    story.children(&[&other(2), &own_of_attempt(key, 2, 4)]);
    story.returns(&["get", "queued", "get"]);
}

fn held_node_found_gone(story: &mut Recorder) {
    let key = hold_and_recheck(story);
    story
        .error("get", code::NO_NODE)
        .returns(&["lost deleted", "delete"]);
    story.error("delete", code::NO_NODE).close(key).leaves(0);
}

fn revocation_request_found(story: &mut Recorder) {
    hold_and_recheck(story);
    let reply = story.reply_data("__REVOKE__", 1, 41);
    story.answer("get", reply).returns(&["revoke-requested"]);
    story.timeout_of("poll").present(41).returns(&[]);
}

fn look_at_what_the_node_was(story: &mut Recorder) {
    let (key, [_, reader]) = write(story);
    story.timeout_of("poll").returns(&["get"]);
    let read = story.last_id("get");
    story.downgrade(key).returns(&["multi"]);
    let reply = story.reply_children(&[&reader]);
    story.answer("multi", reply).returns(&["downgraded", "get"]);
    let gone = story.reply_error(code::NO_NODE);
    story.answer_id(read, gone).returns(&[]);
    story.present(42);
}

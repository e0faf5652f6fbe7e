//! Whoever waits or holds looks again now and then: a server keeps the event of a watch from whoever may not read any more, and a client library can lose one.

use super::{
    DIR, at, code,
    downgrade::write,
    hold, other, own, own_of_attempt, queue, queue_behind_two,
    semaphore::{lease, wait_for_a_permit},
    single,
};
use crate::{cases::cases, transcript::Recorder};

cases! { "zookeeper":
    looks_again, "The neighbour is there still: nothing is said, and it is looked at again later.";
    look_finds_it_gone, "The neighbour has gone, and its watch has not said so: the lock is ours.",
        "ZooKeeper tells no event of a node to who may not read it; Curator and Kazoo wait for ever";
    look_finds_it_gone_behind_others, "The neighbour has gone unsaid, and somebody earlier was there: the list tells.";
    look_forbidden, "The neighbour may not be read any more, so nobody would tell that it has gone: refused, and not waited for for ever.";
    look_refused_for_now, "The server has too much to do: the next look tells.";
    look_comes_late, "The answer to a look comes when another neighbour is waited for: it says nothing about this one.";
    look_while_suspended, "Without a connection nothing is looked at: the reconnect reads everything anyway.";
    permit_found, "A permit has come back unsaid: a list without a watch finds it. What is taken still is waited for with the watch that there is.";
    permits_forbidden, "The permits may not be listed any more: refused.";
    single_found_gone, "The single node has gone unsaid: it is created.";
    single_found_to_be_anothers, "The single node has gone unsaid, and is another one's now: that one is watched.";
    own_look_refused_for_now, "The look at the own node has failed: its watch tells still that it was deleted.";
    own_node_found_gone, "A waiter's own node was deleted unsaid: it queues again, and is not granted what is not there.";
    held_node_found_gone, "A holder's node was deleted unsaid: the grant is lost.";
    wish_found, "Somebody wants the lock back, and the event was lost: told, and once.";
    look_at_what_the_node_was, "The answer to a look at a writer's node comes when it has become a reader's: no loss.";
}

/// Lets time pass until the second look: the own node is there.
fn later(story: &mut Recorder) -> &mut Recorder {
    story.timeout_of("poll").says(&["get", "get"]).present(41)
}

/// A machine that holds and watches its node, at its second look at it.
fn hold_and_look(story: &mut Recorder) -> u64 {
    let key = hold(story);
    story.timeout_of("poll").says(&["get"]);
    key
}

fn looks_again(story: &mut Recorder) {
    let key = queue(story);
    for _ in 0..2 {
        later(story).present(40).says(&[]);
    }
    story.watch(&at(&other(2)), "deleted").says(&["acquired"]);
    story.close(key);
}

fn look_finds_it_gone(story: &mut Recorder) {
    queue(story);
    later(story).error("get", code::NO_NODE);
    story.says(&["acquired"]);
}

fn look_finds_it_gone_behind_others(story: &mut Recorder) {
    let key = queue_behind_two(story);
    later(story).error("get", code::NO_NODE).says(&["children"]);
    story
        .children(&[&other(1), &own(key, 3)])
        .says(&["get", "queued"]);
}

fn look_forbidden(story: &mut Recorder) {
    let key = queue(story);
    later(story).error("get", code::NO_AUTH).says(&["delete"]);
    story.done("delete").says(&["refused no-permission"]);
    story.close(key).leaves(0);
}

fn look_refused_for_now(story: &mut Recorder) {
    queue(story);
    later(story).error("get", code::THROTTLED).says(&[]);
    later(story).error("get", code::NO_NODE).says(&["acquired"]);
}

fn look_comes_late(story: &mut Recorder) {
    let key = queue_behind_two(story);
    later(story);
    let look = story.last_id("get");
    story.watch(&at(&other(2)), "deleted").says(&["children"]);
    story
        .children(&[&other(1), &own(key, 3)])
        .says(&["get", "queued"]);
    let gone = story.reply_error(code::NO_NODE);
    story.answer_id(look, gone).says(&[]);
    story.present(39);
    story.watch(&at(&other(1)), "deleted").says(&["acquired"]);
}

fn look_while_suspended(story: &mut Recorder) {
    let key = queue(story);
    story.disconnected().waits_for(Some("poll")).timeout().says(&[]);
    story.connected(1).says(&["check", "sync", "children"]);
    story.answer_routine().children(&[&other(2), &own(key, 3)]);
    story
        .says(&["get", "queued", "get"])
        .waits_for(Some("renew"))
        .answer_routine();
    later(story).present(40);
}

/// Its second look: at its own permit, at all permits, and at its place in the line.
fn count_again(story: &mut Recorder) -> &mut Recorder {
    story.timeout_of("poll").says(&["get", "children", "get"]);
    story.present(42).present(41)
}

fn permit_found(story: &mut Recorder) {
    let (key, [first, second]) = wait_for_a_permit(story);
    count_again(story);
    story.children(&[&first, &second, &lease(key, 7)]).says(&[]);
    count_again(story);
    story
        .children(&[&second, &lease(key, 7)])
        .says(&["acquired", "delete"]);
}

fn permits_forbidden(story: &mut Recorder) {
    let (key, _) = wait_for_a_permit(story);
    count_again(story).error("children", code::NO_AUTH);
    story.says(&["delete", "delete"]).done("delete").done("delete");
    story.says(&["refused no-permission"]).close(key).leaves(0);
}

fn single_found_gone(story: &mut Recorder) {
    single::behind_theirs(story);
    story
        .timeout_of("poll")
        .error("get", code::NO_NODE)
        .says(&["create", "get"]);
}

fn single_found_to_be_anothers(story: &mut Recorder) {
    single::behind_theirs(story);
    story
        .timeout_of("poll")
        .present_of(9, 77)
        .says(&["get"])
        .present_of(9, 77);
    story.says(&["queued"]);
    story.watch(DIR, "deleted").says(&["create", "get"]);
}

fn own_look_refused_for_now(story: &mut Recorder) {
    let key = queue(story);
    story.timeout_of("poll").error("get", code::THROTTLED).present(40);
    story
        .watch(&at(&own(key, 3)), "deleted")
        .says(&["create", "children"]);
}

fn own_node_found_gone(story: &mut Recorder) {
    let key = queue(story);
    story.timeout_of("poll").says(&["get", "get"]);
    story
        .error("get", code::NO_NODE)
        .says(&["create", "children", "delete"]);
    story.error("delete", code::NO_NODE).created(4, 44);
    story.children(&[&other(2), &own_of_attempt(key, 2, 4)]);
    story.says(&["get", "queued", "get"]);
}

fn held_node_found_gone(story: &mut Recorder) {
    let key = hold_and_look(story);
    story
        .error("get", code::NO_NODE)
        .says(&["lost deleted", "delete"]);
    story.error("delete", code::NO_NODE).close(key).leaves(0);
}

fn wish_found(story: &mut Recorder) {
    hold_and_look(story);
    let reply = story.reply_data("__REVOKE__", 1, 41);
    story.answer("get", reply).says(&["revoke-requested"]);
    story.timeout_of("poll").present(41).says(&[]);
}

fn look_at_what_the_node_was(story: &mut Recorder) {
    let (key, [_, reader]) = write(story);
    story.timeout_of("poll").says(&["get"]);
    let look = story.last_id("get");
    story.downgrade(key).says(&["multi"]);
    let reply = story.reply_children(&[&reader]);
    story.answer("multi", reply).says(&["downgraded", "get"]);
    let gone = story.reply_error(code::NO_NODE);
    story.answer_id(look, gone).says(&[]);
    story.present(42);
}

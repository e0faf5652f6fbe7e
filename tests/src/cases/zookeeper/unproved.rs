//! Contenders that are first in the queue before their session is confirmed for long enough.

use serde_json::json;

use super::{
    DIR, acquire, at, code, other, own,
    recipes::{enqueued, many},
    semaphore::take,
    settings,
};
use crate::{
    cases::cases,
    transcript::{Input, Recorder},
};

cases! { "zookeeper":
    timeout_unconfirmed,
        "The contender is first in the queue, but the session is not confirmed within the acquire timeout, \
         nor in half its timeout: no other client held the lock, so this is no timeout.";
    timeout_while_unproved,
        "The contender is first in the queue, in a session of which nothing is proved when the acquire \
         timeout ends: a free lock is granted late, and not refused.",
        "kazoo returns True at once: a nonblocking acquire with a session of 30 s was unreachable after 5 s";
    permit_while_unproved,
        "A permit is free, in a session of which too little is proved: the acquire timeout is prolonged \
         once, and the permit is granted with the proof.";
    permit_tried_while_unproved,
        "The same for a nonblocking acquire: its time stays prolonged at the head of the queue.";
    many_locks_while_unproved,
        "All locks of a multi-lock are free, in a session of which too little is proved: granted with the \
         proof, too.";
    timeout_behind_a_standstill,
        "A process pauses for longer than a nonblocking acquire waits: the answers have arrived, the proved \
         time has run out, and the lock is free. It is granted after the next proof.";
    own_node_not_readable_while_unproved,
        "The server denies the read of the own node to a contender that waits for the session's proof \
         alone: granted with the proof.";
    own_node_not_read_while_unproved, "The server has not executed that read: granted with the proof.";
    duplicate_deleted_while_unproved,
        "The delete of a duplicate node is not executed, and the contender waits for the session's proof: \
         only the delete is repeated.";
    first_and_cut_off,
        "The connection is lost while a contender that is first waits for the session's proof: at the end \
         of its time it is refused.";
    behind_and_unproved,
        "A contender waits behind another one, and nothing is proved of its session: at the end of its time \
         it is refused.";
}

fn timeout_unconfirmed(story: &mut Recorder) {
    story.given(1);
    let key = story.open(&settings());
    story.acquire_within(key, 200_000).created(3, 41);
    story
        .children(&[&own(key, 3)])
        .returns(&[])
        .timeout()
        .returns(&[]);
    story.silence("sync").timeout_after(4_500_000);
    story.returns(&["sync", "delete"]).done("delete");
    story.returns(&["refused unreachable"]);
}

fn timeout_while_unproved(story: &mut Recorder) {
    story.given(1).done("sync");
    let key = story.open(&settings());
    story.try_acquire(key).created(3, 41);
    story.children(&[&own(key, 3)]).returns(&[]);
    let key = story.open(&settings());
    story.acquire_within(key, 200_000).created(4, 42);
    story.children(&[&own(key, 4)]).waits_for(Some("acquire-timeout"));
    story.timeout().returns(&[]);
    proved(story).returns(&["acquired", "acquired"]);
}

fn permit_while_unproved(story: &mut Recorder) {
    story.given(1).done("sync");
    let settings = json!({"kind": "zookeeper-semaphore", "name": "stock", "prefix": "shop", "permits": 2});
    let key = story.open(&settings);
    story.acquire_within(key, 200_000);
    first_in_the_queue(story, key);
    permit_with_the_proof(story, key);
}

fn permit_tried_while_unproved(story: &mut Recorder) {
    story.given(1).done("sync");
    let settings = json!({"kind": "zookeeper-semaphore", "name": "stock", "prefix": "shop", "permits": 2, "answer_within": 200_000});
    let key = story.open(&settings);
    story.try_acquire(key);
    first_in_the_queue(story, key);
    permit_with_the_proof(story, key);
}

fn first_in_the_queue(story: &mut Recorder, key: u64) {
    let number = story.reply_data("2", 0, 9);
    story.answer("get", number);
    story.created_at(&format!("{DIR}/locks/{}", own(key, 3)), 41);
    story.children(&[&own(key, 3)]).returns(&[]);
}

/// The acquire timeout ends, and then the session is confirmed.
fn permit_with_the_proof(story: &mut Recorder, key: u64) {
    story.waits_for(Some("acquire-timeout")).timeout().returns(&[]);
    proved(story).returns(&["create", "children"]);
    // The original acquire timeout is over.
    story.input(Input::Timeout).returns(&[]);
    take(story, key, &[]);
    story.returns(&["acquired", "delete"]);
}

fn many_locks_while_unproved(story: &mut Recorder) {
    story.given(1).done("sync");
    let key = story.open(&many());
    story.acquire_within(key, 200_000);
    enqueued(story, key);
    story.children(&[&own(key, 3)]).present(41);
    story.children(&[&own(key, 8)]).present(41).returns(&[]);
    story.waits_for(Some("acquire-timeout"));
    story.timeout().returns(&[]);
    proved(story).returns(&["acquired"]);
}

fn timeout_behind_a_standstill(story: &mut Recorder) {
    story.connected(1).done("sync");
    let key = story.open(&settings());
    story.try_acquire(key).returns(&["create", "children"]);
    story.after(8_400_000).created(3, 41);
    story.children(&[&own(key, 3)]).returns(&[]);
    story.timeout_after(1000).returns(&["check"]);
    story.checked().returns(&["sync"]);
    story.done("sync").returns(&[]).waits_for(Some("renew"));
    story.timeout().returns(&["sync"]).done("sync").returns(&["sync"]);
    story.done("sync").returns(&["acquired"]);
}

/// A contender behind another one, in an unconfirmed session, which then becomes first. The read of its own
/// node is in flight.
fn first_and_unproved(story: &mut Recorder) -> u64 {
    story.given(1).done("sync");
    let key = acquire(story);
    story.created(3, 41).children(&[&other(2), &own(key, 3)]);
    story.present(40).watch(&at(&other(2)), "deleted").returns(&[]);
    key
}

/// The session is confirmed.
fn proved(story: &mut Recorder) -> &mut Recorder {
    story.waits_for(Some("renew")).timeout().returns(&["sync"]);
    story.done("sync").returns(&["check"]).checked()
}

fn own_node_not_readable_while_unproved(story: &mut Recorder) {
    first_and_unproved(story);
    story.error("get", code::NO_AUTH).returns(&[]);
    proved(story).returns(&["acquired"]);
}

fn own_node_not_read_while_unproved(story: &mut Recorder) {
    first_and_unproved(story);
    story.error("get", code::THROTTLED).returns(&[]);
    proved(story).returns(&["acquired"]);
}

fn duplicate_deleted_while_unproved(story: &mut Recorder) {
    story.given(1).done("sync");
    let key = acquire(story);
    story.disconnected().given(1).created(5, 50);
    let queue = [own(key, 3), own(key, 5)];
    let queue = [&*queue[0], &*queue[1]];
    story.children(&queue).returns(&["get", "children"]);
    story.present(41).children(&queue).returns(&["delete"]);
    story.error("delete", code::THROTTLED).returns(&[]);
    story.waits_for(Some("retry")).timeout().returns(&["delete"]);
}

fn first_and_cut_off(story: &mut Recorder) {
    story.given(1).done("sync");
    let key = story.open(&settings());
    story.acquire_within(key, 200_000).created(3, 41);
    story.children(&[&own(key, 3)]).returns(&[]).disconnected();
    story.timeout().returns(&["refused unreachable"]);
}

fn behind_and_unproved(story: &mut Recorder) {
    story.given(1).done("sync");
    let key = story.open(&settings());
    story.acquire_within(key, 200_000).created(3, 41);
    story.children(&[&other(2), &own(key, 3)]).answer_routine();
    story.waits_for(Some("acquire-timeout")).timeout();
    story
        .returns(&["delete"])
        .done("delete")
        .returns(&["refused timeout"]);
}

//! A contender has the right to create its node, but not to delete it. The node stays until the session ends
//! and blocks all contenders behind it, so the application is notified.

use serde_json::json;

use super::{
    DIR, at, code, hold, other, own, queue,
    recipes::{queue_for_many, release_many},
    semaphore::{lose_the_queue_place, semaphore, take},
    warm,
};
use crate::{cases::cases, transcript::Recorder};

cases! { "zookeeper":
    release_forbidden,
        "The server does not permit the delete: that is reported, because the lock ends only with its \
         session.";
    cancel_forbidden,
        "A waiter gives up, and the server does not permit the delete: that is reported instead of the \
         cancel, because the node stays in the queue.",
        "Curator and Kazoo return after the delete, too, and ignore its result";
    orphan_forbidden,
        "The node of an unanswered create is found ahead of the contender's own node, and may not be \
         deleted: refused, because it would block the contender for ever.";
    queue_place_forbidden,
        "The permit is held, and the place in the queue may not be deleted: that is reported at the release \
         of the permit, because the grant is good.";
    try_forbidden,
        "A nonblocking acquire finds all permits taken, and its place in the queue may not be deleted.";
    queue_again_forbidden,
        "Another client has deleted the place in the queue, and the contender's permit node may not be \
         deleted: refused, and not enqueued behind that node.";
    many_locks_forbidden,
        "One of two places may not be deleted at the release: that is reported when both deletes have been \
         answered.";
    many_locks_waited_forbidden, "The same for a waiter that gives up.";
}

fn release_forbidden(story: &mut Recorder) {
    let key = hold(story);
    story.release(key).error("delete", code::NO_AUTH);
    story.returns(&["refused no-permission"]).close(key).leaves(0);
}

fn cancel_forbidden(story: &mut Recorder) {
    let key = queue(story);
    story
        .cancel(key)
        .returns(&["delete"])
        .error("delete", code::NO_AUTH);
    story.returns(&["refused no-permission"]).close(key).leaves(0);
}

fn orphan_forbidden(story: &mut Recorder) {
    warm(story);
    let [orphan, second] = ["node_0000000003", "node_0000000004"];
    let settings = json!({"kind": "zookeeper-mutex", "name": "stock", "prefix": "shop", "layout": "plain"});
    let key = story.open(&settings);
    story.acquire(key).fail("create", "unknown").children(&[orphan]);
    story
        .timeout()
        .returns(&["sync", "check", "children", "create", "children"]);
    let searching = story.last_id("sync");
    story.answer_id(searching, story.reply_done());
    story.answer_id(searching + 1, story.reply_children(&[]));
    story.answer_id(searching + 2, story.reply_children(&[orphan]));
    let attempt = format!("{key:08x}00000000000000000000feed-1");
    let reply = story.reply_data(&attempt, 1, 40);
    story.answer("get", reply).returns(&["delete"]);
    story.created_at(&at(second), 41).children(&[orphan, second]);
    story.returns(&["get", "queued", "get"]).answer_routine();
    story.error("delete", code::NO_AUTH).returns(&["delete"]);
    story
        .error("delete", code::NO_AUTH)
        .returns(&["refused no-permission"]);
    story.close(key).leaves(0);
}

fn queue_place_forbidden(story: &mut Recorder) {
    let key = semaphore(story);
    take(story, key, &[]);
    story
        .returns(&["acquired", "delete"])
        .error("delete", code::NO_AUTH);
    story
        .returns(&[])
        .release(key)
        .returns(&["delete"])
        .done("delete");
    story.returns(&["refused no-permission"]).close(key).leaves(0);
}

fn try_forbidden(story: &mut Recorder) {
    warm(story);
    let settings = json!({"kind": "zookeeper-semaphore", "name": "stock", "prefix": "shop", "permits": 1});
    let key = story.open(&settings);
    let place = own(key, 3);
    let number = story.try_acquire(key).reply_data("1", 0, 9);
    story
        .answer("get", number)
        .created_at(&format!("{DIR}/locks/{place}"), 41)
        .children(&[&other(2), &place]);
    story.children(&["a-lease-0000000001"]).returns(&["delete"]);
    story.error("delete", code::NO_AUTH);
    story.returns(&["refused no-permission"]).close(key).leaves(0);
}

fn queue_again_forbidden(story: &mut Recorder) {
    let key = lose_the_queue_place(story);
    story.error("delete", code::NO_AUTH);
    story.returns(&["refused no-permission"]).close(key).leaves(0);
}

fn many_locks_forbidden(story: &mut Recorder) {
    let key = release_many(story);
    story.error("delete", code::NO_AUTH).returns(&[]).done("delete");
    story.returns(&["refused no-permission"]).close(key).leaves(0);
}

fn many_locks_waited_forbidden(story: &mut Recorder) {
    let key = queue_for_many(story);
    story.cancel(key).returns(&["delete", "delete"]);
    story.done("delete").returns(&[]).error("delete", code::NO_AUTH);
    story.returns(&["refused no-permission"]).close(key).leaves(0);
}

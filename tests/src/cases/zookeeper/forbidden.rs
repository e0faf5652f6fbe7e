//! A contender may make its node and not delete it: it stays until the session ends and everybody behind it waits, so it is told.

use serde_json::json;

use super::{
    DIR, at, code, hold, other, own, queue,
    recipes::{queue_for_many, release_many},
    semaphore::{lose_the_line, semaphore, take},
    warm,
};
use crate::{cases::cases, transcript::Recorder};

cases! { "zookeeper":
    release_forbidden, "The server does not permit the delete: the application is told, because the lock goes only with its session.";
    cancel_forbidden, "A waiter gives up, and the server does not permit the delete: told in the place of the cancel, because its node stays in the line.",
        "Curator and Kazoo answer after the delete, too, and drop what it came to";
    orphan_forbidden, "What an unanswered create has made is found before the node that is waited with, and may not be deleted: nobody would ever make way.";
    line_forbidden, "The permit is held, and the place in the line may not be deleted: told at the release of the permit, because the grant is good.";
    try_forbidden, "A try finds all permits taken; its place in the line may not be deleted.";
    queue_again_forbidden, "The place in the line was deleted by somebody else, and the permit that was waited with may not be: refused, and not queued for behind it.";
    many_locks_forbidden, "One of two places may not be deleted at the release: told when both have been answered.";
    many_locks_waited_forbidden, "The same for a waiter that gives up.";
}

fn release_forbidden(story: &mut Recorder) {
    let key = hold(story);
    story.release(key).error("delete", code::NO_AUTH);
    story.says(&["refused no-permission"]).close(key).leaves(0);
}

fn cancel_forbidden(story: &mut Recorder) {
    let key = queue(story);
    story.cancel(key).says(&["delete"]).error("delete", code::NO_AUTH);
    story.says(&["refused no-permission"]).close(key).leaves(0);
}

fn orphan_forbidden(story: &mut Recorder) {
    warm(story);
    let [orphan, second] = ["node_0000000003", "node_0000000004"];
    let settings = json!({"kind": "zookeeper-mutex", "name": "stock", "prefix": "shop", "layout": "plain"});
    let key = story.open(&settings);
    story.acquire(key).fail("create", "unknown").children(&[orphan]);
    story
        .timeout()
        .says(&["sync", "check", "children", "create", "children"]);
    let searching = story.last_id("sync");
    story.answer_id(searching, story.reply_done());
    story.answer_id(searching + 1, story.reply_children(&[]));
    story.answer_id(searching + 2, story.reply_children(&[orphan]));
    let attempt = format!("{key:08x}00000000000000000000feed-1");
    let reply = story.reply_data(&attempt, 1, 40);
    story.answer("get", reply).says(&["delete"]);
    story.created_at(&at(second), 41).children(&[orphan, second]);
    story.says(&["get", "queued", "get"]).answer_routine();
    story.error("delete", code::NO_AUTH).says(&["delete"]);
    story
        .error("delete", code::NO_AUTH)
        .says(&["refused no-permission"]);
    story.close(key).leaves(0);
}

fn line_forbidden(story: &mut Recorder) {
    let key = semaphore(story);
    take(story, key, &[]);
    story.says(&["acquired", "delete"]).error("delete", code::NO_AUTH);
    story.says(&[]).release(key).says(&["delete"]).done("delete");
    story.says(&["refused no-permission"]).close(key).leaves(0);
}

fn try_forbidden(story: &mut Recorder) {
    warm(story);
    let settings = json!({"kind": "zookeeper-semaphore", "name": "stock", "prefix": "shop", "permits": 1});
    let key = story.open(&settings);
    let line = own(key, 3);
    let number = story.try_acquire(key).reply_data("1", 0, 9);
    story
        .answer("get", number)
        .created_at(&format!("{DIR}/locks/{line}"), 41)
        .children(&[&other(2), &line]);
    story.children(&["a-lease-0000000001"]).says(&["delete"]);
    story.error("delete", code::NO_AUTH);
    story.says(&["refused no-permission"]).close(key).leaves(0);
}

fn queue_again_forbidden(story: &mut Recorder) {
    let key = lose_the_line(story);
    story.error("delete", code::NO_AUTH);
    story.says(&["refused no-permission"]).close(key).leaves(0);
}

fn many_locks_forbidden(story: &mut Recorder) {
    let key = release_many(story);
    story.error("delete", code::NO_AUTH).says(&[]).done("delete");
    story.says(&["refused no-permission"]).close(key).leaves(0);
}

fn many_locks_waited_forbidden(story: &mut Recorder) {
    let key = queue_for_many(story);
    story.cancel(key).says(&["delete", "delete"]);
    story.done("delete").says(&[]).error("delete", code::NO_AUTH);
    story.says(&["refused no-permission"]).close(key).leaves(0);
}

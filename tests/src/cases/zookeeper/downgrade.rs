//! Downgrades: a writer's grant becomes a reader's.

use serde_json::json;

use super::{at, code, own, warm};
use crate::{
    cases::cases,
    transcript::{Input, Recorder},
};

cases! { "zookeeper":
    downgrade,
        "A writer downgrades: one transaction replaces its node with a reader's node of the same number. \
         The fence stays.",
        "CURATOR-621: with a fresh number, a queued writer got in between";
    downgrade_of_kazoos,
        "The same in Kazoo's layout, which has no downgrade: Kazoo's contenders list again when the \
         writer's node is gone.";
    downgrade_unanswered,
        "The transaction's answer is lost: it is sent again, and the existing reader's node shows that it \
         was executed.";
    downgrade_interrupted,
        "The connection is lost before the answer: the transaction is sent again after the reconnect, and \
         the reader's node is watched.";
    downgrade_forbidden,
        "The server denies the downgrade: that is reported, and the writer's grant stays as it was.";
    downgrade_of_what_was_deleted,
        "Another client has deleted the writer's node: there is nothing to downgrade, and the grant is \
         lost.";
    downgrade_answered_for_another,
        "The answer names another node than the request: it belongs to another request, and the transaction \
         is sent again.";
    downgrade_released,
        "The grant is released before the answer: whichever of the two nodes exists is deleted.";
    downgrade_misused, "Only a writer's grant can be downgraded, and once.";
}

/// The machine, and the names of its node as a writer's and as a reader's.
pub(super) fn write(story: &mut Recorder) -> (u64, [String; 2]) {
    warm(story);
    let key = story.open(&json!({"kind": "zookeeper-writer", "name": "stock", "prefix": "shop"}));
    story.acquire(key);
    let names = ["__WRIT__", "__READ__"].map(|mark| own(key, 5).replace("lock-", mark));
    story.created_at(&at(&names[0]), 41).children(&[&names[0]]);
    story.returns(&["acquired"]);
    (key, names)
}

/// The answer to the transaction.
pub(super) fn downgraded(story: &mut Recorder, reader: &str) {
    let reply = story.reply_children(&[reader]);
    story.answer("multi", reply).returns(&["downgraded", "get"]);
    story.present(42);
}

fn downgrade(story: &mut Recorder) {
    let (key, [_, reader]) = write(story);
    story.downgrade(key).returns(&["multi"]);
    downgraded(story, &reader);
    story.timeout().confirmed().returns(&["extended"]);
    story
        .release(key)
        .returns(&["delete"])
        .done("delete")
        .returns(&["released"]);
    story.close(key).leaves(0);
}

fn downgrade_of_kazoos(story: &mut Recorder) {
    warm(story);
    let settings = json!({"kind": "zookeeper-writer", "name": "stock", "prefix": "shop", "layout": "kazoo"});
    let key = story.open(&settings);
    story.acquire(key).created(5, 41);
    let writer = format!("{key:08x}00000000000000000000feee__lock__0000000005");
    story.children(&[&writer]).returns(&["acquired"]);
    story.downgrade(key).returns(&["multi"]);
    downgraded(story, &writer.replace("__lock__", "__rlock__"));
}

fn downgrade_unanswered(story: &mut Recorder) {
    let (key, _) = write(story);
    story.downgrade(key).returns(&["multi"]).fail("multi", "unknown");
    story.waits_for(Some("retry")).timeout().returns(&["multi"]);
    story
        .error("multi", code::NODE_EXISTS)
        .returns(&["downgraded", "get"]);
}

fn downgrade_interrupted(story: &mut Recorder) {
    let (key, [_, reader]) = write(story);
    story
        .downgrade(key)
        .returns(&["multi"])
        .session_is("suspended")
        .returns(&["suspended"])
        .fail_all("unknown");
    story.after(300_000).given(1).returns(&["check", "multi"]);
    let reply = story.reply_children(&[&reader]);
    story.answer("multi", reply).returns(&["downgraded", "get"]);
    story.present(42).returns(&["resumed"]);
}

fn downgrade_forbidden(story: &mut Recorder) {
    let (key, [writer, _]) = write(story);
    story.downgrade(key).error("multi", code::NO_AUTH);
    story.returns(&["refused no-permission", "get"]).present(41);
    story.watch(&at(&writer), "deleted").returns(&["lost deleted"]);
    story.close(key).leaves(0);
}

fn downgrade_of_what_was_deleted(story: &mut Recorder) {
    let (key, _) = write(story);
    story.downgrade(key).error("multi", code::NO_NODE);
    story.returns(&["lost deleted", "delete", "delete"]);
    story
        .error("delete", code::NO_NODE)
        .error("delete", code::NO_NODE);
    story.close(key).leaves(0);
}

fn downgrade_answered_for_another(story: &mut Recorder) {
    let (key, [_, reader]) = write(story);
    story.downgrade(key).returns(&["multi"]);
    let reply = story.reply_children(&["_c_x-__READ__0000000009"]);
    story.answer("multi", reply).returns(&[]);
    story.waits_for(Some("retry")).timeout().returns(&["multi"]);
    downgraded(story, &reader);
}

fn downgrade_released(story: &mut Recorder) {
    let (key, [_, reader]) = write(story);
    story.downgrade(key).returns(&["multi"]);
    story.release(key).returns(&["delete", "delete"]);
    let reply = story.reply_children(&[&reader]);
    story.answer("multi", reply).done("delete").returns(&[]);
    story.error("delete", code::NO_NODE).returns(&["released"]);
}

fn downgrade_misused(story: &mut Recorder) {
    let (key, [_, reader]) = write(story);
    let again = |key| Input::Downgrade { key };
    story
        .downgrade(key)
        .returns(&["multi"])
        .misuse(again(key), "busy");
    downgraded(story, &reader);
    story.misuse(again(key), "not-a-writer");
    let mutex = super::acquire(story);
    story
        .created(6, 43)
        .children(&[&own(mutex, 6)])
        .returns(&["acquired"]);
    story.misuse(again(mutex), "not-a-writer");
}

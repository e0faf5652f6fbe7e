//! A writer that goes on as a reader.

use serde_json::json;

use super::{at, code, own, warm};
use crate::{
    cases::cases,
    transcript::{Input, Recorder},
};

cases! { "zookeeper":
    downgrade, "A writer goes on as a reader: one transaction puts the reader's node, with the writer's number, in the place of the writer's. The fence stays.",
        "CURATOR-621: with a fresh number, a queued writer got in between";
    downgrade_of_kazoos, "The same in the layout of Kazoo, which has no downgrade: its contenders list again when the writer's node has gone.";
    downgrade_unanswered, "The answer is lost: the transaction is asked for again, and that the reader's node is there says that it was carried out.";
    downgrade_interrupted, "The connection is lost before the answer: asked for again when it is back, and the reader's node is watched.";
    downgrade_forbidden, "The server does not let us: told, and the writer's grant stays what it was.";
    downgrade_of_what_was_deleted, "Somebody has deleted the writer's node: there is nothing left to turn, and the grant is lost.";
    downgrade_answered_for_another, "The answer names another node than was asked for: it belongs to another request, and the transaction is asked for again.";
    downgrade_released, "Released before the answer: whichever node is there is deleted.";
    downgrade_misused, "Only a writer's grant can be downgraded, and once.";
}

/// The machine, and the names of its node as a writer's and as a reader's.
pub(super) fn write(story: &mut Recorder) -> (u64, [String; 2]) {
    warm(story);
    let key = story.open(&json!({"kind": "zookeeper-writer", "name": "stock", "prefix": "shop"}));
    story.acquire(key);
    let names = ["__WRIT__", "__READ__"].map(|mark| own(key, 5).replace("lock-", mark));
    story.created_at(&at(&names[0]), 41).children(&[&names[0]]);
    story.says(&["acquired"]);
    (key, names)
}

/// The answer to the transaction.
pub(super) fn turned(story: &mut Recorder, reader: &str) {
    let reply = story.reply_children(&[reader]);
    story.answer("multi", reply).says(&["downgraded", "get"]);
    story.present(42);
}

fn downgrade(story: &mut Recorder) {
    let (key, [_, reader]) = write(story);
    story.downgrade(key).says(&["multi"]);
    turned(story, &reader);
    story.timeout().confirmed().says(&["extended"]);
    story
        .release(key)
        .says(&["delete"])
        .done("delete")
        .says(&["released"]);
    story.close(key).leaves(0);
}

fn downgrade_of_kazoos(story: &mut Recorder) {
    warm(story);
    let settings = json!({"kind": "zookeeper-writer", "name": "stock", "prefix": "shop", "layout": "kazoo"});
    let key = story.open(&settings);
    story.acquire(key).created(5, 41);
    let writer = format!("{key:08x}00000000000000000000feee__lock__0000000005");
    story.children(&[&writer]).says(&["acquired"]);
    story.downgrade(key).says(&["multi"]);
    turned(story, &writer.replace("__lock__", "__rlock__"));
}

fn downgrade_unanswered(story: &mut Recorder) {
    let (key, _) = write(story);
    story.downgrade(key).says(&["multi"]).fail("multi", "unknown");
    story.waits_for(Some("retry")).timeout().says(&["multi"]);
    story
        .error("multi", code::NODE_EXISTS)
        .says(&["downgraded", "get"]);
}

fn downgrade_interrupted(story: &mut Recorder) {
    let (key, [_, reader]) = write(story);
    story
        .downgrade(key)
        .says(&["multi"])
        .session_is("suspended")
        .says(&["suspended"])
        .fail_all("unknown");
    story.after(300_000).given(1).says(&["check", "multi"]);
    let reply = story.reply_children(&[&reader]);
    story.answer("multi", reply).says(&["downgraded", "get"]);
    story.present(42).says(&["resumed"]);
}

fn downgrade_forbidden(story: &mut Recorder) {
    let (key, [writer, _]) = write(story);
    story.downgrade(key).error("multi", code::NO_AUTH);
    story.says(&["refused no-permission", "get"]).present(41);
    story.watch(&at(&writer), "deleted").says(&["lost deleted"]);
    story.close(key).leaves(0);
}

fn downgrade_of_what_was_deleted(story: &mut Recorder) {
    let (key, _) = write(story);
    story.downgrade(key).error("multi", code::NO_NODE);
    story.says(&["lost deleted", "delete", "delete"]);
    story
        .error("delete", code::NO_NODE)
        .error("delete", code::NO_NODE);
    story.close(key).leaves(0);
}

fn downgrade_answered_for_another(story: &mut Recorder) {
    let (key, [_, reader]) = write(story);
    story.downgrade(key).says(&["multi"]);
    let reply = story.reply_children(&["_c_x-__READ__0000000009"]);
    story.answer("multi", reply).says(&[]);
    story.waits_for(Some("retry")).timeout().says(&["multi"]);
    turned(story, &reader);
}

fn downgrade_released(story: &mut Recorder) {
    let (key, [_, reader]) = write(story);
    story.downgrade(key).says(&["multi"]);
    story.release(key).says(&["delete", "delete"]);
    let reply = story.reply_children(&[&reader]);
    story.answer("multi", reply).done("delete").says(&[]);
    story.error("delete", code::NO_NODE).says(&["released"]);
}

fn downgrade_misused(story: &mut Recorder) {
    let (key, [_, reader]) = write(story);
    let again = |key| Input::Downgrade { key };
    story.downgrade(key).says(&["multi"]).misuse(again(key), "busy");
    turned(story, &reader);
    story.misuse(again(key), "not-a-writer");
    let mutex = super::acquire(story);
    story
        .created(6, 43)
        .children(&[&own(mutex, 6)])
        .says(&["acquired"]);
    story.misuse(again(mutex), "not-a-writer");
}

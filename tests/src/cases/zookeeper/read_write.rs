//! Read/write locks: which contender waits for which.

use serde_json::json;

use super::{at, own, warm};
use crate::{cases::cases, transcript::Recorder};

cases! { "zookeeper":
    readers_share, "Earlier readers do not block a reader: granted with the first list.";
    reader_behind_writers,
        "A reader waits for the nearest earlier writer only: when that one goes, the reader lists again if \
         there were others, and is granted the lock if it was alone.",
        "Curator watches the first writer, so that each earlier one wakes every later reader";
    reader_before_a_writer, "A reader does not wait for a later writer, and no later writer wakes it.",
        "kazoo#649: reader and second writer waited for each other";
    writer_behind_readers, "A writer waits for the nearest earlier contender of any kind.";
    writer_behind_a_writer,
        "A writer that goes may have been downgraded to a reader with the same number: one list shows this.",
        "CURATOR-276, CURATOR-621";
    downgraded_writer,
        "The list shows the reader's node of the downgraded earlier writer: the contender waits for it.",
        "CURATOR-621";
}

fn reader(number: i32) -> String {
    format!("_c_aaaaaaaa-0000-4000-8000-000000000000-__READ__{number:010}")
}

fn writer(number: i32) -> String {
    format!("_c_aaaaaaaa-0000-4000-8000-000000000000-__WRIT__{number:010}")
}

/// A machine that has created the node of number 5 and listed these others. Returns the node's name.
fn enqueue(story: &mut Recorder, kind: &str, others: &[String]) -> String {
    warm(story);
    let settings = json!({"kind": format!("zookeeper-{kind}"), "name": "stock", "prefix": "shop"});
    let key = story.open(&settings);
    story.acquire(key);
    let mark = if kind == "reader" { "__READ__" } else { "__WRIT__" };
    let own = own(key, 5).replace("lock-", mark);
    let mut names: Vec<&str> = others.iter().map(String::as_str).collect();
    names.push(&own);
    story.created_at(&at(&own), 41).children(&names);
    own
}

fn readers_share(story: &mut Recorder) {
    enqueue(story, "reader", &[reader(3), reader(4), writer(6)]);
    story.returns(&["acquired"]);
}

fn reader_behind_writers(story: &mut Recorder) {
    let own = enqueue(story, "reader", &[writer(1), reader(2), writer(3), reader(4)]);
    story.returns(&["get", "queued", "get"]).answer_routine();
    story.watch(&at(&writer(3)), "deleted").returns(&["children"]);
    story.children(&[&own, &writer(1), &reader(2)]);
    story.returns(&["get", "queued"]).present(39);
    story.watch(&at(&writer(1)), "deleted").returns(&["acquired"]);
}

fn reader_before_a_writer(story: &mut Recorder) {
    enqueue(story, "reader", &[writer(4), writer(6)]);
    story.returns(&["get", "queued", "get"]).answer_routine();
    story.watch(&at(&writer(4)), "deleted").returns(&["acquired"]);
}

fn writer_behind_readers(story: &mut Recorder) {
    enqueue(story, "writer", &[reader(4)]);
    story.returns(&["get", "queued", "get"]).answer_routine();
    story.watch(&at(&reader(4)), "deleted").returns(&["acquired"]);
}

fn writer_behind_a_writer(story: &mut Recorder) {
    let own = enqueue(story, "writer", &[writer(4)]);
    story.returns(&["get", "queued", "get"]).answer_routine();
    story.watch(&at(&writer(4)), "deleted").returns(&["children"]);
    story.children(&[&own]).returns(&["acquired"]);
}

fn downgraded_writer(story: &mut Recorder) {
    let own = enqueue(story, "writer", &[writer(4)]);
    story.returns(&["get", "queued", "get"]).answer_routine();
    story.watch(&at(&writer(4)), "deleted").returns(&["children"]);
    story.children(&[&own, &reader(4)]).returns(&["get", "queued"]);
    story.answer_routine();
    story.watch(&at(&reader(4)), "deleted").returns(&["acquired"]);
}

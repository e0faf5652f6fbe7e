//! Read/write locks: who waits for whom.

use serde_json::json;

use super::{at, own, warm};
use crate::{cases::cases, transcript::Recorder};

cases! { "zookeeper":
    readers_share, "Earlier readers are in no reader's way: granted with the first list.";
    reader_behind_writers, "A reader waits for the nearest earlier writer only: its going is a flight if others were there, the grant if it was alone.",
        "Curator watches the first writer, so that each earlier one wakes every later reader";
    reader_before_a_writer, "A reader does not wait for a later writer, and is not wakened by one.",
        "kazoo#649: reader and second writer waited for each other";
    writer_behind_readers, "A writer waits for the nearest earlier contender of any kind.";
    writer_behind_a_writer, "A writer that goes may have turned into a reader with the same number: one list tells.",
        "CURATOR-276, CURATOR-621";
    downgraded_writer, "The list shows the reader that the earlier writer has become: it is waited for.",
        "CURATOR-621";
}

fn reader(number: i32) -> String {
    format!("_c_aaaaaaaa-0000-4000-8000-000000000000-__READ__{number:010}")
}

fn writer(number: i32) -> String {
    format!("_c_aaaaaaaa-0000-4000-8000-000000000000-__WRIT__{number:010}")
}

/// A machine that has made the node of number 5 and seen these others; the node's name.
fn come(story: &mut Recorder, kind: &str, others: &[String]) -> String {
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
    come(story, "reader", &[reader(3), reader(4), writer(6)]);
    story.says(&["acquired"]);
}

fn reader_behind_writers(story: &mut Recorder) {
    let own = come(story, "reader", &[writer(1), reader(2), writer(3), reader(4)]);
    story.says(&["get", "queued", "get"]).answer_routine();
    story.watch(&at(&writer(3)), "deleted").says(&["children"]);
    story.children(&[&own, &writer(1), &reader(2)]);
    story.says(&["get", "queued"]).present(39);
    story.watch(&at(&writer(1)), "deleted").says(&["acquired"]);
}

fn reader_before_a_writer(story: &mut Recorder) {
    come(story, "reader", &[writer(4), writer(6)]);
    story.says(&["get", "queued", "get"]).answer_routine();
    story.watch(&at(&writer(4)), "deleted").says(&["acquired"]);
}

fn writer_behind_readers(story: &mut Recorder) {
    come(story, "writer", &[reader(4)]);
    story.says(&["get", "queued", "get"]).answer_routine();
    story.watch(&at(&reader(4)), "deleted").says(&["acquired"]);
}

fn writer_behind_a_writer(story: &mut Recorder) {
    let own = come(story, "writer", &[writer(4)]);
    story.says(&["get", "queued", "get"]).answer_routine();
    story.watch(&at(&writer(4)), "deleted").says(&["children"]);
    story.children(&[&own]).says(&["acquired"]);
}

fn downgraded_writer(story: &mut Recorder) {
    let own = come(story, "writer", &[writer(4)]);
    story.says(&["get", "queued", "get"]).answer_routine();
    story.watch(&at(&writer(4)), "deleted").says(&["children"]);
    story.children(&[&own, &reader(4)]).says(&["get", "queued"]);
    story.answer_routine();
    story.watch(&at(&reader(4)), "deleted").says(&["acquired"]);
}

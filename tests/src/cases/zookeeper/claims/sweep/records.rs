//! Sweeps: which records they delete, and how.

use fencepost_core::zookeeper::code;

use super::{
    LATER, OTHER, RETENTION, begin, bucket, deleted, deletes_free, done, free, gone, listed, modified,
    reads_one, record, running, shows, stat, swept, timed, untimed, warm, written,
};
use crate::{cases::cases, transcript::Recorder};

cases! { "zookeeper":
    sweep,
        "Records that are free or past their retention are deleted by version, and the bucket changes; \
         leased, fresh and unreadable ones stay. The record of a process that was killed gets its \
         retention anew.";
    sweep_of_tokens, "A token past its life goes, and so does one that was claimed too late.";
    sweep_of_values,
        "A value stays; the records of its updates go when they are past their retention, and the bucket \
         changes.";
    sweep_of_nothing, "There is no such scope, it has no buckets, or a bucket has nothing to delete.";
    sweep_of_many, "A large bucket is read and swept in batches.";
}

fn sweep(story: &mut Recorder) {
    warm(story);
    let key = begin(story);
    listed(story, &["a", "b", "c", "d", "e", "f", "g", "h"]);
    bucket(story);
    shows(story, &free(), &stat(35, 1), &[]);
    shows(story, &done(OTHER, "[1]"), &stat(35, 2), &[]);
    let fresh = modified(LATER - 86_400_000, stat(35, 2));
    shows(story, &done(OTHER, "[1]"), &fresh, &[]);
    shows(story, &running(OTHER), &stat(35, 0), &[]);
    shows(story, &running(OTHER), &stat(35, 0), &[OTHER]);
    shows(story, "of another program", &stat(35, 0), &[]);
    shows(story, &free(), &stat(35, 0), &["unexpected"]);
    gone(story);
    story.returns(&["multi"]);
    deleted(story, key);
}

fn sweep_of_tokens(story: &mut Recorder) {
    let token = |state, more: &[(&str, &str)]| {
        let fields = [
            ("state", state),
            ("attempt", OTHER),
            ("binding", "alice"),
            ("life", "1000"),
            RETENTION,
        ];
        record(&[&fields[..], more].concat())
    };
    warm(story);
    let key = begin(story);
    listed(story, &["a", "b", "c", "d"]);
    bucket(story);
    shows(story, &token("issued", &[]), &stat(35, 0), &[]);
    let fresh = modified(LATER - 1000, stat(35, 0));
    shows(story, &token("issued", &[]), &fresh, &[]);
    // The token is claimed within its life, or a millisecond after it.
    let claimed = |until| token("running", &[("kept", until)]);
    let now = modified(LATER, stat(35, 1));
    shows(story, &claimed("1790086401000"), &now, &[]);
    shows(story, &claimed("1790086400999"), &now, &[]);
    story.returns(&["multi"]);
    deleted(story, key);
}

fn sweep_of_values(story: &mut Recorder) {
    let value = record(&[("state", "value"), ("attempt", OTHER), ("version", "9")]);
    let of_update = record(&[("state", "done"), ("attempt", OTHER), RETENTION, ("version", "8")]);
    warm(story);
    let key = begin(story);
    listed(story, &["stock", "a"]);
    bucket(story);
    shows(
        story,
        &value,
        &stat(35, 8),
        &["value", "operation-1", "operation-2", "operation-3"],
    );
    deletes_free(story);
    written(story);
    // The records of the updates, the last one first.
    story.returns(&["get", "get", "get", "get"]);
    bucket(story);
    let fresh = modified(LATER, stat(90, 0));
    for stat in [&stat(35, 0), &fresh] {
        let reply = story.reply_stat(&of_update, stat);
        story.answer("get", reply);
    }
    story.error("get", code::NO_NODE).returns(&["multi"]);
    deleted(story, key);
}

fn sweep_of_nothing(story: &mut Recorder) {
    warm(story);
    let key = begin(story);
    untimed(story, code::NO_NODE);
    swept(story, key);
    let key = begin(story);
    timed(story);
    story.children(&[]);
    swept(story, key);
    let key = begin(story);
    timed(story);
    // The last one first.
    story.children(&["0e", "ff"]).returns(&["children"]);
    story.children(&[]).returns(&["children"]);
    story.children(&["a"]).returns(&["get", "get", "children"]);
    bucket(story);
    shows(story, &running(OTHER), &stat(35, 0), &[OTHER]);
    swept(story, key);
}

fn sweep_of_many(story: &mut Recorder) {
    warm(story);
    let names: Vec<String> = (0..33).map(|number| format!("k{number:02}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let key = begin(story);
    listed(story, &names);
    bucket(story);
    for number in 0..32 {
        let children: &[&str] = if number == 31 { &[] } else { &[OTHER] };
        shows(story, &free(), &stat(35, 1), children);
    }
    story.returns(&["multi"]);
    written(story);
    reads_one(story);
    deletes_free(story);
    deleted(story, key);
}

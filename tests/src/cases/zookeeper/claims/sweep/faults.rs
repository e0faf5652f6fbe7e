//! Sweeps that find changes, errors and broken connections.

use fencepost_core::zookeeper::code;

use super::{
    OTHER, begin, bucket, conflict, deleted, deletes_free, deletes_two, free, gone, reads_one, reads_two,
    running, settings, shows, stat, swept, timed, untimed, warm, written,
};
use crate::{
    cases::cases,
    transcript::{Input, Recorder},
};

cases! { "zookeeper":
    sweep_conflict,
        "Something has changed since the read: each record is read and deleted alone, once, and stays after \
         another conflict.";
    sweep_not_answered, "A delete without an answer is read back: what is gone counts as deleted.";
    sweep_bucket_gone, "The bucket has gone before it is listed, or before it is read: nothing is deleted.";
    sweep_throttled, "The server sheds load: the same step is sent again later.";
    sweep_suspended, "The connection is lost in each step: the step is sent again after the reconnect.";
    sweep_session_over, "The session ends in each step: the step is sent again in the next session.";
    sweep_answers_that_never_come,
        "The session ends, and the answers to its requests never come: the same steps follow in the next \
         session. A sweep that begins without a connection waits for one.";
    sweep_after_a_move, "After a move the answer to the delete may be another's: the records are read back.";
    sweep_refused, "The server denies a right: refused, with its reason.";
    sweep_times_out, "A nonblocking acquire limits each step; an acquire timeout limits the whole sweep.";
    sweep_ends, "A sweep is cancelled, or its connection closed.";
    sweep_misused, "A sweep is granted nothing.";
}

/// The sweep is refused.
fn refused(story: &mut Recorder, key: u64, expected: &str) {
    story.returns(&[expected]).close(key).leaves(0);
}

fn sweep_conflict(story: &mut Recorder) {
    warm(story);
    let key = deletes_two(story);
    conflict(story, code::BAD_VERSION);
    // The second record was claimed again.
    reads_one(story);
    shows(story, &running(OTHER), &stat(91, 3), &[OTHER]);
    reads_one(story);
    deletes_free(story);
    deleted(story, key);
    let key = deletes_two(story);
    conflict(story, code::NO_NODE);
    for error in [code::BAD_VERSION, code::NOT_EMPTY] {
        reads_one(story);
        deletes_free(story);
        conflict(story, error);
    }
    swept(story, key);
}

fn sweep_not_answered(story: &mut Recorder) {
    warm(story);
    let key = deletes_two(story);
    story.fail("multi", "unknown").timeout_of("retry");
    reads_two(story);
    gone(story);
    gone(story);
    swept(story, key);
    let key = deletes_two(story);
    story.fail("multi", "not-sent").timeout_of("retry");
    reads_two(story);
    gone(story);
    deletes_free(story);
    deleted(story, key);
}

fn sweep_bucket_gone(story: &mut Recorder) {
    warm(story);
    let key = begin(story);
    timed(story);
    story.children(&["0e", "ff"]).returns(&["children"]);
    story.error("children", code::NO_NODE).returns(&["children"]);
    story.children(&["a"]).returns(&["get", "get", "children"]);
    story.error("get", code::NO_NODE);
    shows(story, &free(), &stat(35, 1), &[]);
    swept(story, key);
}

fn sweep_throttled(story: &mut Recorder) {
    warm(story);
    let key = begin(story);
    untimed(story, code::THROTTLED)
        .timeout_of("retry")
        .returns(&["set", "get"]);
    timed(story);
    story
        .error("children", code::THROTTLED)
        .timeout_of("retry")
        .returns(&["children"]);
    story.children(&["0e"]).returns(&["children"]);
    story.children(&["a"]);
    bucket(story);
    story
        .error("get", code::THROTTLED)
        .children(&[])
        .timeout_of("retry")
        .returns(&["get", "get", "children"]);
    bucket(story);
    deletes_free(story);
    story.error("multi", code::THROTTLED).timeout_of("retry");
    reads_one(story);
    deletes_free(story);
    deleted(story, key);
}

fn sweep_answers_that_never_come(story: &mut Recorder) {
    warm(story);
    begin(story);
    timed(story);
    story.silence("children").session_is("expired").connected(2);
    story.returns(&["sync", "children"]).done("sync");
    story.children(&["0e"]).returns(&["children"]).children(&["a"]);
    bucket(story);
    deletes_free(story);
    story.silence("multi").session_is("expired").connected(3);
    story.returns(&["sync", "get", "get", "children"]).done("sync");
    bucket(story);
    gone(story);
    story.returns(&["swept"]).session_is("suspended");
    let key = story.open(&settings());
    story.acquire(key).returns(&[]).session_is("connected");
    story.returns(&["sync", "set", "get"]);
}

/// `breaks` breaks a step and repairs it.
fn sweep_broken(story: &mut Recorder, breaks: impl Fn(&mut Recorder)) {
    warm(story);
    begin(story);
    breaks(story);
    timed(story);
    breaks(story);
    story.children(&["0e"]).returns(&["children"]);
    breaks(story);
    story.children(&["a", "b"]);
    breaks(story);
    bucket(story);
    shows(story, &free(), &stat(35, 1), &[]);
    deletes_free(story);
    breaks(story);
    bucket(story);
    gone(story);
    deletes_free(story);
}

fn sweep_suspended(story: &mut Recorder) {
    sweep_broken(story, |story| {
        story.session_is("suspended").fail_all("unknown").connected(1);
        story.done("sync");
    });
    // The session has moved, so the answer proves nothing.
    written(story);
    bucket(story);
    gone(story);
    story.returns(&["swept"]);
}

fn sweep_session_over(story: &mut Recorder) {
    let session = core::cell::Cell::new(1);
    sweep_broken(story, |story| {
        session.set(session.get() + 1);
        story
            .session_is("suspended")
            .session_is("expired")
            .fail_all("unknown")
            .connected(session.get());
        story.done("sync");
    });
    written(story);
    story.returns(&["swept"]);
}

fn sweep_after_a_move(story: &mut Recorder) {
    warm(story);
    story.session_is("suspended").fail_all("unknown").connected(1);
    story.answer_routine();
    let key = deletes_two(story);
    written(story);
    reads_two(story);
    gone(story);
    deletes_free(story);
    written(story);
    bucket(story);
    gone(story);
    swept(story, key);
}

fn sweep_refused(story: &mut Recorder) {
    warm(story);
    let key = begin(story);
    untimed(story, code::NO_AUTH);
    refused(story, key, "refused no-permission");
    let key = begin(story);
    timed(story);
    story.error("children", code::NO_AUTH);
    refused(story, key, "refused no-permission");
    let key = deletes_two(story);
    story.error("multi", code::NO_AUTH);
    refused(story, key, "refused no-permission");
}

fn sweep_times_out(story: &mut Recorder) {
    warm(story);
    // Each step takes five seconds.
    let key = story.open(&settings());
    story.try_acquire(key).after(4_000_000);
    timed(story);
    story.after(4_000_000).children(&["0e"]);
    story.silence("children").timeout_of("acquire-timeout");
    refused(story, key, "refused unreachable");
    let key = story.open(&settings());
    story.acquire_within(key, 6_000_000).after(4_000_000);
    timed(story);
    story.silence("children").timeout_of("acquire-timeout");
    refused(story, key, "refused unreachable");
}

fn sweep_ends(story: &mut Recorder) {
    warm(story);
    let key = deletes_two(story);
    story.cancel(key).returns(&["refused cancelled"]);
    written(story);
    story.close(key).leaves(0);
    let key = begin(story);
    story.session_is("closed").returns(&["refused connection-closed"]);
    story.acquire(key);
    refused(story, key, "refused connection-closed");
}

fn sweep_misused(story: &mut Recorder) {
    warm(story);
    let key = begin(story);
    story.misuse(
        Input::Acquire {
            key,
            acquire_timeout: None,
        },
        "busy",
    );
    story.misuse(Input::Release { key }, "not-held");
    untimed(story, code::NO_NODE);
    story.misuse(Input::Cancel { key }, "not-waiting");
    story.close(key).leaves(0);
}

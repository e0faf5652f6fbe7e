//! Waiting for the attempt that runs the operation.

use super::{OTHER, RECORD, claim, done, found, granted, running, running_by, shows, stat, warm, written};
use crate::{cases::cases, transcript::Recorder};

cases! { "zookeeper":
    claim_waits_for_a_result,
        "Another attempt runs the operation: its lease is watched, and then the result is read.";
    claim_waits_for_a_lease, "The running attempt's session ends: the waiter takes over.";
    claim_waits_for_an_operator,
        "The policy is to block, and no lease exists: the record is watched until it changes.";
    claim_waits_and_times_out,
        "The running attempt takes longer than the waiter's timeout: in-progress, with the time left.";
    claim_is_cancelled, "A waiter has written nothing: it ends at once.";
    claim_watch_fires_first, "The watch fires before the answer that set it: the record is read again.";
    claim_rechecks, "A watch can be lost: the waiter reads again from time to time.";
    claim_waits_through_a_reconnect, "After a reconnect the waiter reads again, and watches anew.";
    claim_waits_through_a_session,
        "A waiter has no node that ends with its session: it waits in the next one.";
}

/// A machine that waits after these answers to its first reads.
fn wait(story: &mut Recorder) -> u64 {
    let key = claim(story);
    found(story);
    shows(story, &running(OTHER), &stat(35, 0), &[OTHER]);
    story.returns(&["queued"]);
    key
}

fn claim_waits_for_a_result(story: &mut Recorder) {
    warm(story);
    let key = wait(story);
    story
        .watch(RECORD, "changed")
        .returns(&["get", "get", "children"]);
    shows(story, &done(OTHER, "[1]"), &stat(43, 1), &[]);
    story.returns(&["replayed"]).close(key).leaves(0);
}

fn claim_waits_for_a_lease(story: &mut Recorder) {
    warm(story);
    let key = wait(story);
    story.watch(RECORD, "changed");
    shows(story, &running(OTHER), &stat(35, 0), &[]);
    story.returns(&["multi", "get"]);
    granted(story, key, 47);
    story.returns(&["acquired"]);
}

fn claim_waits_for_an_operator(story: &mut Recorder) {
    warm(story);
    let key = claim(story);
    found(story);
    let blocked = running_by(OTHER, "block");
    for _ in 0..2 {
        story.returns(&["get", "get", "children"]);
        shows(story, &blocked, &stat(35, 0), &[]);
    }
    story.returns(&["queued", "get"]);
    let same = story.reply_stat(&blocked, &stat(35, 0));
    story.answer("get", same).returns(&[]);
    let id = story.watch_on(RECORD);
    story.watch_id(id, "changed").returns(&["get", "get", "children"]);
    shows(story, &done(OTHER, "[1]"), &stat(43, 1), &[]);
    story.returns(&["replayed"]).close(key).leaves(0);

    // The record has changed before it was watched; or the read fails.
    for changed in [true, false] {
        let key = claim(story);
        found(story);
        for _ in 0..2 {
            story.returns(&["get", "get", "children"]);
            shows(story, &blocked, &stat(35, 0), &[]);
        }
        story.returns(&["queued", "get"]);
        if changed {
            let settled = story.reply_stat(&done(OTHER, "[1]"), &stat(43, 1));
            story.answer("get", settled);
        } else {
            story.fail("get", "unknown").timeout_of("retry");
        }
        story.returns(&["get", "get", "children"]);
        shows(story, &done(OTHER, "[1]"), &stat(43, 1), &[]);
        story.returns(&["replayed"]).close(key).leaves(0);
    }
}

fn claim_waits_and_times_out(story: &mut Recorder) {
    warm(story);
    let key = story.open(&super::settings());
    story.acquire_within(key, 1_000_000);
    found(story);
    shows(story, &running(OTHER), &stat(35, 0), &[OTHER]);
    story
        .returns(&["queued"])
        .timeout_of("acquire-timeout")
        .returns(&["refused in-progress"]);
    story.close(key).leaves(0);
    let key = story.open(&super::settings());
    story.acquire_within(key, 1_000_000);
    story.timeout_of("acquire-timeout").returns(&[
        "refused unreachable",
        "sync",
        "check",
        "get",
        "get",
        "children",
    ]);
    story.close(key).leaves(1);
}

fn claim_is_cancelled(story: &mut Recorder) {
    warm(story);
    let key = wait(story);
    story
        .cancel(key)
        .returns(&["refused cancelled"])
        .close(key)
        .leaves(0);
}

fn claim_watch_fires_first(story: &mut Recorder) {
    warm(story);
    let key = claim(story);
    found(story);
    story.watch(RECORD, "changed").returns(&[]);
    shows(story, &running(OTHER), &stat(35, 0), &[OTHER]);
    story.returns(&["queued", "get", "get", "children"]);
    shows(story, &done(OTHER, "[1]"), &stat(43, 1), &[]);
    story.returns(&["replayed"]).close(key).leaves(0);
}

fn claim_rechecks(story: &mut Recorder) {
    warm(story);
    let key = wait(story);
    story.timeout_of("poll").returns(&["get", "get", "children"]);
    shows(story, &running(OTHER), &stat(35, 0), &[OTHER]);
    // The first watch is still set.
    story
        .returns(&[])
        .watch(RECORD, "changed")
        .returns(&["get", "get", "children"]);
    story.close(key);
}

fn claim_waits_through_a_reconnect(story: &mut Recorder) {
    warm(story);
    let key = wait(story);
    story.disconnected().returns(&[]).session_is("connected");
    story.returns(&["check", "get", "get", "children"]);
    shows(story, &done(OTHER, "[1]"), &stat(43, 1), &[]);
    story.returns(&["replayed"]).close(key).leaves(0);
}

fn claim_waits_through_a_session(story: &mut Recorder) {
    warm(story);
    let key = wait(story);
    story
        .session_is("expired")
        .returns(&[])
        .fail_all("unknown")
        .connected(2);
    story.returns(&["sync", "get", "get", "children"]).done("sync");
    shows(story, &running(OTHER), &stat(35, 0), &[]);
    story.returns(&["multi", "get"]);
    granted(story, key, 47);
    story.returns(&["acquired"]).leave(key);
    written(story);
    story.returns(&["released"]).close(key).leaves(0);
}

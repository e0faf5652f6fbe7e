//! Inputs that arrive before their cause, after the end of their operation, or not at all.

use super::{
    OTHER, RECORD, claim, code, done, found, granted, lapsed, own, passed, reconnected, run, running,
    running_by, settings, shows, stat, times_out_while_suspended, until_the_end, warm, written,
};
use crate::{
    cases::cases,
    transcript::{Input, Recorder},
};

cases! { "zookeeper":
    claim_extended_after_its_end,
        "The claim has ended by the client's clock when the application extends it, and the driver has not \
         reported the timeout: lost, and left.";
    claim_end_on_a_slow_server,
        "The server confirms the session, and answers the completion only later: the claim is not lost \
         meanwhile.";
    claim_left_on_a_silent_server,
        "A lapsed claim is left, and the server answers nothing any more: the machine still waits for the \
         answer.";
    claim_record_changes_first,
        "The record changes before the answer to the read that watches it: the waiter reads again.";
    claim_rechecks_its_lease,
        "The recheck of the own lease fails: that is no loss, and the next recheck reads it again.";
    claim_lease_read_again,
        "After a reconnect the server sheds the read of the lease: it is sent again.";
    claim_lease_missed_twice,
        "Two reads find no lease, and the reason is read once.";
    claim_watch_of_the_waiter,
        "The watch of the time before the grant fires: it is not that of the own lease.";
    claim_times_out_unproved,
        "The acquire timeout ends while another attempt runs the operation: refused at once, although the \
         session is not proved yet.";
    claim_times_out_disconnected,
        "The acquire timeout ends without a connection, when only the session's proof is missing: refused at \
         once.";
    claim_lease_unread,
        "The claim is written, and the read of its lease has no answer: the client reads both again.";
    claim_read_before_a_pause,
        "The connection pauses while the record is read: what is read afterwards decides.";
    claim_barrier_on_a_closed_connection,
        "The connection is closed for good while a barrier is in flight: refused at once.";
}

fn claim_extended_after_its_end(story: &mut Recorder) {
    warm(story);
    let key = run(story);
    until_the_end(story);
    story.after(60_000_000).extend(key);
    story.returns(&["check", "lost lease-ended", "multi"]);
    written(story);
    story.close(key).leaves(0);
}

fn claim_end_on_a_slow_server(story: &mut Recorder) {
    warm(story);
    let key = run(story);
    let completion = story.complete(key, "[17]").last_id("multi");
    story.silence("multi");
    for _ in 0..8 {
        story.timeout_of("renew").answer_routine();
    }
    let names = story.reply_children(&[]);
    story.answer_id(completion, names);
    story.returns(&["completed"]).close(key).leaves(0);
}

fn claim_left_on_a_silent_server(story: &mut Recorder) {
    warm(story);
    let key = lapsed(story);
    story.silence("multi");
    story.answer_routine().close(key);
    story.timeout_of("renew").answer_routine();
    story
        .session_is("suspended")
        .after(60_000_000)
        .input(Input::Timeout);
    story.leaves(1);
}

/// A waiter for a record that blocks, while the answer to the read that watches the record is pending.
fn blocked(story: &mut Recorder) -> u64 {
    let key = claim(story);
    found(story);
    for _ in 0..2 {
        story.returns(&["get", "get", "children"]);
        shows(story, &running_by(OTHER, "block"), &stat(35, 0), &[]);
    }
    story.returns(&["queued", "get"]);
    key
}

fn claim_record_changes_first(story: &mut Recorder) {
    warm(story);
    let key = blocked(story);
    let id = story.last_id("get");
    story.watch_id(id, "changed").returns(&[]);
    let same = story.reply_stat(&running_by(OTHER, "block"), &stat(35, 0));
    story.answer("get", same).returns(&["get", "get", "children"]);
    shows(story, &done(OTHER, "[1]"), &stat(43, 1), &[]);
    story.returns(&["replayed"]).close(key).leaves(0);
}

fn claim_rechecks_its_lease(story: &mut Recorder) {
    warm(story);
    let key = run(story);
    story.timeout_of("renew").answer_routine();
    for error in [code::NO_AUTH, code::THROTTLED] {
        story.timeout_of("poll").returns(&["get"]);
        story.error("get", error).returns(&[]);
    }
    story
        .timeout_of("poll")
        .returns(&["get"])
        .fail("get", "not-sent")
        .returns(&[]);
    story.close(key);
}

fn claim_lease_read_again(story: &mut Recorder) {
    let key = reconnected(story);
    story
        .error("get", code::THROTTLED)
        .timeout_of("retry")
        .returns(&["get"]);
    story.present(41).returns(&["resumed"]).close(key);
}

fn claim_lease_missed_twice(story: &mut Recorder) {
    warm(story);
    let key = run(story);
    story.timeout_of("renew").answer_routine();
    story.timeout_of("poll").returns(&["get"]);
    let recheck = story.last_id("get");
    story.silence("get");
    story
        .watch(&format!("{RECORD}/{}", own(key)), "deleted")
        .returns(&["get"]);
    let missing = story.reply_error(code::NO_NODE);
    story.answer_id(recheck, missing).returns(&[]);
    let reply = story.reply_stat(&done(OTHER, "[1]"), &stat(43, 1));
    story.answer("get", reply);
    story.returns(&["lost superseded"]).close(key).leaves(0);
}

fn claim_watch_of_the_waiter(story: &mut Recorder) {
    warm(story);
    let key = claim(story);
    found(story);
    shows(story, &running(OTHER), &stat(35, 0), &[OTHER]);
    let watch = story.returns(&["queued"]).watch_on(RECORD);
    story.timeout_of("poll").returns(&["get", "get", "children"]);
    shows(story, &running(OTHER), &stat(35, 0), &[]);
    story.returns(&["multi", "get"]);
    granted(story, key, 47);
    story.returns(&["acquired"]);
    story.watch_id(watch, "deleted").returns(&[]).close(key);
}

/// A client that does not know when the leader began to count its session.
fn claim_within(story: &mut Recorder) -> u64 {
    story.given(1);
    let key = story.open(&settings());
    story.acquire_within(key, 1_000_000);
    key
}

fn claim_times_out_unproved(story: &mut Recorder) {
    let key = claim_within(story);
    found(story);
    shows(story, &running(OTHER), &stat(35, 0), &[OTHER]);
    story.returns(&["queued"]).timeout_of("acquire-timeout");
    story.returns(&["refused in-progress"]).close(key).leaves(0);
}

fn claim_times_out_disconnected(story: &mut Recorder) {
    let key = claim_within(story);
    granted(story, key, 41);
    times_out_while_suspended(story, key);
}

fn claim_lease_unread(story: &mut Recorder) {
    warm(story);
    let key = claim(story);
    let names = story.reply_children(&["order-17", &own(key)]);
    story.answer("multi", names).fail("get", "unknown");
    story.timeout_of("retry");
    passed(story);
    shows(story, &running(&own(key)), &stat(41, 0), &[&own(key)]);
    story.returns(&["get"]).present(41).returns(&["acquired"]);
    story.close(key);
}

fn claim_read_before_a_pause(story: &mut Recorder) {
    warm(story);
    let key = claim(story);
    found(story);
    story.silence("get").silence("get").silence("children");
    story.session_is("suspended").session_is("connected");
    story.returns(&["check", "get", "get", "children"]).checked();
    shows(story, &done(OTHER, "[1]"), &stat(43, 1), &[]);
    story.returns(&["replayed"]).close(key).leaves(0);
}

fn claim_barrier_on_a_closed_connection(story: &mut Recorder) {
    warm(story);
    let key = claim(story);
    story.fail_all("unknown").timeout_of("retry");
    story.returns(&["sync", "check", "get", "get", "children"]);
    story.fail("sync", "closed").fail_all("unknown");
    // The claim may exist. The machine's clean-up fails too.
    let again = [
        "refused connection-closed",
        "sync",
        "check",
        "get",
        "get",
        "children",
    ];
    story.returns(&again).session_is("closed").close(key).leaves(0);
}

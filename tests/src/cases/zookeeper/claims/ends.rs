//! The ends of a claim: after a loss, without a reply, refused, with the connection.

use super::{
    super::QUOTA_EXCEEDED, OTHER, code, conflict, done, free, lapsed, own, passed, reconnected, run, running,
    shows, stat, until_the_end, warm, written,
};
use crate::{
    cases::cases,
    transcript::{Input, Recorder},
};

cases! { "zookeeper":
    claim_completed_after_its_session,
        "The claim is lost with its session; its result is stored all the same, if no other attempt has \
         claimed the operation.",
        "AWS Powertools#4260: a record in progress whose lease is over";
    claim_lapsed_and_left,
        "The claim has ended by this client's clock, and its session lives: the machine leaves it, so that \
         it blocks no other attempt.";
    claim_lapsed_and_completed, "The application completes a lapsed claim while the machine leaves it.";
    claim_claimed_again, "A claim that was lost may be claimed again: a new attempt.";
    claim_completion_repeated, "A completion without an answer is read back, and finds itself.",
        "a lost reply: the result is stored once";
    claim_completion_never_answered,
        "The session ends by the client's clock before the completion is answered: lost, and the claim can \
         be completed later.";
    claim_leave_never_answered,
        "A leave is reported when its lease has certainly gone, however long that takes.";
    claim_end_refused,
        "The server denies the result: the claim goes on, and the application ends it otherwise.";
    claim_end_refused_late, "The server denies the result when the grant is over: the claim has lapsed.";
    claim_end_refused_and_closed,
        "The server denies the leave of a closed claim: the machine only deletes its lease. If the server denies \
         a completion that was in flight at the close, the hub leaves the claim.";
    claim_leave_without_write,
        "The server does not write the record, for a full quota or a missing right: a leave only deletes its lease. \
         If that is denied, too, the claim continues.",
        "measured: a claim under a full quota stayed in progress until its process ended";
    claim_ended_in_the_next_session,
        "The session ends while a completion is in flight: the completion goes on in the next one.";
    claim_ends_with_its_connection, "The connection is closed for good while an end is in flight: lost.";
    claim_lapsed_on_a_closed_connection,
        "The connection is closed for good while the machine leaves a lapsed claim: nothing more can be \
         done.";
    claim_suspended,
        "Without a connection a claim is suspended, and resumed when its lease has been read again.";
    claim_lease_gone, "After a reconnect the lease is not there: lost.";
    claim_lease_deleted_and_record_unread,
        "The lease is gone, and the record is not read in time: no confirmation extends the claim.";
    claim_lease_deleted_and_suspended,
        "The lease has gone, and then the connection: the machine reads both after the reconnect.";
    claim_lease_deleted_and_denied, "The lease has gone, and the server denies the read of the record: lost.";
    claim_lease_of_another_session, "After a reconnect the lease belongs to another session: lost.";
    claim_lease_unreadable,
        "After a reconnect the server denies the read of the lease: lost, and the machine leaves the claim.";
    claim_misused, "Intents that the state does not allow change nothing.";
}

fn claim_completed_after_its_session(story: &mut Recorder) {
    warm(story);
    let key = run(story);
    story.session_is("expired").returns(&["lost session-expired"]);
    story
        .fail_all("unknown")
        .connected(2)
        .done("sync")
        .complete(key, "[17]");
    passed(story);
    shows(story, &running(&own(key)), &stat(41, 0), &[]);
    story.returns(&["multi"]);
    written(story);
    story.returns(&["completed"]).close(key).leaves(0);
}

fn claim_lapsed_and_left(story: &mut Recorder) {
    warm(story);
    let key = lapsed(story);
    written(story);
    // The check of the session comes last.
    story.returns(&[]).leave(key);
    story.returns(&["sync", "check", "get", "get", "children", "check"]);
    story.done("sync").checked();
    shows(story, &running(&own(key)), &stat(43, 1), &[]);
    story.returns(&["released"]).close(key).leaves(0);
}

fn claim_lapsed_and_completed(story: &mut Recorder) {
    warm(story);
    let key = lapsed(story);
    story.complete(key, "[17]");
    story.returns(&["sync", "check", "get", "get", "children"]);
    written(story);
    story.done("sync").checked();
    shows(story, &running(&own(key)), &stat(43, 1), &[]);
    story.returns(&["multi"]);
    written(story);
    story.returns(&["completed"]).close(key).leaves(0);
}

fn claim_claimed_again(story: &mut Recorder) {
    warm(story);
    let key = run(story);
    story
        .session_is("expired")
        .fail_all("unknown")
        .connected(2)
        .done("sync");
    story.misuse(Input::Extend { key }, "not-held");
    story.acquire(key).returns(&["multi", "get"]);
    conflict(story, code::NODE_EXISTS);
    story.error("get", code::NO_NODE);
    shows(story, &running(&own(key)), &stat(41, 0), &[]);
    story.returns(&["multi", "get"]);
}

fn claim_completion_repeated(story: &mut Recorder) {
    warm(story);
    for executed in [true, false] {
        let key = run(story);
        story
            .complete(key, "[17]")
            .fail("multi", "unknown")
            .timeout_of("retry");
        passed(story);
        if executed {
            shows(story, &done(&own(key), "[17]"), &stat(43, 1), &[]);
        } else {
            shows(story, &running(&own(key)), &stat(41, 0), &[&own(key)]);
            story.returns(&["multi"]);
            written(story);
        }
        story.returns(&["completed"]).close(key).leaves(0);
    }
    // The claim is released, and another attempt claims before this client reads the record again.
    let key = run(story);
    story.release(key).fail("multi", "unknown").timeout_of("retry");
    passed(story);
    shows(story, &running(OTHER), &stat(47, 2), &[OTHER]);
    story.returns(&["released"]).close(key).leaves(0);
    let key = run(story);
    story.release(key).fail("multi", "unknown").timeout_of("retry");
    passed(story);
    shows(story, &free(), &stat(47, 1), &[]);
    story.returns(&["released"]).close(key).leaves(0);
}

/// The server answers nothing until the grant ends by this client's clock.
fn unanswered(story: &mut Recorder) -> &mut Recorder {
    until_the_end(story.disconnected());
    story.timeout()
}

fn claim_completion_never_answered(story: &mut Recorder) {
    warm(story);
    let key = run(story);
    story.complete(key, "[17]");
    unanswered(story).returns(&["lost lease-ended"]);
    story.session_is("connected");
    story.returns(&["check", "sync", "check", "get", "get", "children"]);
    story
        .complete(key, "[17]")
        .returns(&["sync", "check", "get", "get", "children"]);
}

fn claim_leave_never_answered(story: &mut Recorder) {
    warm(story);
    let key = run(story);
    story.leave(key);
    unanswered(story).returns(&[]);
    story
        .session_is("expired")
        .returns(&[])
        .fail_all("unknown")
        .connected(2);
    story.done("sync").done("sync").checked();
    shows(story, &running(&own(key)), &stat(41, 0), &[]);
    story.returns(&["released"]).close(key).leaves(0);
}

fn claim_end_refused(story: &mut Recorder) {
    warm(story);
    let key = run(story);
    story.complete(key, "[17]").error("multi", code::NO_AUTH);
    story.returns(&["refused no-permission", "get"]).present(41);
    story.leave(key).returns(&["multi"]);
    written(story);
    story.returns(&["released"]).close(key).leaves(0);
}

fn claim_end_refused_late(story: &mut Recorder) {
    warm(story);
    let key = run(story);
    story
        .session_is("expired")
        .fail_all("unknown")
        .connected(2)
        .done("sync");
    story.complete(key, "[17]");
    passed(story);
    shows(story, &running(&own(key)), &stat(41, 0), &[]);
    story
        .error("multi", code::NO_AUTH)
        .returns(&["refused no-permission"]);
    story.close(key).leaves(0);
}

fn claim_end_refused_and_closed(story: &mut Recorder) {
    warm(story);
    let key = run(story);
    story.close(key).error("multi", code::NO_AUTH);
    story.returns(&["multi"]);
    written(story);
    story.leaves(0);
    let key = run(story);
    story
        .complete(key, "[17]")
        .close(key)
        .error("multi", code::NO_AUTH);
    story.returns(&["get", "multi"]);
    written(story);
    story.leaves(0);
}

fn claim_leave_without_write(story: &mut Recorder) {
    warm(story);
    let key = run(story);
    story
        .leave(key)
        .error("multi", QUOTA_EXCEEDED)
        .returns(&["multi"]);
    written(story);
    story.returns(&["released"]).close(key).leaves(0);
    let key = run(story);
    story.leave(key).error("multi", code::NO_AUTH).returns(&["multi"]);
    story
        .error("multi", code::NO_AUTH)
        .returns(&["refused no-permission", "get"])
        .present(41);
    story.close(key).error("multi", code::NO_AUTH).returns(&["multi"]);
    story.error("multi", code::NO_NODE);
    story.returns(&["get", "get", "children"]);
    shows(story, &running(&own(key)), &stat(41, 0), &[]);
    story.returns(&[]).leaves(0);
}

fn claim_ended_in_the_next_session(story: &mut Recorder) {
    warm(story);
    let key = run(story);
    story.complete(key, "[17]").silence("multi");
    story.session_is("expired").returns(&[]);
    story
        .fail_all("unknown")
        .connected(2)
        .done("sync")
        .done("sync")
        .checked();
    shows(story, &running(&own(key)), &stat(41, 0), &[]);
    story.returns(&["multi"]);
    written(story);
    story.returns(&["completed"]).close(key).leaves(0);
}

fn claim_ends_with_its_connection(story: &mut Recorder) {
    warm(story);
    let (ending, held) = (run(story), run(story));
    story.complete(ending, "[17]").session_is("closed");
    for key in [ending, held] {
        story.close(key);
    }
    story.leaves(0);
}

fn claim_lapsed_on_a_closed_connection(story: &mut Recorder) {
    warm(story);
    let key = lapsed(story);
    story.session_is("closed").returns(&[]).close(key).leaves(0);
}

fn claim_suspended(story: &mut Recorder) {
    warm(story);
    let key = run(story);
    story
        .session_is("suspended")
        .returns(&["suspended"])
        .session_is("connected");
    story.returns(&["check", "get"]).checked();
    story.fail("get", "unknown").timeout_of("retry").returns(&["get"]);
    story.present(41).returns(&["resumed"]);
    story.watch(&lease(key), "gone").returns(&["get"]).present(41);
    story
        .timeout_of("poll")
        .returns(&["get"])
        .present(41)
        .returns(&[]);
    story.close(key);
}

fn lease(key: u64) -> String {
    format!("{}/{}", super::RECORD, own(key))
}

fn claim_lease_gone(story: &mut Recorder) {
    let key = reconnected(story);
    story.error("get", code::NO_NODE).returns(&["get"]);
    // The record could not be read, so both reads are repeated.
    story
        .fail("get", "not-sent")
        .timeout_of("retry")
        .returns(&["get"]);
    story.error("get", code::NO_NODE).returns(&["get"]);
    story.error("get", code::NO_NODE);
    story.returns(&["lost deleted"]).close(key).leaves(0);
}

fn claim_lease_deleted_and_record_unread(story: &mut Recorder) {
    let key = reconnected(story);
    story.error("get", code::NO_NODE).returns(&["get"]);
    story.silence("get");
    story.timeout_of("renew").answer_routine();
    story
        .timeout_of("validity")
        .returns(&["lost lease-ended", "multi"]);
    story.fail_all("closed").close(key);
}

fn claim_lease_deleted_and_suspended(story: &mut Recorder) {
    let key = reconnected(story);
    story.error("get", code::NO_NODE).returns(&["get"]);
    story.session_is("suspended").fail_all("unknown");
    story.session_is("connected").returns(&["check", "get"]);
    story.checked();
    story.error("get", code::NO_NODE).returns(&["get"]);
    let reply = story.reply_stat(&done(OTHER, "[1]"), &stat(43, 1));
    story.answer("get", reply);
    story.returns(&["lost superseded"]).close(key).leaves(0);
}

fn claim_lease_deleted_and_denied(story: &mut Recorder) {
    let key = reconnected(story);
    story.error("get", code::NO_NODE).returns(&["get"]);
    story
        .error("get", code::THROTTLED)
        .timeout_of("retry")
        .returns(&["get"]);
    story.error("get", code::NO_NODE).returns(&["get"]);
    story.error("get", code::NO_AUTH).returns(&["lost deleted"]);
    story.close(key).leaves(0);
}

fn claim_lease_of_another_session(story: &mut Recorder) {
    let key = reconnected(story);
    story.present_of(7, 41);
    story.returns(&["lost deleted"]).close(key).leaves(0);
}

fn claim_lease_unreadable(story: &mut Recorder) {
    let key = reconnected(story);
    story
        .error("get", code::NO_AUTH)
        .returns(&["lost renewal-refused", "multi"]);
    // The answer may belong to a request from before the reconnect.
    written(story);
    story.returns(&["sync", "check", "get", "get", "children"]);
    story.fail_all("closed").close(key).leaves(0);
}

fn claim_misused(story: &mut Recorder) {
    warm(story);
    let key = run(story);
    story.misuse(
        Input::Acquire {
            key,
            acquire_timeout: None,
        },
        "busy",
    );
    story.misuse(Input::Downgrade { key }, "not-a-writer");
    story.misuse(Input::Cancel { key }, "not-waiting");
    story.release(key);
    story.misuse(Input::Release { key }, "not-held");
    written(story);
    story.close(key).leaves(0);
}

//! Requests without an answer, and claims that the application never got.

use super::{
    super::QUOTA_EXCEEDED, OTHER, claim, code, conflict, found, free, granted, own, passed, running,
    settings, shows, stat, warm, written,
};
use crate::{cases::cases, transcript::Recorder};

cases! { "zookeeper":
    claim_in_doubt_was_executed,
        "The claim was not answered, and was executed: a read behind a barrier finds it, and its lease \
         shows in which session.",
        "CURATOR-45: a create whose reply is lost";
    claim_in_doubt_was_not_executed, "The claim was not answered, and was not executed: it is sent again.";
    claim_not_sent, "A claim that was never sent needs no read: it is sent again.";
    claim_in_doubt_of_a_dead_session,
        "The claim was executed in a session that has ended: its record names the attempt, which claims \
         again without a takeover.";
    claim_in_doubt_of_a_living_session,
        "The lease of an earlier session is still there: the client waits until the server has ended that \
         session.";
    claim_answered_after_a_move,
        "The session has moved to another connection, so the answer may be another request's: it is read \
         back.",
        "some client libraries count their requests anew after a reconnect";
    claim_of_a_machine_after_a_move,
        "A machine that is opened after the move receives the notice of it, too.";
    claim_cancelled_in_flight,
        "Cancelled before the answer: the record is read behind a barrier, and freed if the claim was \
         executed.";
    claim_cancelled_before_its_proof, "Cancelled while the session's proof is missing: freed.";
    claim_cancelled_and_refused, "Cancelled, and the server denies the release: nothing more can be done.";
    claim_proved_late, "The proof of a session that the program made comes later: the claim is granted then.";
    claim_proved_in_the_next_session, "The session ends before the claim is granted: it is claimed again.";
    claim_without_rights, "The server denies the claim, or the directories.";
    claim_throttled, "The server sheds load: the claim is sent again.";
    claim_without_a_chroot, "The directories cannot be created: refused.";
    claim_among_many, "After several conflicts the claimant pauses.";
    claim_on_a_closed_connection, "The connection is closed for good: refused at once.";
}

fn claim_in_doubt_was_executed(story: &mut Recorder) {
    warm(story);
    let key = claim(story);
    story.fail_all("unknown").timeout_of("retry");
    passed(story);
    shows(story, &running(&own(key)), &stat(41, 0), &[&own(key)]);
    story.returns(&["get"]).present(41).returns(&["acquired"]);
    story.complete(key, "[17]").returns(&["multi"]);
    written(story);
    story.returns(&["completed"]).close(key).leaves(0);
}

fn claim_in_doubt_was_not_executed(story: &mut Recorder) {
    warm(story);
    let key = claim(story);
    story.fail_all("unknown").timeout_of("retry");
    passed(story);
    super::shows_nothing(story);
    story.returns(&["multi", "get"]);
    granted(story, key, 47);
    story.returns(&["acquired"]);
}

fn claim_not_sent(story: &mut Recorder) {
    warm(story);
    let key = claim(story);
    story
        .fail_all("not-sent")
        .timeout_of("retry")
        .returns(&["multi", "get"]);
    granted(story, key, 53);
    story.returns(&["acquired"]);
}

fn claim_in_doubt_of_a_dead_session(story: &mut Recorder) {
    warm(story);
    let key = claim(story);
    story.session_is("expired").fail_all("unknown").connected(2);
    story.done("sync");
    passed_by_two(story);
    shows(story, &running(&own(key)), &stat(41, 0), &[]);
    story.returns(&["multi", "get"]);
    granted(story, key, 47);
    story.returns(&["acquired"]);
}

/// Like `passed`, if the session's request was answered before.
fn passed_by_two(story: &mut Recorder) {
    story.done("sync").checked();
}

fn claim_in_doubt_of_a_living_session(story: &mut Recorder) {
    warm(story);
    let key = claim(story);
    story.fail_all("unknown").timeout_of("retry");
    passed(story);
    shows(story, &running(&own(key)), &stat(41, 0), &[&own(key)]);
    story
        .returns(&["get"])
        .present_of(7, 41)
        .returns(&[])
        .timeout_of("retry");
    passed(story);
    shows(story, &running(&own(key)), &stat(41, 0), &[]);
    granted(story, key, 47);
    story.returns(&["acquired"]);
}

fn claim_answered_after_a_move(story: &mut Recorder) {
    after_a_move(story, true);
}

fn claim_of_a_machine_after_a_move(story: &mut Recorder) {
    after_a_move(story, false);
}

fn after_a_move(story: &mut Recorder, opened_before: bool) {
    warm(story);
    let before = opened_before.then(|| story.open(&settings()));
    story.disconnected().session_is("connected").answer_routine();
    let key = before.unwrap_or_else(|| story.open(&settings()));
    // The checks of the session.
    story.acquire(key).returns(&["multi", "get", "check"]);
    story.checked().returns(&["check"]).checked();
    granted(story, key, 41);
    passed(story);
    shows(story, &running(&own(key)), &stat(41, 0), &[&own(key)]);
    story.present(41).returns(&["acquired"]).complete(key, "[17]");
    written(story);
    passed(story);
    shows(story, &super::done(&own(key), "[17]"), &stat(43, 1), &[]);
    story.returns(&["completed"]).close(key).leaves(0);
}

fn claim_cancelled_in_flight(story: &mut Recorder) {
    warm(story);
    for executed in [true, false] {
        let key = claim(story);
        story.cancel(key);
        story.returns(&["refused cancelled", "sync", "check", "get", "get", "children"]);
        granted(story, key, 41);
        story.done("sync").checked();
        if executed {
            shows(story, &running(&own(key)), &stat(41, 0), &[&own(key)]);
            story.returns(&["multi"]);
            written(story);
        } else {
            shows(story, &running(OTHER), &stat(41, 0), &[OTHER]);
        }
        story.close(key).leaves(0);
    }
}

fn claim_cancelled_before_its_proof(story: &mut Recorder) {
    story.given(1).done("sync");
    let key = claim(story);
    granted(story, key, 41);
    story
        .returns(&[])
        .cancel(key)
        .returns(&["refused cancelled", "multi"]);
    written(story);
    story.close(key).leaves(0);
}

fn claim_cancelled_and_refused(story: &mut Recorder) {
    story.given(1).done("sync");
    let key = claim(story);
    granted(story, key, 41);
    story.cancel(key).error("multi", code::NO_AUTH).returns(&[]);
    story.close(key).leaves(0);
}

fn claim_proved_late(story: &mut Recorder) {
    story.given(1).done("sync");
    let key = story.open(&settings());
    story.acquire_within(key, 100_000);
    granted(story, key, 41);
    story.returns(&[]).timeout_of("acquire-timeout").answer_routine();
    while !story.is_waiting_for("poll") {
        story.timeout().answer_routine();
    }
    story.release(key).returns(&["multi"]);
    written(story);
    story.returns(&["released"]).close(key).leaves(0);
}

fn claim_proved_in_the_next_session(story: &mut Recorder) {
    story.given(1).done("sync");
    let key = claim(story);
    granted(story, key, 41);
    story.session_is("expired").fail_all("unknown").connected(2);
    story.done("sync");
    passed_by_two(story);
    shows(story, &running(&own(key)), &stat(41, 0), &[]);
    granted(story, key, 47);
    story.returns(&["acquired"]);
}

fn claim_without_rights(story: &mut Recorder) {
    warm(story);
    let key = claim(story);
    conflict(story, code::NO_AUTH);
    story
        .error("get", code::NO_NODE)
        .returns(&["refused no-permission"]);
    story.close(key).leaves(0);
    let key = claim(story);
    found(story);
    let bucket = story.reply_stat("", &stat(20, 4));
    story
        .answer("get", bucket)
        .error("get", code::NO_AUTH)
        .children(&[]);
    story.returns(&["refused no-permission"]).close(key).leaves(0);
}

fn claim_throttled(story: &mut Recorder) {
    warm(story);
    let key = claim(story);
    conflict(story, -127);
    story
        .error("get", code::NO_NODE)
        .timeout_of("retry")
        .returns(&["multi", "get"]);
    granted(story, key, 41);
    story.returns(&["acquired"]);
}

fn claim_without_a_chroot(story: &mut Recorder) {
    warm(story);
    for (error, expected) in [
        (code::NO_NODE, "refused no-parent"),
        (code::NO_AUTH, "refused no-permission"),
        (QUOTA_EXCEEDED, "refused server-error"),
    ] {
        let key = claim(story);
        conflict(story, code::NO_NODE);
        story.error("get", code::NO_NODE);
        for _ in 0..4 {
            story.returns(&["create", "create", "create", "create", "multi", "get"]);
            for _ in 0..4 {
                story.parent_error(error);
            }
            conflict(story, code::NO_NODE);
            story.error("get", code::NO_NODE);
        }
        story.returns(&[expected]).close(key).leaves(0);
    }
}

fn claim_among_many(story: &mut Recorder) {
    warm(story);
    let key = claim(story);
    found(story);
    for version in 3..6 {
        shows(story, &free(), &stat(35, version), &[]);
        story.returns(&["multi", "get"]);
        conflict(story, code::BAD_VERSION);
        story.error("get", code::NO_NODE);
    }
    story
        .returns(&[])
        .timeout_of("retry")
        .returns(&["get", "get", "children"]);
    shows(story, &free(), &stat(35, 6), &[]);
    granted(story, key, 47);
    story.returns(&["acquired"]);
}

fn claim_on_a_closed_connection(story: &mut Recorder) {
    warm(story);
    let (waiting, held) = (claim(story), {
        let key = story.open(&settings());
        story.acquire(key);
        key
    });
    story.session_is("closed");
    story.returns(&["refused connection-closed", "refused connection-closed"]);
    let key = story.open(&settings());
    story.acquire(key).returns(&["refused connection-closed"]);
    for key in [waiting, held, key] {
        story.close(key);
    }
    story.leaves(0);
}

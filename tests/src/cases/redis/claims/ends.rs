//! The ends of a claim: after a loss, without an answer, refused, by closing.

use serde_json::json;

use super::{claim, claimed, lost, run, with_record};
use crate::{
    cases::cases,
    transcript::{Input, Recorder},
};

cases! { "redis":
    claim_completed_after_its_loss, "A claim whose lease ended here is completed all the same, if no other attempt has claimed the operation.",
        "AWS Powertools#4260: a record in progress whose lease is over";
    claim_lost_and_taken_over, "A claim whose lease ended here was taken over: its completion gets the other attempt's result, and overwrites nothing.",
        "Kleppmann 2016: a paused holder";
    claim_claimed_again_after_its_loss, "A claim that was lost may be claimed again: a new attempt.";
    claim_ended_after_its_lease, "The lease is over by this client's clock, but nothing has said so: each end is still sent, and the server decides.";
    claim_completion_is_repeated, "A completion without an answer is sent again until the server answers.",
        "a lost reply: the result is stored once";
    claim_completion_unanswered, "A completion stays without an answer for a whole lease: lost, and it can be completed later.";
    claim_release_unanswered, "A release stays without an answer for a whole lease: lost, because the operation is not free.";
    claim_leave_unanswered, "A leave stays without an answer for a whole lease: the lease is over, as if the server had answered.";
    claim_completion_refused, "The server refuses the result: the claim goes on and is renewed; the application completes it otherwise.";
    claim_completion_refused_late, "The server refuses the result when the lease is over: the claim has lapsed, and can still be ended.";
    claim_closed, "Closing a machine leaves its claim, in any state, and never releases it: the operation may have run.";
    claim_ends_with_the_connection, "The connection is closed for good while an end is on its way: lost.";
    claim_of_a_lock, "A lock can be neither completed nor left.";
}

/// A machine whose claim's lease has ended by its own clock.
fn lapsed(story: &mut Recorder) -> u64 {
    let key = run(story);
    story.timeout().says(&["call"]).fail("call", "unknown");
    while story.is_waiting_for("retry") {
        story.timeout().says(&["call"]).fail("call", "unknown");
    }
    story.waits_for(Some("validity")).timeout();
    story.says(&["lost lease-ended"]).waits_for(None);
    key
}

fn claim_completed_after_its_loss(story: &mut Recorder) {
    let key = lapsed(story);
    story
        .complete(key, "[17]")
        .says(&["call"])
        .value(json!(["completed"]));
    story.says(&["completed"]).close(key).leaves(0);
}

fn claim_lost_and_taken_over(story: &mut Recorder) {
    let key = lapsed(story);
    story
        .complete(key, "[17]")
        .says(&["call"])
        .value(with_record("replayed"));
    story.says(&["replayed"]).close(key).leaves(0);
    let key = lapsed(story);
    story
        .leave(key)
        .value(lost("superseded"))
        .says(&["lost superseded"]);
    story.close(key).leaves(0);
}

fn claim_claimed_again_after_its_loss(story: &mut Recorder) {
    let key = lapsed(story);
    story.misuse(Input::Extend { key }, "not-held");
    story
        .try_acquire(key)
        .says(&["call"])
        .value(claimed(1))
        .says(&["acquired"]);
}

fn claim_ended_after_its_lease(story: &mut Recorder) {
    let key = run(story);
    story.after(10_000_000).complete(key, "[17]").says(&["call"]);
    story.value(json!(["completed"])).says(&["completed"]);
    story.acquire(key).value(claimed(0));
    story
        .after(10_000_000)
        .release(key)
        .value(json!(["released"]))
        .says(&["released"]);
    story.acquire(key).value(claimed(0));
    story.after(10_000_000).extend(key).says(&["lost lease-ended"]);
}

fn claim_completion_is_repeated(story: &mut Recorder) {
    let key = run(story);
    story.complete(key, "[17]").fail("call", "unknown").says(&[]);
    story
        .timeout()
        .says(&["call"])
        .redis_error("call", "READONLY You can't write against a read only replica.");
    story
        .timeout()
        .says(&["call"])
        .redis_error("call", "NOSCRIPT No matching script.");
    story
        .says(&["call"])
        .value(json!(["completed"]))
        .says(&["completed"]);
    story.close(key).leaves(0);
}

/// Fails all commands until the machine waits for nothing but the end of the lease.
fn unanswered(story: &mut Recorder) -> &mut Recorder {
    story.says(&["call"]).fail("call", "unknown");
    while story.is_waiting_for("retry") {
        story.timeout().says(&["call"]).fail("call", "unknown");
    }
    story.waits_for(Some("validity")).timeout()
}

fn claim_completion_unanswered(story: &mut Recorder) {
    let key = run(story);
    story.complete(key, "[17]");
    unanswered(story).says(&["lost lease-ended"]).waits_for(None);
    story
        .complete(key, "[17]")
        .value(json!(["completed"]))
        .says(&["completed"]);
}

fn claim_release_unanswered(story: &mut Recorder) {
    let key = run(story);
    story.release(key);
    unanswered(story).says(&["lost lease-ended"]).waits_for(None);
    story.close(key).leaves(0);
}

fn claim_leave_unanswered(story: &mut Recorder) {
    let key = run(story);
    story.leave(key);
    unanswered(story).says(&["released"]).waits_for(None);
    story.close(key).leaves(0);
}

fn claim_completion_refused(story: &mut Recorder) {
    let key = run(story);
    story
        .complete(key, "[17]")
        .redis_error("call", "NOPERM no permissions to run 'evalsha'");
    story
        .says(&["refused no-permission", "call"])
        .value(json!(["extended"]))
        .says(&["extended"]);
    story
        .complete(key, "[18]")
        .value(json!(["completed"]))
        .says(&["completed"]);
}

fn claim_completion_refused_late(story: &mut Recorder) {
    let key = run(story);
    story.complete(key, "[17]").says(&["call"]);
    story
        .after(9_000_000)
        .redis_error("call", "NOPERM no permissions to run 'evalsha'");
    story
        .says(&["refused no-permission", "lost lease-ended"])
        .waits_for(None);
    // It was lost before, and is lost once.
    story
        .release(key)
        .redis_error("call", "NOPERM no permissions to run 'evalsha'");
    story.says(&["refused no-permission"]).waits_for(None);
    story.release(key).value(json!(["released"])).says(&["released"]);
}

fn claim_closed(story: &mut Recorder) {
    let held = run(story);
    story
        .close(held)
        .says(&["call"])
        .value(json!(["released"]))
        .leaves(0);
    let asking = claim(story);
    story.silence("call");
    story
        .close(asking)
        .says(&["call"])
        .value(json!(["released"]))
        .leaves(0);
    let completing = run(story);
    story.complete(completing, "[17]").close(completing).says(&[]);
    story.value(json!(["completed"])).says(&[]).leaves(0);
    let key = lapsed(story);
    story.close(key).says(&[]).leaves(0);
}

fn claim_ends_with_the_connection(story: &mut Recorder) {
    let key = run(story);
    story.complete(key, "[17]").fail("call", "closed");
    story.says(&["lost lost-connection-closed"]).close(key).leaves(0);
    let key = run(story);
    story
        .timeout()
        .fail("call", "closed")
        .says(&["lost lost-connection-closed"]);
    story
        .leave(key)
        .fail("call", "closed")
        .says(&["lost lost-connection-closed"]);
}

fn claim_of_a_lock(story: &mut Recorder) {
    let key = story.open(&crate::cases::redis::settings());
    story.misuse(Input::Leave { key }, "not-a-claim");
    let (tag, result) = (String::new(), String::new());
    story
        .acquire(key)
        .granted(super::FENCE)
        .misuse(Input::Complete { key, tag, result }, "not-a-claim");
    story.release(key).own().says(&["released"]);
}

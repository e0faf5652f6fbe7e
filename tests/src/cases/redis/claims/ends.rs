//! The ends of a claim: after a loss, without a reply, refused, by a close.

use serde_json::json;

use super::{claim, claimed, lost, run, with_record};
use crate::{
    cases::cases,
    transcript::{Input, Recorder},
};

cases! { "redis":
    claim_completed_after_its_loss,
        "A claim whose lease has ended by the client's clock is completed all the same, if no other attempt \
         has claimed the operation.",
        "AWS Powertools#4260: a record in progress whose lease is over";
    claim_lost_and_taken_over,
        "A claim whose lease has ended by the client's clock was taken over: its completion gets the other \
         attempt's result, and overwrites nothing.",
        "Kleppmann 2016: a paused holder";
    claim_claimed_again_after_its_loss, "A claim that was lost may be claimed again: a new attempt.";
    claim_ended_after_its_lease,
        "The lease has ended by the client's clock, and the driver has not reported the timeout: each end \
         is still sent, and the server decides.";
    claim_completion_is_repeated, "A completion without an answer is sent again until the server answers.",
        "a lost reply: the result is stored once";
    claim_completion_unanswered,
        "A completion stays without an answer for a whole lease: lost, and it can be completed later.";
    claim_release_unanswered,
        "A release stays without an answer for a whole lease: lost, because the operation is not free.";
    claim_leave_unanswered,
        "A leave stays without an answer for a whole lease: the lease is over, as if the server had \
         answered.";
    claim_completion_refused,
        "The server refuses the result: the claim goes on and is renewed; the application completes it \
         otherwise.";
    claim_completion_refused_late,
        "The server refuses the result when the lease is over: the claim has lapsed, and can still be \
         ended.";
    claim_closed,
        "Closing a machine leaves its claim, in any state, and never releases it: the operation may have \
         run.";
    claim_closed_and_refused,
        "The server refuses the leave of a closed claim: the machine is removed, and nothing renews the \
         claim. If it refuses a completion that was in flight at the close, the hub leaves the claim.";
    claim_ends_with_the_connection, "The connection is closed for good while an end is in flight: lost.";
    claim_of_a_lock, "A lock can be neither completed nor left, and a claim is not downgraded.";
}

/// A machine whose claim's lease has ended by its own clock.
fn lapsed(story: &mut Recorder) -> u64 {
    let key = run(story);
    story.timeout().returns(&["call"]).fail("call", "unknown");
    while story.is_waiting_for("retry") {
        story.timeout().returns(&["call"]).fail("call", "unknown");
    }
    story.waits_for(Some("validity")).timeout();
    story.returns(&["lost lease-ended"]).waits_for(None);
    key
}

fn claim_completed_after_its_loss(story: &mut Recorder) {
    let key = lapsed(story);
    story
        .complete(key, "[17]")
        .returns(&["call"])
        .value(json!("completed"));
    story.returns(&["completed"]).close(key).leaves(0);
}

fn claim_lost_and_taken_over(story: &mut Recorder) {
    let key = lapsed(story);
    story
        .complete(key, "[17]")
        .returns(&["call"])
        .value(with_record("replayed"));
    story.returns(&["replayed"]).close(key).leaves(0);
    let key = lapsed(story);
    story
        .leave(key)
        .value(lost("superseded"))
        .returns(&["lost superseded"]);
    story.close(key).leaves(0);
}

fn claim_claimed_again_after_its_loss(story: &mut Recorder) {
    let key = lapsed(story);
    story.misuse(Input::Extend { key }, "not-held");
    story
        .try_acquire(key)
        .returns(&["call"])
        .value(claimed(1))
        .returns(&["acquired"]);
}

fn claim_ended_after_its_lease(story: &mut Recorder) {
    let key = run(story);
    story.after(10_000_000).complete(key, "[17]").returns(&["call"]);
    story.value(json!("completed")).returns(&["completed"]);
    story.acquire(key).value(claimed(0));
    story
        .after(10_000_000)
        .release(key)
        .value(json!("released"))
        .returns(&["released"]);
    story.acquire(key).value(claimed(0));
    story.after(10_000_000).extend(key).returns(&["lost lease-ended"]);
}

fn claim_completion_is_repeated(story: &mut Recorder) {
    let key = run(story);
    story.complete(key, "[17]").fail("call", "unknown").returns(&[]);
    story
        .timeout()
        .returns(&["call"])
        .redis_error("call", "READONLY You can't write against a read only replica.");
    story
        .timeout()
        .returns(&["call"])
        .redis_error("call", "NOSCRIPT No matching script.");
    story
        .returns(&["call"])
        .value(json!("completed"))
        .returns(&["completed"]);
    story.close(key).leaves(0);
}

/// Fails all commands until the machine waits only for the end of the lease.
fn unanswered(story: &mut Recorder) -> &mut Recorder {
    story.returns(&["call"]).fail("call", "unknown");
    while story.is_waiting_for("retry") {
        story.timeout().returns(&["call"]).fail("call", "unknown");
    }
    story.waits_for(Some("validity")).timeout()
}

fn claim_completion_unanswered(story: &mut Recorder) {
    let key = run(story);
    story.complete(key, "[17]");
    unanswered(story).returns(&["lost lease-ended"]).waits_for(None);
    story
        .complete(key, "[17]")
        .value(json!("completed"))
        .returns(&["completed"]);
}

fn claim_release_unanswered(story: &mut Recorder) {
    let key = run(story);
    story.release(key);
    unanswered(story).returns(&["lost lease-ended"]).waits_for(None);
    story.close(key).leaves(0);
}

fn claim_leave_unanswered(story: &mut Recorder) {
    let key = run(story);
    story.leave(key);
    unanswered(story).returns(&["released"]).waits_for(None);
    story.close(key).leaves(0);
}

fn claim_completion_refused(story: &mut Recorder) {
    let key = run(story);
    story
        .complete(key, "[17]")
        .redis_error("call", "NOPERM no permissions to run 'evalsha'");
    story
        .returns(&["refused no-permission", "call"])
        .value(json!("extended"))
        .returns(&["extended"]);
    story
        .complete(key, "[18]")
        .value(json!("completed"))
        .returns(&["completed"]);
}

fn claim_completion_refused_late(story: &mut Recorder) {
    let key = run(story);
    story.complete(key, "[17]").returns(&["call"]);
    story
        .after(9_000_000)
        .redis_error("call", "NOPERM no permissions to run 'evalsha'");
    story
        .returns(&["refused no-permission", "lost lease-ended"])
        .waits_for(None);
    // The claim was lost before, and the loss is reported only once.
    story
        .release(key)
        .redis_error("call", "NOPERM no permissions to run 'evalsha'");
    story.returns(&["refused no-permission"]).waits_for(None);
    story.release(key).value(json!("released")).returns(&["released"]);
}

fn claim_closed(story: &mut Recorder) {
    let held = run(story);
    story
        .close(held)
        .returns(&["call"])
        .value(json!("released"))
        .leaves(0);
    let asking = claim(story);
    story.silence("call");
    story
        .close(asking)
        .returns(&["call"])
        .value(json!("released"))
        .leaves(0);
    let completing = run(story);
    story.complete(completing, "[17]").close(completing).returns(&[]);
    story.value(json!("completed")).returns(&[]).leaves(0);
    let key = lapsed(story);
    story.close(key).returns(&[]).leaves(0);
}

fn claim_closed_and_refused(story: &mut Recorder) {
    let refusal = "NOPERM no permissions to run 'set'";
    let held = run(story);
    story
        .close(held)
        .redis_error("call", refusal)
        .returns(&[])
        .waits_for(None);
    story.leaves(0);
    let completing = run(story);
    story
        .complete(completing, "[17]")
        .close(completing)
        .redis_error("call", refusal);
    story
        .returns(&["call", "call"])
        .value(json!("extended"))
        .value(json!("released"))
        .leaves(0);
}

fn claim_ends_with_the_connection(story: &mut Recorder) {
    let key = run(story);
    story.complete(key, "[17]").fail("call", "closed");
    story
        .returns(&["lost lost-connection-closed"])
        .close(key)
        .leaves(0);
    let key = run(story);
    story
        .timeout()
        .fail("call", "closed")
        .returns(&["lost lost-connection-closed"]);
    story
        .leave(key)
        .fail("call", "closed")
        .returns(&["lost lost-connection-closed"]);
}

fn claim_of_a_lock(story: &mut Recorder) {
    let key = story.open(&crate::cases::redis::settings());
    story.misuse(Input::Leave { key }, "not-a-claim");
    let (tag, result) = (String::new(), String::new());
    story
        .acquire(key)
        .granted(super::FENCE)
        .misuse(Input::Complete { key, tag, result }, "not-a-claim");
    story.release(key).own().returns(&["released"]);
    let key = story.open(&super::settings());
    story.misuse(Input::Downgrade { key }, "not-a-writer");
}

//! The rows of the table: every answer of the server, and the event for the application.

use serde_json::json;

use super::{NO_RECORD, claim, claimed, in_progress, lost, run, settings, step, with_record};
use crate::{cases::cases, transcript::Recorder};

cases! { "redis":
    claim_is_granted,
        "No record, an issued token, or a lease that is over with the policy retake: claimed, with the \
         number of takeovers.";
    claim_is_refused,
        "The record forbids the claim: the refusal names the reason, and the operation does not run.";
    claim_is_replayed, "The operation has a result: it is returned, and the operation does not run.",
        "IETF draft-ietf-httpapi-idempotency-key-header-07: a retry gets the first response";
    claim_with_a_token, "A token is consumed: its binding is sent with the claim.";
    claim_is_renewed_or_lost,
        "A renewal extends the lease, or finds that the claim has ended, was taken over, or is completed.";
    claim_is_completed,
        "A completion stores the result; or another attempt has one, has taken over, or the record is gone.";
    claim_completed_with_another_result,
        "The server has another result of this attempt: refused, and the claim goes on.";
    claim_is_released, "A release declares that the operation has not run: released, or lost.";
    claim_is_left, "A claim whose outcome is unknown is left: its policy decides.";
    single_steps,
        "Issue, register, update, look, settle and forget: each is one script, and each answer one event.";
    sweep_is_done_at_once, "A sweep makes no request, because the server expires records by itself.";
    single_steps_refused, "The answers that refuse a single step, with the present value after a conflict.";
}

fn claim_is_granted(story: &mut Recorder) {
    for takeovers in [0, 3] {
        let key = claim(story);
        story.value(claimed(takeovers)).returns(&["acquired"]);
        story.close(key).returns(&["call"]);
        story.value(json!("released")).leaves(0);
    }
}

fn claim_is_refused(story: &mut Recorder) {
    for (answer, expected) in [
        ("mismatch", "refused mismatch"),
        ("indeterminate", "refused indeterminate"),
        ("unknown-token", "refused unknown-token"),
        ("corrupt-record", "refused corrupt-record"),
        ("given-up", "refused given-up"),
    ] {
        let key = claim(story);
        story.value(json!(answer)).returns(&[expected]).waits_for(None);
        story.close(key).leaves(0);
    }
    for left in [Some(4000), None] {
        let key = story.open(&settings());
        story.try_acquire(key).value(in_progress(left));
        story.returns(&["refused in-progress"]).close(key).leaves(0);
    }
    let key = claim(story);
    let error = "WRONGTYPE Operation against a key holding the wrong kind of value";
    story.redis_error("call", error).returns(&["refused wrong-type"]);
    story.close(key).leaves(0);
}

fn claim_is_replayed(story: &mut Recorder) {
    let key = claim(story);
    story
        .value(with_record("replayed"))
        .returns(&["replayed"])
        .waits_for(None);
    story.try_acquire(key).value(with_record("replayed"));
    story.returns(&["replayed"]).close(key).leaves(0);
}

fn claim_with_a_token(story: &mut Recorder) {
    let mut settings = settings();
    settings["binding"] = "alice".into();
    settings["on_lease_end"] = "indeterminate".into();
    let key = story.open(&settings);
    story.try_acquire(key).value(claimed(0)).returns(&["acquired"]);
    story.release(key).value(json!("released")).returns(&["released"]);
}

fn claim_is_renewed_or_lost(story: &mut Recorder) {
    for (answer, expected) in [
        (lost("gone"), "lost deleted"),
        (lost("superseded"), "lost superseded"),
        (lost("done"), "lost already-completed"),
        (json!("corrupt-record"), "lost renewal-refused"),
    ] {
        let key = run(story);
        story.waits_for(Some("renew")).timeout().returns(&["call"]);
        story.value(json!("extended")).returns(&["extended"]);
        story
            .extend(key)
            .returns(&["call"])
            .value(answer)
            .returns(&[expected]);
        story.waits_for(None).close(key).leaves(0);
    }
}

fn claim_is_completed(story: &mut Recorder) {
    for (answer, expected) in [
        (json!("completed"), "completed"),
        (with_record("replayed"), "replayed"),
        (lost("gone"), "lost deleted"),
        (lost("superseded"), "lost superseded"),
    ] {
        let key = run(story);
        story.complete(key, "[17]").returns(&["call"]).value(answer);
        story.returns(&[expected]).waits_for(None).close(key).leaves(0);
    }
}

fn claim_completed_with_another_result(story: &mut Recorder) {
    let key = run(story);
    story.complete(key, "[17]").fail("call", "unknown").timeout();
    story.returns(&["call"]).value(json!("mismatch"));
    // The grant continues, and is renewed at once.
    story.returns(&["refused mismatch", "call"]);
    story.value(lost("done")).returns(&["lost already-completed"]);
}

fn claim_is_released(story: &mut Recorder) {
    for (answer, expected) in [
        (json!("released"), "released"),
        (lost("superseded"), "lost superseded"),
        (lost("done"), "lost already-completed"),
    ] {
        let key = run(story);
        story.release(key).returns(&["call"]).value(answer);
        story.returns(&[expected]).waits_for(None).close(key).leaves(0);
    }
}

fn claim_is_left(story: &mut Recorder) {
    for (answer, expected) in [
        (json!("released"), "released"),
        (lost("superseded"), "lost superseded"),
        (lost("done"), "lost already-completed"),
    ] {
        let key = run(story);
        story.leave(key).returns(&["call"]).value(answer);
        story.returns(&[expected]).waits_for(None).close(key).leaves(0);
    }
}

fn single_steps(story: &mut Recorder) {
    let result = json!({"tag": "json", "result": "[1]"});
    let update = json!({"operation": "sell-7", "version": 3, "tag": "json", "result": "[1]"});
    let settle = json!({"version": 1_790_000_000_000_000_i64, "result": "[1]"});
    for (settings, answer, expected) in [
        (
            step("issue", &json!({"binding": "alice"})),
            json!("issued"),
            "completed",
        ),
        (step("register", &result), json!("completed"), "completed"),
        (
            step("register", &json!({"binding": "alice"})),
            with_record("replayed"),
            "replayed",
        ),
        (step("update", &update), json!("applied 4"), "completed"),
        (step("update", &update), with_record("replayed"), "replayed"),
        (step("look", &json!({})), with_record("looked"), "looked"),
        (
            step("look", &json!({})),
            json!(format!("looked {NO_RECORD}")),
            "looked",
        ),
        (step("settle", &settle), json!("completed"), "completed"),
        (
            step("forget", &json!({"version": 1})),
            json!("forgotten"),
            "looked",
        ),
    ] {
        let key = story.open(&settings);
        story.try_acquire(key).returns(&["call"]).value(answer);
        story.returns(&[expected]).waits_for(None).close(key).leaves(0);
    }
}

fn sweep_is_done_at_once(story: &mut Recorder) {
    let mut settings = step("sweep", &json!({}));
    settings.as_object_mut().expect("a map").remove("key");
    let key = story.open(&settings);
    for _ in 0..2 {
        story.try_acquire(key).returns(&["swept"]).waits_for(None);
    }
    story.close(key).leaves(0);
}

fn single_steps_refused(story: &mut Recorder) {
    let update = json!({"operation": "sell-7", "version": 3, "result": "[1]"});
    for (settings, answer, expected) in [
        (step("issue", &json!({})), json!("mismatch"), "refused mismatch"),
        (
            step("register", &json!({"binding": "a"})),
            json!("unknown-token"),
            "refused unknown-token",
        ),
        (
            step("register", &json!({})),
            in_progress(Some(2000)),
            "refused in-progress",
        ),
        (
            step("register", &json!({})),
            json!("indeterminate"),
            "refused indeterminate",
        ),
        (
            step("register", &json!({})),
            json!("given-up"),
            "refused given-up",
        ),
        (
            step("update", &update),
            with_record("conflict"),
            "refused conflict",
        ),
        (
            step("update", &update),
            json!(format!("conflict {NO_RECORD}")),
            "refused conflict",
        ),
        (
            step("look", &json!({})),
            json!("corrupt-record"),
            "refused corrupt-record",
        ),
        (
            step("settle", &json!({"version": 7})),
            lost("superseded"),
            "refused record-changed",
        ),
        (
            step("forget", &json!({"version": 7})),
            lost("superseded"),
            "refused record-changed",
        ),
    ] {
        let key = story.open(&settings);
        story
            .acquire_within(key, 3_000_000)
            .returns(&["call"])
            .value(answer);
        story.returns(&[expected]).waits_for(None).close(key).leaves(0);
    }
}

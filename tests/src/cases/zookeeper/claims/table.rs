//! The rows of the table: the content of the record, and the event for the application.

use super::{
    OTHER, claim, claim_as, code, conflict, done, found, free, granted, own, passed, record, run, running,
    running_by, settings, shows, shows_nothing, stat, tokens::issued, warm, with_policy, written,
};
use crate::{cases::cases, transcript::Recorder};

cases! { "zookeeper":
    claim_of_a_new_operation,
        "No record: one transaction creates the record and the lease, and the read behind it has the fence.";
    claim_first_ever, "The directories above the record are created when they are missing.";
    claim_of_a_free_operation, "The record was freed: the transaction names its version and its bucket's.",
        "every fresh node has version 0: a version alone can hit another attempt's record";
    claim_takes_over, "The lease of another attempt has gone: claimed, with one takeover more.";
    claim_forbidden_after_a_lease, "The lease of another attempt has gone, and its policy forbids the claim.";
    claim_while_another_one_runs,
        "Another attempt's lease exists: a nonblocking acquire is refused at once, with the session's \
         timeout as the time left.";
    claim_finds_a_result, "The operation has a result: it is returned, and the operation does not run.",
        "IETF draft-ietf-httpapi-idempotency-key-header-07: a retry gets the first response";
    claim_mismatches, "The record is of other arguments: in any state, and also with a result.";
    claim_finds_a_corrupt_record,
        "The node is no record of a known form: nothing runs, and nothing is overwritten.";
    claim_confirmed_or_lost,
        "Confirmations extend the claim; it is lost with its session, its lease, or without confirmations.";
    claim_lease_deleted,
        "The own lease has been deleted: the record decides which loss this is, as with a renewal on Redis.";
    claim_completed, "One transaction deletes the own lease and stores the result.";
    claim_completion_failed, "The lease is gone: the record decides whether the result can still be stored.";
    claim_released, "One transaction deletes the own lease and frees the record.";
    claim_released_after_a_takeover, "An earlier attempt may have run: the record stays as after a leave.";
    claim_release_failed, "The lease is gone: the record decides what a release means.";
    claim_left,
        "One transaction deletes the own lease, and the record keeps the fence with which the operation \
         ran.";
    claim_leave_failed, "The lease is gone: the record decides what a leave means.";
}

fn claim_of_a_new_operation(story: &mut Recorder) {
    warm(story);
    let key = run(story);
    story.close(key).returns(&["multi"]);
    written(story);
    story.leaves(0);
}

fn claim_first_ever(story: &mut Recorder) {
    warm(story);
    let key = claim(story);
    conflict(story, code::NO_NODE);
    story.error("get", code::NO_NODE);
    story.returns(&["create", "create", "create", "create", "multi", "get"]);
    story.created_parent().parent_error(code::NODE_EXISTS);
    story.created_parent().created_parent();
    granted(story, key, 41);
    story.returns(&["acquired"]);
}

fn claim_of_a_free_operation(story: &mut Recorder) {
    warm(story);
    let key = claim(story);
    found(story);
    shows(story, &free(), &stat(35, 3), &[]);
    story.returns(&["multi", "get"]);
    granted(story, key, 41);
    story
        .returns(&["acquired"])
        .complete(key, "[17]")
        .returns(&["multi"]);
    written(story);
    story.returns(&["completed"]).close(key).leaves(0);
}

fn claim_takes_over(story: &mut Recorder) {
    warm(story);
    let key = claim(story);
    found(story);
    shows(story, &running(OTHER), &stat(35, 0), &[]);
    story.returns(&["multi", "get"]);
    // Another claimant was faster, and has already left too.
    conflict(story, code::BAD_VERSION);
    story
        .error("get", code::NO_NODE)
        .returns(&["get", "get", "children"]);
    shows(story, &running(OTHER), &stat(37, 1), &[]);
    granted(story, key, 41);
    story.returns(&["acquired"]);
}

fn claim_forbidden_after_a_lease(story: &mut Recorder) {
    warm(story);
    for (policy, expected) in [
        ("indeterminate", "refused indeterminate"),
        ("block", "refused in-progress"),
    ] {
        let key = story.open(&with_policy("retake"));
        story.try_acquire(key);
        found(story);
        // The record is read again, because it might have changed between the two reads.
        for _ in 0..2 {
            story.returns(&["get", "get", "children"]);
            shows(story, &running_by(OTHER, policy), &stat(35, 0), &[]);
        }
        story.returns(&[expected]).close(key).leaves(0);
    }
}

fn claim_while_another_one_runs(story: &mut Recorder) {
    warm(story);
    let key = story.open(&settings());
    story.try_acquire(key);
    found(story);
    shows(story, &running(OTHER), &stat(35, 0), &[OTHER]);
    story.returns(&["refused in-progress"]).close(key).leaves(0);
}

fn claim_finds_a_result(story: &mut Recorder) {
    warm(story);
    let key = claim(story);
    found(story);
    shows(story, &done(OTHER, "{\"paid\": 17}"), &stat(35, 1), &[]);
    story.returns(&["replayed"]).waits_for(Some("renew"));
    story.close(key).leaves(0);
}

fn claim_mismatches(story: &mut Recorder) {
    warm(story);
    let mut other = settings();
    other["fingerprint"] = "other".into();
    let value = record(&[("state", "value"), ("attempt", OTHER), ("version", "1")]);
    for (record, children) in [
        (running(OTHER), &[OTHER][..]),
        (running(OTHER), &[]),
        (done(OTHER, "[1]"), &[]),
        (value, &["value", "operation-a"]),
    ] {
        let key = claim_as(story, &other);
        found(story);
        shows(story, &record, &stat(35, 0), children);
        story.returns(&["refused mismatch"]).close(key).leaves(0);
    }
}

fn claim_finds_a_corrupt_record(story: &mut Recorder) {
    warm(story);
    for bytes in ["", "fencepost-record:2\n", "10.0.0.7"] {
        let key = claim(story);
        found(story);
        shows(story, bytes, &stat(35, 0), &[]);
        story.returns(&["refused corrupt-record"]).close(key).leaves(0);
    }
}

fn claim_confirmed_or_lost(story: &mut Recorder) {
    warm(story);
    let key = run(story);
    story.extend(key).returns(&["sync"]).done("sync");
    story.answer_routine().timeout_of("renew").answer_routine();
    story.session_is("suspended").returns(&["suspended"]);
    story.fail_all("unknown").session_is("connected").answer_routine();
    let lease = format!("{}/{}", super::RECORD, own(key));
    story.watch(&lease, "deleted").returns(&["get"]);
    story.error("get", code::NO_NODE).returns(&["lost deleted"]);
    story.close(key).leaves(0);
    let key = run(story);
    story.session_is("expired").returns(&["lost session-expired"]);
    story.close(key).leaves(0);
}

fn claim_lease_deleted(story: &mut Recorder) {
    warm(story);
    for (stored, expected) in [
        (None, "lost deleted"),
        (Some(free()), "lost deleted"),
        (Some(issued()), "lost deleted"),
        (Some("10.0.0.7".into()), "lost deleted"),
        (Some(running(OTHER)), "lost superseded"),
        // An operator has settled the operation.
        (Some(done(OTHER, "[1]")), "lost superseded"),
    ] {
        let key = lease_deleted(story);
        match stored {
            Some(stored) => record_read(story, &stored),
            None => drop(story.error("get", code::NO_NODE)),
        }
        story.returns(&[expected]).close(key).leaves(0);
    }
    // Only the lease was deleted.
    let key = lease_deleted(story);
    record_read(story, &running(&own(key)));
    story.returns(&["lost deleted"]).close(key).leaves(0);
}

/// A machine that runs the operation, and gets the event that its lease was deleted.
fn lease_deleted(story: &mut Recorder) -> u64 {
    let key = run(story);
    // The answer to the read sets the watch.
    story.extend(key).done("sync").answer_routine();
    let lease = format!("{}/{}", super::RECORD, own(key));
    story.watch(&lease, "deleted").returns(&["get"]);
    key
}

/// The answer to the read of the record.
fn record_read(story: &mut Recorder, record: &str) {
    let reply = story.reply_stat(record, &stat(43, 1));
    story.answer("get", reply);
}

fn claim_completed(story: &mut Recorder) {
    warm(story);
    let key = run(story);
    story.complete(key, "[17]").returns(&["multi"]);
    written(story);
    story.returns(&["completed"]).close(key).leaves(0);
}

fn claim_completion_failed(story: &mut Recorder) {
    warm(story);
    for (attempt, result, expected) in [
        // No other attempt has taken over, so the result is stored.
        (None, "", "completed"),
        (Some(OTHER), "", "lost superseded"),
        (Some(OTHER), "[1]", "replayed"),
    ] {
        let key = run(story);
        story.complete(key, "[17]");
        conflict(story, code::NO_NODE);
        story.returns(&["get", "get", "children"]);
        let own = own(key);
        let attempt = attempt.unwrap_or(&own);
        let record = if result.is_empty() {
            running(attempt)
        } else {
            done(attempt, result)
        };
        shows(story, &record, &stat(43, 1), &[]);
        if expected == "completed" {
            story.returns(&["multi"]);
            written(story);
        }
        story.returns(&[expected]).close(key).leaves(0);
    }
    for stored in [Some(free()), Some(issued()), None] {
        let key = run(story);
        story.complete(key, "[17]");
        conflict(story, code::NO_NODE);
        match stored {
            Some(stored) => shows(story, &stored, &stat(43, 1), &[]),
            None => shows_nothing(story),
        };
        story.returns(&["lost deleted"]).close(key).leaves(0);
    }
    let key = run(story);
    story.complete(key, "[17]");
    conflict(story, code::NO_NODE);
    shows(story, &done(&own(key), "[16]"), &stat(43, 1), &[]);
    story.returns(&["refused mismatch", "get"]);
    story.error("get", code::NO_NODE).returns(&["get"]);
    record_read(story, &done(&own(key), "[16]"));
    story.returns(&["lost already-completed"]).close(key).leaves(0);
}

fn claim_released(story: &mut Recorder) {
    warm(story);
    let key = run(story);
    story.release(key).returns(&["multi"]);
    written(story);
    story.returns(&["released"]).close(key).leaves(0);
}

fn claim_released_after_a_takeover(story: &mut Recorder) {
    warm(story);
    let key = claim(story);
    found(story);
    shows(story, &running(OTHER), &stat(35, 0), &[]);
    granted(story, key, 41);
    story.release(key).returns(&["multi"]);
    written(story);
    story.returns(&["released"]).close(key).leaves(0);
}

/// The ends of a claim whose lease was deleted, for each state of the record.
fn end_failed(story: &mut Recorder, leave: bool) {
    warm(story);
    let end = |story: &mut Recorder| {
        let key = run(story);
        if leave {
            story.leave(key);
        } else {
            story.release(key);
        }
        conflict(story, code::NO_NODE);
        story.returns(&["get", "get", "children"]);
        key
    };
    for stored in [Some(free()), Some(issued()), None] {
        let key = end(story);
        match stored {
            Some(stored) => shows(story, &stored, &stat(43, 1), &[]),
            None => shows_nothing(story),
        };
        story.returns(&["released"]).close(key).leaves(0);
    }
    for (attempt, result, expected) in [
        (Some(OTHER), "", "lost superseded"),
        (Some(OTHER), "[1]", "lost superseded"),
        (None, "[17]", "lost already-completed"),
    ] {
        let key = end(story);
        let own = own(key);
        let attempt = attempt.unwrap_or(&own);
        let record = if result.is_empty() {
            running(attempt)
        } else {
            done(attempt, result)
        };
        shows(story, &record, &stat(43, 1), &[]);
        story.returns(&[expected]).close(key).leaves(0);
    }
    let key = end(story);
    shows(story, &running(&own(key)), &stat(41, 0), &[]);
    if !leave {
        story.returns(&["multi"]);
        written(story);
    }
    story.returns(&["released"]).close(key).leaves(0);
}

fn claim_release_failed(story: &mut Recorder) {
    end_failed(story, false);
}

fn claim_left(story: &mut Recorder) {
    warm(story);
    let key = run(story);
    story.leave(key).returns(&["multi"]);
    written(story);
    story.returns(&["released"]).close(key).leaves(0);
    // A machine that is closed leaves.
    let key = run(story);
    story.close(key).returns(&["multi"]);
    conflict(story, code::NO_NODE);
    story.session_is("closed").leaves(0);
}

fn claim_leave_failed(story: &mut Recorder) {
    end_failed(story, true);
    let key = run(story);
    story.leave(key).fail("multi", "unknown").timeout();
    passed(story);
    shows(story, &running(OTHER), &stat(43, 1), &[OTHER]);
    // The leave may have been executed before the other claim.
    story.returns(&["released"]).close(key).leaves(0);
}

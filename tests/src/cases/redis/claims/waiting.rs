//! A claim that waits for the running attempt, and claims without a reply.

use serde_json::json;

use super::{claim, claimed, in_progress, run, settings, step, with_record};
use crate::{
    cases::cases,
    transcript::{Input, Recorder},
};

cases! { "redis":
    claim_waits_for_the_running_one,
        "Another attempt runs the operation: the claim subscribes, and gets the result when that attempt \
         announces its end.";
    claim_waits_for_the_end_of_a_lease,
        "The running attempt announces nothing: the claim asks again when that attempt's lease ends, and \
         takes over.";
    claim_of_a_blocked_operation,
        "The policy is to block, and the lease is over: the claim polls until its timeout, and is refused \
         as in-progress.";
    claim_times_out,
        "A claim times out while another attempt runs: in-progress, with the time that is left of the \
         lease.";
    claim_in_doubt_is_cleaned_up,
        "A claim without an answer is cancelled: the release that follows leaves a tombstone, because the \
         operation has not run.";
    claim_is_repeated, "A claim without an answer is sent again for the same attempt, and is granted once.";
    claim_granted_too_late,
        "The answer comes when hardly anything is left of the lease: the claim asks again before the \
         operation runs.",
        "Kleppmann 2016: a paused holder";
    single_step_is_repeated,
        "A single step without an answer is sent again for the same attempt; when its time ends, it is \
         refused as unreachable.";
    single_step_misuse, "A single step is granted nothing: it can be acquired and cancelled.";
}

fn claim_waits_for_the_running_one(story: &mut Recorder) {
    let key = claim(story);
    story
        .value(in_progress(Some(8000)))
        .returns(&["queued", "subscribe"]);
    story.subscribed().returns(&["call"]);
    story
        .value(in_progress(Some(7900)))
        .returns(&[])
        .waits_for(Some("poll"));
    story.message().returns(&["call"]);
    story.value(with_record("replayed")).returns(&["replayed"]);
    story.close(key).leaves(0);
}

fn claim_waits_for_the_end_of_a_lease(story: &mut Recorder) {
    claim(story);
    story.value(in_progress(Some(300))).subscribed();
    story
        .value(in_progress(Some(299)))
        .waits_for(Some("poll"))
        .timeout();
    story.returns(&["call"]).value(claimed(1)).returns(&["acquired"]);
}

fn claim_of_a_blocked_operation(story: &mut Recorder) {
    let mut settings = settings();
    settings["on_lease_end"] = "block".into();
    let key = story.open(&settings);
    story
        .acquire_within(key, 2_000_000)
        .value(in_progress(None))
        .subscribed();
    while story.value(in_progress(None)).is_waiting_for("poll") {
        story.timeout().returns(&["call"]);
    }
    story.timeout().returns(&["refused in-progress"]);
}

fn claim_times_out(story: &mut Recorder) {
    let mut settings = settings();
    settings["poll"] = json!(1_000_000);
    let key = story.open(&settings);
    story
        .acquire_within(key, 500_000)
        .value(in_progress(Some(8000)))
        .subscribed();
    story
        .value(in_progress(Some(7990)))
        .waits_for(Some("acquire-timeout"))
        .timeout();
    story.returns(&["refused in-progress"]).waits_for(Some("linger"));
    story.try_acquire(key).returns(&["call"]);
}

fn claim_in_doubt_is_cleaned_up(story: &mut Recorder) {
    let key = claim(story);
    story
        .silence("call")
        .cancel(key)
        .returns(&["refused cancelled", "call"]);
    story.value(json!("released")).returns(&[]).waits_for(None);
    story.close(key).leaves(0);
}

fn claim_is_repeated(story: &mut Recorder) {
    let key = claim(story);
    story
        .fail("call", "unknown")
        .returns(&[])
        .timeout()
        .returns(&["call"]);
    story.timeout().returns(&["call"]).value(claimed(0)).returns(&[]);
    story.value(claimed(0)).returns(&["acquired"]);
    story
        .complete(key, "[17]")
        .value(json!("completed"))
        .returns(&["completed"]);
}

fn claim_granted_too_late(story: &mut Recorder) {
    claim(story);
    story
        .after(4_000_000)
        .silence("call")
        .timeout_after(3_500_000)
        .returns(&["call"]);
    story.after(8_000_000).value(claimed(0)).returns(&[]);
    story
        .timeout()
        .returns(&["call"])
        .value(claimed(0))
        .returns(&["acquired"]);
}

fn single_step_is_repeated(story: &mut Recorder) {
    let key = story.open(&step("look", &json!({})));
    story.try_acquire(key).fail("call", "not-sent").returns(&[]);
    story
        .timeout()
        .returns(&["call"])
        .fail("call", "unknown")
        .returns(&[]);
    story
        .timeout()
        .returns(&["call"])
        .redis_error("call", "NOSCRIPT No matching script.");
    story
        .returns(&["call"])
        .answer_wrongly("call", crate::transcript::Reply::Value { value: json!([]) });
    story
        .returns(&[])
        .timeout()
        .returns(&["call"])
        .redis_error("call", "LOADING Redis is loading");
    story.timeout().returns(&["call"]).silence("call");
    story
        .waits_for(Some("acquire-timeout"))
        .timeout()
        .returns(&["refused unreachable"]);
    story
        .acquire(key)
        .fail("call", "closed")
        .returns(&["refused connection-closed"]);
    story
        .acquire(key)
        .redis_error("call", "NOPERM no permissions")
        .returns(&["refused no-permission"]);
    story
        .acquire(key)
        .redis_error("call", "OOM command not allowed")
        .returns(&["refused server-error"]);
}

fn single_step_misuse(story: &mut Recorder) {
    let key = story.open(&step("look", &json!({})));
    story.misuse(Input::Cancel { key }, "not-waiting");
    story.acquire(key).misuse(Input::Try { key }, "busy");
    story
        .misuse(Input::Release { key }, "not-held")
        .misuse(Input::Leave { key }, "not-held");
    story
        .silence("call")
        .cancel(key)
        .returns(&["refused cancelled"])
        .waits_for(None);
    let key = run(story);
    story
        .misuse(Input::Downgrade { key }, "not-a-writer")
        .misuse(Input::Try { key }, "busy");
    story.leave(key).misuse(Input::Leave { key }, "not-held");
    story.value(json!("released")).returns(&["released"]);
}

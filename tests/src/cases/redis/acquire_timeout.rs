//! Acquire timeouts, cancelled acquires and closed machines, in every phase.

use super::{FENCE, acquire, hold, settings, wait};
use crate::{
    cases::cases,
    transcript::{Recorder, Reply},
};

cases! { "redis":
    timeout_while_waiting,
        "The acquire timeout ends while another client holds the lock: refused, and there is nothing to \
         undo.",
        "python-redis-lock#35";
    timeout_while_asking,
        "The acquire timeout ends while the acquire is in flight: reported at once. A release undoes what \
         the acquire may have done, and its late grant is ignored.",
        "redisson#1966, redisson#5019";
    timeout_without_an_answer,
        "No answer at all within the acquire timeout: unreachable, with the last error. The deadline covers \
         everything.",
        "redisson#2801: a nonblocking acquire with a timeout hung while Redis was down";
    timeout_after_the_server_was_lost,
        "The server has named a holder, and fails until the acquire timeout: unreachable, not a timeout. The \
         holder may have gone.";
    try_without_an_answer, "A nonblocking acquire waits for an answer, but only for a limited time.";
    cancelled_in_every_phase,
        "An acquire is cancelled while asking, while waiting and while subscribing: reported once, and \
         nothing is left behind.",
        "redis-py#3847: cancelled, and the key stayed";
    closed_in_every_phase,
        "A machine is closed before it acquires, while asking, while waiting, as a holder and while \
         releasing: it reports nothing more, and ends when the server has answered.";
}

fn timeout_while_waiting(story: &mut Recorder) {
    let key = story.open(&settings());
    story
        .acquire_within(key, 60_000)
        .held_for(5000)
        .returns(&["queued", "subscribe"]);
    story
        .subscribed()
        .held_for(5000)
        .waits_for(Some("acquire-timeout"))
        .timeout();
    story.returns(&["refused timeout"]).waits_for(Some("linger"));
    story.close(key).leaves(0);
}

fn timeout_while_asking(story: &mut Recorder) {
    let key = story.open(&settings());
    story.acquire_within(key, 60_000);
    let question = story.last_id("call");
    story
        .waits_for(Some("acquire-timeout"))
        .timeout()
        .returns(&["refused unreachable", "call"]);
    let value = serde_json::json!([1, FENCE]);
    story
        .after(1000)
        .answer_id(question, Reply::Value { value })
        .returns(&[]);
    story.own().returns(&[]).waits_for(None).close(key).leaves(0);
}

fn timeout_without_an_answer(story: &mut Recorder) {
    let key = story.open(&settings());
    story.acquire_within(key, 30_000);
    for _ in 0..2 {
        story
            .returns(&["call"])
            .redis_error("call", "LOADING Redis is loading the dataset in memory");
        story.timeout();
    }
    story.redis_error("call", "LOADING Redis is loading the dataset in memory");
    story
        .waits_for(Some("acquire-timeout"))
        .timeout()
        .returns(&["refused unreachable"]);
    story.waits_for(None).close(key).leaves(0);
}

fn timeout_after_the_server_was_lost(story: &mut Recorder) {
    let key = story.open(&settings());
    story
        .acquire_within(key, 60_000)
        .held_for(5000)
        .returns(&["queued", "subscribe"]);
    story.subscribed().redis_error("call", "LOADING Redis is loading");
    story.waits_for(Some("retry")).timeout().silence("call");
    story
        .waits_for(Some("acquire-timeout"))
        .timeout()
        .returns(&["refused unreachable", "call"])
        .absent();
    story.waits_for(Some("linger")).close(key).leaves(0);
}

fn try_without_an_answer(story: &mut Recorder) {
    let key = story.open(&settings());
    story.try_acquire(key).silence("call");
    story.waits_for(Some("acquire-timeout")).timeout();
    story
        .returns(&["refused unreachable", "call"])
        .absent()
        .close(key)
        .leaves(0);
}

fn cancelled_in_every_phase(story: &mut Recorder) {
    let key = acquire(story);
    story.cancel(key).returns(&["refused cancelled", "call"]);
    story.granted(FENCE).own().returns(&[]);
    story
        .acquire(key)
        .held_for(5000)
        .returns(&["queued", "subscribe"]);
    story
        .cancel(key)
        .returns(&["refused cancelled"])
        .subscribed()
        .returns(&[]);
    story
        .acquire(key)
        .held_for(5000)
        .returns(&["queued", "call"])
        .held_for(5000);
    story.cancel(key).returns(&["refused cancelled"]);
    story
        .message()
        .returns(&[])
        .timeout()
        .returns(&["unsubscribe"])
        .close(key)
        .leaves(0);
}

fn closed_in_every_phase(story: &mut Recorder) {
    let idle = story.open(&settings());
    story.close(idle).returns(&[]).leaves(0);
    let holder = hold(story);
    let waiter = wait(story);
    story.close(waiter).returns(&[]).leaves(1);
    let asking = acquire(story);
    story.close(asking).returns(&["call"]).held_for(5000).returns(&[]);
    story.absent().returns(&[]).leaves(1);
    story
        .release(holder)
        .returns(&["call"])
        .close(holder)
        .returns(&[])
        .leaves(1);
    story.own().returns(&[]).leaves(0);
    let holder = hold(story);
    story
        .close(holder)
        .returns(&["call"])
        .fail("call", "unknown")
        .returns(&[])
        .leaves(1);
    story
        .waits_for(Some("retry"))
        .timeout()
        .returns(&["call"])
        .absent()
        .leaves(0);
}

//! AcquireTimeout that ends, acquires that are cancelled, machines that are closed: in every phase.

use super::{FENCE, acquire, hold, settings, wait};
use crate::{
    cases::cases,
    transcript::{Recorder, Reply},
};

cases! { "redis":
    timeout_while_waiting, "The acquire timeout ends while somebody holds: refused, and nothing has to be undone.",
        "python-redis-lock#35";
    timeout_while_asking, "The acquire timeout ends while the question is under way: told at once, and what it may have done is undone; its late grant is not looked at.",
        "redisson#1966, redisson#5019";
    timeout_without_an_answer, "No answer at all within the acquire timeout: unreachable, with the last trouble; the deadline covers everything.",
        "redisson#2801: a timed try hung while Redis was down";
    try_without_an_answer, "A try waits for an answer, but not for ever.";
    cancelled_in_every_phase, "An acquire is cancelled while asking, while waiting, while listening is being set up: told once, and nothing stays.",
        "redis-py#3847: cancelled, and the key stayed";
    closed_in_every_phase, "A machine is closed before it acquires, while asking, while waiting, as a holder, while releasing: it says nothing more and goes when the server has answered.";
}

fn timeout_while_waiting(story: &mut Recorder) {
    let key = story.open(&settings());
    story
        .acquire_within(key, 60_000)
        .held_for(5000)
        .says(&["queued", "subscribe"]);
    story
        .subscribed()
        .held_for(5000)
        .waits_for(Some("acquire-timeout"))
        .timeout();
    story.says(&["refused timeout"]).waits_for(Some("linger"));
    story.close(key).leaves(0);
}

fn timeout_while_asking(story: &mut Recorder) {
    let key = story.open(&settings());
    story.acquire_within(key, 60_000);
    let question = story.last_id("call");
    story
        .waits_for(Some("acquire-timeout"))
        .timeout()
        .says(&["refused unreachable", "call"]);
    let value = serde_json::json!([1, FENCE]);
    story
        .after(1000)
        .answer_id(question, Reply::Value { value })
        .says(&[]);
    story.own().says(&[]).waits_for(None).close(key).leaves(0);
}

fn timeout_without_an_answer(story: &mut Recorder) {
    let key = story.open(&settings());
    story.acquire_within(key, 30_000);
    for _ in 0..2 {
        story
            .says(&["call"])
            .redis_error("call", "LOADING Redis is loading the dataset in memory");
        story.timeout();
    }
    story.redis_error("call", "LOADING Redis is loading the dataset in memory");
    story
        .waits_for(Some("acquire-timeout"))
        .timeout()
        .says(&["refused unreachable"]);
    story.waits_for(None).close(key).leaves(0);
}

fn try_without_an_answer(story: &mut Recorder) {
    let key = story.open(&settings());
    story.try_acquire(key).silence("call");
    story.waits_for(Some("acquire-timeout")).timeout();
    story
        .says(&["refused unreachable", "call"])
        .absent()
        .close(key)
        .leaves(0);
}

fn cancelled_in_every_phase(story: &mut Recorder) {
    let key = acquire(story);
    story.cancel(key).says(&["refused cancelled", "call"]);
    story.granted(FENCE).own().says(&[]);
    story.acquire(key).held_for(5000).says(&["queued", "subscribe"]);
    story
        .cancel(key)
        .says(&["refused cancelled"])
        .subscribed()
        .says(&[]);
    story
        .acquire(key)
        .held_for(5000)
        .says(&["queued", "call"])
        .held_for(5000);
    story.cancel(key).says(&["refused cancelled"]);
    story
        .message()
        .says(&[])
        .timeout()
        .says(&["unsubscribe"])
        .close(key)
        .leaves(0);
}

fn closed_in_every_phase(story: &mut Recorder) {
    let idle = story.open(&settings());
    story.close(idle).says(&[]).leaves(0);
    let holder = hold(story);
    let waiter = wait(story);
    story.close(waiter).says(&[]).leaves(1);
    let asking = acquire(story);
    story.close(asking).says(&["call"]).held_for(5000).says(&[]);
    story.absent().says(&[]).leaves(1);
    story
        .release(holder)
        .says(&["call"])
        .close(holder)
        .says(&[])
        .leaves(1);
    story.own().says(&[]).leaves(0);
    let holder = hold(story);
    story
        .close(holder)
        .says(&["call"])
        .fail("call", "unknown")
        .says(&[])
        .leaves(1);
    story
        .waits_for(Some("retry"))
        .timeout()
        .says(&["call"])
        .absent()
        .leaves(0);
}

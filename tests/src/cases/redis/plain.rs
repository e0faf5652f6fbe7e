//! Taking and waiting: with a server that answers.

use serde_json::json;

use super::{FENCE, acquire, hold, open_with, settings, wait};
use crate::{cases::cases, transcript::Recorder};

cases! { "redis":
    uncontended, "A free lock: one script to take it, one to give it back.";
    contended, "A held lock: subscribe, ask again once that is confirmed, then wait for a hint, the poll or the end of the holder's lease.",
        "redisson#5761, redisson#3891: a missed message cost a lease";
    poll, "Foreign holders announce nothing: a waiter asks every 100 ms or so.",
        "redis-py's Lock publishes nothing";
    holder_ends_before_the_poll, "The holder's lease ends before the next poll: asked right after its end, which nobody announces.",
        "redisson#3730, redisson#2883";
    holder_without_an_end, "The holder has set no lease: the poll remains.",
        "redis-py's Lock by default";
    try_on_a_free_lock, "A try that finds nobody holds at once.";
    try_on_a_held_lock, "A try that finds somebody is refused with the first answer: nothing to undo.";
    acquire_again, "A machine that has released acquires anew: with a new attempt, so nothing late of the old one can touch it.",
        "redis-py#3847: one token for all";
    exact_fences, "A fence beyond what a double holds comes as text and is given exactly.",
        "measured: Lua numbers are doubles, 9007199254740993 became ...992";
}

fn uncontended(story: &mut Recorder) {
    let key = hold(story);
    story.after(2000).release(key).says(&["call"]);
    story.own().says(&["released"]).close(key).leaves(0);
}

fn contended(story: &mut Recorder) {
    let key = wait(story);
    story.after(30_000).message().says(&["call"]);
    story.granted("1790000000000002").says(&["acquired"]);
    story.after(1000).release(key).own().says(&["released"]);
    story.waits_for(Some("linger")).timeout().says(&["unsubscribe"]);
    story.close(key).leaves(0);
}

fn poll(story: &mut Recorder) {
    wait(story);
    story.timeout().says(&["call"]).held_for(4900).says(&[]);
    story.waits_for(Some("poll")).timeout().says(&["call"]);
    story.granted(FENCE).says(&["acquired"]);
}

fn holder_ends_before_the_poll(story: &mut Recorder) {
    acquire(story);
    story.held_for(20).subscribed().held_for(20);
    story.waits_for(Some("poll")).timeout_after(20_999).says(&[]);
    story
        .timeout_after(1)
        .says(&["call"])
        .granted(FENCE)
        .says(&["acquired"]);
}

fn holder_without_an_end(story: &mut Recorder) {
    acquire(story);
    story.held_for(-1).says(&["queued", "subscribe"]).subscribed();
    story
        .held_for(-1)
        .waits_for(Some("poll"))
        .timeout()
        .says(&["call"]);
}

fn try_on_a_free_lock(story: &mut Recorder) {
    let key = story.open(&settings());
    story.try_acquire(key).granted(FENCE).says(&["acquired"]);
}

fn try_on_a_held_lock(story: &mut Recorder) {
    let key = story.open(&settings());
    story
        .try_acquire(key)
        .held_for(5000)
        .says(&["refused not-available"]);
    story.waits_for(None).close(key).leaves(0);
}

fn acquire_again(story: &mut Recorder) {
    let key = hold(story);
    story.release(key).own().acquire(key).says(&["call"]);
    story.granted("1790000000000002").says(&["acquired"]);
}

fn exact_fences(story: &mut Recorder) {
    let key = open_with(story, "renew", json!(false));
    story
        .acquire(key)
        .granted("18446744073709551615")
        .says(&["acquired"]);
}

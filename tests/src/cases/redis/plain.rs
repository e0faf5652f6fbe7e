//! Acquiring and waiting, with a server that answers.

use serde_json::json;

use super::{FENCE, acquire, hold, open_with, settings, wait};
use crate::{cases::cases, transcript::Recorder};

cases! { "redis":
    uncontended, "A free lock: one script acquires it, one releases it.";
    contended,
        "A held lock: the waiter subscribes, asks again once that is confirmed, and then waits for a hint, \
         the next poll or the end of the holder's lease.",
        "redisson#5761, redisson#3891: a missed message cost a lease";
    poll, "Foreign holders announce nothing: a waiter asks about every 100 ms.",
        "redis-py's Lock publishes nothing";
    holder_ends_before_the_poll,
        "The holder's lease ends before the next poll: the waiter asks right after that end, which no \
         message announces.",
        "redisson#3730, redisson#2883";
    holder_without_an_end, "The holder's lease has no end: the waiter polls.",
        "redis-py's Lock by default";
    try_on_a_free_lock, "A nonblocking acquire of a free lock is granted at once.";
    try_on_a_held_lock,
        "A nonblocking acquire of a held lock is refused with the first answer: there is nothing to undo.";
    acquire_again,
        "A machine that has released acquires again: with a new attempt, so nothing late of the old one can \
         affect it.",
        "redis-py#3847: one token for all";
    exact_fences, "A fence beyond the exact range of a double comes as text and is reported exactly.",
        "measured: Lua numbers are doubles, 9007199254740993 became ...992";
}

fn uncontended(story: &mut Recorder) {
    let key = hold(story);
    story.after(2000).release(key).returns(&["call"]);
    story.own().returns(&["released"]).close(key).leaves(0);
}

fn contended(story: &mut Recorder) {
    let key = wait(story);
    story.after(30_000).message().returns(&["call"]);
    story.granted("1790000000000002").returns(&["acquired"]);
    story.after(1000).release(key).own().returns(&["released"]);
    story
        .waits_for(Some("linger"))
        .timeout()
        .returns(&["unsubscribe"]);
    story.close(key).leaves(0);
}

fn poll(story: &mut Recorder) {
    wait(story);
    story.timeout().returns(&["call"]).held_for(4900).returns(&[]);
    story.waits_for(Some("poll")).timeout().returns(&["call"]);
    story.granted(FENCE).returns(&["acquired"]);
}

fn holder_ends_before_the_poll(story: &mut Recorder) {
    acquire(story);
    story.held_for(20).subscribed().held_for(20);
    story.waits_for(Some("poll")).timeout_after(20_999).returns(&[]);
    story
        .timeout_after(1)
        .returns(&["call"])
        .granted(FENCE)
        .returns(&["acquired"]);
}

fn holder_without_an_end(story: &mut Recorder) {
    acquire(story);
    story.held_for(-1).returns(&["queued", "subscribe"]).subscribed();
    story
        .held_for(-1)
        .waits_for(Some("poll"))
        .timeout()
        .returns(&["call"]);
}

fn try_on_a_free_lock(story: &mut Recorder) {
    let key = story.open(&settings());
    story.try_acquire(key).granted(FENCE).returns(&["acquired"]);
}

fn try_on_a_held_lock(story: &mut Recorder) {
    let key = story.open(&settings());
    story
        .try_acquire(key)
        .held_for(5000)
        .returns(&["refused not-available"]);
    story.waits_for(None).close(key).leaves(0);
}

fn acquire_again(story: &mut Recorder) {
    let key = hold(story);
    story.release(key).own().acquire(key).returns(&["call"]);
    story.granted("1790000000000002").returns(&["acquired"]);
}

fn exact_fences(story: &mut Recorder) {
    let key = open_with(story, "renew", json!(false));
    story
        .acquire(key)
        .granted("18446744073709551615")
        .returns(&["acquired"]);
}

//! Hints that the lock may be free: early, doubled, missing, gone; and the subscription that two waiters share.

use serde_json::json;

use super::{FENCE, acquire, wait};
use crate::{
    cases::cases,
    transcript::{Recorder, Reply},
};

cases! { "redis":
    hint_before_the_confirmation, "A message comes before the subscription's own confirmation: asked at once.",
        "measured: on RESP3 a push overtakes the reply";
    hint_while_asking, "A message comes while the question is under way: its answer may be older, so one more question follows.",
        "redisson#5761";
    hint_twice, "Two messages are one question.";
    subscription_gone, "The subscription breaks: messages may have been missed, so the waiter asks, and listens again.",
        "redisson#5761, redisson#3891";
    subscription_gone_while_asking, "The subscription breaks while the question is under way: one more question follows, and the waiter listens again.";
    subscription_fails, "The subscription does not come about for now: the poll goes on, and it is tried again with the next answer.";
    subscription_forbidden, "The server does not permit the channel: there remains the poll.",
        "ACL without the channel";
    foreign_holder, "A holder of another program announces nothing and may be short: the waiter asks sooner, and the later the longer it sees the same holder.",
        "redis-py's Lock";
    shared_subscription, "Two waiters of one client share one subscription: the second waits for the same confirmation, a message is for both, and it is given back a while after the last one leaves.",
        "CURATOR-716: local herds; redisson shares subscriptions";
    used_again_while_lingering, "An unused subscription is kept for a while: the next waiter finds it confirmed.";
    doubled_confirmation, "A second reply to a subscription, and be it an error, changes nothing: messages still arrive.";
}

fn foreign_holder(story: &mut Recorder) {
    acquire(story);
    story
        .held_by("6f1c0b46e6b211ee", 5000)
        .says(&["queued", "subscribe"]);
    story.subscribed().says(&["call"]);
    for _ in 0..8 {
        story
            .held_by("6f1c0b46e6b211ee", 5000)
            .says(&[])
            .waits_for(Some("poll"));
        story.timeout().says(&["call"]);
    }
    story
        .held_by("70aa0b46e6b211ee", 5000)
        .says(&[])
        .timeout()
        .says(&["call"]);
    story.held_for(5000).says(&[]).timeout().says(&["call"]);
    story.granted(FENCE).says(&["acquired"]);
}

fn hint_before_the_confirmation(story: &mut Recorder) {
    acquire(story);
    story.held_for(5000).says(&["queued", "subscribe"]);
    story.message().says(&["call"]).subscribed().says(&[]);
    // The confirmation came while asking: what was asked before it proves nothing.
    story
        .held_for(5000)
        .says(&["call"])
        .granted(FENCE)
        .says(&["acquired"]);
}

fn hint_while_asking(story: &mut Recorder) {
    wait(story);
    story.timeout().says(&["call"]).message().says(&[]);
    story.held_for(5000).says(&["call"]);
    story.held_for(5000).says(&[]).waits_for(Some("poll"));
}

fn hint_twice(story: &mut Recorder) {
    wait(story);
    story
        .message()
        .says(&["call"])
        .message()
        .says(&[])
        .message()
        .says(&[]);
    story.held_for(5000).says(&["call"]).held_for(5000).says(&[]);
}

fn subscription_gone(story: &mut Recorder) {
    wait(story);
    let first = story.last_id("subscribe");
    story.gone().says(&["call"]).held_for(5000).says(&["subscribe"]);
    story.subscribed().says(&["call"]).held_for(5000).says(&[]);
    story
        .input(crate::transcript::Input::Gone { id: first })
        .says(&[]);
    story.message().says(&["call"]).granted(FENCE).says(&["acquired"]);
}

fn subscription_gone_while_asking(story: &mut Recorder) {
    wait(story);
    story.timeout().says(&["call"]).gone().says(&[]);
    story
        .held_for(5000)
        .says(&["call"])
        .held_for(5000)
        .says(&["subscribe"]);
}

fn subscription_fails(story: &mut Recorder) {
    acquire(story);
    story
        .held_for(5000)
        .fail("subscribe", "unknown")
        .says(&[])
        .waits_for(Some("poll"));
    story
        .timeout()
        .says(&["call"])
        .held_for(4900)
        .says(&["subscribe"]);
    story
        .redis_error("subscribe", "LOADING Redis is loading the dataset in memory")
        .says(&[]);
    story
        .timeout()
        .says(&["call"])
        .held_for(4800)
        .says(&["subscribe"]);
    story.subscribed().says(&["call"]);
}

fn subscription_forbidden(story: &mut Recorder) {
    acquire(story);
    story.held_for(5000);
    story
        .redis_error("subscribe", "NOPERM No permissions to access a channel")
        .says(&[]);
    story.timeout().says(&["call"]).held_for(4900).says(&[]);
    story.timeout().says(&["call"]).granted(FENCE).says(&["acquired"]);
}

fn shared_subscription(story: &mut Recorder) {
    let first = acquire(story);
    story.held_for(5000).says(&["queued", "subscribe"]);
    let second = acquire(story);
    story.held_for(5000).says(&["queued"]);
    story
        .subscribed()
        .says(&["call", "call"])
        .held_for(5000)
        .held_for(5000);
    story.message().says(&["call", "call"]);
    story.granted(FENCE).says(&["acquired"]).held_for(9000).says(&[]);
    story.cancel(second).says(&["refused cancelled"]);
    story.release(first).own().says(&["released"]);
    story
        .waits_for(Some("linger"))
        .timeout()
        .says(&["unsubscribe"])
        .waits_for(None);
}

fn used_again_while_lingering(story: &mut Recorder) {
    let first = wait(story);
    story
        .cancel(first)
        .says(&["refused cancelled"])
        .waits_for(Some("linger"));
    story.after(500_000);
    let second = acquire(story);
    // Confirmed already, so the question after it follows at once.
    story
        .held_for(5000)
        .says(&["queued", "call"])
        .held_for(5000)
        .says(&[]);
    story.message().says(&["call"]).granted(FENCE).says(&["acquired"]);
    story.release(second).own().says(&["released"]);
}

fn doubled_confirmation(story: &mut Recorder) {
    wait(story);
    let id = story.last_id("subscribe");
    let error = "ERR".to_owned();
    story.answer_id(id, Reply::RedisError { error }).says(&[]);
    story.answer_id(id, Reply::Value { value: json!(1) }).says(&[]);
    story.message().says(&["call"]);
}

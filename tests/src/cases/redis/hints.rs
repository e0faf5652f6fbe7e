//! Hints that the lock may be free: early, duplicated, missed and lost ones; and the subscription that two
//! waiters share.

use serde_json::json;

use super::{FENCE, acquire, wait};
use crate::{
    cases::cases,
    transcript::{Recorder, Reply},
};

cases! { "redis":
    hint_before_the_confirmation,
        "A message comes before its subscription's confirmation: the waiter asks at once.",
        "measured: on RESP3 a push overtakes the reply";
    hint_while_asking,
        "A message comes while an acquire is in flight: the answer may be older than the message, so the \
         waiter asks once more.",
        "redisson#5761";
    hint_twice, "Two messages while an acquire is in flight cause one further acquire.";
    subscription_gone,
        "The subscription breaks: messages may have been missed, so the waiter soon polls, and subscribes again.",
        "redisson#5761, redisson#3891";
    subscription_gone_while_asking,
        "The subscription breaks while an acquire is in flight: the waiter soon polls, and subscribes again.";
    subscriptions_end_at_once,
        "The server confirms each subscription and then closes its connection: the waiter polls after a delay \
         that grows, so it does not flood the server.";
    subscription_fails,
        "The subscription fails for now: the waiter polls, and subscribes again after the next answer.";
    subscription_forbidden, "The server does not permit the channel: the waiter only polls.",
        "ACL without the channel";
    foreign_holder,
        "A holder of another program announces nothing and may hold for a short time: the waiter polls \
         soon, and less often the longer it sees the same holder.",
        "redis-py's Lock";
    shared_subscription,
        "Two waiters of one client share one subscription: the second waits for the same confirmation, a \
         message is for both, and the client unsubscribes a while after the last one leaves.",
        "CURATOR-716: local herds; redisson shares subscriptions";
    used_again_while_lingering,
        "An unused subscription is kept for a while: the next waiter finds it confirmed.";
    doubled_confirmation,
        "A second reply to a subscription, even an error, changes nothing: messages still arrive.";
}

fn foreign_holder(story: &mut Recorder) {
    acquire(story);
    story
        .held_by("6f1c0b46e6b211ee", 5000)
        .returns(&["queued", "subscribe"]);
    story.subscribed().returns(&["call"]);
    for _ in 0..8 {
        story
            .held_by("6f1c0b46e6b211ee", 5000)
            .returns(&[])
            .waits_for(Some("poll"));
        story.timeout().returns(&["call"]);
    }
    story
        .held_by("70aa0b46e6b211ee", 5000)
        .returns(&[])
        .timeout()
        .returns(&["call"]);
    story.held_for(5000).returns(&[]).timeout().returns(&["call"]);
    story.granted(FENCE).returns(&["acquired"]);
}

fn hint_before_the_confirmation(story: &mut Recorder) {
    acquire(story);
    story.held_for(5000).returns(&["queued", "subscribe"]);
    story.message().returns(&["call"]).subscribed().returns(&[]);
    // The confirmation arrived during the acquire request, so a request from before it proves nothing.
    story
        .held_for(5000)
        .returns(&["call"])
        .granted(FENCE)
        .returns(&["acquired"]);
}

fn hint_while_asking(story: &mut Recorder) {
    wait(story);
    story.timeout().returns(&["call"]).message().returns(&[]);
    story.held_for(5000).returns(&["call"]);
    story.held_for(5000).returns(&[]).waits_for(Some("poll"));
}

fn hint_twice(story: &mut Recorder) {
    wait(story);
    story
        .message()
        .returns(&["call"])
        .message()
        .returns(&[])
        .message()
        .returns(&[]);
    story
        .held_for(5000)
        .returns(&["call"])
        .held_for(5000)
        .returns(&[]);
}

fn subscription_gone(story: &mut Recorder) {
    wait(story);
    let first = story.last_id("subscribe");
    subscribe_again(story);
    story
        .input(crate::transcript::Input::Gone { id: first })
        .returns(&[]);
    story
        .message()
        .returns(&["call"])
        .granted(FENCE)
        .returns(&["acquired"]);
}

/// The subscription ends. The waiter polls after a delay, and subscribes again.
fn subscribe_again(story: &mut Recorder) {
    story.gone().returns(&[]).waits_for(Some("poll"));
    story
        .timeout()
        .returns(&["call"])
        .held_for(5000)
        .returns(&["subscribe"]);
    story.subscribed().returns(&["call"]).held_for(5000).returns(&[]);
}

fn subscription_gone_while_asking(story: &mut Recorder) {
    wait(story);
    story.timeout().returns(&["call"]).gone().returns(&[]);
    story.held_for(5000).returns(&[]).waits_for(Some("poll"));
    story
        .timeout()
        .returns(&["call"])
        .held_for(5000)
        .returns(&["subscribe"]);
}

fn subscriptions_end_at_once(story: &mut Recorder) {
    wait(story);
    for _ in 0..4 {
        subscribe_again(story);
    }
}

fn subscription_fails(story: &mut Recorder) {
    acquire(story);
    story
        .held_for(5000)
        .fail("subscribe", "unknown")
        .returns(&[])
        .waits_for(Some("poll"));
    story
        .timeout()
        .returns(&["call"])
        .held_for(4900)
        .returns(&["subscribe"]);
    story
        .redis_error("subscribe", "LOADING Redis is loading the dataset in memory")
        .returns(&[]);
    story
        .timeout()
        .returns(&["call"])
        .held_for(4800)
        .returns(&["subscribe"]);
    story.subscribed().returns(&["call"]);
}

fn subscription_forbidden(story: &mut Recorder) {
    acquire(story);
    story.held_for(5000);
    story
        .redis_error("subscribe", "NOPERM No permissions to access a channel")
        .returns(&[]);
    story.timeout().returns(&["call"]).held_for(4900).returns(&[]);
    story
        .timeout()
        .returns(&["call"])
        .granted(FENCE)
        .returns(&["acquired"]);
}

fn shared_subscription(story: &mut Recorder) {
    let first = acquire(story);
    story.held_for(5000).returns(&["queued", "subscribe"]);
    let second = acquire(story);
    story.held_for(5000).returns(&["queued"]);
    story
        .subscribed()
        .returns(&["call", "call"])
        .held_for(5000)
        .held_for(5000);
    story.message().returns(&["call", "call"]);
    story
        .granted(FENCE)
        .returns(&["acquired"])
        .held_for(9000)
        .returns(&[]);
    story.cancel(second).returns(&["refused cancelled"]);
    story.release(first).own().returns(&["released"]);
    story
        .waits_for(Some("linger"))
        .timeout()
        .returns(&["unsubscribe"])
        .waits_for(None);
}

fn used_again_while_lingering(story: &mut Recorder) {
    let first = wait(story);
    story
        .cancel(first)
        .returns(&["refused cancelled"])
        .waits_for(Some("linger"));
    story.after(500_000);
    let second = acquire(story);
    // The subscription is already confirmed, so the next acquire request follows at once.
    story
        .held_for(5000)
        .returns(&["queued", "call"])
        .held_for(5000)
        .returns(&[]);
    story
        .message()
        .returns(&["call"])
        .granted(FENCE)
        .returns(&["acquired"]);
    story.release(second).own().returns(&["released"]);
}

fn doubled_confirmation(story: &mut Recorder) {
    wait(story);
    let id = story.last_id("subscribe");
    let error = "ERR".to_owned();
    story.answer_id(id, Reply::RedisError { error }).returns(&[]);
    story.answer_id(id, Reply::Value { value: json!(1) }).returns(&[]);
    story.message().returns(&["call"]);
}

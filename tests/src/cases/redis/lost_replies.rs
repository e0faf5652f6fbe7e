//! Missing or late replies: the client finds out whether the request was executed, and keeps or undoes its
//! effect.

use serde_json::json;

use super::{FENCE, acquire, hold, open_with, settings};
use crate::{
    cases::cases,
    transcript::{Recorder, Reply},
};

cases! { "redis":
    acquire_lost,
        "The acquire's reply is lost: sent again, the script finds the attempt's own value. That is the \
         grant, with its fence and a full lease.",
        "redis-py retries SET NX and answers \"held\", by its own token";
    acquire_lost_and_given_up,
        "The acquire's reply is lost and the acquire timeout ends: the release leaves a tombstone for the \
         acquire, which may still arrive.",
        "redisson#1966, redisson#7367: a lock without a holder";
    acquire_never_answered,
        "Neither an answer nor a failure comes: after a while the acquire counts as in doubt and is sent \
         again. The first one's late answer is ignored.",
        "ioredis#2193: commands that never settle";
    acquire_not_sent, "An acquire that was never sent is sent again, and is not in doubt: no tombstone.";
    acquire_given_up_before_it_was_sent,
        "An acquire is given up while it waits for a connection, and then the driver reports that it was \
         never sent: nothing is in doubt, and no release is needed.";
    overdue_acquire_was_never_sent,
        "The same for an overdue acquire that was sent again: only an acquire that may have been sent needs \
         a release.";
    acquire_finds_its_tombstone,
        "An acquire arrives after its attempt was given up: the tombstone refuses it, and the contender is \
         refused.";
    slow_grant,
        "The answer comes after the end of the lease that it grants: no grant. The client asks whether it \
         still holds the lock.",
        "node-redlock: a lock 276 ms past its end, measured; node-redlock#169";
    late_grant,
        "The answer comes when less than an eighth of the lease that it grants is left: the client asks \
         again before it reports the grant, because too little time is left to use it.";
    renewal_lost,
        "A renewal's reply is lost: the renewal is repeated, and the grant is valid from the start of the \
         one that was answered.",
        "redisson#775: one failed renewal ended them all";
    renewal_answered_late,
        "A renewal is answered after it was sent again: its answer counts, from its own start, and the \
         newer one's answer extends the grant further.",
        "a server that is slower than a third of the lease";
    late_renewal_needs_the_text,
        "A slow server answers a renewal after it was sent again, and does not know the script: the text is \
         sent at once, because the second renewal would get the same answer just as late.",
        "a server slower than a third of the lease, whose first renewal this is: the grant was lost";
    late_renewal_finds_another,
        "A renewal's late answer reports another holder: the grant is lost, and the newer renewal's answer does not matter.";
    renewals_lost_for_good,
        "No renewal is answered until the grant's end: lost by the client's clock, and released all the \
         same.",
        "redisson#4698, redisson#5698";
    short_lease_renewed_in_time,
        "A lease is shorter than the wait for an answer: the renewal is repeated while the lease lasts.";
    release_lost,
        "The release's reply is lost: sent again, it finds the first one's tombstone, and that is a \
         release.",
        "redis-py retries and answers \"not owned\", measured";
    release_lost_on_the_way,
        "The release is lost before it reaches the server: sent again, it finds no lock and no tombstone. \
         So the grant had been lost before, and that is reported.";
    release_lost_for_long,
        "A release is answered when the tombstone of an earlier release would have expired: another \
         holder's value proves nothing then.";
    release_never_answered,
        "Neither an answer nor a failure of the release comes: it is sent again, and that answer counts. \
         The first one's late answer is ignored.";
    release_without_a_server,
        "No release is ever answered: the lock counts as released when its lease has ended, counted from \
         the release.",
        "redis-py#3847, redis-py#4258";
    release_after_a_lost_renewal,
        "A renewal is in flight when the lock is released, and no release is answered: the renewal may \
         arrive at any time and prolong the lease, so only the server's answer ends the release.",
        "the simulator: a release was reported at the lease's end, and the lock was still there";
}

fn acquire_lost(story: &mut Recorder) {
    let key = acquire(story);
    story
        .after(1000)
        .fail("call", "unknown")
        .returns(&[])
        .waits_for(Some("retry"));
    story
        .timeout()
        .returns(&["call"])
        .granted(FENCE)
        .returns(&["acquired"]);
    // The first acquire may still arrive.
    story.release(key).returns(&["call"]).own().returns(&["released"]);
}

fn acquire_lost_and_given_up(story: &mut Recorder) {
    let key = story.open(&settings());
    story.acquire_within(key, 4000).fail("call", "unknown").timeout();
    story.returns(&["refused unreachable", "call"]);
    story.fail("call", "unknown").timeout().returns(&["call"]);
    story.absent().returns(&[]).close(key).leaves(0);
}

fn acquire_never_answered(story: &mut Recorder) {
    acquire(story);
    let first = story.last_id("call");
    story.waits_for(Some("retry")).timeout().returns(&["call"]);
    let value = json!([1, FENCE]);
    story.answer_id(first, Reply::Value { value }).returns(&[]);
    story.granted(FENCE).returns(&["acquired"]);
}

fn acquire_not_sent(story: &mut Recorder) {
    let key = acquire(story);
    story
        .fail("call", "not-sent")
        .returns(&[])
        .timeout()
        .returns(&["call"]);
    story.fail("call", "not-sent").returns(&[]).cancel(key);
    story
        .returns(&["refused cancelled"])
        .waits_for(None)
        .close(key)
        .leaves(0);
}

fn acquire_given_up_before_it_was_sent(story: &mut Recorder) {
    let key = acquire(story);
    let question = story.last_id("call");
    story
        .cancel(key)
        .returns(&["refused cancelled", "call"])
        .close(key);
    story.fail_id(question, "not-sent").returns(&[]).leaves(0);
    story.fail("call", "not-sent").returns(&[]);
}

fn overdue_acquire_was_never_sent(story: &mut Recorder) {
    let key = acquire(story);
    let first = story.last_id("call");
    story.waits_for(Some("retry")).timeout().returns(&["call"]);
    let second = story.last_id("call");
    story
        .cancel(key)
        .returns(&["refused cancelled", "call"])
        .close(key);
    story.fail_id(second, "not-sent").returns(&[]).leaves(1);
    story.fail_id(first, "unknown").returns(&[]).leaves(1);
    story.own().leaves(0);
}

fn acquire_finds_its_tombstone(story: &mut Recorder) {
    let key = acquire(story);
    story
        .value(json!([2]))
        .returns(&["refused given-up"])
        .close(key)
        .leaves(0);
}

fn slow_grant(story: &mut Recorder) {
    let key = open_with(story, "answer_within", json!(60_000_000));
    story.acquire(key).after(9_000_000).granted(FENCE).returns(&[]);
    story.waits_for(Some("retry")).timeout().returns(&["call"]);
    story.granted("1790000000000009").returns(&["acquired"]);
}

fn late_grant(story: &mut Recorder) {
    let key = open_with(story, "answer_within", json!(60_000_000));
    // A server that was paused now answers an old request.
    story.acquire(key).after(7_900_000).granted(FENCE).returns(&[]);
    story.waits_for(Some("retry")).timeout().returns(&["call"]);
    story.granted(FENCE).returns(&["acquired"]);
    story.release(key).returns(&["call"]).own().returns(&["released"]);
}

fn renewal_lost(story: &mut Recorder) {
    hold(story);
    story
        .timeout()
        .returns(&["call"])
        .after(200)
        .fail("call", "unknown")
        .returns(&[]);
    story.waits_for(Some("retry")).timeout().returns(&["call"]);
    story
        .after(200)
        .own()
        .returns(&["extended"])
        .waits_for(Some("renew"));
}

/// Two renewals in a row get no answer in time. Returns their ids.
fn two_renewals(story: &mut Recorder) -> [u64; 2] {
    hold(story);
    let first = story.timeout().returns(&["call"]).silence("call").last_id("call");
    let second = story
        .waits_for(Some("retry"))
        .timeout()
        .returns(&["call"])
        .last_id("call");
    [first, second]
}

fn renewal_answered_late(story: &mut Recorder) {
    let [first, second] = two_renewals(story);
    let value = json!([1]);
    story
        .after(400)
        .answer_id(first, Reply::Value { value })
        .returns(&["extended"]);
    let value = json!([1]);
    story
        .after(400)
        .answer_id(second, Reply::Value { value })
        .returns(&["extended"]);
    story.waits_for(Some("renew"));
}

fn late_renewal_needs_the_text(story: &mut Recorder) {
    let [first, second] = two_renewals(story);
    let no_script = || Reply::RedisError {
        error: "NOSCRIPT No matching script.".into(),
    };
    story.answer_id(first, no_script()).returns(&["call"]);
    let third = story.last_id("call");
    story.answer_id(second, no_script()).returns(&[]);
    let value = json!([1]);
    story
        .answer_id(third, Reply::Value { value })
        .returns(&["extended"]);
}

fn late_renewal_finds_another(story: &mut Recorder) {
    let [first, _] = two_renewals(story);
    let value = json!([0, "somebody"]);
    story
        .answer_id(first, Reply::Value { value })
        .returns(&["lost taken"]);
    story.waits_for(None);
}

fn renewals_lost_for_good(story: &mut Recorder) {
    let key = hold(story);
    story.timeout();
    for _ in 0..9 {
        story
            .returns(&["call"])
            .after(200_000)
            .fail("call", "unknown")
            .returns(&[])
            .timeout();
    }
    story
        .fail("call", "unknown")
        .waits_for(Some("validity"))
        .timeout();
    story.returns(&["lost lease-ended", "call"]).own().returns(&[]);
    story.close(key).leaves(0);
}

fn short_lease_renewed_in_time(story: &mut Recorder) {
    let key = open_with(story, "ttl", json!(900_000));
    story
        .acquire(key)
        .granted(FENCE)
        .waits_for(Some("renew"))
        .timeout()
        .returns(&["call"])
        .silence("call");
    story.waits_for(Some("retry")).timeout().returns(&["call"]);
    story
        .own()
        .returns(&["extended"])
        .release(key)
        .own()
        .returns(&["released"]);
}

fn release_lost(story: &mut Recorder) {
    let key = hold(story);
    story.release(key).fail("call", "unknown").returns(&[]).timeout();
    story.returns(&["call"]).own().returns(&["released"]);
}

fn release_lost_on_the_way(story: &mut Recorder) {
    let key = hold(story);
    story.release(key).fail("call", "unknown").returns(&[]).timeout();
    story.returns(&["call"]).absent().returns(&["lost deleted"]);
    story.waits_for(None).close(key).leaves(0);
}

fn release_lost_for_long(story: &mut Recorder) {
    let key = open_with(story, "ttl", json!(60_000_000));
    story.acquire(key).granted(FENCE).returns(&["acquired"]);
    story.release(key).fail("call", "unknown").returns(&[]);
    story
        .timeout_after(9_000_000)
        .returns(&["call"])
        .foreign()
        .returns(&["released"]);
    story.close(key).leaves(0);
}

fn release_never_answered(story: &mut Recorder) {
    let key = hold(story);
    let first = story.release(key).silence("call").last_id("call");
    story.waits_for(Some("retry")).timeout().returns(&["call"]);
    story.own().returns(&["released"]);
    let value = json!([1]);
    story
        .answer_id(first, Reply::Value { value })
        .returns(&[])
        .close(key)
        .leaves(0);
}

fn release_without_a_server(story: &mut Recorder) {
    let key = open_with(story, "answer_within", json!(20_000_000));
    story.acquire(key).granted(FENCE);
    // The time counts from now, not from the acquire, because the client does not know when the server
    // executed it.
    story.after(100_000).release(key).returns(&["call"]);
    story.waits_for(Some("validity")).timeout().returns(&["released"]);
    story.waits_for(None).close(key).leaves(0);
}

fn release_after_a_lost_renewal(story: &mut Recorder) {
    let key = hold(story);
    story.timeout().returns(&["call"]).silence("call");
    story
        .after(1000)
        .release(key)
        .returns(&["call"])
        .fail("call", "unknown");
    story.waits_for(Some("retry"));
    for _ in 0..3 {
        story
            .timeout_after(9_000_000)
            .returns(&["call"])
            .fail("call", "unknown");
    }
    story.timeout().returns(&["call"]).absent().returns(&["released"]);
    story.close(key).leaves(0);
}

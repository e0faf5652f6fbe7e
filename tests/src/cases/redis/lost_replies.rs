//! Replies that never come, or come late: what was done is found out, kept or undone.

use serde_json::json;

use super::{FENCE, acquire, hold, open_with, settings};
use crate::{
    cases::cases,
    transcript::{Recorder, Reply},
};

cases! { "redis":
    acquire_lost, "The acquire's reply is lost: asked again, the script finds the attempt's own value, and that is the grant, with its fence and a full lease.",
        "redis-py retries SET NX and answers \"held\", by its own token";
    acquire_lost_and_given_up, "The acquire's reply is lost and the acquire timeout ends: the release leaves a tombstone for the acquire that may still be on its way.",
        "redisson#1966, redisson#7367: a lock that nobody holds";
    acquire_never_answered, "No answer and no word of a failure: after a while the acquire counts as in doubt and is sent again; the first one's late answer is not looked at.",
        "ioredis#2193: commands that never settle";
    acquire_not_sent, "An acquire that was never sent is sent again, and leaves nothing in doubt: no tombstone.";
    acquire_given_up_before_it_was_sent, "An acquire is given up while it waits for a connection, and then the driver says that it was never sent: nothing is in doubt, and nothing is left to bury.";
    overdue_acquire_was_never_sent, "The same of an acquire that was overdue, and asked for again: only what was perhaps sent has to be buried.";
    acquire_finds_its_tombstone, "An acquire arrives after its attempt was given up: refused by the tombstone, and so is the contender.";
    slow_grant, "The answer comes after the lease that it grants: no grant, but a question whether the lock is still ours.",
        "node-redlock: a lock 276 ms past its end, measured; node-redlock#169";
    late_grant, "The answer comes when less than an eighth of the lease that it grants is left: asked again before it is told, because nobody can work with a grant that is as good as over.";
    renewal_lost, "A renewal's reply is lost: repeated, and valid from the start of the one that was answered.",
        "redisson#775: one failed renewal ended them all";
    renewal_answered_late, "A renewal is answered when it has been asked for again: its answer counts, from its own start, and the newer one's counts more.",
        "a server that is slower than a third of the lease";
    late_renewal_needs_the_text, "A server that answers late does not know the script yet, and says so when the renewal has been asked for again: sent with its text at once, because the second one would get the same answer as late.",
        "a server slower than a third of the lease, whose first renewal this is: the grant was lost";
    late_renewal_finds_another, "The late answer of a renewal says that another contender holds: lost, whatever the newer one will say.";
    renewals_lost_for_good, "No renewal is answered until the grant's own end: lost by the holder's clock, and released all the same.",
        "redisson#4698, redisson#5698";
    short_lease_renewed_in_time, "A lease shorter than the wait for an answer: the renewal is repeated while the lease lasts.";
    release_lost, "The release's reply is lost: repeated, it finds the tombstone of the first, and that is a release.",
        "redis-py retries and answers \"not owned\", measured";
    release_lost_on_the_way, "The release is lost before the server: repeated, it finds no lock and no tombstone, so the grant had been lost before, and the application hears of it.";
    release_lost_for_long, "A release is answered when the tombstone of an earlier one would be gone: \"somebody else's\" proves nothing then.";
    release_never_answered, "No answer to the release and no word of a failure: sent again, and its answer counts; the first one's late answer is not looked at.";
    release_without_a_server, "No release is ever answered: the lock is released when its lease has ended, reckoned from the release.",
        "redis-py#3847, redis-py#4258";
    release_after_a_lost_renewal, "A renewal is on its way when the lock is released, and no release is answered: it may arrive at any time and make the lease last, so only the server's answer ends this.",
        "the simulator: a release that was told at the lease's end, and the lock still there";
}

fn acquire_lost(story: &mut Recorder) {
    let key = acquire(story);
    story
        .after(1000)
        .fail("call", "unknown")
        .says(&[])
        .waits_for(Some("retry"));
    story.timeout().says(&["call"]).granted(FENCE).says(&["acquired"]);
    // The first one may still be on its way.
    story.release(key).says(&["call"]).own().says(&["released"]);
}

fn acquire_lost_and_given_up(story: &mut Recorder) {
    let key = story.open(&settings());
    story.acquire_within(key, 4000).fail("call", "unknown").timeout();
    story.says(&["refused unreachable", "call"]);
    story.fail("call", "unknown").timeout().says(&["call"]);
    story.absent().says(&[]).close(key).leaves(0);
}

fn acquire_never_answered(story: &mut Recorder) {
    acquire(story);
    let first = story.last_id("call");
    story.waits_for(Some("retry")).timeout().says(&["call"]);
    let value = json!([1, FENCE]);
    story.answer_id(first, Reply::Value { value }).says(&[]);
    story.granted(FENCE).says(&["acquired"]);
}

fn acquire_not_sent(story: &mut Recorder) {
    let key = acquire(story);
    story.fail("call", "not-sent").says(&[]).timeout().says(&["call"]);
    story.fail("call", "not-sent").says(&[]).cancel(key);
    story
        .says(&["refused cancelled"])
        .waits_for(None)
        .close(key)
        .leaves(0);
}

fn acquire_given_up_before_it_was_sent(story: &mut Recorder) {
    let key = acquire(story);
    let question = story.last_id("call");
    story.cancel(key).says(&["refused cancelled", "call"]).close(key);
    story.fail_id(question, "not-sent").says(&[]).leaves(0);
    story.fail("call", "not-sent").says(&[]);
}

fn overdue_acquire_was_never_sent(story: &mut Recorder) {
    let key = acquire(story);
    let first = story.last_id("call");
    story.waits_for(Some("retry")).timeout().says(&["call"]);
    let second = story.last_id("call");
    story.cancel(key).says(&["refused cancelled", "call"]).close(key);
    story.fail_id(second, "not-sent").says(&[]).leaves(1);
    story.fail_id(first, "unknown").says(&[]).leaves(1);
    story.own().leaves(0);
}

fn acquire_finds_its_tombstone(story: &mut Recorder) {
    let key = acquire(story);
    story
        .value(json!([2]))
        .says(&["refused given-up"])
        .close(key)
        .leaves(0);
}

fn slow_grant(story: &mut Recorder) {
    let key = open_with(story, "answer_within", json!(60_000_000));
    story.acquire(key).after(9_000_000).granted(FENCE).says(&[]);
    story.waits_for(Some("retry")).timeout().says(&["call"]);
    story.granted("1790000000000009").says(&["acquired"]);
}

fn late_grant(story: &mut Recorder) {
    let key = open_with(story, "answer_within", json!(60_000_000));
    // A server that stood still answers now what was asked of it long ago.
    story.acquire(key).after(7_900_000).granted(FENCE).says(&[]);
    story.waits_for(Some("retry")).timeout().says(&["call"]);
    story.granted(FENCE).says(&["acquired"]);
    story.release(key).says(&["call"]).own().says(&["released"]);
}

fn renewal_lost(story: &mut Recorder) {
    hold(story);
    story
        .timeout()
        .says(&["call"])
        .after(200)
        .fail("call", "unknown")
        .says(&[]);
    story.waits_for(Some("retry")).timeout().says(&["call"]);
    story
        .after(200)
        .own()
        .says(&["extended"])
        .waits_for(Some("renew"));
}

/// A renewal is under way for as long as its answer is waited for, and so is the next one. Their ids.
fn two_renewals(story: &mut Recorder) -> [u64; 2] {
    hold(story);
    let first = story.timeout().says(&["call"]).silence("call").last_id("call");
    let second = story
        .waits_for(Some("retry"))
        .timeout()
        .says(&["call"])
        .last_id("call");
    [first, second]
}

fn renewal_answered_late(story: &mut Recorder) {
    let [first, second] = two_renewals(story);
    let value = json!([1]);
    story
        .after(400)
        .answer_id(first, Reply::Value { value })
        .says(&["extended"]);
    let value = json!([1]);
    story
        .after(400)
        .answer_id(second, Reply::Value { value })
        .says(&["extended"]);
    story.waits_for(Some("renew"));
}

fn late_renewal_needs_the_text(story: &mut Recorder) {
    let [first, second] = two_renewals(story);
    let no_script = || Reply::RedisError {
        error: "NOSCRIPT No matching script.".into(),
    };
    story.answer_id(first, no_script()).says(&["call"]);
    let third = story.last_id("call");
    story.answer_id(second, no_script()).says(&[]);
    let value = json!([1]);
    story.answer_id(third, Reply::Value { value }).says(&["extended"]);
}

fn late_renewal_finds_another(story: &mut Recorder) {
    let [first, _] = two_renewals(story);
    let value = json!([0, "somebody"]);
    story
        .answer_id(first, Reply::Value { value })
        .says(&["lost taken"]);
    story.waits_for(None);
}

fn renewals_lost_for_good(story: &mut Recorder) {
    let key = hold(story);
    story.timeout();
    for _ in 0..9 {
        story
            .says(&["call"])
            .after(200_000)
            .fail("call", "unknown")
            .says(&[])
            .timeout();
    }
    story
        .fail("call", "unknown")
        .waits_for(Some("validity"))
        .timeout();
    story.says(&["lost lease-ended", "call"]).own().says(&[]);
    story.close(key).leaves(0);
}

fn short_lease_renewed_in_time(story: &mut Recorder) {
    let key = open_with(story, "ttl", json!(900_000));
    story
        .acquire(key)
        .granted(FENCE)
        .waits_for(Some("renew"))
        .timeout()
        .says(&["call"])
        .silence("call");
    story.waits_for(Some("retry")).timeout().says(&["call"]);
    story
        .own()
        .says(&["extended"])
        .release(key)
        .own()
        .says(&["released"]);
}

fn release_lost(story: &mut Recorder) {
    let key = hold(story);
    story.release(key).fail("call", "unknown").says(&[]).timeout();
    story.says(&["call"]).own().says(&["released"]);
}

fn release_lost_on_the_way(story: &mut Recorder) {
    let key = hold(story);
    story.release(key).fail("call", "unknown").says(&[]).timeout();
    story.says(&["call"]).absent().says(&["lost deleted"]);
    story.waits_for(None).close(key).leaves(0);
}

fn release_lost_for_long(story: &mut Recorder) {
    let key = open_with(story, "ttl", json!(60_000_000));
    story.acquire(key).granted(FENCE).says(&["acquired"]);
    story.release(key).fail("call", "unknown").says(&[]);
    story
        .timeout_after(9_000_000)
        .says(&["call"])
        .foreign()
        .says(&["released"]);
    story.close(key).leaves(0);
}

fn release_never_answered(story: &mut Recorder) {
    let key = hold(story);
    let first = story.release(key).silence("call").last_id("call");
    story.waits_for(Some("retry")).timeout().says(&["call"]);
    story.own().says(&["released"]);
    let value = json!([1]);
    story
        .answer_id(first, Reply::Value { value })
        .says(&[])
        .close(key)
        .leaves(0);
}

fn release_without_a_server(story: &mut Recorder) {
    let key = open_with(story, "answer_within", json!(20_000_000));
    story.acquire(key).granted(FENCE);
    // Reckoned from now, not from the acquire: nobody knows when the server has executed that.
    story.after(100_000).release(key).says(&["call"]);
    story.waits_for(Some("validity")).timeout().says(&["released"]);
    story.waits_for(None).close(key).leaves(0);
}

fn release_after_a_lost_renewal(story: &mut Recorder) {
    let key = hold(story);
    story.timeout().says(&["call"]).silence("call");
    story
        .after(1000)
        .release(key)
        .says(&["call"])
        .fail("call", "unknown");
    story.waits_for(Some("retry"));
    for _ in 0..3 {
        story
            .timeout_after(9_000_000)
            .says(&["call"])
            .fail("call", "unknown");
    }
    story.timeout().says(&["call"]).absent().says(&["released"]);
    story.close(key).leaves(0);
}

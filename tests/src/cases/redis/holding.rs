//! Grants: renewed, extended, lost.

use serde_json::json;

use super::{FENCE, hold, open_with};
use crate::{cases::cases, transcript::Recorder};

cases! { "redis":
    renewed_every_third,
        "A grant is renewed after each third of its lease, and valid from the start of the renewal.",
        "redisson's watchdog";
    renewal_finds_another_holder,
        "A renewal finds another holder's value: lost, and that value is left alone.",
        "redisson#5698: two holders";
    renewal_finds_nothing,
        "A renewal finds no lock: lost, and the client does not silently acquire the lock again.",
        "bsm/redislock#88: a lost lock was silently retried";
    renewal_finds_another_type, "A renewal finds a value of another type: lost.";
    renewal_refused,
        "The server refuses to renew, temporarily or permanently: the renewal is repeated until the grant \
         ends.",
        "redisson#775; READONLY after a failover";
    short_lease_in_an_outage,
        "The connection is lost while the client holds a short lease: the client tries to renew it often \
         enough to keep the lock when the connection is back.",
        "a fixed back-off of up to 1.5 s: a lease of 2.4 s ended during it";
    late_renewal,
        "A renewal is answered after the grant's end, before the driver has reported the timeout: the grant \
         stays ended.",
        "Kleppmann 2016: a paused holder";
    extended_on_request,
        "The application extends the grant: it is renewed now. A renewal in flight serves the same purpose.",
        "go-redsync#158";
    not_renewed, "Without renewals a grant ends by itself, unless the application extends it.";
    longest_hold, "The longest hold is reached: the grant is reported as lost, and released.",
        "redisson#3521, python-redis-lock#106";
    longest_hold_passed,
        "The longest hold has passed, and the driver has not reported the timeout, as after a pause of the \
         process: an extension or a release finds the grant lost.",
        "a loop that was blocked for longer than max_hold released without an error";
    closed_while_holding, "The client is closed while it holds the lock: lost, with the command that failed.";
}

fn renewed_every_third(story: &mut Recorder) {
    hold(story);
    for _ in 0..3 {
        story.waits_for(Some("renew")).timeout().returns(&["call"]);
        story.after(400).own().returns(&["extended"]);
    }
}

fn renewal_finds_another_holder(story: &mut Recorder) {
    let key = hold(story);
    story.timeout().foreign().returns(&["lost taken"]).waits_for(None);
    story.close(key).leaves(0);
}

fn renewal_finds_nothing(story: &mut Recorder) {
    let key = hold(story);
    story
        .timeout()
        .absent()
        .returns(&["lost deleted"])
        .waits_for(None);
    story.close(key).leaves(0);
}

fn renewal_finds_another_type(story: &mut Recorder) {
    hold(story);
    let error = "WRONGTYPE Operation against a key holding the wrong kind of value";
    story
        .timeout()
        .redis_error("call", error)
        .returns(&["lost taken"]);
}

fn renewal_refused(story: &mut Recorder) {
    hold(story);
    let readonly = "READONLY You can't write against a read only replica.";
    story.timeout().redis_error("call", readonly).returns(&[]);
    story.timeout().returns(&["call"]);
    story
        .redis_error("call", "NOPERM no permissions to run 'evalsha'")
        .returns(&[]);
    story
        .timeout()
        .returns(&["call"])
        .after(6_000_000)
        .redis_error("call", readonly);
    story.returns(&[]).waits_for(Some("validity")).timeout();
    story.returns(&["lost lease-ended", "call"]);
}

fn short_lease_in_an_outage(story: &mut Recorder) {
    let key = open_with(story, "ttl", json!(2_400_000));
    story.acquire(key).granted(FENCE);
    story.timeout().returns(&["call"]);
    for _ in 0..9 {
        story.fail("call", "not-sent").waits_for(Some("retry"));
        story.timeout().returns(&["call"]);
    }
    story.own().returns(&["extended"]);
}

fn late_renewal(story: &mut Recorder) {
    let key = hold(story);
    story.timeout().returns(&["call"]).after(6_000_000).own();
    story.returns(&["lost lease-ended", "call"]).own().returns(&[]);
    story.close(key).leaves(0);
}

fn extended_on_request(story: &mut Recorder) {
    let key = hold(story);
    story.after(1_000_000).extend(key).returns(&["call"]);
    story.extend(key).returns(&[]).own().returns(&["extended"]);
    story
        .extend(key)
        .returns(&["call"])
        .fail("call", "unknown")
        .returns(&[]);
    story.extend(key).returns(&["call"]).own().returns(&["extended"]);
}

fn not_renewed(story: &mut Recorder) {
    let key = open_with(story, "renew", json!(false));
    story.acquire(key).granted(FENCE).waits_for(Some("validity"));
    story.after(2_000_000).extend(key).own().returns(&["extended"]);
    story
        .waits_for(Some("validity"))
        .timeout()
        .returns(&["lost lease-ended", "call"]);
    story.absent().returns(&[]).close(key).leaves(0);
}

fn longest_hold(story: &mut Recorder) {
    let key = open_with(story, "max_hold", json!(2_500_000));
    story
        .acquire(key)
        .granted(FENCE)
        .waits_for(Some("max-hold"))
        .timeout();
    story
        .returns(&["lost max-hold", "call"])
        .own()
        .returns(&[])
        .close(key)
        .leaves(0);
}

fn longest_hold_passed(story: &mut Recorder) {
    let key = open_with(story, "max_hold", json!(2_500_000));
    story.acquire(key).granted(FENCE);
    story
        .after(3_000_000)
        .extend(key)
        .returns(&["lost max-hold", "call"]);
    story.own().returns(&[]).acquire(key).granted(FENCE);
    story
        .after(3_000_000)
        .release(key)
        .returns(&["lost max-hold", "call"]);
    story.own().returns(&[]).close(key).leaves(0);
}

fn closed_while_holding(story: &mut Recorder) {
    let key = hold(story);
    story
        .timeout()
        .fail("call", "closed")
        .returns(&["lost lost-connection-closed"]);
    story.close(key).leaves(0);
}

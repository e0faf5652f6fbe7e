//! Holding: renewed, extended, lost.

use serde_json::json;

use super::{FENCE, hold, open_with};
use crate::{cases::cases, transcript::Recorder};

cases! { "redis":
    renewed_every_third, "A grant is renewed after each third of its lease, and valid from the start of the renewal.",
        "redisson's watchdog";
    renewal_finds_somebody_else, "A renewal finds somebody else's value: lost, and nothing of theirs is touched.",
        "redisson#5698: two holders";
    renewal_finds_nothing, "A renewal finds no lock: lost, and not taken back behind the application's back.",
        "bsm/redislock#88: a lost lock was silently retried";
    renewal_finds_another_type, "A renewal finds a value of another type: lost.";
    renewal_refused, "The server refuses to renew, for now or for good: asked again until the grant's own end.",
        "redisson#775; READONLY after a failover";
    late_renewal, "A renewal is answered after the grant's own end, before the driver has said so: the grant stays ended.",
        "Kleppmann 2016: a paused holder";
    extended_on_request, "An application asks for more time: renewed now; a renewal under way will do.",
        "go-redsync#158";
    not_renewed, "Without renewal a grant ends by itself, unless it is extended.";
    longest_hold, "The cap on the hold is reached: told, and released.",
        "redisson#3521, python-redis-lock#106";
    longest_hold_passed, "The longest hold has passed, and the driver has not said so, as after a pause of the process: an extension or a release finds the grant lost.",
        "a loop that was blocked for longer than max_hold released without an error";
    closed_while_holding, "The client is closed under a holder: lost, with the command that told.";
}

fn renewed_every_third(story: &mut Recorder) {
    hold(story);
    for _ in 0..3 {
        story.waits_for(Some("renew")).timeout().says(&["call"]);
        story.after(400).own().says(&["extended"]);
    }
}

fn renewal_finds_somebody_else(story: &mut Recorder) {
    let key = hold(story);
    story.timeout().foreign().says(&["lost taken"]).waits_for(None);
    story.close(key).leaves(0);
}

fn renewal_finds_nothing(story: &mut Recorder) {
    let key = hold(story);
    story.timeout().absent().says(&["lost deleted"]).waits_for(None);
    story.close(key).leaves(0);
}

fn renewal_finds_another_type(story: &mut Recorder) {
    hold(story);
    let error = "WRONGTYPE Operation against a key holding the wrong kind of value";
    story.timeout().redis_error("call", error).says(&["lost taken"]);
}

fn renewal_refused(story: &mut Recorder) {
    hold(story);
    let readonly = "READONLY You can't write against a read only replica.";
    story.timeout().redis_error("call", readonly).says(&[]);
    story.timeout().says(&["call"]);
    story
        .redis_error("call", "NOPERM no permissions to run 'evalsha'")
        .says(&[]);
    story
        .timeout()
        .says(&["call"])
        .after(6_000_000)
        .redis_error("call", readonly);
    story.says(&[]).waits_for(Some("validity")).timeout();
    story.says(&["lost lease-ended", "call"]);
}

fn late_renewal(story: &mut Recorder) {
    let key = hold(story);
    story.timeout().says(&["call"]).after(6_000_000).own();
    story.says(&["lost lease-ended", "call"]).own().says(&[]);
    story.close(key).leaves(0);
}

fn extended_on_request(story: &mut Recorder) {
    let key = hold(story);
    story.after(1_000_000).extend(key).says(&["call"]);
    story.extend(key).says(&[]).own().says(&["extended"]);
    story
        .extend(key)
        .says(&["call"])
        .fail("call", "unknown")
        .says(&[]);
    story.extend(key).says(&["call"]).own().says(&["extended"]);
}

fn not_renewed(story: &mut Recorder) {
    let key = open_with(story, "renew", json!(false));
    story.acquire(key).granted(FENCE).waits_for(Some("validity"));
    story.after(2_000_000).extend(key).own().says(&["extended"]);
    story
        .waits_for(Some("validity"))
        .timeout()
        .says(&["lost lease-ended", "call"]);
    story.absent().says(&[]).close(key).leaves(0);
}

fn longest_hold(story: &mut Recorder) {
    let key = open_with(story, "max_hold", json!(2_500_000));
    story
        .acquire(key)
        .granted(FENCE)
        .waits_for(Some("max-hold"))
        .timeout();
    story
        .says(&["lost max-hold", "call"])
        .own()
        .says(&[])
        .close(key)
        .leaves(0);
}

fn longest_hold_passed(story: &mut Recorder) {
    let key = open_with(story, "max_hold", json!(2_500_000));
    story.acquire(key).granted(FENCE);
    story
        .after(3_000_000)
        .extend(key)
        .says(&["lost max-hold", "call"]);
    story.own().says(&[]).acquire(key).granted(FENCE);
    story
        .after(3_000_000)
        .release(key)
        .says(&["lost max-hold", "call"]);
    story.own().says(&[]).close(key).leaves(0);
}

fn closed_while_holding(story: &mut Recorder) {
    let key = hold(story);
    story
        .timeout()
        .fail("call", "closed")
        .says(&["lost lost-connection-closed"]);
    story.close(key).leaves(0);
}

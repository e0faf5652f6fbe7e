//! How long a session is believed.

use serde_json::json;

use super::{acquire, hold, own, settings, warm};
use crate::{cases::cases, transcript::Recorder};

cases! { "zookeeper":
    cold_session, "A session that nobody has confirmed: two confirmations through the leader before the first grant, because one proves only that the session lived.",
        "measured: a follower cut off from its leader answers reads and pings for 7.5 s after the expiry";
    confirmed_every_third, "Every third of the timeout one confirmation for all machines; a grant is valid from the last but one.";
    confirmation_too_late, "The answer comes after the grant's own end, before the driver has said so: the grant stays ended.",
        "Kleppmann 2016: a paused holder";
    confirmations_fail, "Confirmations that fail are repeated, and when the grant's time is over it is lost, though the connection is there.",
        "a follower cut off from its leader";
    extended_on_request, "An application asks for more time: confirmed now, not at the next third.";
    session_at_rest, "When nobody needs the session it is confirmed no more; the next acquire confirms it twice again.";
    longest_hold, "The cap on the hold is reached: told, and the node deleted.",
        "redisson#3521, python-redis-lock#106: hung holders that are renewed for ever";
}

fn cold_session(story: &mut Recorder) {
    story.connected(1);
    let key = acquire(story);
    story.created(0, 41).children(&[&own(key, 0)]).says(&[]);
    story.after(300).done("sync").says(&["sync"]);
    story.after(300).done("sync").says(&["acquired"]);
}

fn confirmed_every_third(story: &mut Recorder) {
    hold(story);
    story.waits_for(Some("renew")).timeout().says(&["sync"]);
    story
        .after(1000)
        .done("sync")
        .says(&["extended", "get"])
        .present(41);
    story.timeout().says(&["sync"]);
    story.after(1000).done("sync").says(&["extended"]);
    story.timeout().says(&["sync"]);
    story.after(1000).done("sync").says(&["extended"]);
}

fn confirmation_too_late(story: &mut Recorder) {
    let key = hold(story);
    story.timeout().says(&["sync"]);
    story
        .after(7_000_000)
        .done("sync")
        .says(&["sync", "lost lease-ended", "delete"]);
    story.done("delete").done("sync").close(key).leaves(0);
}

fn confirmations_fail(story: &mut Recorder) {
    hold(story);
    story
        .timeout()
        .fail("sync", "unknown")
        .says(&[])
        .waits_for(Some("renew"));
    story.timeout().says(&["sync"]).waits_for(Some("validity"));
    story.timeout().says(&["lost lease-ended", "delete"]);
}

fn extended_on_request(story: &mut Recorder) {
    let key = hold(story);
    story.after(1_000_000).extend(key).says(&["sync"]);
    story.after(400).done("sync").says(&["extended", "get"]);
    story.waits_for(Some("renew"));
}

fn session_at_rest(story: &mut Recorder) {
    let key = hold(story);
    story.release(key).done("delete").close(key).leaves(0);
    for _ in 0..2 {
        story
            .waits_for(Some("renew"))
            .timeout()
            .says(&["sync"])
            .done("sync");
    }
    story.timeout().says(&[]).waits_for(None);
    story.after(60_000_000);
    let key = acquire(story);
    story.done("sync").says(&["sync"]);
    story.created(4, 90).children(&[&own(key, 4)]).says(&[]);
    story.done("sync").says(&["acquired"]);
}

fn longest_hold(story: &mut Recorder) {
    warm(story);
    let mut settings = settings();
    settings["max_hold"] = json!(2_500_000);
    let key = story.open(&settings);
    story.acquire(key).created(3, 41).children(&[&own(key, 3)]);
    story.says(&["acquired"]).waits_for(Some("max-hold"));
    story.timeout().says(&["lost max-hold", "delete"]);
    story.done("delete").close(key).leaves(0);
}

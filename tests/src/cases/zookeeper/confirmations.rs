//! How long a session is believed.

use serde_json::json;

use super::{acquire, code, hold, own, settings, warm};
use crate::{cases::cases, transcript::Recorder};

/// The server can only be read.
const NOT_READ_ONLY: i32 = -119;

cases! { "zookeeper":
    new_session, "A session that the driver has just made: its leader counts from no earlier than the attempt to connect, so the first grant waits for no confirmation.";
    given_session, "A session of which nobody knows since when its leader counts: the first grant waits until later confirmations have proved the first, and those in one breath prove nothing.",
        "measured: a follower cut off from its leader answers reads and pings for 7.5 s after the expiry";
    given_session_at_rest, "A session that was given long before the first acquire is confirmed meanwhile, without a quorum: what is left is one check, which goes out with the create.";
    check_forbidden, "Who may not read the root gets an error for a check, and one whose root is not there as well: a quorum has acknowledged either.";
    check_refused, "A check that a server sheds, does not know or refuses because it is read-only proves nothing, and is sent again.",
        "ZooKeeper: -127, -6 and -119 are answered without a quorum";
    deposed_leader, "A leader that has been deposed answers syncs and reads, and no check: the grant ends by its own time.",
        "measured: with a one-way partition of three servers two clients believed for 4 to 6 s that they held the lock";
    connection_without_a_quorum, "The connection is back, and the leader behind it may have been deposed: what it has answered proves nothing before a quorum has acknowledged a check there.";
    check_of_before_a_move, "The session has moved to another server: the first answer to a check may be that of a request of before, so it proves nothing, and a second check follows.",
        "measured: 360 of 5,496 sessions that moved while a write was under way got its answer to a later request of the same number";
    check_of_other_nodes, "A check makes no nodes: an answer that names one belongs to another transaction.";
    paused_process, "A process stood still for longer than its session's timeout, and the session answers still: nothing is granted before later confirmations have proved that the leader counts anew.",
        "the simulator: an acquire after a pause, granted from two confirmations in one breath, 6 ms before the leader ended the session";
    little_left, "The list that shows us first comes when less than an eighth of the session's time is proved: granted with the next proof, because a grant that is over before anybody has heard of it is none.";
    confirmed_every_third, "Every third of the timeout a witness and a seal, for all machines; a grant is valid from the confirmation before them.";
    confirmation_too_late, "The answer comes after the grant's own end, before the driver has said so: the grant stays ended.",
        "Kleppmann 2016: a paused holder";
    confirmations_fail, "Confirmations that fail are repeated, and when the grant's time is over it is lost, though the connection is there.",
        "a follower cut off from its leader";
    confirmation_never_answered, "A probe has no answer, on a connection of the program's that the driver cannot make again: after a third of the timeout another one is sent.",
        "measured: an ensemble that owed an answer for ten seconds, the connection open";
    silent_server, "A server falls silent without closing its connections, just before the next probe: after an eighth of the timeout the driver is asked for another connection, and the grant goes on there.",
        "measured: client libraries notice after two thirds of the timeout, when the grant has ended";
    slow_server, "One server after the other answers no probe in time: the second one has twice as long, the third is not asked for another connection. An answer ends this.",
        "a server that is too busy has more to do with each connection";
    extended_on_request, "An application asks for more time: confirmed now, not at the next third, and that proves the confirmation before, if it is a quarter of the timeout old.";
    extended_too_often, "An application asks for more time again and again: confirmations that follow each other too closely prove nothing.";
    seal_lost, "The answer to a seal is lost: the witness counts, and the next confirmation is the seal.",
        "the simulator: a follower's report that a second partition holds back, though a confirmation that was sent before it is answered";
    longest_hold, "The cap on the hold is reached: told, and the node deleted.",
        "redisson#3521, python-redis-lock#106: hung holders that are renewed for ever";
    longest_hold_passed, "The longest hold has passed, and the driver has not said so, as after a pause of the process: a release finds the grant lost.";
}

fn new_session(story: &mut Recorder) {
    story.session_is("connecting").after(700).session_is("connected");
    story.says(&["sync"]);
    let key = acquire(story);
    story.created(0, 41).children(&[&own(key, 0)]).says(&["acquired"]);
    story.done("sync").says(&["extended", "get"]);
}

fn given_session(story: &mut Recorder) {
    story.given(1).says(&["sync"]);
    let key = acquire(story);
    story.created(0, 41).children(&[&own(key, 0)]).says(&[]);
    story.after(300).done("sync").says(&[]).waits_for(Some("renew"));
    story.timeout().says(&["sync"]);
    story.after(300).done("sync").says(&["check"]);
    story.after(300).checked().says(&["acquired"]);
}

fn given_session_at_rest(story: &mut Recorder) {
    story.given(1).done("sync").timeout().says(&["sync"]);
    story.done("sync").says(&["sync"]).done("sync");
    let key = acquire(story);
    story.says(&["create", "children", "check"]);
    story.created(0, 41).children(&[&own(key, 0)]).says(&[]);
    story.checked().says(&["acquired"]);
}

fn check_forbidden(story: &mut Recorder) {
    hold(story);
    for code in [code::NO_AUTH, code::NO_NODE] {
        story.timeout().says(&["check"]).error("check", code);
        story.says(&["sync"]).done("sync");
    }
}

fn check_refused(story: &mut Recorder) {
    hold(story);
    for code in [code::THROTTLED, code::UNIMPLEMENTED, NOT_READ_ONLY] {
        story.timeout().says(&["check"]).error("check", code).says(&[]);
    }
    story.timeout().says(&["check"]);
    story.confirmed().says(&["extended", "get"]);
}

fn deposed_leader(story: &mut Recorder) {
    hold(story);
    story.timeout().says(&["check"]).silence("check");
    story.timeout().says(&["reconnect"]);
    story.timeout().says(&["check"]).silence("check");
    story.timeout().says(&["reconnect"]);
    story.waits_for(Some("validity")).timeout();
    story.says(&["lost lease-ended", "delete"]);
}

fn connection_without_a_quorum(story: &mut Recorder) {
    let key = hold(story);
    story.timeout().confirmed().says(&["extended", "get"]).present(41);
    story.timeout().confirmed().says(&["extended"]);
    story.release(key).done("delete").says(&["released"]).close(key);
    story.after(100_000).disconnected();
    story.after(4_900_000).given(1).says(&["sync"]).done("sync");
    // What was proved before is nearly over.
    let key = acquire(story);
    story.says(&["create", "children", "check"]);
    story.created(4, 42).children(&[&own(key, 4)]).says(&[]);
    story.checked().says(&["check"]).checked().says(&["acquired"]);
}

fn check_of_before_a_move(story: &mut Recorder) {
    hold(story);
    story.after(2_000_000).disconnected();
    story
        .given(1)
        .says(&["check", "get"])
        .present(41)
        .says(&["resumed"]);
    story.error("check", code::NO_NODE).says(&["check", "extended"]);
    story.silence("check").timeout().says(&["reconnect"]);
    story.waits_for(Some("renew")).timeout();
    story.says(&["check"]).checked().says(&["sync"]);
    story.done("sync").says(&["extended"]);
}

fn check_of_other_nodes(story: &mut Recorder) {
    hold(story);
    story.timeout().says(&["check"]);
    story
        .answer("check", story.reply_children(&["node-0000000007"]))
        .says(&[]);
    story.timeout().says(&["check"]);
    story.confirmed().says(&["extended", "get"]);
}

fn paused_process(story: &mut Recorder) {
    warm(story);
    story
        .after(20_000_000)
        .input(crate::transcript::Input::Timeout)
        .says(&["sync"]);
    let key = acquire(story);
    story.created(3, 41).children(&[&own(key, 3)]).says(&[]);
    story.after(300).done("sync").says(&["check"]);
    story.checked().says(&[]).waits_for(Some("renew"));
    story.timeout().says(&["sync"]);
    story.after(300).done("sync").says(&["sync"]);
    story.after(300).done("sync").says(&["acquired"]);
}

fn little_left(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story.created(3, 41).timeout().says(&["check"]);
    story.after(4_800_000).children(&[&own(key, 3)]).says(&[]);
    // This seal proves only what was known.
    story.checked().says(&["check"]).checked().says(&[]);
    story.timeout().says(&["sync"]).done("sync").says(&["sync"]);
    story.done("sync").says(&["acquired"]);
}

fn confirmed_every_third(story: &mut Recorder) {
    hold(story);
    story.waits_for(Some("renew")).timeout().says(&["check"]);
    story.after(1000).checked().says(&["sync"]);
    story
        .after(1000)
        .done("sync")
        .says(&["extended", "get"])
        .present(41);
    for _ in 0..2 {
        story.timeout().says(&["check"]);
        story.after(1000).checked().says(&["sync"]);
        story.after(1000).done("sync").says(&["extended"]);
    }
}

fn confirmation_too_late(story: &mut Recorder) {
    let key = hold(story);
    story.timeout().says(&["check"]);
    story
        .after(7_000_000)
        .checked()
        .says(&["check"])
        .checked()
        .says(&["lost lease-ended", "delete"]);
    story.done("delete").close(key).leaves(0);
}

fn confirmations_fail(story: &mut Recorder) {
    hold(story);
    story
        .timeout()
        .fail("check", "unknown")
        .says(&[])
        .waits_for(Some("renew"));
    story.timeout().says(&["check"]).timeout().says(&["reconnect"]);
    story.timeout().says(&["check"]).timeout().says(&["reconnect"]);
    story.waits_for(Some("validity")).timeout();
    story.says(&["lost lease-ended", "delete"]);
}

fn confirmation_never_answered(story: &mut Recorder) {
    hold(story);
    story.timeout().says(&["check"]).silence("check");
    story.timeout().says(&["reconnect"]);
    story.waits_for(Some("renew")).timeout().says(&["check"]);
    story.confirmed().says(&["extended", "get"]);
}

fn silent_server(story: &mut Recorder) {
    hold(story);
    story.timeout().confirmed().says(&["extended", "get"]).present(41);
    story.timeout().says(&["check"]).silence("check");
    story.timeout().says(&["reconnect"]).disconnected();
    // The next server does not answer the handshake, the one after it does.
    story.after(750_000).given(1).says(&["check", "get"]);
    story.present(41).says(&["resumed"]);
    story
        .checked()
        .says(&["check", "extended"])
        .checked()
        .says(&["extended"]);
    story.timeout().says(&["sync"]).done("sync").says(&["sync"]);
    story.done("sync").says(&["extended"]);
}

fn slow_server(story: &mut Recorder) {
    warm(story);
    story.timeout().says(&["sync"]).silence("sync");
    story.timeout().says(&["reconnect"]).disconnected();
    story.given(1).says(&["sync"]).silence("sync");
    story.timeout().says(&["reconnect"]).disconnected();
    story.given(1).says(&["sync"]).silence("sync");
    story.timeout().says(&["sync"]).done("sync");
    story.timeout().says(&["sync"]).silence("sync");
    story.timeout().says(&["reconnect"]);
}

fn extended_on_request(story: &mut Recorder) {
    let key = hold(story);
    story.after(2_800_000).extend(key).says(&["sync"]);
    story.after(400).done("sync").says(&["sync"]);
    story.after(400).done("sync").says(&["extended", "get"]);
    story.waits_for(Some("renew"));
}

fn extended_too_often(story: &mut Recorder) {
    let key = hold(story);
    for _ in 0..3 {
        story.after(1000).extend(key).says(&["sync"]);
        story.done("sync").answer_routine();
    }
    story.waits_for(Some("renew"));
}

fn seal_lost(story: &mut Recorder) {
    hold(story);
    story.timeout().says(&["check"]).checked().says(&["sync"]);
    story.fail("sync", "unknown").says(&[]).waits_for(Some("renew"));
    story.timeout().says(&["sync"]).done("sync");
    story.says(&["extended", "get"]);
}

fn longest_hold_passed(story: &mut Recorder) {
    warm(story);
    let mut settings = settings();
    settings["max_hold"] = json!(2_500_000);
    let key = story.open(&settings);
    story.acquire(key).created(3, 41).children(&[&own(key, 3)]);
    story.says(&["acquired"]).after(2_600_000).release(key);
    story.says(&["lost max-hold", "delete"]);
    story.done("delete").close(key).leaves(0);
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

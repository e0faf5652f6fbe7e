//! How long a session counts as confirmed.

use serde_json::json;

use super::{acquire, code, hold, own, settings, warm};
use crate::{cases::cases, transcript::Recorder};

/// The error code of a read-only server.
const NOT_READ_ONLY: i32 = -119;

cases! { "zookeeper":
    new_session,
        "The driver has just made the session: its leader counts from no earlier than the attempt to \
         connect, so the first grant waits for no confirmation.";
    given_session,
        "The application passes a session whose leader counts from an unknown moment: the first grant waits \
         until later confirmations have proved the first one. Confirmations at the same moment prove \
         nothing.",
        "measured: a follower cut off from its leader answers reads and pings for 7.5 s after the expiry";
    given_session_at_rest,
        "The application passed a session long before the first acquire, and syncs have confirmed it \
         without a quorum: only one check is missing, which is sent with the create.";
    check_forbidden,
        "A client that may not read the root gets an error for a check, and so does one whose root does not \
         exist: a quorum has acknowledged both.";
    check_refused,
        "A check that a server sheds, does not know or refuses because it is read-only proves nothing, and \
         is sent again.",
        "ZooKeeper: -127, -6 and -119 are answered without a quorum";
    deposed_leader, "A deposed leader answers syncs and reads, but no check: the grant ends by its own time.",
        "measured: with a one-way partition of three servers two clients believed for 4 to 6 s that they \
         held the lock";
    connection_without_a_quorum,
        "The connection is back, and the leader behind it may have been deposed: its answers prove nothing \
         before a quorum has acknowledged a check on this connection.";
    check_of_before_a_move,
        "The session has moved to another server: the first answer to a check may belong to a request from \
         before the move, so it proves nothing, and a second check follows.",
        "measured: 360 of 5,496 sessions that moved while a write was in flight got its answer to a later \
         request of the same number";
    check_of_other_nodes,
        "A check creates no nodes: an answer that names one belongs to another transaction.";
    paused_process,
        "A process pauses for longer than its session's timeout, and the session still answers: nothing is \
         granted before later confirmations have proved that the leader counts anew.",
        "the simulator: an acquire after a pause, granted from two confirmations at the same moment, 6 ms \
         before the leader ended the session";
    little_left,
        "The list that shows the contender first comes when less than an eighth of the session's time is \
         proved: the lock is granted with the next proof, because an earlier grant would end before the \
         application could use it.";
    confirmed_every_third,
        "In every third of the timeout, one second probe and one confirming probe serve all machines. A \
         grant is valid from the confirmation before them.";
    confirmation_too_late,
        "The answer comes after the grant's end, before the driver has reported the timeout: the grant \
         stays ended.",
        "Kleppmann 2016: a paused holder";
    confirmations_fail,
        "Failed confirmations are repeated. When the grant's time is over, the grant is lost, although the \
         connection is open.",
        "a follower cut off from its leader";
    confirmation_never_answered,
        "A probe has no answer, on a connection of the application that the driver cannot replace: after a \
         third of the timeout another probe is sent.",
        "measured: an ensemble gave no answer for ten seconds, and the connection stayed open";
    silent_server,
        "A server falls silent without closing its connections, just before the next probe: after an eighth \
         of the timeout the hub asks the driver for another connection, and the grant continues there.",
        "measured: client libraries notice after two thirds of the timeout, when the grant has ended";
    slow_server,
        "Several servers in turn answer no probe in time: the second one gets twice the time, and for the \
         third one the hub asks for no other connection. An answer within an eighth resets this.",
        "each new connection gives a busy server even more work";
    server_behind_a_slow_network,
        "Each answer takes longer than an eighth of the timeout: the hub reconnects once, and then gives \
         each probe the doubled time, until an answer comes within an eighth.",
        "measured: the hub reconnected in every third of the timeout, and no acquire ended";
    extended_on_request,
        "The application extends the grant: the session is confirmed now, not at the next third. That \
         proves the confirmation before it, if this one is a quarter of the timeout old.";
    extended_too_often,
        "The application extends the grant again and again: confirmations that follow each other too \
         closely prove nothing.";
    confirming_probe_lost,
        "The answer to a confirming probe is lost: the second probe counts, and the next confirmation is \
         the confirming probe.",
        "the simulator: a second partition delays a follower's report, although a confirmation that was \
         sent before it is answered";
    longest_hold, "The longest hold is reached: the grant is reported as lost, and the node is deleted.",
        "redisson#3521, python-redis-lock#106: hung holders that are renewed for ever";
    longest_hold_passed,
        "The longest hold has passed, and the driver has not reported the timeout, as after a pause of the \
         process: a release finds the grant lost.";
}

fn new_session(story: &mut Recorder) {
    story.session_is("connecting").after(700).session_is("connected");
    story.returns(&["sync"]);
    let key = acquire(story);
    story
        .created(0, 41)
        .children(&[&own(key, 0)])
        .returns(&["acquired"]);
    story.done("sync").returns(&["extended", "get"]);
}

fn given_session(story: &mut Recorder) {
    story.given(1).returns(&["sync"]);
    let key = acquire(story);
    story.created(0, 41).children(&[&own(key, 0)]).returns(&[]);
    story
        .after(300)
        .done("sync")
        .returns(&[])
        .waits_for(Some("renew"));
    story.timeout().returns(&["sync"]);
    story.after(300).done("sync").returns(&["check"]);
    story.after(300).checked().returns(&["acquired"]);
}

fn given_session_at_rest(story: &mut Recorder) {
    story.given(1).done("sync").timeout().returns(&["sync"]);
    story.done("sync").returns(&["sync"]).done("sync");
    let key = acquire(story);
    story.returns(&["create", "children", "check"]);
    story.created(0, 41).children(&[&own(key, 0)]).returns(&[]);
    story.checked().returns(&["acquired"]);
}

fn check_forbidden(story: &mut Recorder) {
    hold(story);
    for code in [code::NO_AUTH, code::NO_NODE] {
        story.timeout().returns(&["check"]).error("check", code);
        story.returns(&["sync"]).done("sync");
    }
}

fn check_refused(story: &mut Recorder) {
    hold(story);
    for code in [code::THROTTLED, code::UNIMPLEMENTED, NOT_READ_ONLY] {
        story
            .timeout()
            .returns(&["check"])
            .error("check", code)
            .returns(&[]);
    }
    story.timeout().returns(&["check"]);
    story.confirmed().returns(&["extended", "get"]);
}

fn deposed_leader(story: &mut Recorder) {
    hold(story);
    story.timeout().returns(&["check"]).silence("check");
    story.timeout().returns(&["reconnect"]);
    story.timeout().returns(&["check"]).silence("check");
    story.timeout().returns(&["reconnect"]);
    story.waits_for(Some("validity")).timeout();
    story.returns(&["lost lease-ended", "delete"]);
}

fn connection_without_a_quorum(story: &mut Recorder) {
    let key = hold(story);
    story
        .timeout()
        .confirmed()
        .returns(&["extended", "get"])
        .present(41);
    story.timeout().confirmed().returns(&["extended"]);
    story
        .release(key)
        .done("delete")
        .returns(&["released"])
        .close(key);
    story.after(100_000).disconnected();
    story.after(4_900_000).given(1).returns(&["sync"]).done("sync");
    // The time that was confirmed before is nearly over.
    let key = acquire(story);
    story.returns(&["create", "children", "check"]);
    story.created(4, 42).children(&[&own(key, 4)]).returns(&[]);
    story
        .checked()
        .returns(&["check"])
        .checked()
        .returns(&["acquired"]);
}

fn check_of_before_a_move(story: &mut Recorder) {
    hold(story);
    story.after(2_000_000).disconnected();
    story
        .given(1)
        .returns(&["check", "get"])
        .present(41)
        .returns(&["resumed"]);
    story
        .error("check", code::NO_NODE)
        .returns(&["check", "extended"]);
    story.silence("check").timeout().returns(&["reconnect"]);
    story.waits_for(Some("renew")).timeout();
    story.returns(&["check"]).checked().returns(&["sync"]);
    story.done("sync").returns(&["extended"]);
}

fn check_of_other_nodes(story: &mut Recorder) {
    hold(story);
    story.timeout().returns(&["check"]);
    story
        .answer("check", story.reply_children(&["node-0000000007"]))
        .returns(&[]);
    story.timeout().returns(&["check"]);
    story.confirmed().returns(&["extended", "get"]);
}

fn paused_process(story: &mut Recorder) {
    warm(story);
    story
        .after(20_000_000)
        .input(crate::transcript::Input::Timeout)
        .returns(&["sync"]);
    let key = acquire(story);
    story.created(3, 41).children(&[&own(key, 3)]).returns(&[]);
    story.after(300).done("sync").returns(&["check"]);
    story.checked().returns(&[]).waits_for(Some("renew"));
    story.timeout().returns(&["sync"]);
    story.after(300).done("sync").returns(&["sync"]);
    story.after(300).done("sync").returns(&["acquired"]);
}

fn little_left(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story.created(3, 41).timeout().returns(&["check"]);
    story.after(4_800_000).children(&[&own(key, 3)]).returns(&[]);
    // This confirming probe proves nothing new.
    story.checked().returns(&["check"]).checked().returns(&[]);
    story.timeout().returns(&["sync"]).done("sync").returns(&["sync"]);
    story.done("sync").returns(&["acquired"]);
}

fn confirmed_every_third(story: &mut Recorder) {
    hold(story);
    story.waits_for(Some("renew")).timeout().returns(&["check"]);
    story.after(1000).checked().returns(&["sync"]);
    story
        .after(1000)
        .done("sync")
        .returns(&["extended", "get"])
        .present(41);
    for _ in 0..2 {
        story.timeout().returns(&["check"]);
        story.after(1000).checked().returns(&["sync"]);
        story.after(1000).done("sync").returns(&["extended"]);
    }
}

fn confirmation_too_late(story: &mut Recorder) {
    let key = hold(story);
    story.timeout().returns(&["check"]);
    story
        .after(7_000_000)
        .checked()
        .returns(&["check"])
        .checked()
        .returns(&["lost lease-ended", "delete"]);
    story.done("delete").close(key).leaves(0);
}

fn confirmations_fail(story: &mut Recorder) {
    hold(story);
    story
        .timeout()
        .fail("check", "unknown")
        .returns(&[])
        .waits_for(Some("renew"));
    story
        .timeout()
        .returns(&["check"])
        .timeout()
        .returns(&["reconnect"]);
    story
        .timeout()
        .returns(&["check"])
        .timeout()
        .returns(&["reconnect"]);
    story.waits_for(Some("validity")).timeout();
    story.returns(&["lost lease-ended", "delete"]);
}

fn confirmation_never_answered(story: &mut Recorder) {
    hold(story);
    story.timeout().returns(&["check"]).silence("check");
    story.timeout().returns(&["reconnect"]);
    story.waits_for(Some("renew")).timeout().returns(&["check"]);
    story.confirmed().returns(&["extended", "get"]);
}

fn silent_server(story: &mut Recorder) {
    hold(story);
    story
        .timeout()
        .confirmed()
        .returns(&["extended", "get"])
        .present(41);
    story.timeout().returns(&["check"]).silence("check");
    story.timeout().returns(&["reconnect"]).disconnected();
    // The next server does not answer the handshake, the one after it does.
    story.after(750_000).given(1).returns(&["check", "get"]);
    story.present(41).returns(&["resumed"]);
    story
        .checked()
        .returns(&["check", "extended"])
        .checked()
        .returns(&["extended"]);
    story.timeout().returns(&["sync"]).done("sync").returns(&["sync"]);
    story.done("sync").returns(&["extended"]);
}

fn slow_server(story: &mut Recorder) {
    warm(story);
    story.timeout().returns(&["sync"]).silence("sync");
    story.timeout().returns(&["reconnect"]).disconnected();
    story.given(1).returns(&["sync"]).silence("sync");
    story.timeout().returns(&["reconnect"]).disconnected();
    story.given(1).returns(&["sync"]).silence("sync");
    story.timeout().returns(&["sync"]).done("sync");
    story.timeout().returns(&["sync"]).silence("sync");
    story.timeout().returns(&["reconnect"]);
}

fn server_behind_a_slow_network(story: &mut Recorder) {
    let slow = 1_200_000;
    warm(story);
    story.timeout().returns(&["sync"]).silence("sync");
    story.timeout().returns(&["reconnect"]).disconnected();
    story.given(1).returns(&["sync"]).after(slow).done("sync");
    story.timeout().returns(&["sync"]);
    story.after(slow).done("sync").timeout().returns(&["sync"]);
    story.after(400).done("sync").returns(&["sync"]);
    story.silence("sync").timeout().returns(&["reconnect"]);
}

fn extended_on_request(story: &mut Recorder) {
    let key = hold(story);
    story.after(2_800_000).extend(key).returns(&["sync"]);
    story.after(400).done("sync").returns(&["sync"]);
    story.after(400).done("sync").returns(&["extended", "get"]);
    story.waits_for(Some("renew"));
}

fn extended_too_often(story: &mut Recorder) {
    let key = hold(story);
    for _ in 0..3 {
        story.after(1000).extend(key).returns(&["sync"]);
        story.done("sync").answer_routine();
    }
    story.waits_for(Some("renew"));
}

fn confirming_probe_lost(story: &mut Recorder) {
    hold(story);
    story.timeout().returns(&["check"]).checked().returns(&["sync"]);
    story
        .fail("sync", "unknown")
        .returns(&[])
        .waits_for(Some("renew"));
    story.timeout().returns(&["sync"]).done("sync");
    story.returns(&["extended", "get"]);
}

fn longest_hold_passed(story: &mut Recorder) {
    warm(story);
    let mut settings = settings();
    settings["max_hold"] = json!(2_500_000);
    let key = story.open(&settings);
    story.acquire(key).created(3, 41).children(&[&own(key, 3)]);
    story.returns(&["acquired"]).after(2_600_000).release(key);
    story.returns(&["lost max-hold", "delete"]);
    story.done("delete").close(key).leaves(0);
}

fn longest_hold(story: &mut Recorder) {
    warm(story);
    let mut settings = settings();
    settings["max_hold"] = json!(2_500_000);
    let key = story.open(&settings);
    story.acquire(key).created(3, 41).children(&[&own(key, 3)]);
    story.returns(&["acquired"]).waits_for(Some("max-hold"));
    story.timeout().returns(&["lost max-hold", "delete"]);
    story.done("delete").close(key).leaves(0);
}

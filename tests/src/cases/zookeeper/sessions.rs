//! Connections that break, sessions that end.

use super::{acquire, at, code, hold, other, own, own_of_attempt, queue, settings};
use crate::{
    cases::cases,
    transcript::{Input, Recorder},
};

cases! { "zookeeper":
    holder_suspended_and_resumed, "The connection breaks and comes back in the same session: told at once, and resumed when the own node has been seen again.",
        "kazoo#170";
    holder_suspended_and_deleted, "The holder's node was deleted while it was cut off: the reconnect finds out.";
    holder_suspended_for_too_long, "No reconnect before the grant's time is over: lost by the holder's own clock, and the node deleted when the connection is back.",
        "CURATOR-206; measured: followers answer for 7.5 s after the leader has expired a session";
    holder_may_not_look, "After the reconnect the holder may not read its node: lost, because nobody can say that it is still there.";
    waiter_suspended_and_resumed, "A waiter's connection breaks and comes back; the line has moved meanwhile: everything is read again behind a barrier.",
        "kazoo#170, kazoo#282";
    holder_expired, "The server has ended the session: the grant is lost at once.",
        "CURATOR-206, docker/libkv#156: expiry went unnoticed";
    waiter_expired, "A waiter's session is ended: it enters the line again in the next one, with a new attempt, at its end.",
        "CURATOR-62, CURATOR-518: nobody was left in the queue";
    new_session_without_a_word, "A client library tells of a new session without having told of the old one's end: the new number says it.",
        "CURATOR-604";
    waiter_meets_its_old_session, "The node of the ended session is still in the list: an attempt of its own does not take it for the new one.",
        "CURATOR-604, ZOOKEEPER-2355";
    old_sessions_answers, "Answers and watches of the ended session are no answers in the new one.";
    old_sessions_watch, "A watch of the ended session says nothing, even by the number of a request of the new one.";
    old_sessions_confirmation, "A confirmation answered by the ended session proves nothing in the new one: it is asked for again, soon.";
    never_connected, "A client that never gets a connection: the acquire timeout covers connecting, and the server was unreachable.",
        "kazoo#83, kazoo#482: a client that was never started hung";
    connected_late, "The connection comes within the acquire timeout: the acquire goes on.";
    credentials_refused, "The server refuses the credentials: told to those who wait and to those who ask later.";
    client_closed, "The client was closed: a holder has lost, a waiter is refused, and a later acquire too, instead of waiting for ever.",
        "kazoo#482";
}

fn holder_suspended_and_resumed(story: &mut Recorder) {
    let key = hold(story);
    story.after(500_000).session_is("suspended").says(&["suspended"]);
    story.session_is("suspended").says(&[]);
    story.after(900_000).given(1).says(&["check", "get"]);
    story.present(41).says(&["resumed"]);
    story.checked().says(&["check", "extended"]);
    story.checked().says(&["extended"]);
    story.watch(&at(&own(key, 3)), "deleted").says(&["lost deleted"]);
}

fn holder_suspended_and_deleted(story: &mut Recorder) {
    let key = hold(story);
    story.session_is("suspended").after(900_000).given(1);
    story
        .error("get", code::NO_NODE)
        .says(&["lost deleted", "delete"]);
    story.error("delete", code::NO_NODE).close(key).leaves(0);
}

fn holder_suspended_for_too_long(story: &mut Recorder) {
    let key = hold(story);
    story.session_is("suspended").waits_for(Some("validity"));
    story.timeout().says(&["lost lease-ended"]).waits_for(None);
    story.after(20_000).given(1).says(&["check", "delete"]);
    story.answer_routine().done("delete").says(&[]);
    story.close(key).leaves(0);
}

fn holder_may_not_look(story: &mut Recorder) {
    hold(story);
    story.session_is("suspended").after(900_000).given(1);
    story.error("get", code::NO_AUTH);
    story.says(&["lost renewal-refused", "delete"]);
}

fn waiter_suspended_and_resumed(story: &mut Recorder) {
    let key = queue(story);
    story.after(500_000).disconnected().says(&[]);
    story.after(500_000).given(1).says(&["check", "sync", "children"]);
    story.answer_routine();
    story.children(&[&other(1), &own(key, 3)]);
    story.says(&["get", "queued", "get"]).answer_routine();
    story.watch(&at(&other(1)), "deleted").says(&["acquired"]);
}

fn holder_expired(story: &mut Recorder) {
    let key = hold(story);
    story.session_is("suspended").after(500_000);
    story.session_is("expired").says(&["lost session-expired"]);
    story.connected(2).says(&["sync"]).close(key).leaves(0);
}

fn waiter_expired(story: &mut Recorder) {
    let key = queue(story);
    story.disconnected().session_is("expired").says(&[]);
    story
        .after(500_000)
        .connected(2)
        .says(&["sync", "create", "children"]);
    story.done("sync").created(5, 50);
    story.children(&[&other(4), &own_of_attempt(key, 2, 5)]);
    story.says(&["get", "queued", "get"]);
}

fn new_session_without_a_word(story: &mut Recorder) {
    let holder = hold(story);
    let waiter = acquire(story);
    story.created(4, 42).children(&[&own(holder, 3), &own(waiter, 4)]);
    story.answer_routine().after(500_000).given(2);
    story.says(&["sync", "lost session-expired", "create", "children"]);
    story
        .created(5, 50)
        .children(&[&own_of_attempt(waiter, 2, 5)])
        .says(&[]);
    // First, but nobody knows yet since when the new session's time is counted.
    story.done("sync").says(&[]).timeout().says(&["sync"]);
    story.done("sync").says(&["check"]).checked().says(&["acquired"]);
}

fn waiter_meets_its_old_session(story: &mut Recorder) {
    let key = queue(story);
    story.disconnected().session_is("expired").connected(2);
    story.answer_routine().created(5, 50);
    story.children(&[&own(key, 3), &own_of_attempt(key, 2, 5)]);
    story.says(&["get", "queued", "get"]).answer_routine();
    story.watch(&at(&own(key, 3)), "deleted").says(&["acquired"]);
}

fn old_sessions_answers(story: &mut Recorder) {
    let key = queue(story);
    let watch = story.watch_on(&at(&other(2)));
    story.session_is("expired").connected(2);
    let old = |id| Input::Watch {
        id,
        session: "1".into(),
        event: "deleted".into(),
    };
    story.input(old(watch)).says(&[]);
    story.answer_routine();
    let session = "1".to_owned();
    let path = at(&own_of_attempt(key, 2, 5));
    let czxid = "50".to_owned();
    // Counts as unknown: the node may be there all the same.
    story.answer(
        "create",
        crate::transcript::Reply::Created { session, path, czxid },
    );
    story
        .children(&[&own_of_attempt(key, 2, 5)])
        .says(&[])
        .waits_for(Some("retry"));
    story.timeout().says(&["create", "children"]);
}

fn old_sessions_watch(story: &mut Recorder) {
    let key = queue(story);
    story.session_is("expired").connected(2).answer_routine();
    story.created(5, 50);
    story.children(&[&other(4), &own_of_attempt(key, 2, 5)]);
    story.says(&["get", "queued", "get"]).answer_routine();
    let id = story.watch_on(&at(&other(4)));
    let session = "1".into();
    let event = "deleted".into();
    story.input(Input::Watch { id, session, event }).says(&[]);
}

fn old_sessions_confirmation(story: &mut Recorder) {
    story.connected(1).done("sync");
    story.session_is("expired").connected(2).says(&["sync"]);
    let session = "1".to_owned();
    story.answer("sync", crate::transcript::Reply::Done { session });
    story.says(&[]).waits_for(Some("renew"));
    story.timeout().says(&["sync"]).done("sync").says(&[]);
}

fn never_connected(story: &mut Recorder) {
    let key = story.open(&settings());
    story
        .acquire_within(key, 200_000)
        .says(&[])
        .waits_for(Some("acquire-timeout"));
    story.timeout().says(&["refused unreachable"]);
    story.close(key).leaves(0);
}

fn connected_late(story: &mut Recorder) {
    let key = story.open(&settings());
    story.acquire_within(key, 200_000).after(150_000);
    story.connected(1).says(&["sync", "create", "children"]);
    story
        .done("sync")
        .created(3, 41)
        .children(&[&own(key, 3)])
        .says(&["acquired"]);
}

fn credentials_refused(story: &mut Recorder) {
    let key = queue(story);
    story.session_is("auth-failed").says(&["refused auth-failed"]);
    story.acquire(key).says(&["refused auth-failed"]);
    let later = story.open(&settings());
    story.acquire(later).says(&["refused auth-failed"]);
    story.close(key).close(later).leaves(0);
}

fn client_closed(story: &mut Recorder) {
    let holder = hold(story);
    let waiter = acquire(story);
    story.created(4, 42).children(&[&own(holder, 3), &own(waiter, 4)]);
    story.session_is("closed");
    story.says(&["lost lost-connection-closed", "refused connection-closed"]);
    let later = story.open(&settings());
    story.acquire(later).says(&["refused connection-closed"]);
    story.close(holder).close(waiter).close(later).leaves(0);
}

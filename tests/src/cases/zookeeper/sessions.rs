//! Connections that break, sessions that end.

use serde_json::{Value, json};

use super::{acquire, at, code, hold, other, own, own_of_attempt, queue, settings};
use crate::{
    cases::cases,
    transcript::{Input, Recorder},
};

cases! { "zookeeper":
    holder_suspended_and_resumed,
        "The connection breaks and comes back in the same session: reported at once, and resumed when the \
         own node has been read again.",
        "kazoo#170";
    holder_suspended_and_deleted,
        "The holder's node was deleted while the holder was disconnected: the reconnect finds this out.";
    holder_suspended_for_too_long,
        "There is no reconnect before the grant's end: lost by the client's clock, and the node is deleted \
         after the reconnect.",
        "CURATOR-206; measured: followers answer for 7.5 s after the leader has expired a session";
    reconnects_before_a_crowd,
        "Each connection answers the first check at once, and the next one behind the lists of thousands of \
         waiters: the hub reconnects twice, and then waits for the answers.",
        "measured with 2000 waiters on a busy machine: a reconnect every 16 s, and hardly a grant";
    holder_may_not_look,
        "After the reconnect the holder may not read its node: lost, because the node may be gone.";
    waiter_suspended_and_resumed,
        "A waiter's connection breaks and comes back, and the queue has moved meanwhile: everything is read \
         again behind a barrier.",
        "kazoo#170, kazoo#282";
    holder_expired, "The server has ended the session: the grant is lost at once.",
        "CURATOR-206, docker/libkv#156: expiry went unnoticed";
    waiter_expired,
        "A waiter's session ends: the waiter enqueues again in the next session, with a new attempt, at the \
         end of the queue.",
        "CURATOR-62, CURATOR-518: no contender was left in the queue";
    new_session_without_a_word,
        "A client library reports a new session without having reported the old one's end: the new number \
         shows it.",
        "CURATOR-604";
    waiter_meets_its_old_session,
        "The node of the ended session is still in the list: it belongs to an earlier attempt, so the \
         contender does not take it for its new node.",
        "CURATOR-604, ZOOKEEPER-2355";
    old_sessions_answers, "Answers and watch events of the ended session do not count in the new one.";
    old_sessions_watch,
        "A watch event of the ended session does not count, even with the id of a request of the new \
         session.";
    old_sessions_confirmation,
        "The ended session answers a confirmation: this proves nothing in the new session, and the \
         confirmation is soon sent again.";
    never_connected,
        "A client that never gets a connection: the acquire timeout covers connecting, and the server was \
         unreachable.",
        "kazoo#83, kazoo#482: a client that was never started hung";
    connected_late, "The connection comes within the acquire timeout: the acquire goes on.";
    credentials_refused,
        "The server refuses the credentials: waiters are refused, and so are later acquires.";
    client_closed,
        "The client was closed: a holder loses its grant, a waiter is refused, and so is a later acquire, \
         instead of waiting for ever.",
        "kazoo#482";
    client_started_again,
        "The client was closed, and connects again: from then on, acquires of old and new machines of each \
         kind wait for the session.",
        "kazoo: a lock was refused right after a start() or restart(), if another listener came first";
}

fn holder_suspended_and_resumed(story: &mut Recorder) {
    let key = hold(story);
    story
        .after(500_000)
        .session_is("suspended")
        .returns(&["suspended"]);
    story.session_is("suspended").returns(&[]);
    story.after(900_000).given(1).returns(&["check", "get"]);
    story.present(41).returns(&["resumed"]);
    story.checked().returns(&["check", "extended"]);
    story.checked().returns(&["extended"]);
    story
        .watch(&at(&own(key, 3)), "deleted")
        .returns(&["lost deleted"]);
}

fn holder_suspended_and_deleted(story: &mut Recorder) {
    let key = hold(story);
    story.session_is("suspended").after(900_000).given(1);
    story
        .error("get", code::NO_NODE)
        .returns(&["lost deleted", "delete"]);
    story.error("delete", code::NO_NODE).close(key).leaves(0);
}

fn holder_suspended_for_too_long(story: &mut Recorder) {
    let key = hold(story);
    story.session_is("suspended").waits_for(Some("validity"));
    story.timeout().returns(&["lost lease-ended"]).waits_for(None);
    story.after(20_000).given(1).returns(&["check", "delete"]);
    story.answer_routine().done("delete").returns(&[]);
    story.close(key).leaves(0);
}

fn reconnects_before_a_crowd(story: &mut Recorder) {
    hold(story);
    story.timeout().returns(&["check"]).silence("check");
    for _ in 0..2 {
        story.timeout().returns(&["reconnect"]).disconnected();
        story.given(1).checked().returns(&["check"]).silence("check");
    }
    story.timeout().returns(&["lost lease-ended", "delete"]);
    story.timeout().returns(&["check"]);
}

fn holder_may_not_look(story: &mut Recorder) {
    hold(story);
    story.session_is("suspended").after(900_000).given(1);
    story.error("get", code::NO_AUTH);
    story.returns(&["lost renewal-refused", "delete"]);
}

fn waiter_suspended_and_resumed(story: &mut Recorder) {
    let key = queue(story);
    story.after(500_000).disconnected().returns(&[]);
    story
        .after(500_000)
        .given(1)
        .returns(&["check", "sync", "children"]);
    story.answer_routine();
    story.children(&[&other(1), &own(key, 3)]);
    story.returns(&["get", "queued", "get"]).answer_routine();
    story.watch(&at(&other(1)), "deleted").returns(&["acquired"]);
}

fn holder_expired(story: &mut Recorder) {
    let key = hold(story);
    story.session_is("suspended").after(500_000);
    story.session_is("expired").returns(&["lost session-expired"]);
    story.connected(2).returns(&["sync"]).close(key).leaves(0);
}

fn waiter_expired(story: &mut Recorder) {
    let key = queue(story);
    story.disconnected().session_is("expired").returns(&[]);
    story
        .after(500_000)
        .connected(2)
        .returns(&["sync", "create", "children"]);
    story.done("sync").created(5, 50);
    story.children(&[&other(4), &own_of_attempt(key, 2, 5)]);
    story.returns(&["get", "queued", "get"]);
}

fn new_session_without_a_word(story: &mut Recorder) {
    let holder = hold(story);
    let waiter = acquire(story);
    story.created(4, 42).children(&[&own(holder, 3), &own(waiter, 4)]);
    story.answer_routine().after(500_000).given(2);
    story.returns(&["sync", "lost session-expired", "create", "children"]);
    story
        .created(5, 50)
        .children(&[&own_of_attempt(waiter, 2, 5)])
        .returns(&[]);
    // First, but the start of the new session's timeout is not known yet.
    story.done("sync").returns(&[]).timeout().returns(&["sync"]);
    story
        .done("sync")
        .returns(&["check"])
        .checked()
        .returns(&["acquired"]);
}

fn waiter_meets_its_old_session(story: &mut Recorder) {
    let key = queue(story);
    story.disconnected().session_is("expired").connected(2);
    story.answer_routine().created(5, 50);
    story.children(&[&own(key, 3), &own_of_attempt(key, 2, 5)]);
    story.returns(&["get", "queued", "get"]).answer_routine();
    story.watch(&at(&own(key, 3)), "deleted").returns(&["acquired"]);
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
    story.input(old(watch)).returns(&[]);
    story.answer_routine();
    let session = "1".to_owned();
    let path = at(&own_of_attempt(key, 2, 5));
    let czxid = "50".to_owned();
    // The outcome counts as unknown: the node may exist all the same.
    story.answer(
        "create",
        crate::transcript::Reply::Created { session, path, czxid },
    );
    story
        .children(&[&own_of_attempt(key, 2, 5)])
        .returns(&[])
        .waits_for(Some("retry"));
    story.timeout().returns(&["create", "children"]);
}

fn old_sessions_watch(story: &mut Recorder) {
    let key = queue(story);
    story.session_is("expired").connected(2).answer_routine();
    story.created(5, 50);
    story.children(&[&other(4), &own_of_attempt(key, 2, 5)]);
    story.returns(&["get", "queued", "get"]).answer_routine();
    let id = story.watch_on(&at(&other(4)));
    let session = "1".into();
    let event = "deleted".into();
    story.input(Input::Watch { id, session, event }).returns(&[]);
}

fn old_sessions_confirmation(story: &mut Recorder) {
    story.connected(1).done("sync");
    story.session_is("expired").connected(2).returns(&["sync"]);
    let session = "1".to_owned();
    story.answer("sync", crate::transcript::Reply::Done { session });
    story.returns(&[]).waits_for(Some("renew"));
    story.timeout().returns(&["sync"]).done("sync").returns(&[]);
}

fn never_connected(story: &mut Recorder) {
    let key = story.open(&settings());
    story
        .acquire_within(key, 200_000)
        .returns(&[])
        .waits_for(Some("acquire-timeout"));
    story.timeout().returns(&["refused unreachable"]);
    story.close(key).leaves(0);
}

fn connected_late(story: &mut Recorder) {
    let key = story.open(&settings());
    story.acquire_within(key, 200_000).after(150_000);
    story.connected(1).returns(&["sync", "create", "children"]);
    story
        .done("sync")
        .created(3, 41)
        .children(&[&own(key, 3)])
        .returns(&["acquired"]);
}

fn credentials_refused(story: &mut Recorder) {
    let key = queue(story);
    story.session_is("auth-failed").returns(&["refused auth-failed"]);
    story.acquire(key).returns(&["refused auth-failed"]);
    let later = story.open(&settings());
    story.acquire(later).returns(&["refused auth-failed"]);
    story.close(key).close(later).leaves(0);
}

fn client_closed(story: &mut Recorder) {
    let holder = hold(story);
    let waiter = acquire(story);
    story.created(4, 42).children(&[&own(holder, 3), &own(waiter, 4)]);
    story.session_is("closed");
    story.returns(&["lost lost-connection-closed", "refused connection-closed"]);
    let later = story.open(&settings());
    story.acquire(later).returns(&["refused connection-closed"]);
    story.close(holder).close(waiter).close(later).leaves(0);
}

fn client_started_again(story: &mut Recorder) {
    let name = |kind: &str, more: Value| {
        let mut settings = json!({"kind": kind, "prefix": "shop"});
        for (option, value) in more.as_object().unwrap() {
            settings[option] = value.clone();
        }
        settings
    };
    let kinds = [
        name("zookeeper-mutex", json!({"name": "stock"})),
        name("zookeeper-semaphore", json!({"name": "seats", "permits": 2})),
        name("zookeeper-multi-lock", json!({"names": ["stock", "till"]})),
        name("zookeeper-inspection", json!({"name": "stock", "of": "mutex"})),
    ];
    story.session_is("closed");
    let old: Vec<u64> = kinds.iter().map(|kind| story.open(kind)).collect();
    for key in &old {
        story.acquire(*key).returns(&["refused connection-closed"]);
    }
    story.session_is("connecting");
    let new: Vec<u64> = kinds.iter().map(|kind| story.open(kind)).collect();
    for key in old.into_iter().chain(new) {
        story.acquire(key).returns(&[]);
    }
    story.session_is("closed");
    story.returns(&["refused connection-closed"; 8]);
}

//! Inspections: the contenders that they find, and unexpected answers.

use serde_json::{Value, json};

use super::{at, code, other, recipes::begin};
use crate::{
    cases::cases,
    transcript::{Input, Recorder, Reply},
};

cases! { "zookeeper":
    permits_found,
        "A semaphore's permits and its queue: the oldest permits are held. The first contender in the queue \
         has already created a permit node, and is reported once; the owner of another permit node is a \
         waiter.";
    permits_of_the_first_in_the_queue,
        "The session that is first in the queue holds a permit, too: both are found.";
    readers_found_behind_a_writer, "A reader behind a writer waits, though it is a reader.";
    single_found, "A single node is read at once: there is nothing to list.";
    single_not_found, "The single node does not exist: no client holds the lock.";
    plain_found, "In the plain layout a node's data begin with the attempt: the identifier follows it.";
    reader_broken, "A reader is broken, and found to be one.";
    broken_before, "The contender to break is gone when the delete comes: it counts as broken all the same.";
    break_answered_with_another_answer,
        "After a move, the answer to the delete may belong to an earlier request: the contender is read, and \
         deleted again.";
    broken_without_an_answer,
        "The delete has no answer, and then the contender is gone: it counts as broken.",
        "a lost reply was reported as: this contender no longer exists";
    broken_over_a_lost_connection, "The same, and the connection is lost.";
    revoked_too_late,
        "The contender is gone when the revocation request is written: it has not received the request.";
    inspection_answered_in_another_session,
        "An answer of another session does not count: the inspection asks again.";
    inspection_of_a_closed_client, "No session will come: refused, with the reason.";
    inspection_not_authenticated, "The same where the server has not accepted the client's credentials.";
    inspection_unanswered, "The inspection's time ends before the answer comes.";
    inspection_pauses, "After a temporary error it pauses: a timeout that comes early changes nothing.";
}

fn inspect(story: &mut Recorder, of: &str, more: &[(&str, Value)]) -> u64 {
    begin(story, &inspection(of, more))
}

fn inspection(of: &str, more: &[(&str, Value)]) -> Value {
    let mut settings = json!({"kind": "zookeeper-inspection", "name": "stock", "prefix": "shop", "of": of});
    for (option, value) in more {
        settings[*option] = value.clone();
    }
    settings
}

/// The nodes that are read, in the order of the reads: data, session, transaction.
fn reads(story: &mut Recorder, nodes: &[(&str, i64, i64)]) {
    for (data, session, number) in nodes {
        let reply = story.reply_data(data, *session, *number);
        story.answer("get", reply);
    }
}

fn lease(number: i32) -> String {
    other(number).replace("-lock-", "-lease-")
}

/// A semaphore of two permits, and these in its directories.
fn inspect_permits(story: &mut Recorder, permits: &[i32], queue: &[i32]) {
    inspect(story, "semaphore", &[("permits", json!(2))]);
    story.returns(&["children"]);
    for names in [
        permits.iter().map(|number| lease(*number)).collect::<Vec<_>>(),
        queue.iter().map(|number| other(*number)).collect(),
    ] {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        story.children(&names);
    }
}

fn permits_found(story: &mut Recorder) {
    inspect_permits(story, &[5, 7, 8, 6], &[9, 4]);
    reads(
        story,
        &[
            ("till 1", 1, 45),
            ("till 3", 3, 47),
            ("till 4", 4, 48),
            ("till 2", 2, 46),
        ],
    );
    story.returns(&[]);
    // The first in the queue has created the third permit's node; the fourth one is another waiter's.
    reads(story, &[("till 5", 5, 49), ("till 3", 3, 44)]);
    story.returns(&["found"]);
}

fn permits_of_the_first_in_the_queue(story: &mut Recorder) {
    inspect_permits(story, &[5], &[9]);
    reads(story, &[("till 1", 1, 45), ("till 1", 1, 49)]);
    story.returns(&["found"]);
}

fn readers_found_behind_a_writer(story: &mut Recorder) {
    inspect(story, "read-write", &[]);
    let names = [
        "_c_a-__READ__0000000004",
        "_c_b-__WRIT__0000000003",
        "_c_c-__READ__0000000002",
        "_c_d-__WRIT__0000000005",
    ];
    story.children(&names);
    reads(
        story,
        &[
            ("till 4", 4, 44),
            ("till 3", 3, 43),
            ("till 2", 2, 42),
            ("till 5", 5, 45),
        ],
    );
    story.returns(&["found"]);
}

fn single_found(story: &mut Recorder) {
    inspect(
        story,
        "single",
        &[("layout", json!("plain")), ("node_prefix", json!("lock"))],
    );
    story.returns(&["get"]);
    reads(story, &[("0000000100000000000000000000feed-1 till 1", 1, 41)]);
    story.returns(&["found"]);
}

fn single_not_found(story: &mut Recorder) {
    let key = inspect(
        story,
        "single",
        &[("layout", json!("plain")), ("node_prefix", json!("lock"))],
    );
    story.error("get", code::NO_NODE).returns(&["found"]);
    story.close(key).leaves(0);
}

fn plain_found(story: &mut Recorder) {
    inspect(story, "mutex", &[("layout", json!("plain"))]);
    story.children(&["node_0000000001", "node_0000000002", "notes"]);
    let data = "0000000100000000000000000000feed-1";
    reads(story, &[(&format!("{data} till 1"), 1, 41), (data, 2, 42)]);
    story.returns(&["found"]);
}

fn act_on(story: &mut Recorder, action: &str, node: &str) -> u64 {
    let more = [
        ("action", json!(action)),
        ("node", json!(at(node))),
        ("fence", json!("43")),
    ];
    let key = inspect(story, "read-write", &more);
    reads(story, &[("till 3", 3, 43)]);
    key
}

fn reader_broken(story: &mut Recorder) {
    act_on(story, "break", "_c_a-__READ__0000000004");
    story.returns(&["delete"]).done("delete").returns(&["found"]);
}

fn broken_before(story: &mut Recorder) {
    act_on(story, "break", "_c_b-__WRIT__0000000003");
    story.returns(&["delete"]).error("delete", code::NO_NODE);
    story.timeout().returns(&["get"]);
    story.error("get", code::NO_NODE).returns(&["found"]);
}

fn break_answered_with_another_answer(story: &mut Recorder) {
    act_on(story, "break", "_c_b-__WRIT__0000000003");
    story.returns(&["delete"]).error("delete", code::NO_NODE);
    story.timeout().returns(&["get"]);
    reads(story, &[("till 3", 3, 43)]);
    story.returns(&["delete"]).done("delete").returns(&["found"]);
}

fn broken_without_an_answer(story: &mut Recorder) {
    act_on(story, "break", "_c_b-__WRIT__0000000003");
    story.returns(&["delete"]).fail("delete", "unknown");
    story.timeout().returns(&["get"]);
    story.error("get", code::NO_NODE).returns(&["found"]);
}

fn broken_over_a_lost_connection(story: &mut Recorder) {
    act_on(story, "break", "_c_b-__WRIT__0000000003");
    story.returns(&["delete"]).disconnected().given(1);
    story.returns(&["sync", "get"]);
    story.error("get", code::NO_NODE).returns(&["found"]);
}

fn revoked_too_late(story: &mut Recorder) {
    act_on(story, "revoke", "_c_b-__WRIT__0000000003");
    story.returns(&["set"]).error("set", code::NO_NODE);
    story.timeout().returns(&["get"]);
    story
        .error("get", code::NO_NODE)
        .returns(&["refused no-contender"]);
}

fn inspection_answered_in_another_session(story: &mut Recorder) {
    inspect(story, "mutex", &[]);
    let (session, names) = ("2".into(), vec![other(1)]);
    let reply = Reply::Children { session, names };
    story.answer("children", reply).returns(&[]);
    story.waits_for(Some("retry")).timeout().returns(&["children"]);
    let first = other(1);
    story.children(&[&first]).returns(&["get"]);
    // The answer to the abandoned list is not an answer to the read.
    let reply = story.reply_children(&[]);
    let id = story.last_id("children");
    story.answer_id(id, reply).returns(&[]);
    reads(story, &[("till 1", 1, 41)]);
    story.returns(&["found"]);
}

fn inspection_of_a_closed_client(story: &mut Recorder) {
    let key = inspect(story, "mutex", &[]);
    story.session_is("closed").returns(&["refused connection-closed"]);
    story.acquire(key).returns(&["refused connection-closed"]);
}

fn inspection_not_authenticated(story: &mut Recorder) {
    let key = inspect(story, "mutex", &[]);
    story.session_is("auth-failed").returns(&["refused auth-failed"]);
    story.acquire(key).returns(&["refused auth-failed"]);
}

fn inspection_unanswered(story: &mut Recorder) {
    super::warm(story);
    let key = story.open(&inspection("mutex", &[]));
    story.acquire_within(key, 200_000).returns(&["children"]);
    story.waits_for(Some("acquire-timeout")).timeout();
    story.returns(&["refused unreachable"]);
    story.misuse(Input::Cancel { key }, "not-waiting");
    story.children(&[]).returns(&[]).close(key).leaves(0);
}

fn inspection_pauses(story: &mut Recorder) {
    let key = inspect(story, "mutex", &[]);
    story.error("children", code::THROTTLED).returns(&[]);
    story.waits_for(Some("retry")).timeout_after(1).returns(&[]);
    story.timeout().returns(&["children"]);
    story
        .cancel(key)
        .returns(&["refused cancelled"])
        .close(key)
        .leaves(0);
}

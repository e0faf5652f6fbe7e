//! Nodes whose names do not show their owner: plain names after a move, and single nodes. Their data and
//! transactions show the owner.

use fencepost_core::zookeeper::Stat;
use serde_json::json;

use super::{
    at, code,
    setbacks::{ask_after_a_move, settings},
    single, warm,
};
use crate::{cases::cases, transcript::Recorder};

cases! { "zookeeper":
    plain_moved_first,
        "After a move, the answer to the create may name another contender's node: the node is read before \
         the grant, and is the contender's own.";
    plain_moved_first_of_another,
        "The same, and the node is another attempt's: the contender enqueues again, and its own node is \
         searched for.";
    plain_moved_first_not_read,
        "The same, and the server has not executed the read: read again after a pause.";
    plain_moved_first_forbidden, "The same, and the server denies the read: refused.";
    plain_search_reads_two,
        "The search for the node of a create reads two nodes: the first one is the contender's own, and is \
         deleted before the second one is read.";
    plain_create_lost_twice,
        "A second create is lost while the first one's node is searched for: the search begins again, for \
         both nodes.";
    single_changed_by_another,
        "Another client has written into the holder's node: the node's transaction still shows whose it is.";
    single_made_anew_in_our_session,
        "The single node was deleted and created again in the client's own session: the lock is lost.";
    single_with_our_words_of_another_session,
        "The single node has the attempt's data, but belongs to another session: it is not the attempt's \
         node.";
    single_search_answered_late,
        "A search is repeated, and the check of the first search is answered late: that answer does not \
         count for the second search.";
}

/// First in a queue of plain names, in a session that has moved.
fn plain_first(story: &mut Recorder) -> u64 {
    let key = ask_after_a_move(story, &[("layout", json!("plain"))]);
    story.created_at(&at("node_0000000003"), 40);
    story.children(&["node_0000000003"]).returns(&["get"]);
    key
}

/// The data that an attempt of a machine writes into its node.
fn data(key: u64, attempt: u32) -> String {
    format!("{key:08x}00000000000000000000feed-{attempt}")
}

fn read(story: &mut Recorder, key: u64, attempt: u32, czxid: i64) -> &mut Recorder {
    let reply = story.reply_data(&data(key, attempt), 1, czxid);
    story.answer("get", reply)
}

fn plain_moved_first(story: &mut Recorder) {
    let key = plain_first(story);
    read(story, key, 1, 41).returns(&["acquired"]);
}

fn plain_moved_first_of_another(story: &mut Recorder) {
    let key = plain_first(story);
    read(story, key, 7, 41);
    story.returns(&["sync", "check", "children", "create", "children"]);
}

fn plain_moved_first_not_read(story: &mut Recorder) {
    let key = plain_first(story);
    story.error("get", code::THROTTLED).returns(&[]);
    story.waits_for(Some("retry")).timeout().returns(&["get"]);
    read(story, key, 1, 41).returns(&["acquired"]);
}

fn plain_moved_first_forbidden(story: &mut Recorder) {
    plain_first(story);
    story.error("get", code::NO_AUTH);
    // It may be another contender's, so it is not deleted.
    story.returns(&["sync", "check", "children"]);
    story.done("sync").checked().children(&["node_0000000003"]);
    story.returns(&["get"]).error("get", code::NO_AUTH);
    story.returns(&["refused no-permission"]);
}

/// A create in plain names gets no answer, and the machine searches for its node.
fn plain_search(story: &mut Recorder) -> u64 {
    warm(story);
    let key = story.open(&settings(&[("layout", json!("plain"))]));
    story.acquire(key).fail("create", "unknown").children(&[]);
    key
}

fn plain_search_reads_two(story: &mut Recorder) {
    let key = plain_search(story);
    story.cancel(key).returns(&["sync", "check", "children"]);
    story.done("sync").checked();
    story.children(&["node_0000000003", "node_0000000004"]);
    story.returns(&["get", "get"]);
    read(story, key, 1, 41).returns(&["delete"]);
    story.done("delete").returns(&[]);
    let reply = story.reply_data("somebody", 9, 42);
    story.answer("get", reply).returns(&["refused cancelled"]);
    story.close(key).leaves(0);
}

fn plain_create_lost_twice(story: &mut Recorder) {
    let key = plain_search(story);
    story.timeout();
    story.returns(&["sync", "check", "children", "create", "children"]);
    // The first search still has no answer when the second create fails.
    let list = story.last_id("children");
    story.fail("create", "unknown");
    let none = story.reply_children(&[]);
    story.answer_id(list, none).returns(&[]);
    story.waits_for(Some("retry")).timeout();
    story.returns(&["sync", "check", "children", "create", "children"]);
    let searching = story.last_id("sync");
    story.answer_id(searching, story.reply_done());
    story.answer_id(searching + 1, story.reply_children(&[]));
    let both = story.reply_children(&["node_0000000003", "node_0000000004"]);
    story.answer_id(searching + 2, both).returns(&["get", "get"]);
    for (attempt, czxid) in [(1, 41), (2, 42)] {
        read(story, key, attempt, czxid).returns(&["delete"]);
    }
}

/// A single node that is held, and read again after a reconnect: data, session, transaction and version.
fn single_read_again<'a>(
    story: &'a mut Recorder,
    data: &str,
    owner: i64,
    czxid: i64,
    version: i32,
) -> &'a mut Recorder {
    single::hold(story);
    story.disconnected().given(1).returns(&["check", "get"]);
    let stat = Stat {
        czxid,
        mzxid: czxid,
        ephemeral_owner: owner,
        version,
        created: 0,
        modified: 0,
    };
    let reply = story.reply_stat(data, &stat);
    story.answer("get", reply)
}

fn single_changed_by_another(story: &mut Recorder) {
    single_read_again(story, "notes", 1, 41, 1).returns(&["resumed"]);
}

fn single_made_anew_in_our_session(story: &mut Recorder) {
    let expected = ["lost deleted", "sync", "check", "get"];
    single_read_again(story, "somebody", 1, 41, 0).returns(&expected);
}

fn single_with_our_words_of_another_session(story: &mut Recorder) {
    let expected = ["lost deleted", "sync", "check", "get"];
    single_read_again(story, &data(2, 1), 9, 45, 0).returns(&expected);
}

fn single_search_answered_late(story: &mut Recorder) {
    let key = single::hold(story);
    story.release(key).fail("delete", "unknown").timeout();
    story.returns(&["sync", "check", "get"]);
    story.error("sync", code::THROTTLED).returns(&[]);
    let late = story.last_id("sync") + 1;
    story.timeout().returns(&["sync", "check", "get"]);
    let reply = story.reply_children(&[]);
    story.answer_id(late, reply).returns(&[]);
    story.close(key);
}

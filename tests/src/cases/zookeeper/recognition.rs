//! Nodes whose names do not show whose they are: plain names after a move, and single nodes. Their data and transactions show it.

use fencepost_core::zookeeper::Stat;
use serde_json::json;

use super::{
    at, code,
    setbacks::{ask_after_a_move, settings},
    single, warm,
};
use crate::{cases::cases, transcript::Recorder};

cases! { "zookeeper":
    plain_moved_first, "After a move, the answer to the create may name another's node: it is read before the grant, and is ours.";
    plain_moved_first_of_another, "The same, and the node is another attempt's: the contender enters anew, and its own node is searched for.";
    plain_moved_first_not_read, "The same, and the server has not executed the read: read again after a pause.";
    plain_moved_first_forbidden, "The same, and the server denies the read: refused.";
    plain_search_reads_two, "The search for what a create has made reads two nodes: the first one is ours, and is deleted before the second one is read.";
    plain_create_lost_twice, "A second create is lost while the first one's node is searched for: the search begins anew, and looks for both.";
    single_changed_by_another, "Another client has written into the holder's node: its transaction still shows whose it is.";
    single_made_anew_in_our_session, "The single node is another one in our own session: the lock is lost.";
    single_with_our_words_of_another_session, "The single node has our words, and belongs to another session: it is not ours.";
    single_search_answered_late, "A search is made again, and the check before it is answered late: that answer is none to the search.";
}

/// First in a queue of plain names, in a session that has moved.
fn plain_first(story: &mut Recorder) -> u64 {
    let key = ask_after_a_move(story, &[("layout", json!("plain"))]);
    story.created_at(&at("node_0000000003"), 40);
    story.children(&["node_0000000003"]).says(&["get"]);
    key
}

/// What an attempt of a machine writes into its node.
fn data(key: u64, attempt: u32) -> String {
    format!("{key:08x}00000000000000000000feed-{attempt}")
}

fn read(story: &mut Recorder, key: u64, attempt: u32, czxid: i64) -> &mut Recorder {
    let reply = story.reply_data(&data(key, attempt), 1, czxid);
    story.answer("get", reply)
}

fn plain_moved_first(story: &mut Recorder) {
    let key = plain_first(story);
    read(story, key, 1, 41).says(&["acquired"]);
}

fn plain_moved_first_of_another(story: &mut Recorder) {
    let key = plain_first(story);
    read(story, key, 7, 41);
    story.says(&["sync", "check", "children", "create", "children"]);
}

fn plain_moved_first_not_read(story: &mut Recorder) {
    let key = plain_first(story);
    story.error("get", code::THROTTLED).says(&[]);
    story.waits_for(Some("retry")).timeout().says(&["get"]);
    read(story, key, 1, 41).says(&["acquired"]);
}

fn plain_moved_first_forbidden(story: &mut Recorder) {
    plain_first(story);
    story.error("get", code::NO_AUTH);
    story.says(&["delete", "sync", "check", "children"]);
    story.done("delete").answer_routine().children(&[]);
    story.says(&["refused no-permission"]);
}

/// A create in plain names is not answered, and its node is searched for.
fn plain_search(story: &mut Recorder) -> u64 {
    warm(story);
    let key = story.open(&settings(&[("layout", json!("plain"))]));
    story.acquire(key).fail("create", "unknown").children(&[]);
    key
}

fn plain_search_reads_two(story: &mut Recorder) {
    let key = plain_search(story);
    story.cancel(key).says(&["sync", "check", "children"]);
    story.done("sync").checked();
    story.children(&["node_0000000003", "node_0000000004"]);
    story.says(&["get", "get"]);
    read(story, key, 1, 41).says(&["delete"]);
    story.done("delete").says(&[]);
    let reply = story.reply_data("somebody", 9, 42);
    story.answer("get", reply).says(&["refused cancelled"]);
    story.close(key).leaves(0);
}

fn plain_create_lost_twice(story: &mut Recorder) {
    let key = plain_search(story);
    story.timeout();
    story.says(&["sync", "check", "children", "create", "children"]);
    // The first search has no answer yet when the second create has none.
    let list = story.last_id("children");
    story.fail("create", "unknown");
    let none = story.reply_children(&[]);
    story.answer_id(list, none).says(&[]);
    story.waits_for(Some("retry")).timeout();
    story.says(&["sync", "check", "children", "create", "children"]);
    let searching = story.last_id("sync");
    story.answer_id(searching, story.reply_done());
    story.answer_id(searching + 1, story.reply_children(&[]));
    let both = story.reply_children(&["node_0000000003", "node_0000000004"]);
    story.answer_id(searching + 2, both).says(&["get", "get"]);
    for (attempt, czxid) in [(1, 41), (2, 42)] {
        read(story, key, attempt, czxid).says(&["delete"]);
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
    story.disconnected().given(1).says(&["check", "get"]);
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
    single_read_again(story, "notes", 1, 41, 1).says(&["resumed"]);
}

fn single_made_anew_in_our_session(story: &mut Recorder) {
    let said = ["lost deleted", "sync", "check", "get"];
    single_read_again(story, "somebody", 1, 41, 0).says(&said);
}

fn single_with_our_words_of_another_session(story: &mut Recorder) {
    let said = ["lost deleted", "sync", "check", "get"];
    single_read_again(story, &data(2, 1), 9, 45, 0).says(&said);
}

fn single_search_answered_late(story: &mut Recorder) {
    let key = single::hold(story);
    story.release(key).fail("delete", "unknown").timeout();
    story.says(&["sync", "check", "get"]);
    story.error("sync", code::THROTTLED).says(&[]);
    let late = story.last_id("sync") + 1;
    story.timeout().says(&["sync", "check", "get"]);
    let reply = story.reply_children(&[]);
    story.answer_id(late, reply).says(&[]);
    story.close(key);
}

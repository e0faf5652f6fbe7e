//! Other clients' names, and contenders that do not recognise each other.

use serde_json::{Value, json};

use super::{DIR, acquire, at, code, own, warm};
use crate::{cases::cases, transcript::Recorder};

cases! { "zookeeper":
    mixed_layouts,
        "A contender of Kazoo's layout comes later: it does not recognise this contender and may be granted \
         the lock, too. The lock is granted, and the foreign contender is reported by name.",
        "measured: Kazoo and Curator hold the same lock at once";
    mixed_layouts_before_ours,
        "A contender of Kazoo's layout has come earlier: the contender waits for it, in the order of the \
         numbers, and reports it once.";
    kazoo_names,
        "The layout of Kazoo: its names, its marks, and parents that stay, because Kazoo does not create \
         them again.";
    downgraded_writer_of_kazoos,
        "A mutex in Kazoo's layout is behind a writer, which has the name of a mutex. When that node is \
         gone, the list shows the reader's node of the downgraded writer, and the mutex waits for it.";
    downgraded_writer_before_a_leader, "The same for an election in Kazoo's layout.";
    downgraded_writer_before_many_locks, "The same for one of several locks in Kazoo's layout.";
    plain_names,
        "The layout of home-made locks: any prefix, nothing else in the name, the attempt in the data.";
    plain_create_lost,
        "A plain name does not identify its attempt, so a list cannot show the node of a lost create: the \
         contender enqueues again, and that node is searched for by its data.";
    plain_node_of_an_earlier_attempt,
        "After a move a create is answered with a node of an earlier attempt, which is gone when it is \
         read: the node that the create has really made is searched for and deleted, or the contender would \
         wait for itself.",
        "the simulator: a contender that waited for a node of its own";
    clean_up_after_the_grant,
        "The search for the node of a lost create fails, and the grant comes before the next search: the \
         search is repeated during the grant, and does not wait for the release.",
        "the simulator: a semaphore whose abandoned permit stayed taken for as long as its owner held \
         another one";
    election,
        "An election writes what Curator's LeaderLatch writes: the participant's id is the node's data.";
    asked_for_the_lock,
        "Another client writes Curator's revocation request into the holder's node: reported once, and the \
         lock is kept.",
        "Curator's Revoker";
    asked_while_waiting,
        "The revocation request is written while its contender waits: reported after the grant.";
}

fn kind(more: Value) -> Value {
    let mut settings = json!({"kind": "zookeeper-mutex", "name": "stock", "prefix": "shop"});
    if let (Value::Object(settings), Value::Object(more)) = (&mut settings, more) {
        settings.extend(more);
    }
    settings
}

fn ask(story: &mut Recorder, more: Value) -> u64 {
    let key = story.open(&kind(more));
    story.acquire(key);
    key
}

const KAZOO: &str = "0123456789abcdef0123456789abcdef__lock__";

fn mixed_layouts(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story
        .created(3, 41)
        .children(&[&own(key, 3), &format!("{KAZOO}0000000004")]);
    story.returns(&["mixed-layouts", "acquired"]);
}

fn mixed_layouts_before_ours(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    let theirs = format!("{KAZOO}0000000002");
    story.created(3, 41).children(&[&own(key, 3), &theirs]);
    story
        .returns(&["mixed-layouts", "get", "queued", "get"])
        .answer_routine();
    story.watch(&at(&theirs), "deleted").returns(&["children"]);
    story.children(&[&own(key, 3)]).returns(&["acquired"]);
}

fn kazoo_names(story: &mut Recorder) {
    warm(story);
    let key = ask(story, json!({"layout": "kazoo"}));
    story.error("create", code::NO_NODE);
    story.error("children", code::NO_NODE);
    story.returns(&["create", "create", "create", "children"]);
    story.created_parent().created_parent();
    let own = format!("{key:08x}00000000000000000000feef__lock__0000000003");
    let earlier = format!("{KAZOO}0000000002");
    story.created_at(&at(&own), 41).children(&[&own, &earlier]);
    story.returns(&["get", "queued", "get"]).answer_routine();
    story.watch(&at(&earlier), "deleted").returns(&["children"]);
    story.children(&[&own]).returns(&["acquired"]);
}

fn downgraded_writer_of_kazoos(story: &mut Recorder) {
    warm(story);
    let key = ask(story, json!({"layout": "kazoo"}));
    behind_a_downgrading_writer(story, key);
}

/// Behind a writer of Kazoo's layout that is downgraded to a reader, and then leaves.
fn behind_a_downgrading_writer(story: &mut Recorder, key: u64) {
    let own = format!("{key:08x}00000000000000000000feee__lock__0000000003");
    let writer = format!("{KAZOO}0000000002");
    let reader = writer.replace("__lock__", "__rlock__");
    story.created_at(&at(&own), 41).children(&[&own, &writer]);
    story.returns(&["get", "queued", "get"]).answer_routine();
    story.watch(&at(&writer), "deleted").returns(&["children"]);
    story.children(&[&own, &reader]).returns(&["get", "queued"]);
    story.answer_routine();
    story.watch(&at(&reader), "deleted").returns(&["acquired"]);
}

fn downgraded_writer_before_a_leader(story: &mut Recorder) {
    warm(story);
    let settings =
        json!({"kind": "zookeeper-election", "name": "stock", "prefix": "shop", "layout": "kazoo"});
    let key = story.open(&settings);
    story.acquire(key);
    behind_a_downgrading_writer(story, key);
}

fn downgraded_writer_before_many_locks(story: &mut Recorder) {
    warm(story);
    let settings = json!({"kind": "zookeeper-multi-lock", "names": ["stock", "till"], "prefix": "shop", "layout": "kazoo"});
    let key = story.open(&settings);
    story.acquire(key);
    let own = |number: &str| format!("{key:08x}00000000000000000000feee__lock__{number}");
    let (first, second) = (own("0000000003"), own("0000000008"));
    let writer = format!("{KAZOO}0000000002");
    let reader = writer.replace("__lock__", "__rlock__");
    let names = story.reply_children(&[&first, &second]);
    story.answer("multi", names);
    story.children(&[&first, &writer]).present(41).present(42);
    story.children(&[&second]).present(43).answer_routine();
    story.watch(&at(&writer), "deleted").returns(&["children"]);
    story
        .children(&[&first, &reader])
        .returns(&["get"])
        .answer_routine();
    story.watch(&at(&reader), "deleted").returns(&["acquired"]);
}

fn plain_names(story: &mut Recorder) {
    warm(story);
    ask(
        story,
        json!({"layout": "plain", "node_prefix": "n-", "identifier": "till 7"}),
    );
    let nodes = ["n-0000000003", "n-0000000002", "node-0000000001", "notes"];
    story.created_at(&at(nodes[0]), 41).children(&nodes);
    story.returns(&["get", "queued", "get"]).answer_routine();
    story.watch(&at(nodes[1]), "deleted").returns(&["acquired"]);
}

fn plain_create_lost(story: &mut Recorder) {
    warm(story);
    let key = ask(story, json!({"layout": "plain"}));
    story.fail("create", "unknown").children(&["node_0000000003"]);
    story.timeout();
    // A barrier and a list search for the node; a new node is created behind it.
    story.returns(&["sync", "check", "children", "create", "children"]);
    let searching = story.last_id("sync");
    story.answer_id(searching, story.reply_done());
    story.answer_id(searching + 1, story.reply_children(&[]));
    story.answer_id(searching + 2, story.reply_children(&["node_0000000003"]));
    story.returns(&["get"]);
    let first = format!("{key:08x}00000000000000000000feed-1");
    let reply = story.reply_data(&first, 1, 40);
    story.answer("get", reply).returns(&["delete"]);
    story.created_at(&at("node_0000000004"), 41);
    story.children(&["node_0000000003", "node_0000000004"]);
    story.returns(&["get", "queued", "get"]).answer_routine();
    story
        .watch(&at("node_0000000003"), "deleted")
        .returns(&["acquired"]);
}

fn plain_node_of_an_earlier_attempt(story: &mut Recorder) {
    warm(story);
    let key = story.open(&kind(json!({"layout": "plain"})));
    story.disconnected().given(1).done("sync").acquire(key);
    story.created_at(&at("node_0000000003"), 40);
    story.children(&["node_0000000003", "node_0000000004"]);
    story.returns(&["get"]).error("get", code::NO_NODE);
    story.returns(&["sync", "check", "children", "create", "children"]);
    let searching = story.last_id("sync");
    story.answer_id(searching, story.reply_done());
    story.answer_id(searching + 1, story.reply_children(&[]));
    story.answer_id(searching + 2, story.reply_children(&["node_0000000004"]));
    story.returns(&["get"]);
    let first = format!("{key:08x}00000000000000000000feed-1");
    let reply = story.reply_data(&first, 1, 41);
    story.answer("get", reply).returns(&["delete"]).done("delete");
}

fn clean_up_after_the_grant(story: &mut Recorder) {
    warm(story);
    ask(story, json!({"layout": "plain"}));
    story.fail("create", "unknown").children(&[]).timeout();
    story.returns(&["sync", "check", "children", "create", "children"]);
    let searching = story.last_id("sync");
    story.error("sync", code::THROTTLED).returns(&[]);
    story.answer_id(searching + 1, story.reply_children(&[]));
    story.answer_id(searching + 2, story.reply_children(&[]));
    story
        .created_at(&at("node_0000000004"), 41)
        .children(&["node_0000000004"]);
    story.returns(&["acquired", "sync", "check", "children"]);
}

fn election(story: &mut Recorder) {
    warm(story);
    let settings =
        json!({"kind": "zookeeper-election", "name": "stock", "prefix": "shop", "identifier": "node-7"});
    let key = story.open(&settings);
    story.acquire(key);
    let own = own(key, 3).replace("-lock-", "-latch-");
    story.created_at(&format!("{DIR}/{own}"), 41).children(&[&own]);
    story.returns(&["acquired"]);
}

fn asked_for_the_lock(story: &mut Recorder) {
    warm(story);
    let key = ask(story, json!({"revocable": true}));
    story.created(3, 41).children(&[&own(key, 3)]);
    story.returns(&["acquired", "get"]).answer_routine();
    story.watch(&at(&own(key, 3)), "changed").returns(&["get"]);
    let reply = story.reply_data("__REVOKE__", 1, 41);
    story.answer("get", reply).returns(&["revoke-requested"]);
    story.watch(&at(&own(key, 3)), "changed").returns(&["get"]);
    let reply = story.reply_data("__REVOKE__", 1, 41);
    story.answer("get", reply).returns(&[]);
}

fn asked_while_waiting(story: &mut Recorder) {
    let key = super::queue(story);
    story.watch(&at(&own(key, 3)), "changed").returns(&["get"]);
    let reply = story.reply_data("__REVOKE__", 1, 41);
    story.answer("get", reply).returns(&[]);
    let watch = at(&super::other(2));
    story
        .watch(&watch, "deleted")
        .returns(&["acquired", "revoke-requested"]);
}

//! The directory of the contenders: missing, forbidden, removed.

use serde_json::json;

use super::{acquire, code, own_of_attempt, recipes::begin, warm};
use crate::{cases::cases, transcript::Recorder};

cases! { "zookeeper":
    first_acquire,
        "The directory does not exist: the second round of commands creates it, as containers, and enqueues \
         the contender. A parent that exists is no error.",
        "CURATOR-173: directories that no client removes";
    parents_not_ours_to_make,
        "The client may not create a parent that exists: this is no error either, because only the \
         contender's own create decides.";
    no_containers,
        "A server before 3.5.3 knows no containers: the directories are created as persistent nodes.";
    no_creates,
        "A server before 3.5 knows neither containers nor the create that some client libraries send, and \
         closes the connection after its error: refused, without repeated reconnects.";
    no_creates_for_many,
        "The same for a multi-lock, although the server knows the transaction that would create its own \
         nodes.";
    missing_chroot, "A directory is missing however often it is created: refused, not retried for ever.",
        "the classic zk://host/chroot, with a chroot that was never created";
    parents_throttled,
        "A server that sheds load creates none of the directories: they are created again, however often \
         this happens.",
        "ZOOKEEPER-3243: throttled requests are answered at once, and not carried out";
    parents_of_many_throttled, "The same for a multi-lock.";
    parent_reaped_in_between,
        "The leader reaps the empty container between its creation and the contender's create: it is \
         created again.",
        "CURATOR-180, CURATOR-724";
    directory_removed_with_the_node,
        "The list finds no directory although the node was created: another client has removed both, or the \
         server is behind. So the client deletes the node in case it exists, and the contender enqueues \
         again.",
        "zk-ruby and .NET DistributedLock delete the parent on release";
}

fn no_directory(story: &mut Recorder) {
    story
        .error("create", code::NO_NODE)
        .error("children", code::NO_NODE)
        .returns(&["create", "create", "create", "children"]);
}

fn first_acquire(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    no_directory(story);
    story.parent_error(code::NODE_EXISTS).created_parent();
    story.created(0, 41).returns(&[]);
    story
        .children(&[&own_of_attempt(key, 2, 0)])
        .returns(&["acquired"]);
}

fn parents_not_ours_to_make(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    no_directory(story);
    story.parent_error(code::NO_AUTH).created_parent();
    story.created(0, 41);
    story
        .children(&[&own_of_attempt(key, 2, 0)])
        .returns(&["acquired"]);
}

fn no_containers(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    no_directory(story);
    story
        .parent_error(code::UNIMPLEMENTED)
        .parent_error(code::UNIMPLEMENTED);
    no_directory(story);
    story.created_parent().created_parent().created(0, 41);
    story
        .children(&[&own_of_attempt(key, 3, 0)])
        .returns(&["acquired"]);
}

fn no_creates(story: &mut Recorder) {
    warm(story);
    acquire(story);
    no_directory(story);
    story
        .parent_error(code::UNIMPLEMENTED)
        .parent_error(code::UNIMPLEMENTED);
    no_directory(story);
    story.parent_error(code::UNIMPLEMENTED).fail("create", "unknown");
    story.error("create", code::UNIMPLEMENTED);
    story
        .fail("children", "unknown")
        .returns(&["refused unsupported"]);
}

fn no_creates_for_many(story: &mut Recorder) {
    let many = json!({"kind": "zookeeper-multi-lock", "names": ["stock", "till"], "prefix": "shop"});
    begin(story, &many);
    story.returns(&["multi"]).error("multi", code::NO_NODE);
    story
        .parent_error(code::UNIMPLEMENTED)
        .parent_error(code::UNIMPLEMENTED)
        .parent_error(code::UNIMPLEMENTED)
        .parent_error(code::UNIMPLEMENTED);
    story.error("multi", code::NO_NODE);
    story.returns(&["create", "create", "create", "create", "multi"]);
    story
        .parent_error(code::UNIMPLEMENTED)
        .returns(&["refused unsupported"]);
}

fn missing_chroot(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    for _ in 0..4 {
        no_directory(story);
        story.parent_error(code::NO_NODE).parent_error(code::NO_NODE);
    }
    story
        .error("create", code::NO_NODE)
        .error("children", code::NO_NODE)
        .returns(&["refused no-parent"]);
    story.close(key).leaves(0);
}

fn parents_throttled(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    no_directory(story);
    for _ in 0..6 {
        story.parent_error(code::THROTTLED).fail("create", "unknown");
        story.error("create", code::NO_NODE);
        story.error("children", code::NO_NODE).returns(&[]);
        story.waits_for(Some("retry")).timeout();
        story.returns(&["create", "create", "create", "children"]);
    }
    story.created_parent().created_parent().created(0, 41);
    story
        .children(&[&own_of_attempt(key, 8, 0)])
        .returns(&["acquired"]);
}

fn parents_of_many_throttled(story: &mut Recorder) {
    let many = json!({"kind": "zookeeper-multi-lock", "names": ["stock", "till"], "prefix": "shop"});
    let key = begin(story, &many);
    story.returns(&["multi"]).error("multi", code::NO_NODE);
    for _ in 0..6 {
        story.parent_error(code::THROTTLED).created_parent();
        story.parent_error(code::THROTTLED).fail("create", "unknown");
        story.error("multi", code::NO_NODE).returns(&[]);
        story.waits_for(Some("retry")).timeout();
        story.returns(&["create", "create", "create", "create", "multi"]);
    }
    story.close(key);
}

fn parent_reaped_in_between(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    no_directory(story);
    story.created_parent().created_parent();
    no_directory(story);
    story.created_parent().created_parent().created(0, 41);
    story
        .children(&[&own_of_attempt(key, 3, 0)])
        .returns(&["acquired"]);
}

fn directory_removed_with_the_node(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story
        .created(3, 41)
        .error("children", code::NO_NODE)
        .returns(&["delete"]);
    story.error("delete", code::NO_NODE);
    story.waits_for(Some("retry")).timeout();
    no_directory(story);
    story.created_parent().created_parent().created(0, 45);
    story
        .children(&[&own_of_attempt(key, 3, 0)])
        .returns(&["acquired"]);
}

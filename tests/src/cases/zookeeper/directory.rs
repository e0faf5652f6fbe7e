//! The directory above the contenders: missing, forbidden, vanishing.

use serde_json::json;

use super::{acquire, code, own_of_attempt, recipes::begin, warm};
use crate::{cases::cases, transcript::Recorder};

cases! { "zookeeper":
    first_acquire, "No directory yet: a second flight makes it, as containers, and enters; a parent that exists is no error.",
        "CURATOR-173: directories that nobody removes";
    parents_not_ours_to_make, "No permission to create a parent that exists is no error either: only the own create tells.";
    no_containers, "A server before 3.5.3 knows no containers: the directories are made persistent.";
    no_creates, "A server before 3.5 knows neither containers nor the create that some client libraries send, and hangs up after saying so: refused, not connected to again and again.";
    no_creates_for_many, "The same of many locks at once, whose own nodes would be made by a transaction that the server knows.";
    missing_chroot, "A directory that is missing however often it is made is missing for good: refused, not retried for ever.",
        "the classic zk://host/chroot that nobody has created";
    parents_throttled, "A server that sheds load makes none of the directories: that passes, however often it does.",
        "ZOOKEEPER-3243: throttled requests are answered at once, and not carried out";
    parents_of_many_throttled, "The same of many locks at once.";
    parent_reaped_in_between, "The leader reaps the empty container between the making and the entering: it is made again.",
        "CURATOR-180, CURATOR-724";
    directory_removed_with_the_node, "The list finds no directory although the node was created: another client has removed both, or the server is behind. So the node is deleted, in case that it is there, and the contender enters anew.",
        "zk-ruby and .NET DistributedLock delete the parent on release";
}

fn no_directory(story: &mut Recorder) {
    story
        .error("create", code::NO_NODE)
        .error("children", code::NO_NODE)
        .says(&["create", "create", "create", "children"]);
}

fn first_acquire(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    no_directory(story);
    story.parent_error(code::NODE_EXISTS).created_parent();
    story.created(0, 41).says(&[]);
    story.children(&[&own_of_attempt(key, 2, 0)]).says(&["acquired"]);
}

fn parents_not_ours_to_make(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    no_directory(story);
    story.parent_error(code::NO_AUTH).created_parent();
    story.created(0, 41);
    story.children(&[&own_of_attempt(key, 2, 0)]).says(&["acquired"]);
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
    story.children(&[&own_of_attempt(key, 3, 0)]).says(&["acquired"]);
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
    story.fail("children", "unknown").says(&["refused unsupported"]);
}

fn no_creates_for_many(story: &mut Recorder) {
    let many = json!({"kind": "zookeeper-multi-lock", "names": ["stock", "till"], "prefix": "shop"});
    begin(story, &many);
    story.says(&["multi"]).error("multi", code::NO_NODE);
    story
        .parent_error(code::UNIMPLEMENTED)
        .parent_error(code::UNIMPLEMENTED)
        .parent_error(code::UNIMPLEMENTED)
        .parent_error(code::UNIMPLEMENTED);
    story.error("multi", code::NO_NODE);
    story.says(&["create", "create", "create", "create", "multi"]);
    story
        .parent_error(code::UNIMPLEMENTED)
        .says(&["refused unsupported"]);
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
        .says(&["refused no-parent"]);
    story.close(key).leaves(0);
}

fn parents_throttled(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    no_directory(story);
    for _ in 0..6 {
        story.parent_error(code::THROTTLED).fail("create", "unknown");
        story.error("create", code::NO_NODE);
        story.error("children", code::NO_NODE).says(&[]);
        story.waits_for(Some("retry")).timeout();
        story.says(&["create", "create", "create", "children"]);
    }
    story.created_parent().created_parent().created(0, 41);
    story.children(&[&own_of_attempt(key, 8, 0)]).says(&["acquired"]);
}

fn parents_of_many_throttled(story: &mut Recorder) {
    let many = json!({"kind": "zookeeper-multi-lock", "names": ["stock", "till"], "prefix": "shop"});
    let key = begin(story, &many);
    story.says(&["multi"]).error("multi", code::NO_NODE);
    for _ in 0..6 {
        story.parent_error(code::THROTTLED).created_parent();
        story.parent_error(code::THROTTLED).fail("create", "unknown");
        story.error("multi", code::NO_NODE).says(&[]);
        story.waits_for(Some("retry")).timeout();
        story.says(&["create", "create", "create", "create", "multi"]);
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
    story.children(&[&own_of_attempt(key, 3, 0)]).says(&["acquired"]);
}

fn directory_removed_with_the_node(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story
        .created(3, 41)
        .error("children", code::NO_NODE)
        .says(&["delete"]);
    story.error("delete", code::NO_NODE);
    story.waits_for(Some("retry")).timeout();
    no_directory(story);
    story.created_parent().created_parent().created(0, 45);
    story.children(&[&own_of_attempt(key, 3, 0)]).says(&["acquired"]);
}

//! A contender's reaction to a failed request, a late answer or an unexpected answer.

use serde_json::{Value, json};

use super::{
    DIR, QUOTA_EXCEEDED, acquire, at, code, hold, other, own, own_of_attempt, queue, queue_behind_two, warm,
};
use crate::{cases::cases, transcript::Recorder};

cases! { "zookeeper":
    parents_forbidden,
        "The directories are missing, and the server denies their creation each time: refused for that \
         reason.";
    parents_over_quota,
        "The directories are missing, and the server refuses to create them: its error is the reason.",
        "ZooKeeper 3.7: -125 with `enforceQuota`, reported as a missing directory";
    parents_not_answered,
        "The creates of the directories have no answer: that they are missing is no reason to give up.";
    parents_not_executed, "The server has executed none of the creates of the directories: the same.";
    parents_made_somewhere_else,
        "The answer to a directory's create names another path: it has the wrong shape.";
    directory_missing_and_list_throttled,
        "The create finds no directory, and the list is not executed: the directory is created at once.";
    directory_missing_and_list_forbidden,
        "The create finds no directory, and the server denies the list: refused.";
    client_not_authenticated,
        "The server has not accepted the client's credentials, and answers the create with that error.";
    list_before_a_pause,
        "The list has come, and then the connection pauses: the list is too old when the create is \
         answered.";
    predecessor_not_read, "The server has not executed the read of the predecessor: the client lists again.";
    predecessor_still_listed,
        "The predecessor is gone, and a list that is behind still shows it: it is watched again.";
    barrier_fails_before_the_list,
        "The barrier fails, and the list behind it has no answer yet: the retry does not wait for that \
         list.";
    number_taken_after_a_move,
        "After a move, the answer to the create may belong to an earlier request: an existing name is no \
         reason to give up.";
    number_taken, "The name exists, although the server numbers the names: the numbers are used up.";
    number_taken_in_plain_names,
        "The same in the plain layout, after a move: its names do not show whose they are.";
    own_node_missing_after_a_move, "After a move, the own node is not in the list: a new attempt enqueues.";
    grant_ends_before_the_node_is_read,
        "A suspended grant ends by the clock, and then the own node is read: it is not resumed.";
    grant_ends_as_the_node_is_read, "The same at the very moment at which it ends.";
    grant_that_would_end_too_soon,
        "The contender is first when an eighth of the session's time is left: it waits for the next proof. \
         A moment earlier it would have been granted.";
    grant_that_lasts_just_long_enough, "The same one moment earlier: granted.";
    own_node_not_readable_as_holder,
        "The server denies a holder the read of its node: the session's proof decides, and the grant stays.";
    own_node_not_read_while_suspended,
        "The connection is back, and the server has not executed the read of the own node: read again after \
         a pause, and resumed.";
    connected_twice,
        "The driver reports a connection that it has reported before: nothing is read again because of \
         that.";
    own_node_read_across_a_downgrade,
        "The read of a writer's node is answered when the node has become a reader's: the old node's end is \
         no loss.";
    duplicate_deleted_after_a_reconnect,
        "The connection is lost before the delete of a duplicate node is answered: the node is deleted \
         after the reconnect.";
    duplicate_deleted_after_a_pause,
        "The delete of a duplicate node has no answer: it is repeated while the lock is held.";
    search_behind_a_refused_check,
        "The check of the barrier is not executed, so the list behind it proves nothing.";
    probe_of_the_wrong_shape, "A check is answered as a sync is: the answer has the wrong shape.";
    permit_tried_at_the_head,
        "A nonblocking acquire is first in the queue, and all permits are taken: refused at once.";
    permits_changed_twice,
        "The permits change, and all are taken as before: the next change is noticed, too.";
}

pub(super) fn settings(more: &[(&str, Value)]) -> Value {
    let mut settings = super::settings();
    for (option, value) in more {
        settings[*option] = value.clone();
    }
    settings
}

/// The end of the time that the confirmations of `warm` prove.
const PROVED: u64 = 8_908_000;

fn no_directory(story: &mut Recorder) {
    story
        .error("create", code::NO_NODE)
        .error("children", code::NO_NODE);
    story.returns(&["create", "create", "create", "children"]);
}

fn parents_forbidden(story: &mut Recorder) {
    parents_denied(story, code::NO_AUTH, "refused no-permission");
}

fn parents_over_quota(story: &mut Recorder) {
    parents_denied(story, QUOTA_EXCEEDED, "refused server-error");
}

fn parents_denied(story: &mut Recorder, error: i32, expected: &str) {
    warm(story);
    let key = acquire(story);
    no_directory(story);
    for _ in 0..3 {
        story.parent_error(code::NODE_EXISTS).parent_error(error);
        no_directory(story);
    }
    story.parent_error(code::NODE_EXISTS).parent_error(error);
    story
        .error("create", code::NO_NODE)
        .error("children", code::NO_NODE);
    story.returns(&[expected]).close(key).leaves(0);
}

fn parents_not_answered(story: &mut Recorder) {
    parents_postponed(story, |story| {
        story.fail("create", "unknown").fail("create", "not-sent");
    });
}

fn parents_not_executed(story: &mut Recorder) {
    parents_postponed(story, |story| {
        story.parent_error(code::THROTTLED).parent_error(code::THROTTLED);
    });
}

/// Temporary failures of the creation of directories, more often than a client tries to create them.
fn parents_postponed(story: &mut Recorder, fails: impl Fn(&mut Recorder)) {
    warm(story);
    acquire(story);
    no_directory(story);
    for _ in 0..5 {
        fails(story);
        story
            .error("create", code::NO_NODE)
            .error("children", code::NO_NODE);
        story.returns(&[]).waits_for(Some("retry")).timeout();
        story.returns(&["create", "create", "create", "children"]);
    }
}

fn parents_made_somewhere_else(story: &mut Recorder) {
    warm(story);
    acquire(story);
    no_directory(story);
    let reply = story.reply_created("/elsewhere", 20);
    story.answer_wrongly("create", reply);
}

fn directory_missing_and_list_throttled(story: &mut Recorder) {
    warm(story);
    acquire(story);
    story.error("create", code::NO_NODE);
    story.error("children", code::THROTTLED);
    story.returns(&["create", "create", "create", "children"]);
}

fn directory_missing_and_list_forbidden(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story.error("create", code::NO_NODE);
    story.error("children", code::NO_AUTH);
    story.returns(&["refused no-permission"]).close(key).leaves(0);
}

fn client_not_authenticated(story: &mut Recorder) {
    warm(story);
    acquire(story);
    story.error("create", code::AUTH_FAILED).children(&[]);
    story.returns(&["refused auth-failed"]);
}

fn list_before_a_pause(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story.children(&[&own(key, 3)]).returns(&[]);
    story.session_is("suspended").given(1);
    story.created(3, 41).returns(&[]).waits_for(Some("retry"));
    story.timeout().returns(&["sync", "children"]);
    story.done("sync").children(&[&own(key, 3)]);
}

fn predecessor_not_read(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story.created(3, 41).children(&[&other(2), &own(key, 3)]);
    story.error("get", code::THROTTLED).returns(&[]);
    story.waits_for(Some("retry")).timeout();
    story.returns(&["sync", "children"]);
}

fn predecessor_still_listed(story: &mut Recorder) {
    let key = queue_behind_two(story);
    story.watch(&at(&other(2)), "deleted").returns(&["children"]);
    story.children(&[&other(1), &other(2), &own(key, 3)]);
    story.returns(&["get", "queued"]).error("get", code::NO_NODE);
    story.returns(&["children"]);
}

fn barrier_fails_before_the_list(story: &mut Recorder) {
    let key = queue(story);
    story.disconnected().connected(1).checked();
    story.fail("sync", "unknown").waits_for(Some("retry"));
    story.children(&[&own(key, 3)]).returns(&[]);
    story.timeout().returns(&["sync", "children"]);
}

/// A machine whose session has moved to another connection. It acquires the lock.
pub(super) fn ask_after_a_move(story: &mut Recorder, more: &[(&str, Value)]) -> u64 {
    warm(story);
    let key = story.open(&settings(more));
    story.disconnected().connected(1).answer_routine().acquire(key);
    key
}

fn number_taken_after_a_move(story: &mut Recorder) {
    ask_after_a_move(story, &[]);
    story.error("create", code::NODE_EXISTS).children(&[]);
    story.returns(&[]).waits_for(Some("retry")).timeout();
    story.returns(&["create", "children"]);
}

fn number_taken(story: &mut Recorder) {
    warm(story);
    acquire(story);
    story.error("create", code::NODE_EXISTS).children(&[]);
    story.returns(&["refused sequence-exhausted"]);
}

fn number_taken_in_plain_names(story: &mut Recorder) {
    ask_after_a_move(story, &[("layout", json!("plain"))]);
    story.error("create", code::NODE_EXISTS).children(&[]);
    story.returns(&["sync", "check", "children"]).answer_routine();
    story.children(&[]).returns(&["refused sequence-exhausted"]);
}

fn own_node_missing_after_a_move(story: &mut Recorder) {
    let key = queue(story);
    story.disconnected().connected(1).answer_routine();
    story.children(&[&other(2)]);
    story.returns(&["create", "children", "delete"]).created(4, 44);
    story.children(&[&own_of_attempt(key, 2, 4)]);
    story.returns(&["acquired"]);
}

fn suspend_a_grant(story: &mut Recorder) {
    hold(story);
    story.disconnected().given(1).returns(&["check", "get"]);
}

fn grant_ends_before_the_node_is_read(story: &mut Recorder) {
    suspend_a_grant(story);
    story.after(PROVED + 1).present(41).returns(&[]);
}

fn grant_ends_as_the_node_is_read(story: &mut Recorder) {
    suspend_a_grant(story);
    story.after(PROVED).present(41).returns(&[]);
}

/// An eighth of the session's timeout.
const LEAST: u64 = 1_125_000;

fn grant_that_would_end_too_soon(story: &mut Recorder) {
    queue(story);
    story.after(PROVED - LEAST).watch(&at(&other(2)), "deleted");
    story.returns(&[]);
}

fn grant_that_lasts_just_long_enough(story: &mut Recorder) {
    queue(story);
    story.after(PROVED - LEAST - 1);
    story.watch(&at(&other(2)), "deleted").returns(&["acquired"]);
}

fn own_node_not_readable_as_holder(story: &mut Recorder) {
    let key = hold(story);
    story
        .timeout_of("renew")
        .confirmed()
        .returns(&["extended", "get"]);
    story.error("get", code::NO_AUTH).returns(&[]);
    story.release(key).returns(&["delete"]);
}

fn own_node_not_read_while_suspended(story: &mut Recorder) {
    suspend_a_grant(story);
    story.error("get", code::THROTTLED).returns(&[]);
    story.waits_for(Some("retry")).timeout().returns(&["get"]);
    story.present(41).returns(&["resumed"]);
}

fn connected_twice(story: &mut Recorder) {
    let key = hold(story);
    story.given(1).returns(&["check", "extended", "get"]);
    story.release(key).returns(&["delete"]);
}

fn own_node_read_across_a_downgrade(story: &mut Recorder) {
    let (key, [_, reader]) = super::downgrade::write(story);
    story.timeout_of("renew").confirmed();
    let read = story.last_id("get");
    story.downgrade(key).returns(&["multi"]);
    let gone = story.reply_error(code::NO_NODE);
    story.answer_id(read, gone).returns(&[]);
    super::downgrade::downgraded(story, &reader);
    story.release(key).returns(&["delete"]);
}

/// A holder whose duplicate node is being deleted.
fn hold_with_a_duplicate(story: &mut Recorder) -> u64 {
    warm(story);
    let key = acquire(story);
    story.disconnected().connected(1).checked().created(5, 50);
    let queue = [own(key, 3), own(key, 5)];
    let queue = [&*queue[0], &*queue[1]];
    story.children(&queue).returns(&["get", "children"]);
    story.present(41).children(&queue);
    story.returns(&["delete", "acquired"]);
    key
}

fn duplicate_deleted_after_a_reconnect(story: &mut Recorder) {
    hold_with_a_duplicate(story);
    story.disconnected().given(1);
    story.returns(&["check", "get", "delete"]);
}

fn duplicate_deleted_after_a_pause(story: &mut Recorder) {
    hold_with_a_duplicate(story);
    story.fail("delete", "unknown").returns(&[]);
    story.waits_for(Some("retry")).timeout();
    story.returns(&["get", "delete"]).done("delete").returns(&[]);
}

fn search_behind_a_refused_check(story: &mut Recorder) {
    warm(story);
    let key = story.open(&settings(&[]));
    story.acquire_within(key, 200_000).timeout();
    story.disconnected().connected(1).checked();
    story.done("sync").error("check", code::THROTTLED);
    story.children(&[&other(2)]).returns(&[]);
    story.waits_for(Some("retry")).timeout();
    story.returns(&["sync", "check", "children"]);
}

fn probe_of_the_wrong_shape(story: &mut Recorder) {
    hold(story);
    story.timeout_of("renew").returns(&["check"]);
    let reply = story.reply_done();
    story.answer_wrongly("check", reply).returns(&[]);
}

fn permit_tried_at_the_head(story: &mut Recorder) {
    warm(story);
    let semaphore = json!({"kind": "zookeeper-semaphore", "name": "stock", "prefix": "shop", "permits": 1});
    let key = story.open(&semaphore);
    story.try_acquire(key);
    let number = story.reply_data("1", 0, 9);
    story.answer("get", number);
    story.created_at(&format!("{DIR}/locks/{}", own(key, 3)), 41);
    story.children(&[&own(key, 3)]).returns(&["create", "children"]);
    super::semaphore::take(story, key, &["a-lease-0000000001"]);
    story.returns(&["delete", "delete"]).done("delete").done("delete");
    story.returns(&["refused not-available"]).close(key).leaves(0);
}

fn permits_changed_twice(story: &mut Recorder) {
    let (key, [first, second]) = super::semaphore::wait_for_a_permit(story);
    let own = super::semaphore::lease(key, 7);
    for _ in 0..2 {
        story.watch(&format!("{DIR}/leases"), "changed");
        story.returns(&["children"]);
        story.children(&[&first, &second, &own]).returns(&[]);
    }
}

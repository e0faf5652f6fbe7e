//! Giving back, until the server has answered.

use super::{acquire, at, code, hold, other, own};
use crate::{cases::cases, transcript::Recorder};

cases! { "zookeeper":
    release_lost, "The delete's reply is lost: it is repeated, and finds that it was executed.",
        "CURATOR-486, CURATOR-678: the holder's own orphan blocked it";
    release_repeated, "A delete that fails is repeated until the server has answered, later every time.",
        "kazoo#732: one delete, never repeated";
    release_while_suspended, "A release without a connection is carried out when it is back.";
    release_cut_off, "The connection breaks while the delete is under way: repeated after the reconnect.";
    release_and_expired, "The session ends before the release is carried out: that is a release, too.";
    own_watch_after_the_release, "The watch on the own node fires with its own release: that is no loss.";
    shutdown_leaves_nothing, "A client is closed with a holder and a waiter: both nodes are deleted, and nothing is told.";
}

fn release_lost(story: &mut Recorder) {
    let key = hold(story);
    story.release(key).fail("delete", "unknown").says(&[]);
    story.waits_for(Some("retry")).timeout().says(&["delete"]);
    story.error("delete", code::NO_NODE).says(&["released"]);
    story.close(key).leaves(0);
}

fn release_repeated(story: &mut Recorder) {
    let key = hold(story);
    story.release(key).says(&["delete"]);
    story
        .error("delete", code::THROTTLED)
        .says(&[])
        .timeout()
        .says(&["delete"]);
    story
        .fail("delete", "not-sent")
        .says(&[])
        .timeout()
        .says(&["delete"]);
    story
        .error("delete", code::SESSION_MOVED)
        .says(&[])
        .timeout()
        .says(&["delete"]);
    story
        .error("delete", code::SESSION_EXPIRED)
        .says(&[])
        .timeout()
        .says(&["delete"]);
    story.done("delete").says(&["released"]);
}

fn release_while_suspended(story: &mut Recorder) {
    let key = hold(story);
    story.disconnected().release(key).says(&[]).waits_for(None);
    story.after(700_000).connected(1).says(&["check", "delete"]);
    story.done("delete").says(&["released"]);
}

fn release_cut_off(story: &mut Recorder) {
    let key = hold(story);
    story.release(key).disconnected().says(&[]);
    story.connected(1).says(&["check", "delete"]);
    story.done("delete").says(&["released"]);
}

fn release_and_expired(story: &mut Recorder) {
    let key = hold(story);
    story.disconnected().release(key).says(&[]);
    story.session_is("expired").says(&["released"]);
    story.close(key).leaves(0);
}

fn own_watch_after_the_release(story: &mut Recorder) {
    let key = hold(story);
    story
        .timeout()
        .confirmed()
        .present(41)
        .release(key)
        .says(&["delete"]);
    story.watch(&at(&own(key, 3)), "deleted").says(&[]);
    story.done("delete").says(&["released"]);
}

fn shutdown_leaves_nothing(story: &mut Recorder) {
    let holder = hold(story);
    let waiter = acquire(story);
    story
        .created(4, 42)
        .children(&[&own(holder, 3), &own(waiter, 4), &other(9)]);
    story
        .answer_routine()
        .shutdown()
        .says(&["delete", "delete"])
        .leaves(2);
    story.done("delete").done("delete").says(&[]).leaves(0);
}

//! Releases, up to the server's answer.

use super::{acquire, at, code, hold, other, own};
use crate::{cases::cases, transcript::Recorder};

cases! { "zookeeper":
    release_lost, "The delete's reply is lost: it is repeated, and finds that it was executed.",
        "CURATOR-486, CURATOR-678: the holder's own orphan blocked it";
    release_repeated,
        "A delete that fails is repeated until the server has answered, with longer and longer pauses.",
        "kazoo#732: one delete, never repeated";
    release_while_suspended, "A release without a connection is carried out after the reconnect.";
    release_cut_off,
        "The connection breaks while the delete is in flight: the delete is repeated after the reconnect.";
    release_and_expired, "The session ends before the release is carried out: that is a release, too.";
    own_watch_after_the_release, "The watch on the own node fires with its own release: that is no loss.";
    shutdown_leaves_nothing,
        "A client with a holder and a waiter is closed: both nodes are deleted, and nothing is reported.";
}

fn release_lost(story: &mut Recorder) {
    let key = hold(story);
    story.release(key).fail("delete", "unknown").returns(&[]);
    story.waits_for(Some("retry")).timeout().returns(&["delete"]);
    story.error("delete", code::NO_NODE).returns(&["released"]);
    story.close(key).leaves(0);
}

fn release_repeated(story: &mut Recorder) {
    let key = hold(story);
    story.release(key).returns(&["delete"]);
    story
        .error("delete", code::THROTTLED)
        .returns(&[])
        .timeout()
        .returns(&["delete"]);
    story
        .fail("delete", "not-sent")
        .returns(&[])
        .timeout()
        .returns(&["delete"]);
    story
        .error("delete", code::SESSION_MOVED)
        .returns(&[])
        .timeout()
        .returns(&["delete"]);
    story
        .error("delete", code::SESSION_EXPIRED)
        .returns(&[])
        .timeout()
        .returns(&["delete"]);
    story.done("delete").returns(&["released"]);
}

fn release_while_suspended(story: &mut Recorder) {
    let key = hold(story);
    story.disconnected().release(key).returns(&[]).waits_for(None);
    story.after(700_000).connected(1).returns(&["check", "delete"]);
    story.done("delete").returns(&["released"]);
}

fn release_cut_off(story: &mut Recorder) {
    let key = hold(story);
    story.release(key).disconnected().returns(&[]);
    story.connected(1).returns(&["check", "delete"]);
    story.done("delete").returns(&["released"]);
}

fn release_and_expired(story: &mut Recorder) {
    let key = hold(story);
    story.disconnected().release(key).returns(&[]);
    story.session_is("expired").returns(&["released"]);
    story.close(key).leaves(0);
}

fn own_watch_after_the_release(story: &mut Recorder) {
    let key = hold(story);
    story
        .timeout()
        .confirmed()
        .present(41)
        .release(key)
        .returns(&["delete"]);
    story.watch(&at(&own(key, 3)), "deleted").returns(&[]);
    story.done("delete").returns(&["released"]);
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
        .returns(&["delete", "delete"])
        .leaves(2);
    story.done("delete").done("delete").returns(&[]).leaves(0);
}

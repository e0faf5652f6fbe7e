//! Releases of grants that were lost before: the hub reports the loss, not a release.

use super::{code, downgrade, hold, recipes, semaphore, single};
use crate::{cases::cases, transcript::Recorder};

cases! { "zookeeper":
    release_after_a_pause,
        "A process pauses beyond its grant's end, and releases before the driver has reported the timeout: \
         lost, and the node is deleted.",
        "a real server: another client held the lock, and the first one's release was reported as a release";
    release_of_a_single_after_a_pause, "The same for a single node.";
    release_of_a_permit_after_a_pause, "The same for a semaphore's permit.";
    release_of_many_after_a_pause, "The same for a multi-lock: reported once.";
    release_of_a_reader_after_a_pause, "The same for a downgraded writer.";
    downgrade_after_a_pause, "A grant that has ended by the client's clock is not downgraded: lost.";
    release_of_a_deleted_node,
        "Another client has deleted the node before: the first delete finds nothing, so the lock was lost.";
    release_of_a_deleted_node_at_last,
        "The first delete was certainly not executed, and the second one finds nothing: lost, too.";
    release_of_a_deleted_single, "Another client has deleted the single node before: lost.";
    release_of_a_deleted_permit,
        "Another client has deleted the permit's node before: lost. The place in the queue does not matter.";
    release_of_many_of_which_one_was_deleted,
        "Another client has deleted one of two nodes before: a multi-lock holds all or none, so all were \
         lost.";
    release_of_a_deleted_writer_while_downgrading,
        "A downgrade is not answered, and the release finds neither of its two nodes: lost.";
}

/// Longer than any grant lasts.
const PAUSE: u64 = 20_000_000;

fn release_after_a_pause(story: &mut Recorder) {
    let key = hold(story);
    story.after(PAUSE).release(key);
    story.returns(&["lost lease-ended", "delete"]);
    story.error("delete", code::NO_NODE).returns(&[]);
    story.close(key).leaves(0);
}

fn release_of_a_single_after_a_pause(story: &mut Recorder) {
    let key = single::hold(story);
    story.after(PAUSE).release(key);
    story.returns(&["lost lease-ended", "delete"]);
    story.done("delete").returns(&[]).close(key).leaves(0);
}

fn release_of_a_permit_after_a_pause(story: &mut Recorder) {
    let key = semaphore::held(story);
    story.after(PAUSE).release(key);
    story.returns(&["lost lease-ended", "delete"]);
    story.done("delete").returns(&[]).close(key).leaves(0);
}

fn release_of_many_after_a_pause(story: &mut Recorder) {
    let key = recipes::hold_many(story);
    story.after(PAUSE).release(key);
    story.returns(&["lost lease-ended", "delete", "delete"]);
    story.done("delete").done("delete").returns(&[]);
    story.close(key).leaves(0);
}

fn release_of_a_reader_after_a_pause(story: &mut Recorder) {
    let (key, [_, reader]) = downgrade::write(story);
    story.downgrade(key).returns(&["multi"]);
    downgrade::downgraded(story, &reader);
    story.after(PAUSE).release(key);
    story.returns(&["lost lease-ended", "delete"]);
    story.done("delete").returns(&[]).close(key).leaves(0);
}

fn downgrade_after_a_pause(story: &mut Recorder) {
    let (key, _) = downgrade::write(story);
    story.after(PAUSE).downgrade(key);
    story.returns(&["lost lease-ended", "delete"]);
    story.done("delete").returns(&[]).close(key).leaves(0);
}

fn release_of_a_deleted_node(story: &mut Recorder) {
    let key = hold(story);
    story.release(key).error("delete", code::NO_NODE);
    story.returns(&["lost deleted"]).close(key).leaves(0);
}

fn release_of_a_deleted_node_at_last(story: &mut Recorder) {
    let key = hold(story);
    story.release(key).error("delete", code::THROTTLED).timeout();
    story.returns(&["delete"]).fail("delete", "not-sent").timeout();
    story.returns(&["delete"]).error("delete", code::NO_NODE);
    story.returns(&["lost deleted"]).close(key).leaves(0);
}

fn release_of_a_deleted_single(story: &mut Recorder) {
    let key = single::hold(story);
    story.release(key).error("delete", code::NO_NODE);
    story.returns(&["lost deleted"]).close(key).leaves(0);
}

fn release_of_a_deleted_permit(story: &mut Recorder) {
    let key = semaphore::held(story);
    story.release(key).error("delete", code::NO_NODE);
    story.returns(&["lost deleted"]).close(key).leaves(0);
}

fn release_of_many_of_which_one_was_deleted(story: &mut Recorder) {
    let key = recipes::release_many(story);
    story.error("delete", code::NO_NODE).returns(&["lost deleted"]);
    story.done("delete").returns(&[]).close(key).leaves(0);
}

fn release_of_a_deleted_writer_while_downgrading(story: &mut Recorder) {
    let (key, _) = downgrade::write(story);
    story.downgrade(key).returns(&["multi"]);
    story.release(key).returns(&["delete", "delete"]);
    story.error("multi", code::NO_NODE);
    story.error("delete", code::NO_NODE).returns(&[]);
    story
        .error("delete", code::NO_NODE)
        .returns(&["lost deleted"])
        .close(key)
        .leaves(0);
}

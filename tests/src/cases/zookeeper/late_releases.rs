//! Releases of what was lost before: the application hears that it was, and not that it has given it back.

use super::{code, downgrade, hold, recipes, semaphore, single};
use crate::{cases::cases, transcript::Recorder};

cases! { "zookeeper":
    release_after_a_pause, "A process stood still beyond its grant's end, and releases before anybody has looked at the clock: lost, and what is left is deleted.",
        "a real server: another client held the lock, and the first one's release was told as one";
    release_of_a_single_after_a_pause, "The same of a single node.";
    release_of_a_permit_after_a_pause, "The same of a semaphore's permit.";
    release_of_many_after_a_pause, "The same of many locks at once: told once.";
    release_of_a_reader_after_a_pause, "The same of a writer that has become a reader.";
    downgrade_after_a_pause, "A grant that has ended by its holder's clock is not downgraded: lost.";
    release_of_a_deleted_node, "Somebody has deleted the node before: the first delete finds nothing, so the lock was lost.";
    release_of_a_deleted_node_at_last, "The first delete was certainly not executed, and the second one finds nothing: lost, too.";
    release_of_a_deleted_single, "Somebody has deleted the single node before: lost.";
    release_of_a_deleted_permit, "Somebody has deleted the permit's node before: lost. Its place in the line has nothing to say.";
    release_of_many_of_which_one_was_deleted, "Somebody has deleted one of two nodes before: they were held all or none, so all were lost.";
    release_of_a_deleted_writer_that_turns, "A downgrade is not answered, and the release finds neither of its two nodes: lost.";
}

/// Longer than any grant lasts.
const PAUSE: u64 = 20_000_000;

fn release_after_a_pause(story: &mut Recorder) {
    let key = hold(story);
    story.after(PAUSE).release(key);
    story.says(&["lost lease-ended", "delete"]);
    story.error("delete", code::NO_NODE).says(&[]);
    story.close(key).leaves(0);
}

fn release_of_a_single_after_a_pause(story: &mut Recorder) {
    let key = single::hold(story);
    story.after(PAUSE).release(key);
    story.says(&["lost lease-ended", "delete"]);
    story.done("delete").says(&[]).close(key).leaves(0);
}

fn release_of_a_permit_after_a_pause(story: &mut Recorder) {
    let key = semaphore::held(story);
    story.after(PAUSE).release(key);
    story.says(&["lost lease-ended", "delete"]);
    story.done("delete").says(&[]).close(key).leaves(0);
}

fn release_of_many_after_a_pause(story: &mut Recorder) {
    let key = recipes::hold_many(story);
    story.after(PAUSE).release(key);
    story.says(&["lost lease-ended", "delete", "delete"]);
    story.done("delete").done("delete").says(&[]);
    story.close(key).leaves(0);
}

fn release_of_a_reader_after_a_pause(story: &mut Recorder) {
    let (key, [_, reader]) = downgrade::write(story);
    story.downgrade(key).says(&["multi"]);
    downgrade::turned(story, &reader);
    story.after(PAUSE).release(key);
    story.says(&["lost lease-ended", "delete"]);
    story.done("delete").says(&[]).close(key).leaves(0);
}

fn downgrade_after_a_pause(story: &mut Recorder) {
    let (key, _) = downgrade::write(story);
    story.after(PAUSE).downgrade(key);
    story.says(&["lost lease-ended", "delete"]);
    story.done("delete").says(&[]).close(key).leaves(0);
}

fn release_of_a_deleted_node(story: &mut Recorder) {
    let key = hold(story);
    story.release(key).error("delete", code::NO_NODE);
    story.says(&["lost deleted"]).close(key).leaves(0);
}

fn release_of_a_deleted_node_at_last(story: &mut Recorder) {
    let key = hold(story);
    story.release(key).error("delete", code::THROTTLED).timeout();
    story.says(&["delete"]).fail("delete", "not-sent").timeout();
    story.says(&["delete"]).error("delete", code::NO_NODE);
    story.says(&["lost deleted"]).close(key).leaves(0);
}

fn release_of_a_deleted_single(story: &mut Recorder) {
    let key = single::hold(story);
    story.release(key).error("delete", code::NO_NODE);
    story.says(&["lost deleted"]).close(key).leaves(0);
}

fn release_of_a_deleted_permit(story: &mut Recorder) {
    let key = semaphore::held(story);
    story.release(key).error("delete", code::NO_NODE);
    story.says(&["lost deleted"]).close(key).leaves(0);
}

fn release_of_many_of_which_one_was_deleted(story: &mut Recorder) {
    let key = recipes::release_many(story);
    story.error("delete", code::NO_NODE).says(&["lost deleted"]);
    story.done("delete").says(&[]).close(key).leaves(0);
}

fn release_of_a_deleted_writer_that_turns(story: &mut Recorder) {
    let (key, _) = downgrade::write(story);
    story.downgrade(key).says(&["multi"]);
    story.release(key).says(&["delete", "delete"]);
    story.error("multi", code::NO_NODE);
    story.error("delete", code::NO_NODE).says(&[]);
    story
        .error("delete", code::NO_NODE)
        .says(&["lost deleted"])
        .close(key)
        .leaves(0);
}

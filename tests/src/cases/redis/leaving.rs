//! Giving back.

use super::{FENCE, acquire, hold, wait};
use crate::{cases::cases, transcript::Recorder};

cases! { "redis":
    release_finds_somebody_else, "The first release finds somebody else's value: the grant had been lost, and the application is told so.",
        "node-redlock#168, node-redlock#185: release of a lost lock retried for two seconds, then a vague error";
    release_finds_nothing, "The first release finds no lock: the grant had ended before, and the application is told so.";
    release_tried_again, "A server that starts or fails over refuses for now: the release is repeated.";
    release_refused, "The server does not permit the release: the application is told, the lock goes with its lease.";
    release_without_memory, "The server has no memory for a release's tombstone, or says so in the words of Redis 6: repeated, and what it finds then is no loss, because the first one may have freed the lock.",
        "maxmemory with noeviction";
    release_without_a_disk, "The server takes no writes for want of a disk: the release is repeated.";
    extend_after_the_end, "A grant has ended by its holder's clock when more time is asked for, and the driver has not reported it: lost, and released.";
    release_after_the_end, "A grant has ended by its holder's clock when it is released, and the driver has not said so: lost, and given back all the same.",
        "a paused holder that leaves its block without an error";
    release_by_text, "The server has forgotten the script: its text is sent along, with the same arguments.",
        "SCRIPT FLUSH, restart, failover";
    release_of_a_closed_client, "Nothing will be sent any more: the release cannot be confirmed, and that is said.";
    release_stops_the_renewal, "A release overtakes a renewal that is under way: its late answer revives nothing.",
        "go-redsync#158, redisson#2515";
    shutdown_leaves_nothing, "A client is closed with a holder and a waiter: the lock is released, nothing is told, and nothing is left.";
}

fn release_finds_somebody_else(story: &mut Recorder) {
    let key = hold(story);
    story.release(key).foreign().says(&["lost taken"]).waits_for(None);
    story.close(key).leaves(0);
}

fn release_finds_nothing(story: &mut Recorder) {
    let key = hold(story);
    story
        .release(key)
        .absent()
        .says(&["lost deleted"])
        .close(key)
        .leaves(0);
}

fn release_tried_again(story: &mut Recorder) {
    let key = hold(story);
    story
        .release(key)
        .redis_error("call", "LOADING Redis is loading the dataset in memory")
        .says(&[]);
    story.timeout().says(&["call"]);
    story
        .redis_error("call", "READONLY You can't write against a read only replica.")
        .says(&[]);
    story.timeout().says(&["call"]).fail("call", "not-sent").says(&[]);
    story.timeout().says(&["call"]).own().says(&["released"]);
}

fn release_refused(story: &mut Recorder) {
    let key = hold(story);
    story
        .release(key)
        .redis_error("call", "NOPERM no permissions to run 'evalsha'");
    story
        .says(&["refused no-permission"])
        .waits_for(None)
        .close(key)
        .leaves(0);
}

fn release_without_memory(story: &mut Recorder) {
    for error in [
        "OOM command not allowed when used memory > 'maxmemory'. script: 5a1, on @user_script:9.",
        "ERR Error running script (call to f_5a1): @user_script:9: @user_script: 9: -OOM command not allowed when used memory > 'maxmemory'. ",
    ] {
        let key = hold(story);
        story.release(key).redis_error("call", error).says(&[]).timeout();
        story.says(&["call"]).absent().says(&["released"]);
        story.waits_for(None).close(key).leaves(0);
    }
}

fn release_without_a_disk(story: &mut Recorder) {
    let key = hold(story);
    let error =
        "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.";
    story.release(key);
    for _ in 0..2 {
        story
            .redis_error("call", error)
            .says(&[])
            .timeout()
            .says(&["call"]);
    }
    story
        .own()
        .says(&["released"])
        .waits_for(None)
        .close(key)
        .leaves(0);
}

fn extend_after_the_end(story: &mut Recorder) {
    let key = hold(story);
    story.after(9_000_000).extend(key);
    story.says(&["lost lease-ended", "call"]).own().says(&[]);
    story.waits_for(None).close(key).leaves(0);
}

fn release_after_the_end(story: &mut Recorder) {
    let key = hold(story);
    story.after(9_000_000).release(key);
    story.says(&["lost lease-ended", "call"]).own().says(&[]);
    story.waits_for(None).close(key).leaves(0);
}

fn release_by_text(story: &mut Recorder) {
    let key = hold(story);
    story
        .release(key)
        .redis_error("call", "NOSCRIPT No matching script.")
        .says(&["call"]);
    story.own().says(&["released"]);
}

fn release_of_a_closed_client(story: &mut Recorder) {
    let key = hold(story);
    story
        .release(key)
        .fail("call", "closed")
        .says(&["lost lost-connection-closed"]);
    story.close(key).leaves(0);
}

fn release_stops_the_renewal(story: &mut Recorder) {
    let key = hold(story);
    story.timeout().says(&["call"]).release(key).says(&["call"]);
    // The renewal's answer, then the release's.
    story.own().says(&[]).own().says(&["released"]).waits_for(None);
}

fn shutdown_leaves_nothing(story: &mut Recorder) {
    hold(story);
    wait(story);
    acquire(story);
    story.shutdown().says(&["call", "call"]).leaves(2);
    // The question's late answer first: it is not looked at.
    story.granted(FENCE).says(&[]).own().own().says(&[]).leaves(0);
}

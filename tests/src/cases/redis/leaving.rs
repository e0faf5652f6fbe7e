//! Releases.

use super::{FENCE, acquire, hold, wait};
use crate::{cases::cases, transcript::Recorder};

cases! { "redis":
    release_finds_another_holder,
        "The first release finds another holder's value: the grant had been lost, and that is reported.",
        "node-redlock#168, node-redlock#185: release of a lost lock retried for two seconds, then a vague \
         error";
    release_finds_nothing,
        "The first release finds no lock: the grant had ended before, and that is reported.";
    release_tried_again, "A server that starts or fails over refuses for now: the release is repeated.";
    release_refused,
        "The server does not permit the release: that is reported, and the lock ends with its lease.";
    release_without_memory,
        "The server has no memory for a release's tombstone, also with the error text of Redis 6: the \
         release is repeated. What it then finds is no loss, because the first one may have freed the lock.",
        "maxmemory with noeviction";
    release_without_a_disk, "The server refuses writes because its disk fails: the release is repeated.";
    extend_after_the_end,
        "A grant has ended by the client's clock when the application extends it, and the driver has not \
         reported the timeout: lost, and released.";
    release_after_the_end,
        "A grant has ended by the client's clock when it is released, and the driver has not reported the \
         timeout: lost, and released all the same.",
        "a paused holder that leaves its block without an error";
    release_by_text, "The server has lost the script: the script's text is sent, with the same arguments.",
        "SCRIPT FLUSH, restart, failover";
    release_after_a_renewal_in_doubt,
        "A renewal had no answer, so the server may still extend the lease: a release is repeated beyond \
         the lease, until it is answered.";
    release_after_a_renewal_that_was_not_sent,
        "A renewal was never sent, so nothing extends the lease: it frees the lock, and the release is \
         reported without an answer.";
    loss_during_a_renewal,
        "The grant ends while a renewal is in flight, which may still extend the lease: the clean-up is \
         repeated beyond the lease, until it is answered.";
    loss_of_a_grant_in_doubt,
        "An acquire had no answer, and the next one was granted. When the lock has another holder, the first \
         acquire may still be executed: a clean-up marks its attempt as abandoned.";
    release_of_a_closed_client,
        "Nothing will be sent any more: the release cannot be confirmed, and that is reported.";
    release_stops_the_renewal,
        "A release overtakes a renewal in flight: the renewal's late answer extends nothing.",
        "go-redsync#158, redisson#2515";
    shutdown_leaves_nothing,
        "A client with a holder and a waiter is closed: the lock is released, nothing is reported, and \
         nothing is left behind.";
}

fn release_finds_another_holder(story: &mut Recorder) {
    let key = hold(story);
    story
        .release(key)
        .foreign()
        .returns(&["lost taken"])
        .waits_for(None);
    story.close(key).leaves(0);
}

fn release_finds_nothing(story: &mut Recorder) {
    let key = hold(story);
    story
        .release(key)
        .absent()
        .returns(&["lost deleted"])
        .close(key)
        .leaves(0);
}

fn release_tried_again(story: &mut Recorder) {
    let key = hold(story);
    story
        .release(key)
        .redis_error("call", "LOADING Redis is loading the dataset in memory")
        .returns(&[]);
    story.timeout().returns(&["call"]);
    story
        .redis_error("call", "READONLY You can't write against a read only replica.")
        .returns(&[]);
    story
        .timeout()
        .returns(&["call"])
        .fail("call", "not-sent")
        .returns(&[]);
    story.timeout().returns(&["call"]).own().returns(&["released"]);
}

fn release_refused(story: &mut Recorder) {
    let key = hold(story);
    story
        .release(key)
        .redis_error("call", "NOPERM no permissions to run 'evalsha'");
    story
        .returns(&["refused no-permission"])
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
        story
            .release(key)
            .redis_error("call", error)
            .returns(&[])
            .timeout();
        story.returns(&["call"]).absent().returns(&["released"]);
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
            .returns(&[])
            .timeout()
            .returns(&["call"]);
    }
    story
        .own()
        .returns(&["released"])
        .waits_for(None)
        .close(key)
        .leaves(0);
}

fn extend_after_the_end(story: &mut Recorder) {
    let key = hold(story);
    story.after(9_000_000).extend(key);
    story.returns(&["lost lease-ended", "call"]).own().returns(&[]);
    story.waits_for(None).close(key).leaves(0);
}

fn release_after_the_end(story: &mut Recorder) {
    let key = hold(story);
    story.after(9_000_000).release(key);
    story.returns(&["lost lease-ended", "call"]).own().returns(&[]);
    story.waits_for(None).close(key).leaves(0);
}

fn release_by_text(story: &mut Recorder) {
    let key = hold(story);
    story
        .release(key)
        .redis_error("call", "NOSCRIPT No matching script.")
        .returns(&["call"]);
    story.own().returns(&["released"]);
}

/// The server does not reply for longer than a lease. Returns whether the machine still repeats its request.
fn is_repeated_beyond_a_lease(story: &mut Recorder) -> bool {
    for _ in 0..20 {
        story.fail("call", "unknown");
        if !story.is_waiting_for("retry") {
            return false;
        }
        story.timeout().returns(&["call"]);
    }
    true
}

/// A machine that releases after a failed renewal.
fn release_after_a_renewal(story: &mut Recorder, failure: &str) -> u64 {
    let key = hold(story);
    story.timeout_of("renew").returns(&["call"]).fail("call", failure);
    story.release(key).returns(&["call"]);
    key
}

fn release_after_a_renewal_in_doubt(story: &mut Recorder) {
    let key = release_after_a_renewal(story, "unknown");
    assert!(is_repeated_beyond_a_lease(story));
    story.own().returns(&["released"]).close(key).leaves(0);
}

fn release_after_a_renewal_that_was_not_sent(story: &mut Recorder) {
    let key = release_after_a_renewal(story, "not-sent");
    assert!(!is_repeated_beyond_a_lease(story));
    story
        .timeout_of("validity")
        .returns(&["released"])
        .close(key)
        .leaves(0);
}

fn loss_during_a_renewal(story: &mut Recorder) {
    let key = hold(story);
    story.timeout_of("renew").returns(&["call"]).silence("call");
    story
        .after(9_000_000)
        .extend(key)
        .returns(&["lost lease-ended", "call"]);
    assert!(is_repeated_beyond_a_lease(story));
    story.own().returns(&[]).close(key).leaves(0);
}

fn loss_of_a_grant_in_doubt(story: &mut Recorder) {
    let key = acquire(story);
    story.fail("call", "unknown").timeout_of("retry");
    story
        .returns(&["call"])
        .granted(FENCE)
        .returns(&["acquired"])
        .timeout_of("renew");
    story
        .returns(&["call"])
        .foreign()
        .returns(&["lost taken", "call"]);
    story.foreign().returns(&[]).close(key).leaves(0);
}

fn release_of_a_closed_client(story: &mut Recorder) {
    let key = hold(story);
    story
        .release(key)
        .fail("call", "closed")
        .returns(&["lost lost-connection-closed"]);
    story.close(key).leaves(0);
}

fn release_stops_the_renewal(story: &mut Recorder) {
    let key = hold(story);
    story.timeout().returns(&["call"]).release(key).returns(&["call"]);
    // The renewal's answer, then the release's.
    story
        .own()
        .returns(&[])
        .own()
        .returns(&["released"])
        .waits_for(None);
}

fn shutdown_leaves_nothing(story: &mut Recorder) {
    hold(story);
    wait(story);
    acquire(story);
    story.shutdown().returns(&["call", "call"]).leaves(2);
    // First the late answer to the acquire request, which the machine ignores.
    story
        .granted(FENCE)
        .returns(&[])
        .own()
        .own()
        .returns(&[])
        .leaves(0);
}

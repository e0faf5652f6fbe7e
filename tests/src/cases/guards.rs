//! Which promise a case guards: the promise may be broken if the hub returns other outputs. A case that is
//! not listed guards none of them: it shows how something is reported, requested or refused.
//! `tests/transcripts/promises.json` has the text of the promises.

/// The promises that a case guards, by its file's name without the extension.
pub(super) fn of(name: &str) -> Vec<String> {
    let guarding = GUARDS
        .iter()
        .filter(|(_, cases)| cases.split_whitespace().any(|case| case == name));
    guarding.map(|(promise, _)| (*promise).into()).collect()
}

const GUARDS: &[(&str, &str)] = &[
    (
        "S1",
        "zookeeper/owner-waits redis/owner-of-another-name zookeeper/unrelated-nodes-are-ignored
        zookeeper/contenders-of-other-clients-are-waited-for zookeeper/create-lost-twice
        zookeeper/downgraded-writer zookeeper/downgraded-writer-of-kazoos
        zookeeper/downgraded-writer-before-a-leader zookeeper/downgraded-writer-before-many-locks
        zookeeper/late-and-doubled-outcomes zookeeper/look-comes-late zookeeper/many-locks
        zookeeper/many-locks-wait zookeeper/middle-waiter-cancels zookeeper/mixed-layouts-before-ours
        zookeeper/predecessor-changed zookeeper/node-of-another-session zookeeper/old-sessions-answers
        zookeeper/old-sessions-watch zookeeper/own-look-refused-for-now
        zookeeper/own-node-deleted-before-its-watch zookeeper/own-node-deleted-while-waiting
        zookeeper/own-node-found-gone zookeeper/own-node-missing zookeeper/own-node-replaced
        zookeeper/own-watch-refused-for-now zookeeper/permit-free zookeeper/permits-inconsistent
        zookeeper/permits-inconsistent-meanwhile zookeeper/permits-not-compared
        zookeeper/permits-compared-after-a-suspend zookeeper/reader-behind-writers
        zookeeper/second-to-last-leaves zookeeper/sequence-at-its-end zookeeper/sequence-near-its-end
        zookeeper/sequence-wrapped zookeeper/single-held zookeeper/single-snatched
        zookeeper/two-machines-in-one-hub zookeeper/waiter-meets-its-old-session
        zookeeper/waiter-suspended-and-resumed zookeeper/watch-of-an-earlier-predecessor
        zookeeper/watch-twice zookeeper/writer-behind-a-writer zookeeper/writer-behind-readers
        redis/contended redis/slow-grant redis/wrong-type",
    ),
    (
        "S2",
        "zookeeper/downgrade zookeeper/many-locks zookeeper/sequence-at-its-end zookeeper/uncontended
        redis/exact-fences redis/acquire-lost redis/uncontended",
    ),
    (
        "S3",
        "zookeeper/owner-lost zookeeper/owner-lost-by-the-clock zookeeper/owner-releases-after-the-end
        zookeeper/owner-again redis/owner-again redis/owner-past-the-longest-hold
        zookeeper/check-of-before-a-move zookeeper/check-of-other-nodes zookeeper/confirmation-never-answered
        zookeeper/confirmation-too-late zookeeper/confirmations-fail
        zookeeper/claim-lease-deleted-and-record-unread zookeeper/confirmed-every-third
        zookeeper/downgrade-of-what-was-deleted zookeeper/extended-on-request zookeeper/extended-too-often
        zookeeper/given-session zookeeper/given-session-at-rest zookeeper/held-node-found-gone
        zookeeper/holder-expired zookeeper/holder-may-not-look zookeeper/holder-suspended-and-deleted
        zookeeper/holder-suspended-and-resumed zookeeper/holder-suspended-for-too-long
        zookeeper/look-at-what-the-node-was zookeeper/many-locks-last-as-one zookeeper/many-locks-place-lost
        zookeeper/new-session zookeeper/new-session-without-a-word zookeeper/node-of-another-session
        zookeeper/old-sessions-answers zookeeper/old-sessions-confirmation
        zookeeper/own-node-deleted-while-holding zookeeper/own-node-replaced zookeeper/paused-process
        zookeeper/release-after-a-pause zookeeper/release-of-a-single-after-a-pause
        zookeeper/release-of-a-permit-after-a-pause zookeeper/release-of-many-after-a-pause
        zookeeper/release-of-a-reader-after-a-pause zookeeper/downgrade-after-a-pause
        zookeeper/downgrade-answered-for-another zookeeper/release-of-a-deleted-node
        zookeeper/release-of-a-deleted-node-at-last zookeeper/release-of-a-deleted-single
        zookeeper/release-of-a-deleted-permit zookeeper/release-of-many-of-which-one-was-deleted
        zookeeper/release-of-a-deleted-writer-while-downgrading zookeeper/confirming-probe-lost
        zookeeper/single-seen-late zookeeper/single-taken-away zookeeper/check-refused
        zookeeper/connection-without-a-quorum zookeeper/silent-server zookeeper/slow-server
        zookeeper/deposed-leader zookeeper/timeout-unconfirmed redis/acquire-never-answered redis/late-grant
        redis/late-renewal redis/not-renewed zookeeper/timeout-while-unproved
        zookeeper/timeout-behind-a-standstill redis/release-stops-the-renewal
        redis/renewal-finds-another-type redis/renewal-finds-nothing redis/renewal-finds-another-holder
        redis/renewal-lost redis/renewal-refused redis/renewals-lost-for-good redis/renewed-every-third
        redis/slow-grant",
    ),
    (
        "S5",
        "zookeeper/acquire-again zookeeper/break-another zookeeper/break-contender zookeeper/kazoo-names
        zookeeper/plain-names zookeeper/single-given-up zookeeper/single-release-lost
        zookeeper/single-release-lost-and-taken redis/acquire-again redis/release-finds-another-holder
        redis/renewal-finds-another-holder redis/wrong-type",
    ),
    (
        "S6",
        "zookeeper/sweep zookeeper/sweep-conflict zookeeper/sweep-of-tokens zookeeper/sweep-of-values",
    ),
    (
        "S7",
        "zookeeper/after-the-shutdown zookeeper/created-somewhere-else zookeeper/intents-that-make-no-sense
        zookeeper/replies-of-the-wrong-shape zookeeper/unknown-keys-and-commands
        redis/intents-that-make-no-sense redis/replies-of-another-family redis/replies-of-the-wrong-shape
        redis/unknown-keys-and-commands",
    ),
    (
        "S8",
        "zookeeper/barrier-lost zookeeper/cancelled-in-every-phase zookeeper/clean-up-after-the-grant
        zookeeper/closed-in-every-phase zookeeper/closed-while-suspended zookeeper/create-lost-twice
        zookeeper/create-timed-out zookeeper/downgrade-released zookeeper/downgrade-unanswered
        zookeeper/queue-place-lost-while-taking zookeeper/list-forbidden zookeeper/longest-hold
        zookeeper/many-locks-outcome-unknown zookeeper/many-locks-place-lost zookeeper/plain-create-lost
        zookeeper/release-cut-off zookeeper/release-lost zookeeper/release-repeated
        zookeeper/release-while-suspended zookeeper/search-behind-a-refused-barrier
        zookeeper/search-on-a-deposed-leader zookeeper/shutdown-leaves-nothing zookeeper/single-given-up
        zookeeper/single-release-lost zookeeper/single-seen-late zookeeper/timeout-and-the-create-is-lost
        zookeeper/timeout-before-the-create-is-answered zookeeper/timeout-in-the-queue
        zookeeper/timeout-while-suspended zookeeper/duplicate-not-readable redis/acquire-finds-its-tombstone
        redis/acquire-lost-and-given-up redis/cancelled-in-every-phase redis/closed-in-every-phase
        redis/longest-hold redis/release-after-a-lost-renewal redis/release-lost redis/release-never-answered
        redis/release-tried-again redis/release-without-a-server redis/renewals-lost-for-good
        redis/shutdown-leaves-nothing redis/timeout-while-asking",
    ),
    (
        "S9",
        "zookeeper/break-answered-with-another-answer zookeeper/broken-before zookeeper/revoked-too-late",
    ),
    (
        "L1",
        "zookeeper/owner-writes-and-reads zookeeper/owner-downgrades zookeeper/owner-contends-anew
        zookeeper/permit-while-unproved zookeeper/permit-tried-while-unproved
        zookeeper/many-locks-while-unproved zookeeper/timeout-while-unproved
        zookeeper/all-ahead-leave-at-once zookeeper/barrier-lost zookeeper/create-lost-and-executed
        zookeeper/create-lost-and-expired zookeeper/create-lost-and-not-executed
        zookeeper/create-lost-and-old-list zookeeper/create-throttled
        zookeeper/directory-removed-with-the-node zookeeper/list-lost zookeeper/list-lost-while-queued
        zookeeper/list-throttled zookeeper/look-finds-it-gone zookeeper/look-finds-it-gone-behind-others
        zookeeper/look-forbidden zookeeper/look-refused-for-now zookeeper/look-while-suspended
        zookeeper/many-locks zookeeper/predecessor-gone-before-its-watch
        zookeeper/own-node-deleted-while-waiting zookeeper/own-node-missing
        zookeeper/parent-reaped-in-between zookeeper/permit-comes-back zookeeper/permit-found
        zookeeper/permits-forbidden zookeeper/reader-before-a-writer zookeeper/readers-share
        zookeeper/single-create-lost zookeeper/single-found-gone zookeeper/single-found-to-be-anothers
        zookeeper/single-that-stays zookeeper/single-watch-first zookeeper/waiter-expired
        zookeeper/waiter-suspended-and-resumed zookeeper/watch-after-a-suspend
        zookeeper/watch-before-its-reply zookeeper/watch-gone zookeeper/watch-never-fires redis/acquire-lost
        redis/acquire-not-sent redis/hint-before-the-confirmation redis/hint-while-asking
        redis/holder-ends-before-the-poll redis/holder-without-an-end redis/poll redis/server-starts
        redis/subscription-fails redis/subscription-gone redis/subscription-gone-while-asking
        redis/subscriptions-end-at-once",
    ),
    (
        "L2",
        "zookeeper/hand-over zookeeper/permit-comes-back zookeeper/reader-before-a-writer
        zookeeper/reader-behind-writers zookeeper/writer-behind-readers",
    ),
    ("L3", "zookeeper/revocation-request-found"),
    (
        "D",
        "zookeeper/never-connected zookeeper/timeout-and-the-create-is-lost zookeeper/timeout-before-a-retry
        zookeeper/timeout-before-the-create-is-answered zookeeper/timeout-in-the-queue
        zookeeper/timeout-is-not-started-anew zookeeper/timeout-unconfirmed zookeeper/timeout-while-unproved
        zookeeper/timeout-behind-a-standstill zookeeper/timeout-while-suspended redis/timeout-while-asking
        redis/timeout-while-waiting redis/timeout-without-an-answer redis/try-without-an-answer",
    ),
];

#[cfg(test)]
mod tests {
    use crate::{cases, transcript::promise};

    use super::GUARDS;

    #[test]
    fn what_is_listed_is_a_case_and_a_promise() {
        let files: Vec<String> = cases::all().iter().map(cases::Case::file).collect();
        for (name, listed) in GUARDS {
            promise(name).unwrap();
            for case in listed.split_whitespace() {
                assert!(files.contains(&format!("{case}.jsonl")), "{case} is no case");
            }
        }
    }
}

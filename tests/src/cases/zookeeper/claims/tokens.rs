//! Tokens: a claimed token must have been issued, and must not have expired.

use fencepost_core::zookeeper::Stat;
use serde_json::Value;

use super::{
    OTHER, PRINT, RETENTION, own, passed, record, settings, shows, shows_nothing, stat, step, warm, written,
};
use crate::{cases::cases, transcript::Recorder};

cases! { "zookeeper":
    token_is_claimed, "A token is read behind a barrier, and claimed: its expiry is written with the claim.";
    token_is_unknown, "A token that was never issued is not claimed, and nothing is written.";
    token_of_another, "The token was issued to another binding: mismatch.";
    token_claimed_too_late,
        "The server's answer shows that the token had expired: the lease is deleted, and the token is \
         unknown.";
    token_that_was_claimed_too_late,
        "The record shows that the token was claimed after its expiry: the token counts as unknown.";
    token_is_released, "A claimed token that is released can be claimed again.";
    token_is_burnt, "A token is registered: the record, read again, shows whether it was in time.";
}

const BINDING: (&str, &str) = ("binding", "alice");
const LIFE: (&str, &str) = ("life", "600000");

fn consuming() -> Value {
    let mut settings = settings();
    settings["binding"] = "alice".into();
    settings
}

/// The record of a token that no attempt has claimed.
pub(super) fn issued() -> String {
    record(&[("state", "issued"), ("attempt", OTHER), BINDING, LIFE, RETENTION])
}

fn consume(story: &mut Recorder) -> u64 {
    let key = story.open(&consuming());
    story.acquire(key);
    passed(story);
    key
}

/// The lease was created `millis` ms after the token was issued.
fn claimed_after(story: &mut Recorder, key: u64, millis: i64) {
    let names = story.reply_children(&[&own(key)]);
    let stat = Stat {
        ephemeral_owner: 1,
        created: 1_790_000_000_000 + millis,
        ..stat(41, 0)
    };
    let lease = story.reply_stat("", &Stat { czxid: 41, ..stat });
    story.answer("multi", names).answer("get", lease);
}

fn token_is_claimed(story: &mut Recorder) {
    warm(story);
    let key = consume(story);
    shows(story, &issued(), &stat(30, 0), &[]);
    story.returns(&["multi", "get"]);
    claimed_after(story, key, 600_000);
    story
        .returns(&["acquired"])
        .complete(key, "[17]")
        .returns(&["multi"]);
    written(story);
    story.returns(&["completed"]).close(key).leaves(0);
}

fn token_is_unknown(story: &mut Recorder) {
    warm(story);
    let key = consume(story);
    shows_nothing(story);
    story.returns(&["refused unknown-token"]).close(key).leaves(0);
    let key = consume(story);
    shows(story, &super::free(), &stat(35, 3), &[]);
    story.returns(&["refused unknown-token"]).close(key).leaves(0);
}

fn token_of_another(story: &mut Recorder) {
    warm(story);
    let key = consume(story);
    let bob = record(&[
        ("state", "issued"),
        ("attempt", OTHER),
        ("binding", "bob"),
        LIFE,
        RETENTION,
    ]);
    shows(story, &bob, &stat(30, 0), &[]);
    story.returns(&["refused mismatch"]).close(key).leaves(0);
}

fn token_claimed_too_late(story: &mut Recorder) {
    warm(story);
    let key = consume(story);
    shows(story, &issued(), &stat(30, 0), &[]);
    claimed_after(story, key, 600_001);
    story.returns(&["multi", "refused unknown-token"]);
    story.close(key).leaves(0);
}

fn token_that_was_claimed_too_late(story: &mut Recorder) {
    warm(story);
    let late = record(&[
        ("state", "running"),
        ("attempt", OTHER),
        PRINT,
        BINDING,
        LIFE,
        RETENTION,
        ("kept", "1789999999999"),
    ]);
    for children in [&[OTHER][..], &[]] {
        let key = consume(story);
        shows(story, &late, &stat(35, 1), children);
        story.returns(&["refused unknown-token"]).close(key).leaves(0);
    }
}

fn token_is_released(story: &mut Recorder) {
    warm(story);
    let key = consume(story);
    shows(story, &issued(), &stat(30, 0), &[]);
    claimed_after(story, key, 1);
    story.returns(&["acquired"]).release(key).returns(&["multi"]);
    written(story);
    story.returns(&["released"]).close(key).leaves(0);
}

fn token_is_burnt(story: &mut Recorder) {
    warm(story);
    let burn = step(
        "register",
        &serde_json::json!({"binding": "alice", "fingerprint": "print", "result": "[1]"}),
    );
    for (kept, expected) in [
        ("1790000600000", "completed"),
        ("1789999999999", "refused unknown-token"),
    ] {
        let key = story.open(&burn);
        story.acquire(key);
        passed(story);
        shows(story, &issued(), &stat(30, 0), &[]);
        story.returns(&["multi"]);
        written(story);
        passed(story);
        let burnt = record(&[
            ("state", "done"),
            ("attempt", &own(key)),
            PRINT,
            BINDING,
            LIFE,
            RETENTION,
            ("kept", kept),
            ("result", "[1]"),
        ]);
        shows(story, &burnt, &stat(41, 1), &[]);
        story.returns(&[expected]).close(key).leaves(0);
    }
}

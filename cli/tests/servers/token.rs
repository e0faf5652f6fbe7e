//! Tokens that the command issues, checks and consumes.

use std::sync::atomic::{AtomicU32, Ordering};

use fencepost::{Claimed, RecordState};
use serde_json::Value;

use crate::{
    record::{failed, redis, zookeeper},
    run::fencepost,
};

/// A scope that no other test uses.
fn scope() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("cli-token-{}-{number}", std::process::id())
}

fn printed(arguments: &[&str]) -> String {
    let output = fencepost(arguments);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap().trim_end().into()
}

fn one_consumer_succeeds(url: &str) {
    let scope = scope();
    let token = printed(&["token", "issue", &scope, "--url", url]);
    assert_eq!(token.len(), 32, "{token}");
    assert_eq!(
        printed(&["token", "check", &scope, &token, "--url", url]),
        "issued"
    );
    let consume = ["token", "consume", &scope, &token, "--url", url];
    assert_eq!(printed(&consume), "consumed");
    let line = failed(1, &fencepost(&consume));
    assert!(line.contains("was consumed before"), "{line}");
    let check = fencepost(&["token", "check", &scope, &token, "--json", "--url", url]);
    assert_eq!(check.status.code(), Some(1));
    let shown: Value = serde_json::from_slice(&check.stdout).unwrap();
    assert_eq!(
        (&shown["token"], &shown["state"]),
        (&token.into(), &"consumed".into())
    );
}

#[test]
fn one_consumer_succeeds_on_redis() {
    one_consumer_succeeds(&redis());
}

#[test]
fn one_consumer_succeeds_on_zookeeper() {
    one_consumer_succeeds(&zookeeper());
}

#[test]
fn a_token_that_was_never_issued() {
    let (scope, url) = (scope(), redis());
    for step in ["check", "consume"] {
        let output = fencepost(&["token", step, &scope, "invented", "--url", &url]);
        let line = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{line}");
        assert!(line.contains("is unknown"), "{line}");
    }
}

#[test]
fn a_token_is_bound() {
    let (scope, url) = (scope(), redis());
    let issue = [
        "token",
        "issue",
        &scope,
        "ticket",
        "--binding",
        "alice",
        "--url",
        &url,
    ];
    assert_eq!(printed(&issue), "ticket");
    let line = failed(3, &fencepost(&issue));
    assert!(line.contains("exists already"), "{line}");
    let consume = |binding| {
        fencepost(&[
            "token",
            "consume",
            &scope,
            "ticket",
            "--binding",
            binding,
            "--url",
            &url,
        ])
    };
    let line = failed(3, &consume("bob"));
    assert!(line.contains("--binding"), "{line}");
    assert!(consume("alice").status.success());
}

/// A program and the command see the same tokens.
#[tokio::test]
async fn programs_and_the_command_share_tokens() {
    let (scope, url) = (scope(), redis());
    let token = printed(&["token", "issue", &scope, "--binding", "session 7", "--url", &url]);
    let client = fencepost::connect(&url).await.unwrap();
    let tokens = client.idempotency(&scope).unwrap();
    let claimed = tokens.consume(&token, b"session 7", b"").await.unwrap();
    let Claimed::Run(claim) = claimed else {
        panic!("it was not consumed before");
    };
    let line = failed(
        1,
        &fencepost(&[
            "token",
            "consume",
            &scope,
            &token,
            "--binding",
            "session 7",
            "--url",
            &url,
        ]),
    );
    assert!(line.contains("was consumed before"), "{line}");
    let _stored = claim.complete("", "sold").await.unwrap();
    let record = tokens.look(&token).await.unwrap().unwrap();
    assert_eq!((record.state, &*record.result), (RecordState::Done, &b"sold"[..]));

    let _stored = tokens.register("order 17", b"", "", "1").await.unwrap();
    let check = ["token", "check", &scope, "order 17", "--url", &url];
    let line = failed(3, &fencepost(&check));
    assert!(line.contains("was not issued"), "{line}");
    client.close().await.unwrap();
}

#[test]
fn what_cannot_be_a_token() {
    let issue = |arguments: &[&str]| fencepost(&[&["token", "issue", "shop"][..], arguments].concat());
    let line = failed(2, &issue(&["--url", "memory:"]));
    assert!(line.contains("memory:"), "{line}");
    let line = failed(2, &issue(&["", "--url", &redis()]));
    assert!(line.contains("key is"), "{line}");
    let line = failed(
        2,
        &issue(&[
            "--life",
            "1000d",
            "--url",
            &redis(),
            "--binding",
            &"x".repeat(1025),
        ]),
    );
    assert!(line.contains("1024 bytes"), "{line}");
    let line = failed(4, &issue(&["--url", "redis://127.0.0.1:1"]));
    assert!(line.contains("127.0.0.1:1"), "{line}");
    let output = issue(&["--life", "soon"]);
    assert_eq!(output.status.code(), Some(2));
}

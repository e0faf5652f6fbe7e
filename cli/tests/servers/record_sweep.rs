//! A sweep of a scope by the command.

use fencepost::IdempotencyOptions;
use serde_json::Value;

use crate::{
    record::{failed, redis, zookeeper},
    run::fencepost,
};

async fn deletes(url: &str, scope: &str, expected: u64) {
    let client = fencepost::connect(url).await.unwrap();
    let operations = client.idempotency_with(scope, IdempotencyOptions::new()).unwrap();
    let stored = operations.register("done", b"", "", "1").await;
    assert!(stored.is_ok(), "{stored:?}");
    for key in ["one", "two"] {
        let fencepost::Claimed::Run(claim) = operations.claim(key, b"").await.unwrap() else {
            panic!("{key} has a result");
        };
        claim.release().await.unwrap();
    }
    let sweep = ["--url", url, "record", "sweep", scope];
    let output = fencepost(&sweep);
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text, format!("deleted: {expected} of scope {scope:?}\n"));
    let output = fencepost(&[&sweep[..], &["--json"]].concat());
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&printed["scope"], &printed["deleted"]),
        (&scope.into(), &0.into())
    );
    assert!(operations.look("done").await.unwrap().is_some());
    client.close().await.unwrap();
}

fn scope() -> String {
    format!("cli-sweep-{}", std::process::id())
}

#[tokio::test]
async fn zookeeper_has_deleted_what_was_released() {
    deletes(&zookeeper(), &scope(), 2).await;
}

#[tokio::test]
async fn redis_has_nothing_to_delete() {
    deletes(&redis(), &scope(), 0).await;
}

#[test]
fn a_sweep_that_is_refused() {
    let sweep = |arguments: &[&str]| fencepost(&[&["record", "sweep"][..], arguments].concat());
    let line = failed(2, &sweep(&["--url", "memory:", "payments"]));
    assert!(line.contains("memory:"), "{line}");
    let line = failed(2, &sweep(&["--url", &redis(), ""]));
    assert!(line.contains("scope is"), "{line}");
    let line = failed(4, &sweep(&["--url", "redis://127.0.0.1:1", "payments"]));
    assert!(line.contains("127.0.0.1:1"), "{line}");
}

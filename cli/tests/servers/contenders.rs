//! An operator's look at a lock.

use std::time::Duration;

use fencepost::{Grant, LockOptions, Loss};
use serde_json::Value;

use crate::run::fencepost;

fn prefix() -> String {
    let server = crate::url("zk", "FENCEPOST_ZOOKEEPER");
    format!("{server}/cli-{}", std::process::id())
}

/// What a command that has to go well prints.
fn prints(arguments: &[&str]) -> String {
    let output = fencepost(arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

async fn soon<T>(what: impl Future<Output = T>) -> T {
    let limit = Duration::from_secs(20);
    tokio::time::timeout(limit, what).await.expect("by now")
}

async fn held(client: &fencepost::Client, name: &str) -> Grant {
    let options = LockOptions::new().identifier("till-7").revocable(true);
    soon(client.lock_with(name, options).unwrap().acquire())
        .await
        .unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_holder_is_seen_asked_and_broken() {
    let url = prefix();
    assert!(prints(&["contenders", &url, "x"]).contains("nobody holds"));
    let client = soon(fencepost::connect(&url)).await.unwrap();
    let grant = held(&client, "x").await;
    let fence = grant.fence().unwrap().to_string();
    let table = prints(&["contenders", &url, "x"]);
    for words in ["holds", "till-7", fence.as_str(), "-lock-"] {
        assert!(table.contains(words), "{words:?} is missing in\n{table}");
    }
    let found: Value = serde_json::from_str(&prints(&["contenders", &url, "x", "--json"])).unwrap();
    assert_eq!(found.as_array().unwrap().len(), 1);
    assert_eq!(
        (&found[0]["holds"], &found[0]["shared"]),
        (&true.into(), &false.into())
    );
    assert_eq!(found[0]["fence"], fence.as_str());
    let node = found[0]["node"].as_str().unwrap();
    assert!(prints(&["revoke", &url, "x", &fence]).contains(node));
    soon(grant.revoke_requested()).await;
    assert!(grant.is_valid());
    assert!(prints(&["break", &url, "x", &fence]).contains(node));
    assert_eq!(soon(grant.lost()).await.reason(), Loss::Deleted);
    let output = fencepost(&["break", &url, "x", &fence]);
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains(&fence) && text.contains("no contender"), "{text}");
    soon(client.close()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn other_kinds_are_seen_too() {
    let url = prefix();
    let client = soon(fencepost::connect(&url)).await.unwrap();
    let both = client.read_write_lock("prices").unwrap();
    let reader = soon(both.reader().acquire()).await.unwrap();
    let permit = soon(client.semaphore("presses", 2).unwrap().acquire())
        .await
        .unwrap();
    let unfair = LockOptions::new().fair(false).identifier("till-7");
    let nightly = soon(client.lock_with("nightly", unfair).unwrap().acquire())
        .await
        .unwrap();
    let fence = nightly.fence().unwrap().to_string();
    let table = prints(&["contenders", &url, "nightly", "--of", "single"]);
    assert!(table.contains("till-7") && table.contains(&fence), "{table}");
    prints(&["break", &url, "nightly", &fence, "--of", "single"]);
    assert_eq!(soon(nightly.lost()).await.reason(), Loss::Deleted);
    let table = prints(&["contenders", &url, "prices", "--of", "read-write"]);
    assert!(table.contains("shares"), "{table}");
    let table = prints(&[
        "contenders",
        &url,
        "presses",
        "--of",
        "semaphore",
        "--permits",
        "2",
    ]);
    assert!(table.contains(&permit.fence().unwrap().to_string()), "{table}");
    drop((reader, permit));
    soon(client.close()).await.unwrap();
}

#[test]
fn what_makes_no_sense_is_refused() {
    let url = prefix();
    for (arguments, word) in [
        (
            &["contenders", "redis://localhost:1", "x"][..],
            "no server answered in time (redis://localhost:1/0",
        ),
        (&["contenders", "http://localhost", "x"], "unknown scheme"),
        (&["contenders", &url], "<NAME>"),
        (&["contenders", &url, "a//b"], "a//b"),
        (&["contenders", &url, "x", "--of", "sieve"], "sieve"),
        (
            &["contenders", &url, "x", "--of", "single", "--layout", "kazoo"],
            "layout",
        ),
        (&["contenders", &url, "x", "--of", "semaphore"], "--permits"),
        (
            &["contenders", &url, "x", "--of", "semaphore", "--permits", "0"],
            "permits",
        ),
        (
            &["contenders", &url, "x", "--of", "read-write", "--layout", "plain"],
            "plain",
        ),
        (
            &[
                "contenders",
                &url,
                "x",
                "--layout",
                "plain",
                "--node-prefix",
                "a/b",
            ],
            "a/b",
        ),
        (
            &["contenders", &url, "x", "--node-prefix", "till-"],
            "--layout plain",
        ),
        (
            &[
                "contenders",
                &url,
                "x",
                "--layout",
                "kazoo",
                "--node-prefix",
                "till-",
            ],
            "--layout plain",
        ),
        (&["contenders", &url, "x", "--permits", "2"], "--of semaphore"),
        (&["contenders", "memory:", "x"], "no other process"),
        (&["break", "Memory:shop", "x", "7"], "no other process"),
        (&["break", &url, "x"], "<FENCE>"),
        (&["break", &url, "x", "many"], "many"),
        (&["revoke", &url, "x", "7"], "no contender"),
    ] {
        let output = fencepost(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(
            text.contains(word),
            "{arguments:?}: {word:?} is missing in\n{text}"
        );
        assert!(!text.contains("this acquire"), "{text}");
    }
}

#[test]
fn a_reader_that_has_gone_is_no_error() {
    let url = prefix();
    // A pipe without a reader: `fencepost contenders … | true`.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let status = std::process::Command::new(env!("CARGO_BIN_EXE_fencepost"))
        .args(["contenders", &url, "x"])
        .stdout(writer)
        .status()
        .unwrap();
    assert!(status.success(), "{status}");
}

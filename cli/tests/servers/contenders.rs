//! The commands for operators of a lock.

use std::time::Duration;

use fencepost::{Grant, LockOptions, Loss};
use serde_json::Value;

use crate::run::fencepost;

fn prefix() -> String {
    let server = crate::url("zk", "FENCEPOST_ZOOKEEPER");
    format!("{server}/cli-{}", std::process::id())
}

fn redis() -> String {
    crate::url("redis", "FENCEPOST_REDIS")
}

/// The output of a command that has to succeed.
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
    assert!(prints(&["contenders", "--url", &url, "x"]).contains("no contender holds"));
    let client = soon(fencepost::connect(&url)).await.unwrap();
    let grant = held(&client, "x").await;
    let fence = grant.fence().unwrap().to_string();
    let table = prints(&["contenders", "--url", &url, "x"]);
    for words in ["holds", "till-7", fence.as_str(), "-lock-"] {
        assert!(table.contains(words), "{words:?} is missing in\n{table}");
    }
    let found: Value = serde_json::from_str(&prints(&["contenders", "--url", &url, "x", "--json"])).unwrap();
    assert_eq!(found.as_array().unwrap().len(), 1);
    assert_eq!(
        (&found[0]["holds"], &found[0]["shared"]),
        (&true.into(), &false.into())
    );
    assert_eq!(found[0]["fence"], fence.as_str());
    let node = found[0]["node"].as_str().unwrap();
    assert!(prints(&["revoke", "--url", &url, "x", &fence]).contains(node));
    soon(grant.revoke_requested()).await;
    assert!(grant.is_valid());
    assert!(prints(&["break", "--url", &url, "x", &fence]).contains(node));
    assert_eq!(soon(grant.lost()).await.reason(), Loss::Deleted);
    let output = fencepost(&["break", "--url", &url, "x", &fence]);
    assert_eq!(output.status.code(), Some(1));
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
    let table = prints(&["contenders", "--url", &url, "nightly", "--of", "single"]);
    assert!(table.contains("till-7") && table.contains(&fence), "{table}");
    prints(&["break", "--url", &url, "nightly", &fence, "--of", "single"]);
    assert_eq!(soon(nightly.lost()).await.reason(), Loss::Deleted);
    let table = prints(&["contenders", "--url", &url, "prices", "--of", "read-write"]);
    assert!(table.contains("shares"), "{table}");
    let table = prints(&[
        "contenders",
        "--url",
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
        (&["status", "--url", &url, "x", "--quiet", "--json"][..], "--json"),
        (&["status", "--url", "memory:", "x"], "no other process"),
        (
            &["contenders", "--url", "http://localhost", "x"],
            "unknown scheme",
        ),
        (&["contenders", "--url", &url], "<NAME>"),
        (&["contenders", "--url", &url, "a//b"], "a//b"),
        (&["contenders", "--url", &url, "x", "--of", "sieve"], "sieve"),
        (
            &[
                "contenders",
                "--url",
                &url,
                "x",
                "--of",
                "single",
                "--layout",
                "kazoo",
            ],
            "layout",
        ),
        (
            &["contenders", "--url", &url, "x", "--of", "semaphore"],
            "--permits",
        ),
        (
            &[
                "contenders",
                "--url",
                &url,
                "x",
                "--of",
                "semaphore",
                "--permits",
                "0",
            ],
            "permits",
        ),
        (
            &[
                "contenders",
                "--url",
                &url,
                "x",
                "--of",
                "read-write",
                "--layout",
                "plain",
            ],
            "plain",
        ),
        (
            &[
                "contenders",
                "--url",
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
            &["contenders", "--url", &url, "x", "--node-prefix", "till-"],
            "--layout plain",
        ),
        (
            &[
                "contenders",
                "--url",
                &url,
                "x",
                "--layout",
                "kazoo",
                "--node-prefix",
                "till-",
            ],
            "--layout plain",
        ),
        (
            &["contenders", "--url", &url, "x", "--permits", "2"],
            "--of semaphore",
        ),
        (&["contenders", "--url", "memory:", "x"], "no other process"),
        (&["break", "--url", "Memory:shop", "x", "7"], "no other process"),
        (&["break", "--url", &url, "x"], "<FENCE>"),
        (&["break", "--url", &url, "x", "many"], "many"),
        (&["--url", &url, "contenders", "--url", &url, "x"], "twice"),
        (
            &["contenders", "--url", &redis(), "x", "--of", "election"],
            "Redis",
        ),
    ] {
        refused(arguments, 2, word);
    }
    refused(&["revoke", "--url", &url, "x", "7"], 1, "no contender");
    for command in ["contenders", "status"] {
        let arguments = [command, "--url", "redis://localhost:1", "x"];
        refused(&arguments, 4, "no server answered in time (redis://localhost:1/0");
    }
}

/// Runs a command that has to fail with this exit code and this word.
fn refused(arguments: &[&str], code: i32, word: &str) {
    let output = fencepost(arguments);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}");
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(
        text.contains(word),
        "{arguments:?}: {word:?} is missing in\n{text}"
    );
    assert!(!text.contains("this acquire"), "{text}");
}

#[test]
fn a_reader_that_has_gone_is_no_error() {
    let url = prefix();
    // A pipe without a reader: `fencepost contenders … | true`.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let status = std::process::Command::new(env!("CARGO_BIN_EXE_fencepost"))
        .args(["contenders", "--url", &url, "x"])
        .stdout(writer)
        .status()
        .unwrap();
    assert!(status.success(), "{status}");
}

/// The exit code and the output of `status`.
fn status(url: &str, name: &str, more: &[&str]) -> (Option<i32>, String) {
    let output = fencepost(&[&["status", "--url", url, name], more].concat());
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_status_says_who_holds() {
    let url = prefix();
    assert_eq!(status(&url, "y", &[]), (Some(1), "\"y\" is free\n".into()));
    assert_eq!(status(&url, "y", &["--quiet"]), (Some(1), String::new()));
    let client = soon(fencepost::connect(&url)).await.unwrap();
    let grant = held(&client, "y").await;
    let (code, text) = status(&url, "y", &[]);
    let begin = format!("\"y\" is held: fence {}, for ", grant.fence().unwrap());
    assert!(code == Some(0) && text.starts_with(&begin), "{text}");
    assert!(text.ends_with("by \"till-7\"\n"), "{text}");
    assert_eq!(status(&url, "y", &["--quiet"]), (Some(0), String::new()));
    let (_, text) = status(&url, "y", &["--json"]);
    let json: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&json["held"], &json["waiting"]), (&true.into(), &0.into()));
    soon(client.close()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_holder_on_redis_is_seen_and_broken() {
    let (url, name) = (redis(), format!("cli-{}", std::process::id()));
    let (code, text) = status(&url, &name, &["--json"]);
    let json: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (code, &json["held"], &json["waiting"]),
        (Some(1), &false.into(), &Value::Null)
    );
    assert!(prints(&["contenders", "--url", &url, &name]).contains("no contender holds"));
    let client = soon(fencepost::connect(&url)).await.unwrap();
    let grant = soon(client.lock(&name).unwrap().acquire()).await.unwrap();
    let fence = grant.fence().unwrap().to_string();
    let (code, text) = status(&url, &name, &[]);
    assert!(
        code == Some(0) && text.contains(&fence) && text.contains("lease ends in "),
        "{text}"
    );
    let json: Value = serde_json::from_str(&status(&url, &name, &["--json"]).1).unwrap();
    let holder = &json["holders"][0];
    assert_eq!(
        (&holder["fence"], &json["waiting"]),
        (&fence.as_str().into(), &Value::Null)
    );
    assert!(
        (1..=10_000).contains(&holder["expires_in_ms"].as_u64().unwrap()),
        "{json}"
    );
    let token = holder["node"].as_str().unwrap();
    assert!(prints(&["contenders", "--url", &url, &name]).contains(token));
    refused(&["revoke", "--url", &url, &name, &fence], 2, "break");
    assert!(prints(&["break", "--url", &url, &name, &fence]).contains(token));
    assert_eq!(status(&url, &name, &["--quiet"]).0, Some(1));
    assert!(matches!(
        soon(grant.release()).await,
        Err(fencepost::Error::Lost(_))
    ));
    refused(&["break", "--url", &url, &name, &fence], 1, "no contender");
    soon(client.close()).await.unwrap();
}

//! The commands for operators of records.

use std::{
    io::Write as _,
    process::{Command, Output, Stdio},
    sync::atomic::{AtomicU32, Ordering},
};

use fencepost::{Claim, Claimed, Completion, Idempotency, IdempotencyOptions, OnLeaseEnd};
use serde_json::Value;

use crate::run::fencepost;

pub(crate) fn redis() -> String {
    crate::url("redis", "FENCEPOST_REDIS")
}

pub(crate) fn zookeeper() -> String {
    crate::url("zk", "FENCEPOST_ZOOKEEPER") + "/records"
}

/// Runs tests on both servers.
macro_rules! on_servers {
    ($($test:ident)*) => {
        mod on_redis {
            $(#[tokio::test] async fn $test() { super::$test(super::redis()).await; })*
        }
        mod on_zookeeper {
            $(#[tokio::test] async fn $test() { super::$test(super::zookeeper()).await; })*
        }
    };
}

on_servers! {
    an_operator_looks_settles_and_forgets
    a_record_that_has_changed_is_not_touched
    results_come_from_files_and_from_standard_input
    results_are_shown_as_what_they_are
    a_value_has_a_version_and_no_result_to_settle
    a_token_that_was_issued_is_seen
}

/// An operation that no other test uses, and its scope.
pub(crate) struct Operation {
    url: String,
    pub(crate) scope: String,
    pub(crate) operations: Idempotency,
}

pub(crate) const KEY: &str = "order 17";

impl Operation {
    pub(crate) async fn on_redis() -> Self {
        Self::on(redis()).await
    }

    async fn on(url: String) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let scope = format!("cli-{}-{number}", std::process::id());
        let client = fencepost::connect(&url).await.unwrap();
        let options = IdempotencyOptions::new().on_lease_end(OnLeaseEnd::Indeterminate);
        let operations = client.idempotency_with(&scope, options).unwrap();
        Self {
            url,
            scope,
            operations,
        }
    }

    pub(crate) async fn claim(&self) -> Claim {
        match self.operations.claim(KEY, b"\x01\xff").await.unwrap() {
            Claimed::Run(claim) => claim,
            Claimed::Replayed(record) => panic!("{record:?}"),
        }
    }

    pub(crate) async fn has_result(&self, tag: &str, result: &[u8]) {
        let claim = self.claim().await;
        assert_eq!(claim.complete(tag, result).await.unwrap(), Completion::Stored);
    }

    /// The arguments of `record STEP SCOPE KEY …` on this operation.
    pub(crate) fn arguments<'a>(&'a self, step: &'a str, others: &[&'a str]) -> Vec<&'a str> {
        let which = ["--url", &self.url, "record", step, &self.scope, KEY];
        [&which, others].concat()
    }

    fn run(&self, step: &str, others: &[&str]) -> Output {
        fencepost(&self.arguments(step, others))
    }

    /// The output of a command that has to succeed.
    pub(crate) fn prints(&self, step: &str, others: &[&str]) -> String {
        let output = self.run(step, others);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{step} {others:?}: {errors}");
        assert_eq!(errors, "");
        String::from_utf8(output.stdout).unwrap()
    }

    pub(crate) fn seen(&self) -> Value {
        serde_json::from_str(&self.prints("look", &["--json"])).unwrap()
    }

    pub(crate) fn guard(&self) -> String {
        self.seen()["guard"].as_str().unwrap().into()
    }

    /// The line on standard error of a command that has to fail with this code.
    pub(crate) fn fails(&self, code: i32, step: &str, others: &[&str]) -> String {
        failed(code, &self.run(step, others))
    }
}

pub(crate) fn failed(code: i32, output: &Output) -> String {
    let line = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(output.status.code(), Some(code), "{line}");
    assert!(
        line.starts_with("fencepost: ") && line.lines().count() == 1,
        "{line}"
    );
    line
}

/// The rows of a printed record.
fn row<'a>(text: &'a str, name: &str) -> &'a str {
    let mut rows = text
        .lines()
        .filter_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    rows.next()
        .unwrap_or_else(|| panic!("no {name} in\n{text}"))
        .trim_start()
}

async fn an_operator_looks_settles_and_forgets(url: String) {
    let operation = Operation::on(url).await;
    let line = operation.fails(1, "look", &[]);
    assert!(
        line.contains("there is no record") && line.contains(&operation.scope),
        "{line}"
    );
    let none = operation.run("look", &["--json"]);
    assert_eq!(
        (none.status.code(), none.stdout.as_slice()),
        (Some(1), &b"null\n"[..])
    );

    let claim = operation.claim().await;
    let seen = operation.seen();
    assert_eq!(
        (&seen["state"], &seen["policy"]),
        (&"running".into(), &"indeterminate".into())
    );
    assert_eq!(
        (&seen["key"], &seen["fingerprint"]),
        (&KEY.into(), &"01ff".into())
    );
    assert_eq!(
        (&seen["takeovers"], &seen["result"], &seen["tag"]),
        (&0.into(), &Value::Null, &Value::Null)
    );
    let left = seen["lease_left_ms"].as_u64().unwrap();
    assert!((1..=30_000).contains(&left), "{left}");
    // ZooKeeper does not report the end of a lease that lasts as long as a session.
    let is_known = !operation.url.starts_with("zk:");
    assert_eq!(seen["lease_end_ms"].is_u64(), is_known, "{seen}");
    let text = operation.prints("look", &[]);
    let start = if is_known {
        "until "
    } else {
        "lasts as long as the session"
    };
    assert!(row(&text, "lease").starts_with(start), "{text}");
    let fence = claim.fence().unwrap().to_string();
    assert_eq!(
        (&seen["fence"], &seen["guard"]),
        (&fence.as_str().into(), &fence.as_str().into())
    );
    claim.leave().await.unwrap();

    assert_eq!(operation.seen()["lease_left_ms"], 0);
    let text = operation.prints("look", &[]);
    assert_eq!(
        (row(&text, "guard"), row(&text, "takeovers"), row(&text, "result")),
        (&*fence, "0", "none")
    );
    assert!(
        row(&text, "lease").starts_with("ended") && row(&text, "kept").contains("23h 59m"),
        "{text}"
    );
    let guard = operation.guard();
    let result = ["--guard", &guard, "--result", "\"receipt 1\""];
    assert!(operation.prints("settle", &result).starts_with("settled: "));
    let value: String = operation
        .operations
        .once(KEY, b"\x01\xff", async |_claim| {
            Err(std::io::Error::other("it has run"))
        })
        .await
        .unwrap();
    assert_eq!(value, "receipt 1");

    // The reply was lost, for example.
    assert!(
        operation
            .prints("settle", &result)
            .starts_with("settled before: ")
    );
    let line = operation.fails(3, "settle", &["--guard", &guard, "--result", "2"]);
    assert!(line.contains("another result"), "{line}");
    let text = operation.prints("look", &[]);
    assert!(text.ends_with("11 bytes of text:\n\"receipt 1\"\n"), "{text}");
    assert_eq!((row(&text, "tag"), row(&text, "state")), ("json", "done"));

    let line = operation.fails(3, "forget", &["--guard", &guard]);
    assert!(line.contains("record-changed") && line.contains("look"), "{line}");
    let forgotten = operation.prints("forget", &["--json", "--guard", &operation.guard()]);
    let forgotten: Value = serde_json::from_str(&forgotten).unwrap();
    assert_eq!(forgotten["outcome"], "forgotten");
    assert_eq!(operation.operations.look(KEY).await.unwrap(), None);
    operation.fails(1, "forget", &["--guard", &guard]);
    operation.fails(1, "settle", &["--guard", &guard, "--result", "1"]);
}

async fn a_record_that_has_changed_is_not_touched(url: String) {
    let operation = Operation::on(url).await;
    let guard = {
        let claim = operation.claim().await;
        claim.fence().unwrap().to_string()
    };
    let later = (guard.parse::<u64>().unwrap() + 1).to_string();
    for guard in [&later, "0"] {
        for (step, others) in [
            ("settle", &["--guard", guard, "--result", "1"][..]),
            ("forget", &["--guard", guard]),
        ] {
            let line = operation.fails(3, step, others);
            assert!(
                line.contains("record-changed") && line.contains("`fencepost record look`"),
                "{line}"
            );
        }
    }
    assert_eq!(operation.seen()["state"], "running");
}

async fn results_come_from_files_and_from_standard_input(url: String) {
    let operation = Operation::on(url).await;
    let bytes: Vec<u8> = (0..=255).collect();
    let file = std::env::temp_dir().join(&operation.scope);
    let name = file.to_str().unwrap();
    std::fs::write(&file, &bytes).unwrap();
    operation.claim().await.leave().await.unwrap();
    let guard = operation.guard();
    operation.prints(
        "settle",
        &["--guard", &guard, "--tag", "bytes", "--result-file", name],
    );
    let record = operation.operations.look(KEY).await.unwrap().unwrap();
    assert_eq!((record.tag.as_str(), &record.result), ("bytes", &bytes));

    let mut settle = Command::new(env!("CARGO_BIN_EXE_fencepost"))
        .args(operation.arguments(
            "settle",
            &["--guard", &guard, "--tag", "bytes", "--result-file", "-"],
        ))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    settle.stdin.take().unwrap().write_all(&bytes).unwrap();
    let output = settle.wait_with_output().unwrap();
    assert!(output.stdout.starts_with(b"settled before"), "{output:?}");

    std::fs::write(&file, vec![b'1'; 1_000_001]).unwrap();
    let line = operation.fails(2, "settle", &["--guard", &guard, "--result-file", name]);
    assert!(line.contains("longer than 1000000 bytes"), "{line}");
    std::fs::remove_file(&file).unwrap();
    let line = operation.fails(2, "settle", &["--guard", &guard, "--result-file", name]);
    assert!(line.contains(name), "{line}");
}

async fn results_are_shown_as_what_they_are(url: String) {
    let operation = Operation::on(url).await;
    let bytes: Vec<u8> = (0..=255).collect();
    operation.has_result("b\x1b[2J", &bytes).await;
    let text = operation.prints("look", &[]);
    assert!(
        text.contains("256 bytes that are not plain text, in base64") && text.contains("AAECAwQFBgcICQ"),
        "{text}"
    );
    assert_eq!(row(&text, "tag"), "b\\u{1b}[2J");
    let seen = operation.seen();
    assert_eq!(
        (&seen["result_encoding"], &seen["result_bytes"]),
        (&"base64".into(), &256.into())
    );
    assert_eq!(seen["tag"], "b\x1b[2J");
    let file = std::env::temp_dir().join(&operation.scope);
    let text = operation.prints("look", &["--output", file.to_str().unwrap()]);
    assert!(
        text.contains("written to") && !text.contains("AAECAwQFBgcICQ"),
        "{text}"
    );
    assert_eq!(std::fs::read(&file).unwrap(), bytes);
    std::fs::remove_file(&file).unwrap();
    assert_eq!(operation.run("look", &["-o", "-"]).stdout, bytes);
}

async fn a_value_has_a_version_and_no_result_to_settle(url: String) {
    let operation = Operation::on(url).await;
    for version in 0..2 {
        let update = format!("update-{version}");
        let applied = operation
            .operations
            .update(KEY, &update, version, b"", "", "neun\n")
            .await;
        assert!(applied.is_ok(), "{applied:?}");
    }
    let text = operation.prints("look", &[]);
    assert_eq!(
        (row(&text, "state"), row(&text, "version"), row(&text, "guard")),
        ("value", "2", "2")
    );
    assert!(text.ends_with("5 bytes of text:\nneun\n"), "{text}");
    let line = operation.fails(3, "settle", &["--guard", "2", "--result", "1"]);
    assert!(line.contains("is a value"), "{line}");
    operation.prints("forget", &["--guard", "2"]);
}

async fn a_token_that_was_issued_is_seen(url: String) {
    let operation = Operation::on(url).await;
    let life = std::time::Duration::from_secs(60);
    operation.operations.issue(KEY, b"alice", life).await.unwrap();
    let seen = operation.seen();
    assert_eq!((&seen["state"], &seen["guard"]), (&"issued".into(), &"0".into()));
    assert_eq!(
        (&seen["binding"], &seen["life_ms"]),
        (&"616c696365".into(), &60_000.into())
    );
    operation.fails(1, "look", &["--output", "/dev/null"]);
    operation.prints("settle", &["--guard", "0", "--result", "null"]);
    assert_eq!(operation.seen()["state"], "done");
}

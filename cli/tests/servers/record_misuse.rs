//! The errors of `record`.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::TcpStream,
    process::Command,
};

use crate::{
    record::{KEY, Operation, failed},
    run::fencepost,
};

#[tokio::test]
async fn a_change_needs_the_guard() {
    let operation = Operation::on_redis().await;
    operation.claim().await.leave().await.unwrap();
    for arguments in [
        operation.arguments("settle", &["--result", "1"]),
        operation.arguments("forget", &[]),
    ] {
        let output = fencepost(&arguments);
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(
            text.contains("--guard <N>") && text.contains("tip: `fencepost record look` prints the guard"),
            "{text}"
        );
    }
    assert_eq!(operation.seen()["state"], "running");
}

#[tokio::test]
async fn a_result_has_to_be_what_its_tag_says() {
    let operation = Operation::on_redis().await;
    operation.claim().await.leave().await.unwrap();
    let guard = operation.guard();
    let line = operation.fails(2, "settle", &["--guard", &guard, "--result", "receipt 1"]);
    assert!(line.contains("not JSON") && line.contains("--tag"), "{line}");
    operation.prints("settle", &["--guard", &guard, "--result", "-17"]);
    let line = operation.fails(
        2,
        "settle",
        &["--guard", &guard, "--result", "x", "--tag", &"t".repeat(256)],
    );
    assert!(line.contains("255 bytes"), "{line}");
}

/// Sends one command in Redis's inline form, and returns the reply.
fn redis(command: &str) -> String {
    let mut stream = TcpStream::connect(std::env::var("FENCEPOST_REDIS").unwrap()).unwrap();
    stream.write_all(format!("{command}\r\n").as_bytes()).unwrap();
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer).unwrap();
    answer
}

#[tokio::test]
async fn a_record_that_cannot_be_read_is_left_alone() {
    let operation = Operation::on_redis().await;
    let key = format!("fencepost:{{{}/order%2017}}", operation.scope);
    assert_eq!(redis(&format!("HSET {key} format 1 state strange")), ":2\r\n");
    for (step, others) in [
        ("look", &[][..]),
        ("settle", &["--guard", "0", "--result", "1"]),
        ("forget", &["--guard", "0"]),
    ] {
        let line = operation.fails(3, step, others);
        assert!(
            line.contains("corrupt-record: operation") && line.contains(KEY),
            "{line}"
        );
    }
    assert_eq!(redis(&format!("HLEN {key}")), ":2\r\n");
    redis(&format!("DEL {key}"));
    assert_eq!(redis(&format!("SET {key} x")), "+OK\r\n");
    let line = operation.fails(3, "look", &[]);
    assert!(line.contains("wrong-type"), "{line}");
    redis(&format!("DEL {key}"));
}

#[test]
fn a_server_that_does_not_answer_is_named() {
    let port = {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        free.local_addr().unwrap().port()
    };
    let url = format!("redis://user:secret@127.0.0.1:{port}");
    let line = failed(
        4,
        &fencepost(&["record", "look", "payments", "order-17", "--url", &url]),
    );
    assert!(
        line.contains("unreachable")
            && line.contains(&format!("127.0.0.1:{port}"))
            && !line.contains("secret"),
        "{line}"
    );
}

#[test]
fn a_refused_password_is_a_refusal() {
    let url = crate::url("redis", "FENCEPOST_REDIS_AUTH");
    let line = failed(
        3,
        &fencepost(&["record", "--url", &url, "look", "payments", "order-17"]),
    );
    assert!(line.contains("auth-failed"), "{line}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let redis = crate::url("redis", "FENCEPOST_REDIS");
    for (arguments, word) in [
        (&["record"][..], "look"),
        (&["record", "sieve"], "sieve"),
        (&["record", "look", "payments"], "<KEY>"),
        (&["record", "look", "payments", "k"], "--url redis://HOST:PORT"),
        (&["record", "look", "", "k", "--url", &redis], "scope is \"\""),
        (
            &["record", "look", "payments", "", "--url", &redis],
            "key is \"\"",
        ),
        (
            &[
                "--url", &redis, "record", "look", "payments", "k", "--url", &redis,
            ],
            "twice",
        ),
        (&["--url", &redis, "demo"], "write it after `demo`"),
        (
            &["--url", "memory:", "record", "look", "payments", "k"],
            "no other process",
        ),
        (
            &["--url", "http://localhost", "record", "look", "payments", "k"],
            "unknown scheme",
        ),
        (
            &[
                "--url", &redis, "record", "look", "payments", "k", "--json", "-o", "-",
            ],
            "--json",
        ),
        (
            &[
                "--url", &redis, "record", "forget", "payments", "k", "--guard", "-1",
            ],
            "-1",
        ),
        (
            &[
                "--url", &redis, "record", "settle", "payments", "k", "--guard", "1",
            ],
            "--result",
        ),
        (
            &[
                "--url",
                &redis,
                "record",
                "settle",
                "payments",
                "k",
                "--guard",
                "1",
                "--result",
                "1",
                "--result-file",
                "-",
            ],
            "cannot be used with",
        ),
    ] {
        let output = fencepost(arguments);
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        assert!(
            text.contains(word),
            "{arguments:?}: {word:?} is missing in\n{text}"
        );
    }
}

#[test]
fn the_address_may_be_in_the_environment() {
    let command = |url: &str| {
        Command::new(env!("CARGO_BIN_EXE_fencepost"))
            .args(["record", "look", "payments", "no such order"])
            .env("FENCEPOST_URL", url)
            .output()
            .unwrap()
    };
    failed(1, &command(&crate::url("redis", "FENCEPOST_REDIS")));
    failed(2, &command(""));
}

#[test]
fn the_exit_codes_are_in_the_help() {
    for step in ["look", "settle", "forget"] {
        let output = fencepost(&["record", step, "--help"]);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(
            text.contains("Exit codes:") && text.contains("4  unavailable"),
            "{text}"
        );
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_reader_that_has_gone_is_no_error() {
    let operation = Operation::on_redis().await;
    operation.has_result("text", &[b'x'; 300_000]).await;
    for others in [&[][..], &["--json"], &["--output", "-"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let status = Command::new(env!("CARGO_BIN_EXE_fencepost"))
            .args(operation.arguments("look", others))
            .stdout(writer)
            .status()
            .unwrap();
        assert!(status.success(), "{others:?}: {status}");
    }
    #[cfg(target_os = "linux")]
    {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_fencepost"))
            .args(operation.arguments("look", &[]))
            .stdout(full)
            .output()
            .unwrap();
        assert!(failed(2, &output).contains("standard output"), "{output:?}");
    }
}

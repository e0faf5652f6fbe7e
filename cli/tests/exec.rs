//! `fencepost exec` without a server: its errors, completions and manual pages.

#![cfg(unix)]

#[expect(dead_code, reason = "the rest is for the demo's tests")]
mod run;

use std::{
    ffi::OsStr,
    net::TcpListener,
    os::unix::ffi::OsStrExt as _,
    process::{Command, Output},
};

use run::fencepost;

/// The line on standard error of a run that has to fail with this code.
fn fails(code: i32, arguments: &[&str]) -> String {
    let Output {
        status,
        stdout,
        stderr,
    } = fencepost(arguments);
    let line = String::from_utf8(stderr).unwrap();
    assert!(!line.contains("For more information"), "{line}");
    // This advice of the parser does not work here.
    assert!(!line.contains("as a value, use '--"), "{line}");
    assert_eq!(status.code(), Some(code), "{arguments:?}: {line}");
    assert!(
        line.starts_with("fencepost: ") && line.lines().count() == 1,
        "{arguments:?}: {line}"
    );
    assert!(stdout.is_empty(), "{arguments:?}");
    line
}

#[test]
fn an_argument_that_is_no_text_is_named() {
    let word = OsStr::from_bytes(b"night\xff");
    for (command, code) in [("exec", 64), ("status", 2)] {
        let output = Command::new(env!("CARGO_BIN_EXE_fencepost"))
            .arg(command)
            .arg(word)
            .args(
                (command == "exec")
                    .then_some(["--", "true"])
                    .into_iter()
                    .flatten(),
            )
            .output()
            .unwrap();
        let line = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{line}");
        assert!(line.contains("\"night\\xFF\" is not UTF-8"), "{line}");
    }
}

#[test]
fn wrong_usage_is_one_line_and_64() {
    let on = ["exec", "--url", "redis://127.0.0.1:1"];
    for (arguments, word) in [
        (&["--no-such-option", "x", "--", "true"][..], "--no-such-option"),
        (
            &["-x", "--", "true"],
            "'-x' found (if it is the lock's name, write --lock=NAME)",
        ),
        (
            &["--nonblok", "x", "--", "true"],
            "similar argument exists: '--nonblock'",
        ),
        (&["--lock=y", "x", "--", "true"], "cannot be used with"),
        (&["--lock", "--", "true"], "--lock"),
        (&[], "<NAME>"),
        (&["x"], "<CMD>"),
        (
            &["x", "true"],
            "'true' found (the command comes after `--`: fencepost exec NAME -- COMMAND)",
        ),
        (&["--ttl", "soon", "x", "--", "true"], "'soon' for '--ttl <TIME>'"),
        (&["--ttl", "5", "x", "--", "true"], "5ms"),
        (&["--wait", "0s", "x", "--", "true"], "longer than nothing"),
        (&["--wait", "1s", "--nonblock", "x", "--", "true"], "--nonblock"),
        (&["--shared", "--limit", "2", "x", "--", "true"], "--limit"),
        (&["--limit", "0", "x", "--", "true"], "0"),
        (&["--on-lost", "pray", "x", "--", "true"], "pray"),
        (&["--retain", "1h", "x", "--", "true"], "--once"),
        (&["--conflict-exit-code", "256", "x", "--", "true"], "256"),
        (
            &["--status-fd", "77", "x", "--", "true"],
            "'77' for '--status-fd <FD>': Bad file descriptor",
        ),
        (
            &["--status-fd", "log", "x", "--", "true"],
            "'log' for '--status-fd <FD>': give the number",
        ),
        (
            &["--status-fd", "-1", "x", "--", "true"],
            "'-1' for '--status-fd <FD>': give the number",
        ),
        (
            &["--status-fd", "0", "x", "--", "true"],
            "it is open for reading only",
        ),
        (
            &["--min-hold", "2s", "--max-hold", "1s", "x", "--", "true"],
            "--min-hold",
        ),
        (&["--ttl", "4s", "x", "--", "true"], "at least 5s"),
        (
            &["--ttl", "10s", "--grace", "3s", "x", "--", "true"],
            "at least 15s",
        ),
        (&["", "--", "true"], "empty"),
        (&["--once", "", "x", "--", "true"], "key"),
    ] {
        let line = fails(64, &[&on, arguments].concat());
        assert!(
            line.contains(word),
            "{arguments:?}: {word:?} is missing in {line}"
        );
    }
    assert!(fails(64, &["exec", "x", "--", "true"]).contains("FENCEPOST_URL"));
    let twice = [
        "--url",
        "redis://a",
        "exec",
        "--url",
        "redis://b",
        "x",
        "--",
        "true",
    ];
    assert!(fails(64, &twice).contains("twice"));
    for (url, word) in [
        ("http://localhost", "unknown scheme"),
        ("memory:", "no other process"),
        ("zk://localhost:0", "0"),
    ] {
        let line = fails(64, &["exec", "--url", url, "x", "--", "true"]);
        assert!(line.contains(word), "{line}");
    }
    let both = [
        "exec",
        "--url",
        "zk://h?session_timeout=9000",
        "--ttl",
        "9s",
        "x",
        "--",
        "true",
    ];
    assert!(fails(64, &both).contains("session_timeout"));
}

#[test]
fn a_kind_that_the_server_lacks_is_refused_before_connecting() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    server.set_nonblocking(true).unwrap();
    let url = format!("redis://{}", server.local_addr().unwrap());
    for option in [&["--shared"][..], &["--limit", "3"]] {
        let line = fails(
            64,
            &[&["exec", "--url", &url], option, &["x", "--", "true"]].concat(),
        );
        assert!(line.contains(option[0]) && line.contains("ZooKeeper"), "{line}");
    }
    assert!(server.accept().is_err(), "a connection was made");
}

#[test]
fn a_server_that_does_not_answer_is_named() {
    for (url, shown) in [
        ("redis://127.0.0.1:1", "redis://127.0.0.1:1/0"),
        ("redis://:secret@127.0.0.1:1", "redis://127.0.0.1:1/0"),
        ("zk://127.0.0.1:1/shop", "zk://127.0.0.1:1/shop"),
        ("zk://no-such-host.invalid:2181", "no-such-host.invalid:2181"),
    ] {
        let line = fails(69, &["exec", "--url", url, "--wait", "300ms", "x", "--", "true"]);
        assert!(line.contains(shown) && line.contains("unreachable"), "{line}");
        assert!(
            !line.contains("secret") && !line.contains("this acquire"),
            "{line}"
        );
    }
}

/// The server accepts the connection and never replies, like a stopped server.
#[test]
fn a_silent_server_is_unavailable_even_if_the_wait_is_short() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    for scheme in ["redis", "zk"] {
        let url = format!("{scheme}://{}", server.local_addr().unwrap());
        let line = fails(69, &["exec", "--url", &url, "--wait", "500ms", "x", "--", "true"]);
        assert!(line.contains(&url) && line.contains("unreachable"), "{line}");
    }
}

/// The command comes after `--`, so the user passes such a name in an option.
#[test]
fn the_name_of_a_lock_may_begin_like_an_option() {
    for name in ["--lock=-x", "--lock=--json"] {
        let start = ["exec", "--url", "redis://127.0.0.1:1", "--wait", "100ms"];
        let line = fails(69, &[&start[..], &[name, "--", "true"]].concat());
        let (_, name) = name.split_once('=').unwrap();
        assert!(line.contains(&format!("lock {name:?}")), "{line}");
    }
    // If a shell variable is empty, the next option must not become the name of the lock.
    let line = fails(64, &["exec", "--lock", "--json", "--", "true"]);
    assert!(line.contains("'--lock <NAME>'"), "{line}");
}

/// systemd units, secrets and environment files may set a variable to an empty text, or to more
/// than the address.
#[test]
fn what_surrounds_an_address_is_named() {
    for (address, word) in [
        ("", "FENCEPOST_URL is empty"),
        ("redis://:hidden@127.0.0.1:1\n", "line break"),
        ("zk://127.0.0.1:1/shop\r\n", "line break"),
        (" redis://127.0.0.1:1", "space"),
        ("\"redis://:hidden@127.0.0.1:1\"", "quotation mark"),
    ] {
        for (arguments, code) in [(&["exec", "x", "--", "true"][..], 64), (&["status", "x"], 2)] {
            let output = Command::new(env!("CARGO_BIN_EXE_fencepost"))
                .args(arguments)
                .env("FENCEPOST_URL", address)
                .output()
                .unwrap();
            let line = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(code), "{line}");
            assert!(line.contains(word) && !line.contains("hidden"), "{line}");
        }
    }
}

#[test]
fn the_help_names_every_exit_code() {
    let output = fencepost(&["exec", "--help"]);
    assert!(output.status.success());
    let help = String::from_utf8(output.stdout).unwrap();
    for code in ["64", "65", "69", "70", "71", "74", "75", "126", "127", "128+n"] {
        assert!(
            help.contains(&format!("\n  {code} ")),
            "{code} is missing in\n{help}"
        );
    }
}

#[test]
fn completions_and_manual_pages_come_from_the_same_definitions() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = fencepost(&["completions", shell]);
        assert!(output.status.success());
        let script = String::from_utf8(output.stdout).unwrap();
        assert!(
            script.contains("conflict-exit-code") && script.contains("contenders"),
            "{shell}"
        );
        assert!(
            !script.contains("exec` was killed"),
            "{shell}: `watchdog` is not for users"
        );
    }
    assert_eq!(fencepost(&["completions", "cmd"]).status.code(), Some(2));
    let directory = std::env::temp_dir().join(format!("fencepost-man-{}", std::process::id()));
    let path = directory.to_str().unwrap();
    let output = fencepost(&["man", path]);
    assert!(output.status.success(), "{output:?}");
    let page = std::fs::read_to_string(directory.join("fencepost-exec.1")).unwrap();
    assert!(page.contains("conflict\\-exit\\-code"), "{page}");
    let synopsis = page.split(".SH").find(|part| part.contains("SYNOPSIS"));
    let synopsis = synopsis.unwrap().replace("\\fR", "").replace("\\f", "");
    assert!(synopsis.contains("<NAME> \\-\\- <CMD>..."), "{synopsis}");
    let internal = ["fencepost-watchdog.1", "fencepost-buyers.1"];
    let found = internal.map(|page| directory.join(page).exists());
    std::fs::remove_dir_all(&directory).unwrap();
    assert_eq!(found, [false, false]);
    let output = fencepost(&["man", "/proc/no/such"]);
    assert_eq!(output.status.code(), Some(2));
    let line = String::from_utf8(output.stderr).unwrap();
    assert!(line.contains("/proc/no/such"), "{line}");
}

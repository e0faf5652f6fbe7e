//! Wrong usage: one line, before any connection. And a standard output that cannot be written.

#[expect(dead_code, reason = "the rest is for the demo's tests")]
mod run;

use std::net::TcpListener;
#[cfg(target_os = "linux")]
use std::os::unix::fs::MetadataExt as _;

use run::fencepost;

/// The line on standard error of a command that has to fail with the code of wrong usage.
fn refused(arguments: &[&str]) -> String {
    let output = fencepost(arguments);
    let line = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {line}");
    assert!(
        line.starts_with("fencepost: ") && line.lines().count() == 1,
        "{arguments:?}: {line}"
    );
    assert!(output.stdout.is_empty(), "{arguments:?}");
    line
}

#[test]
fn wrong_usage_is_one_line() {
    for (arguments, words) in [
        (
            &["break", "n", "abc"][..],
            &["'abc'", "`fencepost contenders`"][..],
        ),
        (&["revoke", "n", "-7"], &["'-7'", "`fencepost revoke --help`"]),
        (
            &["status", "--bogus", "x"],
            &["'--bogus'", "use '-- --bogus'", "see `fencepost status --help`"],
        ),
        (&["status"], &["<NAME>", "`fencepost status --help`"]),
        (&["contenders", "--of", "sieve", "x"], &["'sieve'", "read-write"]),
        (&["--url", "token", "status"], &["`fencepost status --help`"]),
        (&["--url=exec", "status"], &["`fencepost status --help`"]),
        (&["demo", "--bogus"], &["'--bogus'", "`fencepost demo --help`"]),
        (&["--url", "redis://h", "demo"], &["after `demo`"]),
        (&["completions", "nosh"], &["'nosh'", "fish", "zsh"]),
        (&["man"], &["<DIRECTORY>"]),
        (&["bogus"], &["'bogus'", "see `fencepost --help`"]),
        (&["--bogus"], &["'--bogus'", "see `fencepost --help`"]),
        (&["record", "sieve"], &["'sieve'", "`fencepost record --help`"]),
        (
            &["record", "look", "payments"],
            &["<KEY>", "`fencepost record look --help`"],
        ),
        (
            &["record", "settle", "s", "k", "--result", "1"],
            &["--guard <N>", "tip: `fencepost record look` prints the guard"],
        ),
        (
            &["record", "forget", "s", "k", "--guard", "x"],
            &["'x'", "`fencepost record look`"],
        ),
        (
            &["token", "issue"],
            &["<SCOPE>", "`fencepost token issue --help`"],
        ),
    ] {
        let line = refused(arguments);
        for word in words {
            assert!(
                line.contains(word),
                "{arguments:?}: {word:?} is missing in {line}"
            );
        }
        assert!(!line.contains("invalid digit"), "{line}");
    }
}

/// A user who requests the help gets the whole text.
#[test]
fn help_has_many_lines() {
    for arguments in [
        &["--help"][..],
        &["help"],
        &["status", "--help"],
        &["help", "token"],
        &["record", "look", "-h"],
    ] {
        let output = fencepost(arguments);
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(
            text.contains("Usage: fencepost") && text.ends_with('\n'),
            "{text}"
        );
    }
    let version = fencepost(&["--version"]);
    assert!(version.status.success() && version.stdout.starts_with(b"fencepost "));
}

#[test]
fn what_the_server_lacks_is_refused_before_connecting() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    server.set_nonblocking(true).unwrap();
    let url = format!("redis://{}", server.local_addr().unwrap());
    let semaphore = ["--of", "semaphore", "--permits", "2", "n"];
    let kinds = [
        (&semaphore[..], "semaphore"),
        (&["--of", "read-write", "n"], "read-write"),
        (&["--of", "election", "n"], "election"),
        (&["--of", "single", "n"], "single"),
    ];
    for (command, fence) in [
        ("status", &[][..]),
        ("contenders", &[]),
        ("break", &["3"]),
        ("revoke", &["3"]),
    ] {
        for (arguments, kind) in kinds {
            let line = refused(&[&[command, "--url", &url], arguments, fence].concat());
            for word in [kind, "Redis does not have", "zk://HOST:PORT/PREFIX", "leave out"] {
                assert!(line.contains(word), "{word:?} is missing in {line}");
            }
            assert!(!line.contains("unknown option"), "{line}");
        }
    }
    let line = refused(&["revoke", "--url", &url, "n", "12"]);
    assert!(
        line.contains("Redis has no revocation requests") && line.contains("`fencepost break NAME FENCE`"),
        "{line}"
    );
    assert!(server.accept().is_err(), "a connection was made");
}

#[test]
fn what_no_server_could_do_is_refused_before_connecting() {
    let servers = ["redis", "zk"].map(|scheme| {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        server.set_nonblocking(true).unwrap();
        let url = format!("{scheme}://{}", server.local_addr().unwrap());
        (server, url)
    });
    let [(_, redis), (_, zookeeper)] = &servers;
    for (arguments, word) in [
        (
            &["status", "--url", redis, "n", "--layout", "kazoo"][..],
            "layout",
        ),
        (&["contenders", "--url", zookeeper, "a//b"], "a//b"),
        (
            &[
                "status",
                "--url",
                zookeeper,
                "--of",
                "semaphore",
                "--permits",
                "0",
                "n",
            ],
            "permits",
        ),
        (&["record", "look", "", "k", "--url", redis], "scope is \"\""),
        (&["record", "look", "s", "", "--url", redis], "key is \"\""),
        (
            &[
                "record", "settle", "s", "", "--guard", "1", "--result", "1", "--url", redis,
            ],
            "key is \"\"",
        ),
        (
            &["revoke", "--url", zookeeper, "--of", "single", "n", "3"],
            "kind single has no revocation requests: to remove the holder, run `fencepost break NAME FENCE --of single`",
        ),
        (&["token", "issue", "s", "", "--url", redis], "key is \"\""),
        (&["token", "check", "s", "", "--url", zookeeper], "key is \"\""),
        (&["token", "consume", "", "t", "--url", redis], "scope is \"\""),
    ] {
        let line = refused(arguments);
        assert!(line.contains(word), "{word:?} is missing in {line}");
    }
    for (server, url) in servers {
        assert!(server.accept().is_err(), "a connection was made to {url}");
    }
}

/// `memory:` is only for the demo.
#[test]
fn a_wrong_address_leads_to_one_that_the_command_takes() {
    let advice = |line: &str| {
        assert!(
            line.contains("unknown scheme \"sqlite\": use zk://HOST:PORT/PREFIX, redis://HOST:PORT"),
            "{line}"
        );
    };
    for arguments in [
        &["status", "n"][..],
        &["record", "look", "s", "k"],
        &["token", "issue", "s"],
    ] {
        advice(&refused(&[&["--url", "sqlite:x"], arguments].concat()));
    }
    let line = refused(&["demo", "--url", "sqlite:x"]);
    assert!(line.contains("use memory:, zk://"), "{line}");
    #[cfg(unix)]
    {
        let output = fencepost(&["exec", "--url", "sqlite:x", "n", "--", "true"]);
        assert_eq!(output.status.code(), Some(64));
        advice(&String::from_utf8(output.stderr).unwrap());
    }
}

/// A full disk.
#[cfg(target_os = "linux")]
#[test]
fn a_standard_output_that_is_full_is_an_error() {
    for (arguments, code) in [
        (&["completions", "bash"][..], 2),
        (&["demo", "--buyers", "10"], 2),
        (&["--help"], 2),
        (&["--version"], 2),
        (&["help", "status"], 2),
        (&["record", "look", "--help"], 2),
        (&["exec", "--help"], 71),
    ] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_fencepost"))
            .args(arguments)
            .stdout(full)
            .output()
            .unwrap();
        let line = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {line}");
        assert_eq!(
            line, "fencepost: cannot write to standard output: No space left on device (os error 28)\n",
            "{arguments:?}"
        );
    }
}

/// It is not an error if the reader has closed the pipe.
#[cfg(unix)]
#[test]
fn a_reader_of_the_help_may_go() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_fencepost"))
        .arg("--help")
        .stdout(writer)
        .output()
        .unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}

/// The client libraries need threads. Without them they would panic, or wait for ever.
#[cfg(target_os = "linux")]
#[test]
fn a_limit_of_processes_is_an_error() {
    let directory = std::env::temp_dir().join(format!("fencepost-few-{}", std::process::id()));
    std::fs::create_dir(&directory).unwrap();
    let program = directory.join("fencepost");
    std::fs::copy(env!("CARGO_BIN_EXE_fencepost"), &program).unwrap();
    // The limit does not apply to root.
    let user: &[&str] = if directory.metadata().unwrap().uid() == 0 {
        &["setpriv", "--reuid", "65534", "--clear-groups"]
    } else {
        &["env"]
    };
    for (arguments, code) in [
        (
            &["exec", "--url", "zk://localhost:1", "few", "--", "true"][..],
            71,
        ),
        (&["status", "--url", "redis://localhost:1", "few"], 2),
    ] {
        let output = std::process::Command::new(user[0])
            .args(&user[1..])
            .args(["bash", "-c", "ulimit -u 1; exec \"$@\"", "bash"])
            .arg(&program)
            .args(arguments)
            .output()
            .unwrap();
        let line = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {line}");
        assert!(
            line.starts_with("fencepost: fencepost cannot start on this computer: "),
            "{line}"
        );
        assert_eq!(line.lines().count(), 1, "{line}");
    }
    std::fs::remove_dir_all(directory).unwrap();
}

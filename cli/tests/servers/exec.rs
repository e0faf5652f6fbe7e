//! `fencepost exec` on real servers: exit codes, signals, the environment, reports.

use std::{
    io::Read as _,
    os::{fd::OwnedFd, unix::net::UnixStream},
    process::{Command, Stdio},
};

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::exec_run::{Log, Run, finish, is_alive, unique};

fn redis() -> String {
    crate::url("redis", "FENCEPOST_REDIS")
}

fn zookeeper() -> String {
    crate::url("zk", "FENCEPOST_ZOOKEEPER") + "/exec"
}

/// Runs tests on both servers.
macro_rules! on_servers {
    ($($test:ident)*) => {
        mod on_redis {
            $(#[test] fn $test() { super::$test(&super::redis()); })*
        }
        mod on_zookeeper {
            $(#[test] fn $test() { super::$test(&super::zookeeper()); })*
        }
    };
}

on_servers! {
    the_exit_code_is_the_commands
    the_command_finds_its_lock_in_its_environment
    one_that_does_not_get_the_lock_runs_nothing
    a_signal_while_waiting_leaves_the_queue
    signals_go_to_the_whole_group
    what_the_command_leaves_behind_ends_before_the_release
    the_lock_is_held_as_long_as_was_asked
    an_operation_runs_once
}

/// Whether the lock is free now.
fn is_free(url: &str, name: &str) -> bool {
    match finish(url, &["--nonblock", name, "--", "true"]).code {
        Some(0) => true,
        Some(75) => false,
        code => panic!("{code:?}"),
    }
}

fn the_exit_code_is_the_commands(url: &str) {
    let name = unique();
    for (command, code, outcome) in [
        (&["true"][..], 0, "exited"),
        (&["sh", "-c", "exit 9"], 9, "exited"),
        (&["sh", "-c", "kill -KILL $$"], 137, "signalled"),
        (&["sh", "-c", "exit 75"], 75, "exited"),
        (&["/no/such/command"], 127, "not-executed"),
        (&["/etc/passwd"], 126, "not-executed"),
        (&["/tmp"], 126, "not-executed"),
    ] {
        let run = finish(url, &[&[name.as_str(), "--"], command].concat());
        assert_eq!(run.code, Some(code), "{command:?}: {run:?}");
        assert_eq!(run.last["outcome"], outcome, "{run:?}");
        assert_eq!(run.last["exit_code"], code);
        let lines = if outcome == "not-executed" { 1 } else { 0 };
        assert_eq!(run.stderr.lines().count(), lines, "{run:?}");
    }
    assert!(is_free(url, &name));
}

fn the_command_finds_its_lock_in_its_environment(url: &str) {
    let name = unique();
    let show = "echo $FENCEPOST_LOCK $FENCEPOST_FENCE $FENCEPOST_DEADLINE_MS $(date +%s%3N) \"$1\"";
    let run = finish(
        url,
        &[
            "--ttl",
            "20s",
            "--json",
            &name,
            "--",
            "sh",
            "-c",
            show,
            "sh",
            "$HOME *; exit",
        ],
    );
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    let [shown, report] = run.stdout.lines().collect::<Vec<_>>()[..] else {
        panic!("{run:?}");
    };
    let words: Vec<&str> = shown.splitn(5, ' ').collect();
    let report: Value = serde_json::from_str(report).unwrap();
    assert_eq!(words[0], name);
    assert_eq!(report["fence"], words[1]);
    let [deadline, now] = [words[2], words[3]].map(|text| text.parse::<u64>().unwrap());
    assert!((now..now + 20_000).contains(&deadline), "{shown}");
    // No shell has interpreted the arguments.
    assert_eq!(words[4], "$HOME *; exit");
    for (member, value) in [
        ("lock", json!(name)),
        ("status", json!(0)),
        ("signal", Value::Null),
        ("lost", Value::Null),
        ("outcome", json!("exited")),
        ("exit_code", json!(0)),
    ] {
        assert_eq!(report[member], value, "{report}");
    }
    // A later run has a greater fence.
    let later = finish(url, &[&name, "--", "sh", "-c", "echo $FENCEPOST_FENCE"]);
    let fences = [words[1], later.stdout.trim()].map(|text| text.parse::<u64>().unwrap());
    assert!(fences[0] < fences[1], "{fences:?}");
}

/// A command that runs until a signal comes.
const HOLD: [&str; 3] = ["sh", "-c", "sleep 600"];

fn holder(url: &str, name: &str, options: &[&str]) -> Run {
    let mut run = Run::start(url, &[options, &[name, "--"], &HOLD[..]].concat());
    run.until("started");
    run
}

fn one_that_does_not_get_the_lock_runs_nothing(url: &str) {
    let (name, log) = (unique(), Log::new());
    let held = holder(url, &name, &[]);
    let write = format!("echo ran >> {}", log.path());
    for (options, code) in [
        (&["--nonblock"][..], 75),
        (&["-n", "-E", "0"], 0),
        (&["--wait", "200ms", "--conflict-exit-code", "3"], 3),
    ] {
        let run = finish(
            url,
            &[options, &[name.as_str(), "--", "sh", "-c", write.as_str()]].concat(),
        );
        assert_eq!(run.code, Some(code), "{run:?}");
        assert_eq!(run.last["outcome"], "not-acquired");
        // With 0, there is no error, and cron would send a mail for each line.
        assert_eq!(run.stderr.lines().count(), usize::from(code != 0), "{run:?}");
        assert_eq!(run.stderr.contains(&name), code != 0, "{run:?}");
    }
    held.signal(Signal::SIGTERM);
    assert_eq!(held.finish().code, Some(143));
    assert_eq!(log.lines(), [""; 0]);
}

fn a_signal_while_waiting_leaves_the_queue(url: &str) {
    let (name, log) = (unique(), Log::new());
    let held = holder(url, &name, &[]);
    let write = format!("echo ran >> {}", log.path());
    for (signal, code) in [
        (Signal::SIGTERM, 143),
        (Signal::SIGINT, 130),
        (Signal::SIGUSR1, 138),
    ] {
        let mut waiter = Run::start(url, &[&name, "--", "sh", "-c", &write]);
        waiter.until("waiting");
        waiter.signal(signal);
        let run = waiter.finish();
        assert_eq!(run.code, Some(code), "{run:?}");
        assert_eq!(run.last["outcome"], "interrupted");
        assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
    }
    held.signal(Signal::SIGTERM);
    held.finish();
    // No contender is left.
    assert!(is_free(url, &name));
    assert_eq!(log.lines(), [""; 0]);
}

fn signals_go_to_the_whole_group(url: &str) {
    let (name, log) = (unique(), Log::new());
    // The shell and its child both write the signals that they get; `wait` continues after a
    // signal.
    let script = format!(
        r#"log={}
        (trap 'echo child got usr1 >> $log' USR1; trap 'echo child got hup >> $log; exit' HUP
         echo child ready >> $log; while :; do sleep 0.01; done) &
        trap 'echo parent got usr1 >> $log' USR1; trap 'echo parent got hup >> $log; wait; exit 5' HUP
        echo parent ready >> $log; while :; do wait; done"#,
        log.path()
    );
    let mut run = Run::start(url, &[&name, "--", "sh", "-c", &script]);
    run.until("started");
    let has = |line: &str, lines: &[String]| lines.iter().any(|seen| seen == line);
    log.until(|lines| has("child ready", lines) && has("parent ready", lines));
    run.signal(Signal::SIGUSR1);
    log.until(|lines| has("child got usr1", lines) && has("parent got usr1", lines));
    run.signal(Signal::SIGHUP);
    let finished = run.finish();
    assert_eq!(finished.code, Some(5), "{finished:?}");
    let lines = log.lines();
    assert!(
        has("child got hup", &lines) && has("parent got hup", &lines),
        "{lines:?}"
    );
}

fn what_the_command_leaves_behind_ends_before_the_release(url: &str) {
    let (name, log) = (unique(), Log::new());
    // A grandchild that ignores SIGTERM. The command does not wait for it.
    let script = format!(
        "(trap '' TERM; echo ready >> {0}; while :; do sleep 0.01; done) & while ! grep -q ready {0}; do sleep 0.01; done; exit 4",
        log.path()
    );
    let mut run = Run::start(url, &["--grace", "100ms", &name, "--", "sh", "-c", &script]);
    run.until("started");
    let group = run.group.unwrap();
    let finished = run.finish();
    assert_eq!(finished.code, Some(4), "{finished:?}");
    assert!(!is_alive(group));
    assert!(is_free(url, &name));
}

fn the_lock_is_held_as_long_as_was_asked(url: &str) {
    let name = unique();
    let mut run = Run::start(url, &["--min-hold", "600s", &name, "--", "true"]);
    run.until("exited");
    assert!(!is_free(url, &name));
    // A signal ends the wait, and the exit code is the command's.
    run.signal(Signal::SIGTERM);
    assert_eq!(run.finish().code, Some(0));
    let run = Run::start(
        url,
        &[
            "--max-hold",
            "300ms",
            "--grace",
            "100ms",
            &name,
            "--",
            "sh",
            "-c",
            "trap '' TERM; while :; do sleep 0.01; done",
        ],
    );
    let finished = run.finish();
    assert_eq!(finished.code, Some(70), "{finished:?}");
    assert_eq!(
        (&finished.last["outcome"], &finished.last["signal"]),
        (&json!("max-hold"), &json!(9))
    );
    assert_eq!(finished.stderr.lines().count(), 1, "{finished:?}");
    assert!(is_free(url, &name));
}

fn an_operation_runs_once(url: &str) {
    let (name, log) = (unique(), Log::new());
    let script = format!(
        "echo \"$FENCEPOST_KEY $FENCEPOST_TAKEOVERS\" >> {0}; exit $(cat {0}.code)",
        log.path()
    );
    let code = format!("{}.code", log.path());
    let run = |key: &str| {
        let run = finish(
            url,
            &["--once", key, "--retain", "1h", &name, "--", "sh", "-c", &script],
        );
        (
            run.code.unwrap(),
            run.last["outcome"].as_str().unwrap().to_owned(),
        )
    };
    // After a failure, the key can be claimed again.
    std::fs::write(&code, "3").unwrap();
    assert_eq!(run("monday"), (3, "exited".into()));
    // A success is stored.
    std::fs::write(&code, "0").unwrap();
    assert_eq!(run("monday"), (0, "exited".into()));
    assert_eq!(run("monday"), (0, "replayed".into()));
    std::fs::remove_file(&code).unwrap();
    // After a signal, the outcome is unknown, and the next run takes over.
    let script = script.replace("exit", "kill -KILL $$; exit");
    for _ in 0..2 {
        let killed = finish(url, &["--once", "tuesday", &name, "--", "sh", "-c", &script]);
        assert_eq!(killed.code, Some(137), "{killed:?}");
    }
    assert_eq!(
        log.lines(),
        ["monday 0", "monday 0", "tuesday 0", "tuesday 1"].map(String::from)
    );
    // A key is for one command only.
    let other = finish(url, &["--once", "monday", &name, "--", "true"]);
    assert_eq!(other.code, Some(65), "{other:?}");
    assert!(other.stderr.contains("mismatch"), "{other:?}");
    assert!(is_free(url, &name));
}

#[test]
fn readers_share_and_permits_are_limited() {
    let (url, name) = (zookeeper(), unique());
    let reader = holder(&url, &name, &["--shared"]);
    assert_eq!(
        finish(&url, &["--shared", "-n", &name, "--", "true"]).code,
        Some(0)
    );
    assert!(!is_free(&url, &name));
    reader.signal(Signal::SIGTERM);
    reader.finish();
    let held = holder(&url, &name, &[]);
    assert_eq!(
        finish(&url, &["--shared", "-n", &name, "--", "true"]).code,
        Some(75)
    );
    held.signal(Signal::SIGTERM);
    held.finish();
    let name = unique();
    let limit = ["--limit", "2"];
    let holders = [(); 2].map(|()| holder(&url, &name, &limit));
    let third = finish(&url, &[&limit[..], &["-n", &name, "--", "true"]].concat());
    assert_eq!(third.code, Some(75), "{third:?}");
    for holder in holders {
        holder.signal(Signal::SIGTERM);
        holder.finish();
    }
    assert_eq!(
        finish(&url, &[&limit[..], &["-n", &name, "--", "true"]].concat()).code,
        Some(0)
    );
}

/// The command reports that it cannot write the report, if there is no worse error.
#[cfg(target_os = "linux")]
#[test]
fn a_standard_output_that_is_full_or_closed() {
    let (url, name) = (redis(), unique());
    let full = || Stdio::from(std::fs::File::options().write(true).open("/dev/full").unwrap());
    for (command, code) in [("true", 74), ("exit 3", 3)] {
        let arguments = ["--json", &name, "--", "sh", "-c", command];
        let run = Run::start_with(&url, &arguments, full()).finish();
        assert_eq!(run.code, Some(code), "{run:?}");
        assert!(run.stderr.lines().count() <= 1, "{run:?}");
        assert_eq!(run.stderr.contains("standard output"), code == 74, "{run:?}");
    }
    // A pipe without a reader is not an error.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let run = Run::start_with(&url, &["--json", &name, "--", "true"], writer.into()).finish();
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
}

#[test]
fn a_signal_that_is_ignored_stays_ignored() {
    let (url, name) = (redis(), unique());
    let script = "trap '' HUP; exec \"$@\"";
    let output = Command::new("sh")
        .args([
            "-c",
            script,
            "sh",
            env!("CARGO_BIN_EXE_fencepost"),
            "exec",
            "--url",
            &url,
            &name,
        ])
        .args(["--", "sh", "-c", "kill -HUP $$ $PPID; exit 6"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(6), "{output:?}");
}

/// A program cannot open an inherited socket again.
#[test]
fn events_go_to_a_socket() {
    let (mut events, status) = UnixStream::pair().unwrap();
    let ended = Command::new(env!("CARGO_BIN_EXE_fencepost"))
        .args([
            "exec",
            "--url",
            &redis(),
            "--status-fd",
            "0",
            &unique(),
            "--",
            "true",
        ])
        .stdin(OwnedFd::from(status))
        .status()
        .unwrap();
    assert!(ended.success());
    let mut lines = String::new();
    events.read_to_string(&mut lines).unwrap();
    let seen: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let names: Vec<&Value> = seen.iter().map(|event| &event["event"]).collect();
    assert_eq!(names, ["waiting", "acquired", "started", "exited", "end"]);
}

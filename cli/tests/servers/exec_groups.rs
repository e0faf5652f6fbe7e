//! `fencepost exec` whose command has processes in other groups, which `timeout` and shells with job control make.

use std::{thread::sleep, time::Duration};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

use crate::exec_run::{Finished, Log, Run, finish, unique};

fn redis() -> String {
    crate::url("redis", "FENCEPOST_REDIS")
}

/// How scripts start a process in another group. Interactive shells have job control, too.
const ELSEWHERE: [&str; 2] = ["timeout 600 sh -c", "set -m; sh -c"];

/// A script whose child is in another group. The child writes its process id. When it gets SIGTERM, it writes that, and
/// ends only if it `obeys`. Otherwise it runs until it is killed.
fn script(log: &Log, how: &str, obeys: bool) -> String {
    let path = log.path();
    let after = if obeys { "; exit" } else { "" };
    format!(
        "{how} 'trap \"echo got >> {path}{after}\" TERM; echo $$ >> {path}; while :; do sleep 0.01; done' >/dev/null 2>&1 & \
         until grep -q . {path}; do sleep 0.01; done"
    )
}

/// Returns the child, after it has written its id.
fn child(log: &Log) -> Pid {
    log.until(|lines| !lines.is_empty());
    Pid::from_raw(log.lines()[0].parse().unwrap())
}

/// Whether a process still runs. An ended process may stay in the table until its parent waits for it.
fn runs(process: Pid) -> bool {
    std::fs::read_to_string(format!("/proc/{process}/stat"))
        .is_ok_and(|line| !line.rsplit(')').next().unwrap().starts_with(" Z"))
}

/// Checks that the child ended before the end of the run, and whether it got the signal.
fn has_ended(log: &Log, finished: &Finished, got: bool) {
    let process = child(log);
    let is_left = runs(process);
    if is_left {
        kill(process, Signal::SIGKILL).unwrap();
    }
    assert!(!is_left, "{finished:?}");
    assert_eq!(log.lines().iter().any(|line| line == "got"), got, "{finished:?}");
}

#[test]
fn a_signal_for_the_end_reaches_other_groups() {
    for how in ELSEWHERE {
        let (name, log) = (unique(), Log::new());
        let script = script(&log, how, true) + "; wait";
        let mut run = Run::start(&redis(), &[&name, "--", "bash", "-c", &script]);
        run.until("started");
        child(&log);
        run.signal(Signal::SIGTERM);
        let finished = run.finish();
        assert_eq!(finished.code, Some(143), "{finished:?}");
        has_ended(&log, &finished, true);
    }
}

#[test]
fn what_is_left_in_other_groups_ends_before_the_release() {
    for how in ELSEWHERE {
        let (name, log) = (unique(), Log::new());
        let script = script(&log, how, false) + "; exit 4";
        let arguments = ["--grace", "300ms", &name, "--", "bash", "-c", &script];
        let finished = finish(&redis(), &arguments);
        assert_eq!(finished.code, Some(4), "{finished:?}");
        has_ended(&log, &finished, true);
        assert_eq!(finish(&redis(), &["-n", &name, "--", "true"]).code, Some(0));
    }
}

#[test]
fn the_longest_time_ends_other_groups() {
    for on_lost in ["term", "kill", "warn"] {
        let (name, log) = (unique(), Log::new());
        let script = script(&log, ELSEWHERE[0], false) + "; wait";
        let options = ["--max-hold", "1500ms", "--grace", "300ms", "--on-lost", on_lost];
        let command = [name.as_str(), "--", "bash", "-c", &script];
        let finished = finish(&redis(), &[&options[..], &command].concat());
        assert_eq!(finished.code, Some(70), "{finished:?}");
        has_ended(&log, &finished, on_lost != "kill");
    }
}

/// The watchdog ends the other groups.
#[test]
fn other_groups_end_if_fencepost_is_killed() {
    for how in ELSEWHERE {
        let (name, log) = (unique(), Log::new());
        let script = script(&log, how, false) + "; wait";
        let mut run = Run::start(&redis(), &[&name, "--", "bash", "-c", &script]);
        run.until("started");
        let process = child(&log);
        run.signal(Signal::SIGKILL);
        for _ in 0..500 {
            if !runs(process) {
                break;
            }
            sleep(Duration::from_millis(10));
        }
        let is_left = runs(process);
        if is_left {
            kill(process, Signal::SIGKILL).unwrap();
        }
        run.gone();
        assert!(!is_left);
    }
}

/// A process in a new session is not a part of the command.
#[test]
fn a_process_in_another_session_goes_on() {
    let (name, log) = (unique(), Log::new());
    let script = format!(
        "setsid sh -c 'echo $$ >> {0}; exec sleep 600' >/dev/null 2>&1 & until grep -q . {0}; do sleep 0.01; done",
        log.path()
    );
    let finished = finish(&redis(), &["--grace", "300ms", &name, "--", "sh", "-c", &script]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert!(runs(child(&log)));
    kill(child(&log), Signal::SIGKILL).unwrap();
}

/// Other programs in fencepost's session are not a part of the command, even if they are children of fencepost.
#[test]
fn what_the_command_has_not_started_goes_on() {
    let (name, log) = (unique(), Log::new());
    let beside = format!(
        "set -m; sleep 600 >/dev/null 2>&1 & echo $! >> {}; set +m; exec \"$@\"",
        log.path()
    );
    let exec = [env!("CARGO_BIN_EXE_fencepost"), "exec", "--url", &redis()].map(str::to_owned);
    let status = std::process::Command::new("bash")
        .args(["-c", &beside, "bash"])
        .args(exec)
        .args([&name, "--", "bash", "-c", "set -m; sleep 600 & exit 3"])
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(3));
    assert!(runs(child(&log)));
    kill(child(&log), Signal::SIGKILL).unwrap();
}

/// The inner fencepost forwards the signal to its command. The outer one does not send it again.
#[test]
fn the_command_of_an_inner_exec_gets_a_signal_once() {
    let log = Log::new();
    let script = format!(
        "trap 'echo got >> {0}' TERM; echo $$ >> {0}; for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.05; done; exit 6",
        log.path()
    );
    let (outer, inner) = (unique(), unique());
    let exec = [env!("CARGO_BIN_EXE_fencepost"), "exec"];
    let mut run = Run::start(
        &redis(),
        &[
            &[outer.as_str(), "--"][..],
            &exec,
            &[&inner, "--", "sh", "-c", &script],
        ]
        .concat(),
    );
    run.until("started");
    child(&log);
    run.signal(Signal::SIGTERM);
    let finished = run.finish();
    assert_eq!(finished.code, Some(6), "{finished:?}");
    // Neither watchdog got the signal.
    assert!(!finished.stderr.contains("watchdog"), "{finished:?}");
    let got = log.lines().iter().filter(|line| *line == "got").count();
    assert_eq!(got, 1, "{:?}", log.lines());
}

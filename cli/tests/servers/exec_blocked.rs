//! `fencepost exec` whose parent blocks signals: a program inherits the blocked signals of the thread that starts it.

use std::{
    io::{BufRead as _, BufReader},
    os::unix::process::{CommandExt as _, ExitStatusExt as _},
    process::{Child, Command, Stdio},
};

use nix::{
    sys::signal::{SigSet, Signal, kill},
    unistd::Pid,
};

use crate::exec_run::unique;
#[cfg(target_os = "linux")]
use crate::exec_run::wait_until;

/// Starts `exec` with all signals blocked. Its events come on standard output.
fn start(name: &str, script: &str) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fencepost"));
    command
        .args(["exec", "--url", &crate::url("redis", "FENCEPOST_REDIS")])
        .args(["--status-fd", "1", name, "--", "sh", "-c", script])
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    let block = || SigSet::all().thread_block().map_err(Into::into);
    // SAFETY: after the fork, this only calls `pthread_sigmask`.
    unsafe { command.pre_exec(block) };
    command.spawn().unwrap()
}

fn pid_of(process: &Child) -> Pid {
    Pid::from_raw(i32::try_from(process.id()).unwrap())
}

fn until(process: &mut Child, event: &str) {
    let events = BufReader::new(process.stdout.as_mut().unwrap());
    let wanted = format!("\"event\":\"{event}\"");
    assert!(events.lines().any(|line| line.unwrap().contains(&wanted)));
}

#[test]
fn a_blocked_signal_ends_the_command() {
    let mut run = start(&unique(), "sleep 600");
    until(&mut run, "started");
    kill(pid_of(&run), Signal::SIGTERM).unwrap();
    until(&mut run, "end");
    assert_eq!(run.wait().unwrap().code(), Some(143));
}

#[test]
fn a_blocked_signal_ends_the_wait() {
    let name = unique();
    let mut holder = start(&name, "sleep 600");
    until(&mut holder, "started");
    let mut waiter = start(&name, "true");
    until(&mut waiter, "waiting");
    kill(pid_of(&waiter), Signal::SIGINT).unwrap();
    until(&mut waiter, "end");
    assert_eq!(waiter.wait().unwrap().signal(), Some(Signal::SIGINT as i32));
    kill(pid_of(&holder), Signal::SIGTERM).unwrap();
    until(&mut holder, "end");
    holder.wait().unwrap();
}

/// The watchdog is the child of fencepost that has this name.
#[cfg(target_os = "linux")]
fn watchdog_of(run: &Child) -> Option<Pid> {
    let id = run.id();
    let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap();
    let is_watchdog = |pid: &&str| {
        let words = std::fs::read_to_string(format!("/proc/{pid}/cmdline"));
        words.is_ok_and(|words| words == "fencepost\0watchdog\0")
    };
    let pid = children.split_whitespace().find(is_watchdog)?;
    Some(Pid::from_raw(pid.parse().unwrap()))
}

/// fencepost detects the end of its watchdog by SIGCHLD.
#[cfg(target_os = "linux")]
#[test]
fn another_watchdog_is_started() {
    let mut run = start(&unique(), "sleep 600");
    until(&mut run, "started");
    let first = watchdog_of(&run).unwrap();
    kill(first, Signal::SIGKILL).unwrap();
    wait_until("there is another watchdog", || {
        watchdog_of(&run).is_some_and(|second| second != first)
    });
    kill(pid_of(&run), Signal::SIGTERM).unwrap();
    until(&mut run, "end");
    run.wait().unwrap();
}

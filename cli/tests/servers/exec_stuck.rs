//! `fencepost exec` whose reader does not read, and `exec` that is killed before it can watch.

use std::process::{Command, Stdio};

use crate::exec_run::{Log, finish, is_alive, unique, wait_until};

/// Starts `exec` on Redis.
fn exec(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fencepost"));
    command
        .args(["exec", "--url", &crate::url("redis", "FENCEPOST_REDIS")])
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    command
}

/// The command fills the pipe of its standard error, which fencepost shares. The reader of the pipe has stopped.
#[test]
fn a_reader_that_stands_still_does_not_keep_the_lock() {
    let name = unique();
    let script = "head -c 1000000 /dev/zero >&2; sleep 600";
    let arguments = ["--max-hold", "300ms", &name, "--", "sh", "-c", script];
    let mut run = exec(&arguments).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("fencepost has ended", || run.try_wait().unwrap().is_some());
    assert_eq!(run.wait().unwrap().code(), Some(70));
    let next = finish(
        &crate::url("redis", "FENCEPOST_REDIS"),
        &["--nonblock", &name, "--", "true"],
    );
    assert_eq!(next.code, Some(0), "{next:?}");
}

/// The command kills fencepost at once: the watchdog already knows the group.
#[test]
fn a_command_ends_whose_fencepost_is_killed_at_once() {
    let log = Log::new();
    let script = format!("kill -KILL $PPID; echo $$ >> {}; sleep 600", log.path());
    for _ in 0..10 {
        exec(&[&unique(), "--", "sh", "-c", &script])
            .stderr(Stdio::null())
            .status()
            .unwrap();
    }
    for line in log.lines() {
        let group = nix::unistd::Pid::from_raw(line.parse().unwrap());
        wait_until("the watchdog has killed the group", || !is_alive(group));
    }
}

/// The tests' server grants sessions of at most ten minutes. fencepost reports this at once, and not after the `--ttl`.
#[test]
fn a_server_that_grants_shorter_leases() {
    let (url, name) = (crate::url("zk", "FENCEPOST_ZOOKEEPER") + "/exec", unique());
    let long = finish(&url, &["--ttl", "1h", "--grace", "11m", &name, "--", "true"]);
    assert_eq!(long.code, Some(64), "{long:?}");
    assert!(long.stderr.contains("maxSessionTimeout"), "{long:?}");
    let next = finish(&url, &["--nonblock", &name, "--", "true"]);
    assert_eq!(next.code, Some(0), "{next:?}");
}

//! `fencepost exec` whose lock is lost: the whole command has ended before the next holder gets the lock.
//!
//! The commands of both holders write to one log. All lines of the first command must come before the first line of the
//! second one.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::TcpStream,
};

use nix::sys::signal::{Signal, killpg};
use serde_json::Value;

use crate::exec_run::{Log, Run, is_alive, unique};

/// Sends an order to the program that runs the servers.
fn order(line: &str) -> Value {
    let mut control = TcpStream::connect(crate::variable("FENCEPOST_SERVERS")).unwrap();
    control.write_all(format!("{line}\n").as_bytes()).unwrap();
    let mut answer = String::new();
    BufReader::new(&mut control).read_line(&mut answer).unwrap();
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["ok"], true, "{line}: {answer}");
    answer
}

#[derive(Clone, Copy)]
enum Server {
    Redis,
    ZooKeeper,
}

impl Server {
    fn url(self, address: &str) -> String {
        match self {
            Self::Redis => format!("redis://{address}"),
            Self::ZooKeeper => format!("zk://{address}/exec"),
        }
    }

    fn direct(self) -> String {
        self.url(&match self {
            Self::Redis => crate::variable("FENCEPOST_REDIS"),
            Self::ZooKeeper => crate::variable("FENCEPOST_ZOOKEEPER"),
        })
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Redis => "redis-1",
            Self::ZooKeeper => "zookeeper",
        }
    }
}

/// A holder behind a proxy, with a grandchild, and another one that waits.
struct Race {
    log: Log,
    proxy: String,
    first: Run,
    second: Run,
}

impl Race {
    fn begin(server: Server, options: &[&str]) -> Self {
        let (name, log) = (unique(), Log::new());
        let opened = order(&format!("proxy {}", server.name()));
        let proxy = opened["id"].to_string().replace('"', "");
        let url = server.url(opened["address"].as_str().unwrap());
        // All ignore SIGTERM. `timeout` puts its child into another group.
        let elsewhere = if cfg!(target_os = "linux") {
            "timeout 600 sh -c"
        } else {
            "sh -c"
        };
        let script = format!(
            "trap '' TERM; {elsewhere} 'while :; do echo other child >> {0}; sleep 0.01; done' >/dev/null 2>&1 & (while :; do echo grandchild >> {0}; sleep 0.01; done) & while :; do echo child >> {0}; sleep 0.01; done",
            log.path()
        );
        let usual = ["--ttl", "5s", "--grace", "500ms"];
        let mut first = Run::start(
            &url,
            &[
                &usual[..],
                options,
                &[name.as_str(), "--", "sh", "-c", script.as_str()],
            ]
            .concat(),
        );
        first.until("started");
        let has = |line: &str, lines: &[String]| lines.iter().any(|seen| seen == line);
        log.until(|lines| {
            ["child", "grandchild", "other child"]
                .iter()
                .all(|line| has(line, lines))
        });
        let script = format!("echo second >> {0}; sleep 0.3; echo end >> {0}", log.path());
        let mut second = Run::start(
            &server.direct(),
            &["--ttl", "5s", &name, "--", "sh", "-c", &script],
        );
        second.until("waiting");
        Self {
            log,
            proxy,
            first,
            second,
        }
    }

    /// From now on, the first holder's server does not reply.
    fn cut(&self) {
        order(&format!("proxy-hold {}", self.proxy));
    }

    /// Waits for the second holder. Returns the first run, whether it wrote to the log after the second grant, and the
    /// log, which is deleted when it is dropped.
    fn end(self) -> (Run, bool, Log) {
        let second = self.second.finish();
        assert_eq!(second.code, Some(0), "{second:?}");
        order(&format!("proxy-close {}", self.proxy));
        let lines = self.log.lines();
        let granted = lines.iter().position(|line| line == "second").unwrap();
        let late = lines[granted..].iter().any(|line| line.ends_with("child"));
        (self.first, late, self.log)
    }
}

fn an_unreachable_server(server: Server, options: &[&str]) {
    let race = Race::begin(server, options);
    race.cut();
    let (mut first, late, _) = race.end();
    assert!(
        !late,
        "the first holder's processes were alive when the second was granted"
    );
    first.until("lost");
    assert!(!is_alive(first.group.unwrap()));
    let first = first.finish();
    assert_eq!(first.code, Some(70), "{first:?}");
    assert_eq!(
        (&first.last["outcome"], &first.last["signal"]),
        (&"lost".into(), &9.into())
    );
    assert!(
        first.stderr.lines().next().unwrap().contains("lost (lease-ends)"),
        "{first:?}"
    );
}

#[test]
fn redis_does_not_answer() {
    an_unreachable_server(Server::Redis, &[]);
}

#[test]
fn redis_does_not_answer_and_the_command_is_killed_at_once() {
    an_unreachable_server(Server::Redis, &["--on-lost", "kill"]);
}

#[test]
fn zookeeper_does_not_answer() {
    an_unreachable_server(Server::ZooKeeper, &[]);
}

/// If fencepost does not end the command, the log has late lines. So the other tests can detect them.
#[test]
fn a_command_that_is_only_warned_goes_on_beside_the_next_holder() {
    let race = Race::begin(Server::Redis, &["--on-lost", "warn"]);
    race.cut();
    let group = race.first.group.unwrap();
    // The command writes to the log until its end.
    let (first, late, _log) = race.end();
    assert!(late && is_alive(group));
    killpg(group, Signal::SIGKILL).unwrap();
    let first = first.finish();
    assert_eq!(first.code, Some(137), "{first:?}");
    assert!(first.stderr.contains("continues without it"), "{first:?}");
}

#[test]
fn the_command_was_stopped() {
    let race = Race::begin(Server::Redis, &[]);
    killpg(race.first.group.unwrap(), Signal::SIGSTOP).unwrap();
    race.cut();
    let (first, late, _) = race.end();
    assert!(!late && !is_alive(first.group.unwrap()));
    assert_eq!(first.finish().code, Some(70));
}

#[test]
fn fencepost_itself_was_killed() {
    let race = Race::begin(Server::Redis, &[]);
    race.first.signal(Signal::SIGKILL);
    let (first, late, _) = race.end();
    let group = first.group.unwrap();
    // The descriptor for events is closed when the last process has ended, so the watchdog has done its work.
    first.gone();
    assert!(!late && !is_alive(group));
}

fn fencepost_itself_was_stopped(server: Server) {
    let race = Race::begin(server, &[]);
    race.first.signal(Signal::SIGSTOP);
    let (first, late, _) = race.end();
    assert!(
        !late,
        "the first holder's processes were alive when the second was granted"
    );
    first.signal(Signal::SIGCONT);
    let first = first.finish();
    assert_eq!(first.code, Some(70), "{first:?}");
}

#[test]
fn fencepost_itself_was_stopped_on_redis() {
    fencepost_itself_was_stopped(Server::Redis);
}

#[test]
fn fencepost_itself_was_stopped_on_zookeeper() {
    fencepost_itself_was_stopped(Server::ZooKeeper);
}

/// An operator breaks the lock, and the next holder gets it before the first holder's client can detect the break.
#[test]
fn a_lock_that_was_broken() {
    let server = Server::ZooKeeper;
    let (url, name) = (server.direct(), unique());
    let mut run = Run::start(&url, &["--ttl", "10s", &name, "--", "sh", "-c", "sleep 600"]);
    let fence = run.until("acquired")["fence"].as_str().unwrap().to_owned();
    run.until("started");
    let broken = crate::run::fencepost(&["break", "--url", &url, &name, &fence]);
    assert!(broken.status.success(), "{broken:?}");
    let finished = run.finish();
    assert_eq!(finished.code, Some(70), "{finished:?}");
    assert_eq!(finished.last["lost"], "deleted", "{finished:?}");
    assert_eq!(finished.last["signal"], 15, "{finished:?}");
}

/// The server has replied that another run holds the lock, and then stops replying before the end of `--wait`.
#[test]
fn a_server_that_is_lost_while_fencepost_waits() {
    let (server, name) = (Server::Redis, unique());
    let mut holder = Run::start(&server.direct(), &[&name, "--", "sleep", "600"]);
    holder.until("started");
    let opened = order(&format!("proxy {}", server.name()));
    let proxy = opened["id"].to_string().replace('"', "");
    let url = server.url(opened["address"].as_str().unwrap());
    let waiter = Run::start(&url, &["--wait", "3s", "-E", "0", &name, "--", "true"]);
    // A client subscribes after it has the reply.
    while order(&format!("proxy-count {proxy}"))["by_kind"]["SUBSCRIBE"].is_null() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    order(&format!("proxy-cut {proxy}"));
    let waiter = waiter.finish();
    assert_eq!(waiter.code, Some(69), "{waiter:?}");
    assert_eq!(waiter.last["outcome"], "unavailable", "{waiter:?}");
    order(&format!("proxy-close {proxy}"));
    holder.signal(Signal::SIGTERM);
    assert_eq!(holder.finish().code, Some(143));
}

//! The command on real servers: `python3 tests/servers run -- cargo test -p fencepost-cli --features servers`.

mod contenders;
#[cfg(unix)]
mod exec;
#[cfg(unix)]
mod exec_blocked;
#[cfg(target_os = "linux")]
mod exec_groups;
#[cfg(unix)]
mod exec_loss;
#[cfg(unix)]
mod exec_run;
#[cfg(unix)]
mod exec_stuck;
mod record;
mod record_misuse;
mod record_sweep;
#[path = "../run/mod.rs"]
mod run;
mod token;

use run::{convinces, fencepost};

/// The limit of every wait: long enough for a busy machine.
const PATIENT: [&str; 2] = ["--wait", "20s"];

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| {
        panic!("{name} is not set: run `python3 tests/servers run -- cargo test -p fencepost-cli --features servers`")
    })
}

fn url(scheme: &str, address: &str) -> String {
    format!("{scheme}://{}", variable(address))
}

fn shows(url: &str, lock: &str, processes: &str) {
    let report = convinces(
        &[
            &["--url", url, "--lock", lock, "--processes", processes],
            &PATIENT[..],
        ]
        .concat(),
    );
    assert_eq!(report["processes"].as_u64().unwrap().to_string(), processes);
    assert_eq!(report["with"]["gave_up"], 0);
}

#[test]
fn zookeeper_one_process() {
    shows(&url("zk", "FENCEPOST_ZOOKEEPER"), "demo/one", "1");
}

#[test]
fn zookeeper_four_processes() {
    shows(&url("zk", "FENCEPOST_ZOOKEEPER"), "demo/four", "4");
}

#[test]
fn redis_one_process() {
    shows(&url("redis", "FENCEPOST_REDIS"), "demo/one", "1");
}

#[test]
fn redis_four_processes() {
    shows(&url("redis", "FENCEPOST_REDIS"), "demo/four", "4");
}

#[test]
fn a_process_with_a_wrong_password_is_an_error() {
    let url = url("redis", "FENCEPOST_REDIS_AUTH");
    let output = fencepost(&["demo", "--url", &url, "--processes", "2"]);
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(
        text.contains("refused the client's credentials") && text.contains("ended before"),
        "{text}"
    );
}

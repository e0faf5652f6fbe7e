//! The demo on real servers: `python3 tests/servers run -- cargo test -p fencepost-cli --features servers`.

mod support;

use support::{assert_sold_exactly, numbers};

/// Buyers wait long enough for a busy machine: how long they wait is not what is tested here.
const PATIENCE: &str = "--patience=10000";

fn address(variable: &str) -> String {
    std::env::var(variable)
        .unwrap_or_else(|_| panic!("{variable} is not set: run this by `python3 tests/servers run -- …`"))
}

#[test]
fn on_zookeeper_in_one_process_and_in_several() {
    let url = format!("zk://{}", address("FENCEPOST_ZOOKEEPER"));
    assert_sold_exactly(&numbers(&["--url", &url, PATIENCE]), 3);
    assert_sold_exactly(&numbers(&["--url", &url, PATIENCE, "--processes", "4"]), 3);
}

#[test]
fn on_redis_in_one_process_and_in_several() {
    let url = format!("redis://{}", address("FENCEPOST_REDIS"));
    assert_sold_exactly(&numbers(&["--url", &url, PATIENCE]), 3);
    assert_sold_exactly(&numbers(&["--url", &url, PATIENCE, "--processes", "4"]), 3);
}

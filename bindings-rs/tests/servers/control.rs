//! The servers of `tests/servers`: where they are, and what can be done to them.

use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
};

use crate::scenarios::unique;

/// An environment variable that names a server.
pub(crate) fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| {
        panic!(
            "{name} is not set: run `python3 tests/servers run -- cargo test -p fencepost --features servers`"
        )
    })
}

/// A prefix of its own on the single ZooKeeper server.
pub(crate) fn zookeeper() -> String {
    format!("zk://{}/{}", variable("FENCEPOST_ZOOKEEPER"), unique("rs"))
}

/// A prefix of its own on the ensemble.
pub(crate) fn ensemble() -> String {
    format!(
        "zk://{}/{}",
        variable("FENCEPOST_ZOOKEEPER_ENSEMBLE"),
        unique("rs")
    )
}

pub(crate) fn redis() -> String {
    format!("redis://{}", variable("FENCEPOST_REDIS"))
}

/// Has the servers' keeper do something.
pub(crate) async fn order(line: &str) -> Value {
    let control = TcpStream::connect(variable("FENCEPOST_SERVERS")).await.unwrap();
    let mut control = BufReader::new(control);
    control.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    let mut answer = String::new();
    control.read_line(&mut answer).await.unwrap();
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["ok"], true, "{line}: {answer}");
    answer
}

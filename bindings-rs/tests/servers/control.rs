//! The servers of `tests/servers`: their addresses, their controls, and connections without fencepost that read their
//! state.

use std::{future::Future, time::Duration};

use fencepost::{Loss, Lost};
use redis::{FromRedisValue, aio::MultiplexedConnection};
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
};

use crate::scenarios::{LIMIT, unique};

#[path = "../../../tests/interop/peers/rust/password.rs"]
mod password;

/// An environment variable that names a server.
pub(crate) fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| {
        panic!(
            "{name} is not set: run `python3 tests/servers run -- cargo test -p fencepost --features servers`"
        )
    })
}

/// A new prefix on the single ZooKeeper server.
pub(crate) fn zookeeper() -> String {
    format!("zk://{}/{}", variable("FENCEPOST_ZOOKEEPER"), unique("rs"))
}

/// A new prefix on the ensemble.
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

/// Sends an order to the program that runs the servers.
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

/// A proxy in front of a server.
pub(crate) struct Proxy {
    id: String,
    pub(crate) address: String,
}

impl Proxy {
    pub(crate) async fn open(server: &str) -> Self {
        let opened = order(&format!("proxy {server}")).await;
        let id = match &opened["id"] {
            Value::String(id) => id.clone(),
            other => other.to_string(),
        };
        let address = opened["address"].as_str().unwrap().into();
        Self { id, address }
    }

    /// `cut`, `heal`, `hold`, `pass`, `count`, `reset`, `drop-replies` (with a number).
    pub(crate) async fn order(&self, verb: &str) -> Value {
        let (verb, number) = verb.split_once(' ').unwrap_or((verb, ""));
        order(&format!("proxy-{verb} {} {number}", self.id)).await
    }

    /// The number of requests that passed the proxy, and the number of their flights.
    pub(crate) async fn traffic(&self) -> (u64, u64) {
        let count = self.order("count").await;
        (
            count["total"].as_u64().unwrap(),
            count["flights"].as_u64().unwrap(),
        )
    }

    pub(crate) async fn close(self) {
        self.order("close").await;
    }
}

/// Polls until a condition is true, if there is no event to wait for.
pub(crate) async fn until<F: Future<Output = bool>>(mut so: impl FnMut() -> F) {
    let asking = async {
        while !so().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(LIMIT, asking)
        .await
        .expect("it should be so by now");
}

/// A Redis connection that reads the state of the server.
pub(crate) async fn bare_redis(variable_name: &str) -> MultiplexedConnection {
    let url = format!("redis://{}", variable(variable_name));
    let client = redis::Client::open(url).unwrap();
    client.get_multiplexed_async_connection().await.unwrap()
}

/// Runs one Redis command.
pub(crate) async fn ask<T: FromRedisValue>(connection: &MultiplexedConnection, words: &[&str]) -> T {
    let mut command = redis::Cmd::new();
    words.iter().for_each(|word| {
        command.arg(*word);
    });
    command.query_async(&mut connection.clone()).await.unwrap()
}

/// A ZooKeeper session that reads the state of the server.
pub(crate) async fn bare_zookeeper() -> zookeeper_client::Client {
    let address = variable("FENCEPOST_ZOOKEEPER");
    zookeeper_client::Client::connect(&address).await.unwrap()
}

/// Whether any session watches that node.
pub(crate) async fn is_watched(path: &str) -> bool {
    let mut server = TcpStream::connect(variable("FENCEPOST_ZOOKEEPER")).await.unwrap();
    server.write_all(b"wchp").await.unwrap();
    let mut watches = String::new();
    server.read_to_string(&mut watches).await.unwrap();
    watches.lines().any(|line| line == path)
}

/// The path at the end of a `zk://` address.
pub(crate) fn path_of(url: &str) -> String {
    let (path, _) = url.split_once('?').unwrap_or((url, ""));
    format!("/{}", path.splitn(4, '/').nth(3).unwrap())
}

/// The paths of a lock's contenders.
pub(crate) async fn contenders(bare: &zookeeper_client::Client, directory: &str) -> Vec<String> {
    let children = bare.list_children(directory).await.unwrap();
    children
        .iter()
        .map(|child| format!("{directory}/{child}"))
        .collect()
}

/// The path of a lock's only contender.
pub(crate) async fn only_contender(bare: &zookeeper_client::Client, directory: &str) -> String {
    let [only] = <[String; 1]>::try_from(contenders(bare, directory).await).unwrap();
    only
}

/// Waits until a lock has no contenders.
pub(crate) async fn deserted(bare: &zookeeper_client::Client, directory: &str) {
    until(|| async { contenders(bare, directory).await.is_empty() }).await;
}

/// Whether the grant has reported the end of its session; or, if the event of a watch came first, the deletion of its
/// node.
pub(crate) fn went_with_its_session(lost: &Lost) -> bool {
    matches!(lost.reason(), Loss::SessionExpired | Loss::Deleted)
}

/// Ends the session that owns the node, as a server does after the session timeout.
pub(crate) async fn expire_owner(bare: &zookeeper_client::Client, node: &str) {
    let (_, stat) = bare.get_data(node).await.unwrap();
    let session = stat.ephemeral_owner;
    assert_ne!(session, 0, "{node} is not ephemeral");
    let password: String = password::of(session)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    order(&format!("expire zookeeper {session} {password}")).await;
}

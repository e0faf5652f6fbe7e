//! Compares the time of an acquire and release with that of the client libraries alone, which send the same requests in
//! the same flights.
//!
//! `python3 tests/servers run -- cargo run --release -p fencepost --features servers --example latency`

use std::{env, error::Error, time::Instant};

use fencepost::Lock;
use fencepost_core::redis::Script;
use futures_util::future;
use redis::aio::MultiplexedConnection;
use zookeeper_client::{Acls, CreateMode};

/// The number of rounds. The two sides take turns, so that both have the same load.
const ROUNDS: usize = 40;
const PAIRS: usize = 50;

type Failure = Box<dyn Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    for (kind, mut builder) in [
        ("one thread", tokio::runtime::Builder::new_current_thread()),
        ("two threads", tokio::runtime::Builder::new_multi_thread()),
    ] {
        let runtime = builder.enable_all().build()?;
        // In a task, as in most programs.
        runtime.block_on(async move { tokio::spawn(compare(kind)).await? })?;
    }
    Ok(())
}

async fn compare(kind: &'static str) -> Result<(), Failure> {
    let redis = env::var("FENCEPOST_REDIS")?;
    let client = fencepost::connect(&format!("redis://{redis}")).await?;
    let lock = client.lock("latency")?;
    // The first pair sends the scripts.
    pair(&lock).await?;
    let mut bare = BareRedis::connect(&redis).await?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        for _ in 0..PAIRS {
            theirs.push(timed(bare.pair()).await?);
        }
        for _ in 0..PAIRS {
            ours.push(timed(pair(&lock)).await?);
        }
    }
    report("redis", kind, ours, theirs);
    client.close().await?;

    let zookeeper = env::var("FENCEPOST_ZOOKEEPER")?;
    let client = fencepost::connect(&format!("zk://{zookeeper}/latency")).await?;
    let lock = client.lock("ours")?;
    pair(&lock).await?;
    let bare = zookeeper_client::Client::connect(&zookeeper).await?;
    let directory = CreateMode::Container.with_acls(Acls::anyone_all());
    bare.mkdir("/latency/bare", &directory).await?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        for _ in 0..PAIRS {
            theirs.push(timed(bare_zookeeper_pair(&bare)).await?);
        }
        for _ in 0..PAIRS {
            ours.push(timed(pair(&lock)).await?);
        }
    }
    report("zookeeper", kind, ours, theirs);
    client.close().await?;
    Ok(())
}

async fn pair(lock: &Lock) -> Result<(), Failure> {
    lock.acquire().await?.release().await?;
    Ok(())
}

async fn timed(pair: impl Future<Output = Result<(), Failure>>) -> Result<u128, Failure> {
    let start = Instant::now();
    pair.await?;
    Ok(start.elapsed().as_nanos())
}

/// Calls the scripts of the lock directly.
struct BareRedis {
    connection: MultiplexedConnection,
    number: u64,
}

impl BareRedis {
    async fn connect(address: &str) -> Result<Self, Failure> {
        let client = redis::Client::open(format!("redis://{address}"))?;
        let stream = tokio::net::TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let config = redis::AsyncConnectionConfig::new().set_response_timeout(None);
        let info = client.get_connection_info().redis_settings();
        let (connection, driver) = MultiplexedConnection::new_with_config(info, stream, config).await?;
        tokio::spawn(driver);
        Ok(Self {
            connection,
            number: 0,
        })
    }

    async fn pair(&mut self) -> Result<(), Failure> {
        self.number += 1;
        let attempt = format!("00112233445566778899aabbccddeeff-{}", self.number);
        let gone = format!("{{bare}}:gone:{attempt}");
        let keys = ["bare", "{bare}:fence", &gone];
        self.call(Script::Acquire, &keys, &[&attempt, "10000", "604800000"])
            .await?;
        self.call(
            Script::Release,
            &["bare", &gone],
            &[&attempt, "{bare}:released", "0"],
        )
        .await
    }

    async fn call(&mut self, script: Script, keys: &[&str], arguments: &[&str]) -> Result<(), Failure> {
        let mut command = redis::cmd("EVALSHA");
        command.arg(script.sha()).arg(keys.len()).arg(keys).arg(arguments);
        match self.connection.send_packed_command(&command).await? {
            redis::Value::ServerError(error) => Err(format!("{error:?}").into()),
            _ => Ok(()),
        }
    }
}

async fn bare_zookeeper_pair(client: &zookeeper_client::Client) -> Result<(), Failure> {
    let contender = CreateMode::EphemeralSequential.with_acls(Acls::anyone_all());
    let prefix = "/latency/bare/_c_00112233-4455-6677-8899-aabbccddeeff-lock-";
    let create = client.create(prefix, b"00112233445566778899aabbccddeeff-1", &contender);
    let list = client.list_children("/latency/bare");
    let (created, listed) = future::join(create, list).await;
    let (_, number) = created?;
    listed?;
    client.delete(&format!("{prefix}{number}"), None).await?;
    Ok(())
}

fn report(server: &str, kind: &str, mut ours: Vec<u128>, mut theirs: Vec<u128>) {
    ours.sort_unstable();
    theirs.sort_unstable();
    let micros = |sorted: &[u128], part: usize| sorted[sorted.len() * part / 100] as f64 / 1000.0;
    println!(
        "{server:10} {kind:12} ours p50 {:6.1} p99 {:7.1} µs   bare p50 {:6.1} p99 {:7.1} µs   ratio of p50 {:.3}",
        micros(&ours, 50),
        micros(&ours, 99),
        micros(&theirs, 50),
        micros(&theirs, 99),
        micros(&ours, 50) / micros(&theirs, 50),
    );
}

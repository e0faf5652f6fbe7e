//! The contender in Rust: see README.md.

use std::time::Duration;

use fencepost::{Error, LockOptions};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::TcpStream,
};

type Failed = Box<dyn std::error::Error>;

struct Counter(BufReader<TcpStream>);

impl Counter {
    async fn ask(&mut self, line: String) -> Result<String, Failed> {
        self.0.get_mut().write_all(line.as_bytes()).await?;
        let mut answer = String::new();
        self.0.read_line(&mut answer).await?;
        Ok(answer.trim().to_owned())
    }
}

#[tokio::main]
async fn main() -> Result<(), Failed> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, name, rounds, host, port, ttl @ ..] = arguments.as_slice() else {
        return Err("usage: contender URL LOCK ROUNDS COUNTER_HOST COUNTER_PORT [TTL_MS]".into());
    };
    let connection = TcpStream::connect((host.as_str(), port.parse()?)).await?;
    connection.set_nodelay(true)?;
    let mut counter = Counter(BufReader::new(connection));
    let client = fencepost::connect(url).await?;
    let lock = match ttl.first() {
        Some(ttl) => client.lock_with(name, LockOptions::new().ttl(Duration::from_millis(ttl.parse()?)))?,
        None => client.lock(name)?,
    };
    let (rounds, mut done, mut stale, mut lost) = (rounds.parse::<u32>()?, 0, 0, 0);
    while done < rounds {
        let grant = match lock.acquire().await {
            Err(Error::Lost(_)) => {
                lost += 1;
                continue;
            }
            granted => granted?,
        };
        let fence = grant.fence().ok_or("a grant without a fence")?;
        let value = counter.ask(format!("read {fence}\n")).await?;
        if value == "stale"
            || counter
                .ask(format!("write {fence} {}\n", value.parse::<u64>()? + 1))
                .await?
                == "stale"
        {
            stale += 1;
        } else {
            done += 1;
        }
        match grant.release().await {
            Err(Error::Lost(_)) => lost += 1,
            released => released?,
        }
    }
    client.close().await?;
    println!("{{\"done\": {done}, \"stale\": {stale}, \"lost\": {lost}}}");
    Ok(())
}

//! The counter of tests/mixed, which checks fences: read, then write one more.

use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::TcpStream,
};

use crate::Failed;

/// A connection to a counter.
pub(crate) struct Counter(BufReader<TcpStream>);

impl Counter {
    pub(crate) async fn connect(address: &str) -> Result<Self, Failed> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self(BufReader::new(stream)))
    }

    /// Whether the counter accepted the fence both times.
    pub(crate) async fn increment(&mut self, fence: u64) -> Result<bool, Failed> {
        let value = self.ask(format!("read {fence}\n")).await?;
        if value == "stale" {
            return Ok(false);
        }
        let next = value.parse::<u64>()? + 1;
        Ok(self.ask(format!("write {fence} {next}\n")).await? == "ok")
    }

    /// Whether the resource accepts the fence of a contender that shares the lock.
    pub(crate) async fn look(&mut self, fence: u64) -> Result<bool, Failed> {
        Ok(self.ask(format!("look {fence}\n")).await? != "stale")
    }

    /// Records the period in which a grant was valid.
    pub(crate) async fn held(&mut self, fence: u64, from: u64, to: u64) -> Result<(), Failed> {
        self.ask(format!("held {fence} {from} {to}\n")).await.map(drop)
    }

    async fn ask(&mut self, line: String) -> Result<String, Failed> {
        self.0.get_mut().write_all(line.as_bytes()).await?;
        let mut answer = String::new();
        if self.0.read_line(&mut answer).await? == 0 {
            return Err("the counter has hung up".into());
        }
        Ok(answer.trim().to_owned())
    }
}

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

    async fn ask(&mut self, line: String) -> Result<String, Failed> {
        self.0.get_mut().write_all(line.as_bytes()).await?;
        let mut answer = String::new();
        if self.0.read_line(&mut answer).await? == 0 {
            return Err("the counter has hung up".into());
        }
        Ok(answer.trim().to_owned())
    }
}

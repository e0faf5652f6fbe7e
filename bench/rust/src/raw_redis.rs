//! The redis crate alone: fencepost's scripts by EVALSHA, with the arguments that fencepost passes.

use core::sync::atomic::{AtomicU64, Ordering};
use std::process;

use fencepost_core::redis::Script;
use redis::{AsyncConnectionConfig, Client, Cmd, Value, aio::MultiplexedConnection};

use crate::{Failed, many::Another, serve::Lock};

/// How many contenders this process has made.
static CONTENDERS: AtomicU64 = AtomicU64::new(0);
const KEEP_TOMBSTONE: u32 = 10_000;

pub(crate) struct RawRedis {
    connection: MultiplexedConnection,
    name: String,
    fence: String,
    channel: String,
    contender: String,
    /// The number of attempts. Each acquire is a new one, because a server rejects an attempt that was
    /// already released.
    attempts: u64,
    attempt: String,
    tombstone: String,
}

impl RawRedis {
    pub(crate) async fn connect(url: String, name: String) -> Result<Self, Failed> {
        // Without the library's timer for every command, which takes 1 to 3 µs.
        let config = AsyncConnectionConfig::new().set_response_timeout(None);
        let mut connection = Client::open(url)?
            .get_multiplexed_async_connection_with_config(&config)
            .await?;
        for script in [Script::Acquire, Script::Release] {
            let load = redis::cmd("SCRIPT").arg("LOAD").arg(script.text()).to_owned();
            let _sha: String = load.query_async(&mut connection).await?;
        }
        Ok(Self::on(connection, name))
    }

    fn on(connection: MultiplexedConnection, name: String) -> Self {
        Self {
            connection,
            fence: format!("{{{name}}}:fence"),
            channel: format!("{{{name}}}:released"),
            contender: format!(
                "{:016x}{:016x}",
                process::id(),
                CONTENDERS.fetch_add(1, Ordering::Relaxed)
            ),
            name,
            attempts: 0,
            attempt: String::new(),
            tombstone: String::new(),
        }
    }

    async fn run(&mut self, command: &Cmd) -> Result<(), Failed> {
        // A cycle that fails must not count as a fast one.
        match self.connection.send_packed_command(command).await? {
            Value::Array(items) if items.first() == Some(&Value::Int(1)) => Ok(()),
            other => Err(format!("a script answered {other:?}").into()),
        }
    }
}

impl Another for RawRedis {
    async fn another(&self, name: &str) -> Result<Self, Failed> {
        Ok(Self::on(self.connection.clone(), name.into()))
    }
}

impl Lock for RawRedis {
    async fn acquire(&mut self) -> Result<(), Failed> {
        self.attempts += 1;
        self.attempt = format!("{}-{}", self.contender, self.attempts);
        self.tombstone = format!("{{{}}}:gone:{}", self.name, self.attempt);
        let mut command = redis::cmd("EVALSHA");
        command
            .arg(Script::Acquire.sha())
            .arg(3)
            .arg(&self.name)
            .arg(&self.fence)
            .arg(&self.tombstone)
            .arg(&self.attempt)
            .arg(10_000)
            .arg(604_800_000)
            .arg(KEEP_TOMBSTONE);
        self.run(&command).await
    }

    async fn release(&mut self) -> Result<(), Failed> {
        let mut command = redis::cmd("EVALSHA");
        command
            .arg(Script::Release.sha())
            .arg(2)
            .arg(&self.name)
            .arg(&self.tombstone)
            .arg(&self.attempt)
            .arg(&self.channel)
            .arg(KEEP_TOMBSTONE);
        self.run(&command).await
    }

    async fn close(self) -> Result<(), Failed> {
        Ok(())
    }
}

//! The redis crate alone: the scripts of a claim and of its completion, with the arguments that fencepost
//! passes.

use std::process;

use fencepost_core::redis::Script;
use redis::{AsyncConnectionConfig, Client, Cmd, Value, aio::MultiplexedConnection};

use crate::{
    Failed,
    operation::{FINGERPRINT, KEPT, Keys, RESULT, TAG},
    serve::Lock,
};

const KEEP_TOMBSTONE: u32 = 10_000;

pub(crate) struct RawOperations {
    connection: MultiplexedConnection,
    scope: String,
    keys: Keys,
    key: String,
    attempt: String,
    tombstone: String,
}

impl RawOperations {
    pub(crate) async fn connect(url: String, scope: String) -> Result<Self, Failed> {
        // Without the library's timer for every command, as in the raw lock.
        let config = AsyncConnectionConfig::new().set_response_timeout(None);
        let mut connection = Client::open(url)?
            .get_multiplexed_async_connection_with_config(&config)
            .await?;
        for script in [Script::Claim, Script::Complete] {
            let load = redis::cmd("SCRIPT").arg("LOAD").arg(script.text()).to_owned();
            let _sha: String = load.query_async(&mut connection).await?;
        }
        Ok(Self {
            connection,
            scope,
            keys: Keys::new(),
            key: String::new(),
            attempt: String::new(),
            tombstone: String::new(),
        })
    }

    async fn run(&mut self, command: &Cmd, wanted: &str) -> Result<(), Failed> {
        // A cycle that fails must not count as a fast one.
        match self.connection.send_packed_command(command).await? {
            Value::BulkString(answer) if answer.starts_with(wanted.as_bytes()) => Ok(()),
            other => Err(format!("a script answered {other:?}").into()),
        }
    }
}

impl Lock for RawOperations {
    async fn acquire(&mut self) -> Result<(), Failed> {
        let (number, key) = self.keys.next();
        let kept = u64::try_from(KEPT.as_millis())?;
        self.key = format!("fencepost:{{{}/{key}}}", self.scope);
        self.attempt = format!("{:016x}{number:016x}-1", process::id());
        self.tombstone = format!("{}:gone:{}", self.key, self.attempt);
        let mut command = redis::cmd("EVALSHA");
        command
            .arg(Script::Claim.sha())
            .arg(2)
            .arg(&self.key)
            .arg(&self.tombstone)
            .arg(&self.attempt)
            .arg(KEEP_TOMBSTONE)
            .arg(0)
            .arg("")
            .arg(FINGERPRINT)
            .arg("")
            .arg(kept)
            .arg(kept);
        self.run(&command, "claimed").await
    }

    async fn release(&mut self) -> Result<(), Failed> {
        let mut command = redis::cmd("EVALSHA");
        command
            .arg(Script::Complete.sha())
            .arg(2)
            .arg(&self.key)
            .arg(&self.tombstone)
            .arg(&self.attempt)
            .arg(KEEP_TOMBSTONE)
            .arg(TAG)
            .arg(&RESULT[..])
            .arg(format!("{}:ended", self.key));
        self.run(&command, "completed").await
    }

    async fn close(self) -> Result<(), Failed> {
        Ok(())
    }
}

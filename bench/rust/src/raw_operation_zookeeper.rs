//! zookeeper-client alone: the transactions of a claim and of its completion. Names and data are as long as fencepost's.

use std::process;

use zookeeper_client::{Acls, Client, CreateMode};

use crate::{
    Failed,
    address::Address,
    operation::{FINGERPRINT, KEPT, Keys, RESULT, TAG},
    serve::Lock,
};

pub(crate) struct RawOperations {
    client: Client,
    scope: String,
    keys: Keys,
    attempt: String,
    record: String,
    lease: String,
    fence: i64,
}

impl RawOperations {
    pub(crate) async fn connect(address: Address, scope: String) -> Result<Self, Failed> {
        let Address::ZooKeeper {
            host,
            session_timeout,
        } = address
        else {
            return Err("not the address of a ZooKeeper server".into());
        };
        let client = Client::connector()
            .with_session_timeout(session_timeout)
            .connect(&host)
            .await?;
        // As in fencepost: otherwise, the second request of a flight would wait for the reply to the first.
        #[cfg(target_os = "linux")]
        {
            let (_, port) = host.rsplit_once(':').ok_or("a port is needed")?;
            crate::nodelay::set(&[port.parse()?])?;
        }
        Ok(Self {
            client,
            scope,
            keys: Keys::new(),
            attempt: String::new(),
            record: String::new(),
            lease: String::new(),
            fence: 0,
        })
    }

    /// The header of a record, and the fields that all states have.
    fn data(&self, state: &str, fence: &str) -> String {
        let (attempt, kept) = (&self.attempt, KEPT.as_millis());
        format!(
            "fencepost-record:1\nstate:{}:{state}\nattempt:{}:{attempt}\n{fence}fingerprint:{}:{FINGERPRINT}\nretention:5:{kept}\n",
            state.len(),
            attempt.len(),
            FINGERPRINT.len(),
        )
    }
}

impl Lock for RawOperations {
    async fn acquire(&mut self) -> Result<(), Failed> {
        let (number, key) = self.keys.next();
        self.attempt = format!("{:016x}{number:016x}-1", process::id());
        // The directories exist: the benchmark makes them.
        self.record = format!("/fencepost/{}/{:02x}/{key}", self.scope, number % 256);
        self.lease = format!("{}/{}", self.record, self.attempt);
        let persistent = CreateMode::Persistent.with_acls(Acls::anyone_all());
        let ephemeral = CreateMode::Ephemeral.with_acls(Acls::anyone_all());
        let mut transaction = self.client.new_multi_writer();
        transaction.add_create(&self.record, self.data("running", "").as_bytes(), &persistent)?;
        transaction.add_create(&self.lease, b"", &ephemeral)?;
        // The library queues both requests before this code awaits the first.
        let committed = transaction.commit();
        let read = self.client.get_data(&self.lease);
        committed.await?;
        self.fence = read.await?.1.czxid;
        Ok(())
    }

    async fn release(&mut self) -> Result<(), Failed> {
        let fence = self.fence.to_string();
        let fence = format!("fence:{}:{fence}\n", fence.len());
        let mut data = self.data("done", &fence).into_bytes();
        data.extend_from_slice(format!("tag:{}:{TAG}\nresult:{}:", TAG.len(), RESULT.len()).as_bytes());
        data.extend_from_slice(&RESULT);
        data.push(b'\n');
        let mut transaction = self.client.new_multi_writer();
        transaction.add_delete(&self.lease, None)?;
        transaction.add_set_data(&self.record, &data, Some(0))?;
        transaction.commit().await?;
        Ok(())
    }

    async fn close(self) -> Result<(), Failed> {
        let mut states = self.client.state_watcher();
        drop(self);
        states.changed().await;
        Ok(())
    }
}

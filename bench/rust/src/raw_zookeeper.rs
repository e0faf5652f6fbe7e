//! zookeeper-client alone: create and children in one flight, then delete. Names and data are as long as fencepost's.

use zookeeper_client::{Acls, Client, CreateMode};

use crate::{Failed, address::Address, many::Another, ours::Kind, serve::Lock};

const PREFIX: &str = "_c_00000000-0000-0000-0000-000000000001-";
const DATA: [u8; 34] = [b'0'; 34];

pub(crate) struct RawZooKeeper {
    client: Client,
    mark: &'static str,
    directory: String,
    prefix: String,
    node: String,
}

impl RawZooKeeper {
    pub(crate) async fn connect(kind: Kind, address: Address, name: String) -> Result<Self, Failed> {
        let mark = match kind {
            Kind::Mutex => "lock-",
            Kind::Read => "__READ__",
            Kind::Write => "__WRIT__",
            Kind::Semaphore | Kind::Single | Kind::Multi | Kind::Election => {
                return Err("there is no raw one of it".into());
            }
        };
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
        Self::on(client, mark, &name).await
    }

    async fn on(client: Client, mark: &'static str, name: &str) -> Result<Self, Failed> {
        let directory = format!("/{name}");
        client
            .mkdir(&directory, &CreateMode::Persistent.with_acls(Acls::anyone_all()))
            .await?;
        Ok(Self {
            client,
            prefix: format!("{directory}/{PREFIX}{mark}"),
            mark,
            directory,
            node: String::new(),
        })
    }
}

impl Another for RawZooKeeper {
    async fn another(&self, name: &str) -> Result<Self, Failed> {
        Self::on(self.client.clone(), self.mark, name).await
    }
}

impl Lock for RawZooKeeper {
    async fn acquire(&mut self) -> Result<(), Failed> {
        let options = CreateMode::EphemeralSequential.with_acls(Acls::anyone_all());
        // The library queues both requests before this code awaits the first.
        let created = self.client.create(&self.prefix, &DATA, &options);
        let listed = self.client.list_children(&self.directory);
        let (_, sequence) = created.await?;
        listed.await?;
        self.node = format!("{}{sequence}", self.prefix);
        Ok(())
    }

    async fn release(&mut self) -> Result<(), Failed> {
        Ok(self.client.delete(&self.node, None).await?)
    }

    async fn close(self) -> Result<(), Failed> {
        let mut states = self.client.state_watcher();
        drop(self);
        states.changed().await;
        Ok(())
    }
}

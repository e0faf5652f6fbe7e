//! fencepost.

use fencepost::{Client, Grant, Lock, LockOptions};

use crate::{Failed, many, serve};

/// The kinds of locks.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Mutex,
    Read,
    Write,
    Semaphore,
    Single,
    Multi,
    Election,
}

impl Kind {
    pub(crate) fn lock(self, client: &Client, name: &str) -> Result<Lock, Failed> {
        Ok(match self {
            Self::Mutex => client.lock(name)?,
            Self::Read => client.read_write_lock(name)?.reader().clone(),
            Self::Write => client.read_write_lock(name)?.writer().clone(),
            // One permit, as for the peers here, so that a release hands it over.
            Self::Semaphore => client.semaphore(name, 1)?,
            Self::Single => client.lock_with(name, LockOptions::new().fair(false))?,
            Self::Multi => client.multi_lock((0..3).map(|place| format!("{name}-{place}")))?,
            // To campaign is to acquire.
            Self::Election => client.election(name)?,
        })
    }
}

/// A client by its address, and its lock.
pub(crate) struct Ours {
    client: Client,
    lock: Lock,
    grant: Option<Grant>,
}

impl Ours {
    pub(crate) async fn connect(kind: Kind, url: String, name: String) -> Result<Self, Failed> {
        let client = fencepost::connect(&url).await?;
        Self::on(client, kind, &name)
    }

    fn on(client: Client, kind: Kind, name: &str) -> Result<Self, Failed> {
        Ok(Self {
            lock: kind.lock(&client, name)?,
            client,
            grant: None,
        })
    }
}

impl many::Another for Ours {
    async fn another(&self, name: &str) -> Result<Self, Failed> {
        Self::on(self.client.clone(), Kind::Mutex, name)
    }
}

impl serve::Lock for Ours {
    async fn acquire(&mut self) -> Result<(), Failed> {
        self.grant = Some(self.lock.acquire().await?);
        Ok(())
    }

    async fn release(&mut self) -> Result<(), Failed> {
        let grant = self.grant.take().ok_or("nothing is held")?;
        Ok(grant.release().await?)
    }

    async fn close(self) -> Result<(), Failed> {
        Ok(self.client.close().await?)
    }
}

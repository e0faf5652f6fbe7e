//! fencepost.

use fencepost::{Client, Grant, Lock};

use crate::{Failed, serve};

/// A client by its address, and its lock.
pub(crate) struct Ours {
    client: Client,
    lock: Lock,
    grant: Option<Grant>,
}

impl Ours {
    pub(crate) async fn connect(url: String, name: String) -> Result<Self, Failed> {
        let client = fencepost::connect(&url).await?;
        let lock = client.lock(&name)?;
        Ok(Self {
            client,
            lock,
            grant: None,
        })
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

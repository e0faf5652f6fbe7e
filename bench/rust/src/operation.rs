//! Operations of fencepost: an acquire claims a new key, a release completes it. So a cycle is an operation
//! without work of its own.

use core::time::Duration;
use std::process;

use fencepost::{Claim, Claimed, Client, Completion, Idempotency, IdempotencyOptions};

use crate::{Failed, serve};

/// A digest as long as usual ones.
pub(crate) const FINGERPRINT: &str = "0123456789abcdef0123456789abcdef";
pub(crate) const TAG: &str = "bytes";
/// 1 KiB.
pub(crate) const RESULT: [u8; 1024] = [b'r'; 1024];
/// How long a claim and a result are kept: short, because there are many.
pub(crate) const KEPT: Duration = Duration::from_secs(10);

/// The keys of this process: each is new.
pub(crate) struct Keys(u64);

impl Keys {
    pub(crate) const fn new() -> Self {
        Self(0)
    }

    /// Returns the number of the next key, and the key.
    pub(crate) fn next(&mut self) -> (u64, String) {
        self.0 += 1;
        (self.0, format!("key-{}-{}", process::id(), self.0))
    }
}

pub(crate) struct Operations {
    client: Client,
    scope: Idempotency,
    keys: Keys,
    claim: Option<Claim>,
}

impl Operations {
    pub(crate) async fn connect(url: String, name: String) -> Result<Self, Failed> {
        let client = fencepost::connect(&url).await?;
        let options = IdempotencyOptions::new().retention(KEPT);
        let options = if url.starts_with("redis") {
            options.lease(KEPT)
        } else {
            options
        };
        Ok(Self {
            scope: client.idempotency_with(&name, options)?,
            client,
            keys: Keys::new(),
            claim: None,
        })
    }
}

impl serve::Lock for Operations {
    async fn acquire(&mut self) -> Result<(), Failed> {
        let (_, key) = self.keys.next();
        match self.scope.claim(&key, FINGERPRINT.as_bytes()).await? {
            Claimed::Run(claim) => self.claim = Some(claim),
            Claimed::Replayed(_) => return Err("a new key has a result".into()),
        }
        Ok(())
    }

    async fn release(&mut self) -> Result<(), Failed> {
        let claim = self.claim.take().ok_or("nothing is claimed")?;
        match claim.complete(TAG, RESULT).await? {
            Completion::Stored => Ok(()),
            Completion::Replayed(_) => Err("another process has completed it".into()),
        }
    }

    async fn close(self) -> Result<(), Failed> {
        Ok(self.client.close().await?)
    }
}

//! fencepost's recipes by the names of the protocol.

use std::time::Duration;

use fencepost::{Client, Grant, Layout, Lock, LockOptions};
use serde_json::{Value, json};

use crate::{Failed, look::Look, password};

/// Recipes on one client, in one layout.
pub(crate) struct Recipes {
    client: Client,
    layout: Layout,
}

impl Recipes {
    pub(crate) fn new(client: Client, layout: &str) -> Result<Self, Failed> {
        let layout = named(layout)?;
        Ok(Self { client, layout })
    }

    pub(crate) const fn layout(&self) -> &'static str {
        self.layout.as_str()
    }

    /// Returns a grant, or nothing after the timeout; waits without limit if there is no timeout.
    pub(crate) async fn acquire(
        &self,
        kind: &str,
        path: &str,
        timeout_ms: Option<&str>,
    ) -> Result<Option<Grant>, Failed> {
        let lock = self.lock(kind, path)?;
        Ok(match timeout_ms.map(str::parse::<u64>).transpose()? {
            None => Some(lock.acquire().await?),
            Some(0) => lock.try_acquire().await?,
            Some(limit) => lock.acquire_within(Duration::from_millis(limit)).await?,
        })
    }

    /// Acquires without a timeout; returns nothing if the grant was lost before the acquire returned.
    pub(crate) async fn take(&self, kind: &str, path: &str) -> Result<Option<Grant>, Failed> {
        match self.lock(kind, path)?.acquire().await {
            Ok(grant) => Ok(Some(grant)),
            Err(fencepost::Error::Lost(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The session, in the form of the servers' command `expire`. It is the owner of a held node, so the peer
    /// must hold a lock.
    pub(crate) async fn session(&self, look: &Look) -> Result<Value, Failed> {
        let path = format!("/fencepost-peer-{}", std::process::id());
        let grant = self.lock("mutex", &path)?.acquire().await?;
        let node = look
            .node(&path, grant.fence().ok_or("a grant without a fence")?)
            .await?;
        let session = look.owner(&node).await?;
        grant.release().await?;
        look.tidy(&path).await;
        let password: String = password::of(session)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        Ok(json!({"session": format!("{session:#x}"), "password": password}))
    }

    /// Sends the contender with this node a revocation request.
    pub(crate) async fn revoke(&self, node: &str) -> Result<Value, Failed> {
        let (path, _) = node.rsplit_once('/').ok_or("that is no node")?;
        let lock = self.lock("mutex", path)?;
        let contenders = lock.contenders().await?;
        let asked = contenders.iter().find(|contender| contender.node == node);
        lock.revoke(asked.ok_or_else(|| format!("nobody has the node {node}"))?)
            .await?;
        Ok(json!({}))
    }

    fn lock(&self, kind: &str, path: &str) -> Result<Lock, Failed> {
        let name = path.trim_start_matches('/');
        let (kind, layout) = match kind.split_once('@') {
            Some((kind, layout)) => (kind, named(layout)?),
            None => (kind, self.layout.clone()),
        };
        let options = LockOptions::new().layout(layout).identifier("fencepost");
        Ok(match kind.split_once(':').unwrap_or((kind, "")) {
            ("mutex", _) => self.client.lock_with(name, options)?,
            ("revocable", _) => self.client.lock_with(name, options.revocable(true))?,
            ("single", _) => {
                let unfair = LockOptions::new().identifier("fencepost").fair(false);
                self.client.lock_with(name, unfair)?
            }
            ("read", _) => self.client.read_write_lock_with(name, options)?.reader().clone(),
            ("write", _) => self.client.read_write_lock_with(name, options)?.writer().clone(),
            ("leader", _) => self.client.election_with(name, options)?,
            ("multi", _) => {
                let names = path.split(',').map(|path| path.trim_start_matches('/'));
                self.client.multi_lock_with(names, options)?
            }
            ("semaphore", permits) => self.client.semaphore_with(name, permits.parse()?, options)?,
            _ => return Err(format!("fencepost has no {kind}").into()),
        })
    }
}

fn named(layout: &str) -> Result<Layout, Failed> {
    Ok(match layout {
        "curator" => Layout::Curator,
        "kazoo" => Layout::Kazoo,
        "plain" => Layout::Plain {
            prefix: "node_".into(),
        },
        other => return Err(format!("no peer has the layout {other}").into()),
    })
}

//! Reads the server's nodes with a separate session.

use zookeeper_client::{Client, Error};

use crate::Failed;

/// A client without fencepost that finds nodes.
pub(crate) struct Look(Client);

impl Look {
    pub(crate) async fn new(hosts: &str) -> Result<Self, Failed> {
        Ok(Self(Client::connect(hosts).await?))
    }

    /// The node of each path of a lock; a multi-lock has several paths.
    pub(crate) async fn nodes(&self, path: &str, czxid: u64) -> Result<Vec<String>, Failed> {
        let mut nodes = Vec::new();
        for path in path.split(',') {
            nodes.push(self.node(path, czxid).await?);
        }
        Ok(nodes)
    }

    /// The node below a lock's path that a transaction has created. This is needed because a grant has only
    /// its fence.
    pub(crate) async fn node(&self, path: &str, czxid: u64) -> Result<String, Failed> {
        // This session may use another member of an ensemble, which does not have the node yet.
        self.0.sync(path).await?;
        if self.created(path, czxid).await? {
            return Ok(path.to_owned());
        }
        for directory in [path.to_owned(), format!("{path}/leases")] {
            for child in self.list(&directory).await? {
                let node = format!("{directory}/{child}");
                if self.created(&node, czxid).await? {
                    return Ok(node);
                }
            }
        }
        Err(format!("{path}: a lock was granted, and its node is gone").into())
    }

    /// Whether this transaction created the node.
    async fn created(&self, node: &str, czxid: u64) -> Result<bool, Failed> {
        let stat = self.0.check_stat(node).await?;
        Ok(stat.is_some_and(|stat| u64::try_from(stat.czxid) == Ok(czxid)))
    }

    /// The session that owns a node.
    pub(crate) async fn owner(&self, node: &str) -> Result<i64, Failed> {
        let stat = self.0.check_stat(node).await?.ok_or("the node is gone")?;
        Ok(stat.ephemeral_owner)
    }

    /// The nodes of holders and waiters, in the order of the queue: of this kind in Curator's layout, of all
    /// kinds in kazoo's.
    pub(crate) async fn contenders(
        &self,
        layout: &str,
        kind: &str,
        path: &str,
    ) -> Result<Vec<String>, Failed> {
        let marks: &[&str] = match (layout, kind) {
            ("kazoo", _) => &["lock__"],
            ("plain", _) => &["node_"],
            (_, "read") => &["__READ__"],
            (_, "write") => &["__WRIT__"],
            (_, "leader") => &["latch-"],
            (_, kind) if kind.starts_with("semaphore") => &["lease-"],
            _ => &["lock-"],
        };
        let leases = kind.starts_with("semaphore") && layout == "curator";
        let directory = if leases {
            format!("{path}/leases")
        } else {
            path.to_owned()
        };
        let mut nodes: Vec<String> = self.list(&directory).await?;
        nodes.retain(|node| marks.iter().any(|mark| node.contains(mark)));
        nodes.sort_by_key(|node| node[node.len().saturating_sub(10)..].to_owned());
        Ok(nodes
            .into_iter()
            .map(|node| format!("{directory}/{node}"))
            .collect())
    }

    /// Deletes a directory if it is empty.
    pub(crate) async fn tidy(&self, path: &str) {
        let _already_gone = self.0.delete(path, None).await;
    }

    async fn list(&self, path: &str) -> Result<Vec<String>, Failed> {
        match self.0.list_children(path).await {
            Ok(children) => Ok(children),
            Err(Error::NoNode) => Ok(Vec::new()),
            Err(error) => Err(error.into()),
        }
    }
}

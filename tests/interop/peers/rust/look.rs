//! What is on the server, seen with a session of its own.

use zookeeper_client::{Client, Error};

use crate::Failed;

/// A client without fencepost, for looking up nodes.
pub(crate) struct Look(Client);

impl Look {
    pub(crate) async fn new(hosts: &str) -> Result<Self, Failed> {
        Ok(Self(Client::connect(hosts).await?))
    }

    /// The node of each path of a lock: of many locks, each path has one.
    pub(crate) async fn nodes(&self, path: &str, czxid: u64) -> Result<Vec<String>, Failed> {
        let mut nodes = Vec::new();
        for path in path.split(',') {
            nodes.push(self.node(path, czxid).await?);
        }
        Ok(nodes)
    }

    /// The node below a lock's path that a transaction has created: a grant has only its fence.
    pub(crate) async fn node(&self, path: &str, czxid: u64) -> Result<String, Failed> {
        // Our session may be on another member of an ensemble, which does not have the node yet.
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

    /// Whether it was created by this transaction.
    async fn created(&self, node: &str, czxid: u64) -> Result<bool, Failed> {
        let stat = self.0.check_stat(node).await?;
        Ok(stat.is_some_and(|stat| u64::try_from(stat.czxid) == Ok(czxid)))
    }

    /// The session that a node goes with.
    pub(crate) async fn owner(&self, node: &str) -> Result<i64, Failed> {
        let stat = self.0.check_stat(node).await?.ok_or("the node is gone")?;
        Ok(stat.ephemeral_owner)
    }

    /// The nodes of those who hold or wait, first come first: of this kind in Curator's layout, all in
    /// Kazoo's.
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

    /// Deletes a directory, if it is empty.
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

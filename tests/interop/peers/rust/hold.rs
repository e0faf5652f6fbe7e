//! A hold, and its events.

use std::sync::Arc;

use fencepost::Grant;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::{
    Failed,
    belief::{Belief, OFTEN},
    say,
};

/// A held lock: its nodes, and its fence, which is the zxid of their creation.
pub(crate) struct Hold {
    kind: String,
    path: String,
    nodes: Vec<String>,
    fence: u64,
    grant: Arc<Grant>,
    watching: JoinHandle<()>,
}

impl Hold {
    pub(crate) fn new(kind: &str, path: &str, nodes: Vec<String>, fence: u64, grant: Grant) -> Self {
        if let Some(foreign) = grant.mixed_layouts() {
            say(&json!({"event": "mixed-layouts", "path": path, "node": foreign}));
        }
        let grant = Arc::new(grant);
        let watching = tokio::spawn(watch(Arc::clone(&grant), path.into()));
        Self {
            kind: kind.into(),
            path: path.into(),
            nodes,
            fence,
            grant,
            watching,
        }
    }

    /// Whether `what` is its path or its node.
    pub(crate) fn is(&self, what: &str) -> bool {
        what == self.path || what == self.nodes[0]
    }

    pub(crate) const fn fence(&self) -> u64 {
        self.fence
    }

    pub(crate) fn describe(&self) -> Value {
        let czxid = self.fence.to_string();
        let mut hold = json!({"kind": self.kind, "path": self.path, "node": self.nodes[0], "czxid": czxid});
        if self.nodes.len() > 1 {
            hold["nodes"] = json!(self.nodes);
            hold["czxids"] = json!(vec![&czxid; self.nodes.len()]);
        }
        hold
    }

    pub(crate) async fn downgrade(&self) -> Result<(), Failed> {
        Ok(self.grant.downgrade().await?)
    }

    pub(crate) async fn release(self) -> Result<(), Failed> {
        self.watching.abort();
        // The task's end drops its reference to the grant.
        let _ended = self.watching.await;
        let grant = Arc::into_inner(self.grant).ok_or("the grant is in use")?;
        Ok(grant.release().await?)
    }
}

/// Reports revocation requests, the times at which the grant is valid, and its loss.
async fn watch(grant: Arc<Grant>, path: String) {
    let requested = async {
        grant.revoke_requested().await;
        say(&json!({"event": "revoke", "path": path}));
        std::future::pending::<()>().await;
    };
    let mut belief = Belief::default();
    let mut report = || {
        if let Some((valid, at)) = belief.change(&grant) {
            say(&json!({"event": "valid", "path": path, "valid": valid, "at": at}));
        }
    };
    let lost = {
        let believes = async {
            loop {
                report();
                tokio::time::sleep(OFTEN).await;
            }
        };
        tokio::select! {
            lost = grant.lost() => lost,
            () = requested => return,
            () = believes => return,
        }
    };
    report();
    // After the end of a session, the client may report the loss of the node first.
    say(&json!({"event": "state", "state": "lost"}));
    say(&json!({"event": "lost", "path": path, "reason": lost.reason().name()}));
}

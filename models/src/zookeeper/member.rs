//! One server of an ensemble: its applied transactions, and its watches.

use alloc::{string::String, vec::Vec};

use fencepost_core::SessionId;

use super::{
    ask::{Event, FiredWatch},
    tree::{At, Kind as NodeKind, Tree, parent_of},
    watches::Watches,
};

/// A committed transaction.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Transaction {
    pub(super) at: At,
    pub(super) change: Change,
}

/// The change that a transaction makes. It has been checked, so every server can apply it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Change {
    Create {
        path: String,
        data: Vec<u8>,
        kind: NodeKind,
    },
    Delete {
        path: String,
    },
    Set {
        path: String,
        data: Vec<u8>,
    },
    EndSession(SessionId),
    /// Several changes in one transaction.
    All(Vec<Self>),
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Member {
    pub(super) tree: Tree,
    pub(super) watches: Watches,
    /// The last transaction that the server has applied.
    pub(super) applied: i64,
    pub(super) cut_off: bool,
    /// Whether the server was the leader, is cut off, and does not know that another server leads.
    pub(super) deposed: bool,
}

impl Member {
    /// Applies a transaction; returns the watches that fire, in order.
    pub(super) fn apply(&mut self, transaction: &Transaction) -> Vec<FiredWatch> {
        self.applied = transaction.at.zxid;
        self.carry_out(&transaction.change, transaction.at)
    }

    /// Makes a change; returns the watches that fire, in order.
    pub(super) fn carry_out(&mut self, change: &Change, at: At) -> Vec<FiredWatch> {
        let zxid = at.zxid;
        let mut fired = Vec::new();
        match change {
            Change::Create { path, data, kind } => {
                self.tree.create(path, data.clone(), *kind, at);
                self.watches.fire(path, Event::Created, zxid, &mut fired);
                self.watches
                    .fire(parent_of(path), Event::Children, zxid, &mut fired);
            }
            Change::Delete { path } => self.delete(path, at, &mut fired),
            Change::Set { path, data } => {
                self.tree.set(path, data.clone(), at);
                self.watches.fire(path, Event::Changed, zxid, &mut fired);
            }
            Change::EndSession(session) => {
                self.watches.take(*session);
                for path in self.tree.ephemerals(session.0) {
                    self.delete(&path, at, &mut fired);
                }
            }
            Change::All(changes) => {
                for change in changes {
                    fired.append(&mut self.carry_out(change, at));
                }
            }
        }
        fired
    }

    fn delete(&mut self, path: &str, at: At, fired: &mut Vec<FiredWatch>) {
        self.tree.delete(path, at);
        self.watches.fire(path, Event::Deleted, at.zxid, fired);
        self.watches
            .fire(parent_of(path), Event::Children, at.zxid, fired);
    }
}

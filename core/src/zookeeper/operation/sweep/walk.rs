//! The order in which a sweep visits the buckets and nodes of a scope, and the decision which nodes it deletes.

use alloc::{collections::VecDeque, string::String, vec::Vec};
use core::mem::take;

use crate::claim::ServerTime;

use super::{
    super::super::{path::child_of, wire::Write},
    answers::{Answers, Fate, Found},
};

/// How many nodes the sweep reads at the same time. A record takes two requests.
const BATCH: usize = 32;

/// The beginning of the names of the records of updates' ids.
const OPERATION: &str = "operation-";

/// A node that the sweep has to check.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Item {
    pub(super) path: String,
    /// Whether the node is the record of an operation or a value, and not that of an update's id.
    pub(super) is_record: bool,
    /// Whether the transaction that should delete the node had a conflict. The sweep then tries to delete the node
    /// alone, once.
    alone: bool,
    /// Whether the transaction deletes the node; otherwise it writes to the node.
    goes: bool,
    /// Whether the node may have been deleted by a transaction that got no reply.
    in_doubt: bool,
}

impl Item {
    const fn new(path: String, is_record: bool) -> Self {
        Self {
            path,
            is_record,
            alone: false,
            goes: false,
            in_doubt: false,
        }
    }
}

/// The position of the sweep. It stores the names of only one bucket at a time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Walk {
    /// A time that the server's clock has passed.
    pub(super) now: ServerTime,
    /// The present directory: the directory of the scope or of a bucket.
    pub(super) directory: String,
    /// Whether the present directory is a bucket.
    in_bucket: bool,
    /// The buckets that come next.
    buckets: Vec<String>,
    /// The nodes of this bucket that come next.
    items: VecDeque<Item>,
    /// The nodes that the sweep reads or deletes at present.
    pub(super) batch: Vec<Item>,
    pub(super) deleted: u64,
}

impl Walk {
    /// Starts at the directory of a scope.
    pub(super) fn new(directory: &str) -> Self {
        Self {
            directory: directory.into(),
            ..Self::default()
        }
    }

    /// Handles the list of the present directory.
    pub(super) fn listed(&mut self, names: Vec<String>) {
        let path = |name: &String| child_of(&self.directory, name);
        if self.in_bucket {
            self.items = names.iter().map(|name| Item::new(path(name), true)).collect();
        } else {
            self.buckets = names.iter().filter(|name| is_bucket(name)).map(path).collect();
        }
    }

    /// Takes the next nodes to read. Returns whether there are any.
    pub(super) fn next_batch(&mut self) -> bool {
        self.batch.clear();
        while let Some(item) = self.items.pop_front() {
            if item.alone && !self.batch.is_empty() {
                self.items.push_front(item);
                break;
            }
            let alone = item.alone;
            self.batch.push(item);
            if alone || self.batch.len() == BATCH {
                break;
            }
        }
        !self.batch.is_empty()
    }

    /// Continues with the next bucket. Returns whether there is one.
    pub(super) fn next_bucket(&mut self) -> bool {
        let Some(bucket) = self.buckets.pop() else {
            return false;
        };
        self.directory = bucket;
        self.in_bucket = true;
        true
    }

    /// The writes that delete nodes of the batch, or start their retentions again. Afterwards the batch contains only
    /// these nodes.
    ///
    /// After the read, other clients may have deleted a node and created another one with the same version. But a
    /// client that deletes a node changes the bucket. So the writes check that the bucket still has the version from
    /// before the read.
    pub(super) fn deletes(&mut self, answers: &mut Answers) -> Vec<Write> {
        let found = take(&mut answers.found);
        let mut writes = Vec::new();
        for (mut item, found) in take(&mut self.batch).into_iter().zip(found) {
            match found {
                Found { node: None, .. } => self.deleted = self.deleted.saturating_add(item.in_doubt.into()),
                Found {
                    node: Some(node),
                    children,
                } => {
                    if node.is_value && item.is_record {
                        self.look_at_updates(&item.path, &children);
                    }
                    // A child may be the lease of an attempt. Other children are not expected here; a later sweep can
                    // delete the node.
                    if !children.is_empty() || node.fate == Fate::Stays {
                        continue;
                    }
                    item.goes = node.fate == Fate::Goes;
                    let (path, version) = (item.path.clone(), Some(node.version));
                    writes.push(match node.fate {
                        Fate::Lapses(data) => Write::Set { path, data, version },
                        Fate::Goes | Fate::Stays => Write::Delete { path, version },
                    });
                    self.batch.push(item);
                }
            }
        }
        match answers.bucket {
            Some(version) if !writes.is_empty() => writes.push(Write::Set {
                path: self.directory.clone(),
                data: Vec::new(),
                version: Some(version),
            }),
            _ => writes.clear(),
        }
        writes
    }

    fn look_at_updates(&mut self, value: &str, children: &[String]) {
        for name in children.iter().filter(|name| name.starts_with(OPERATION)) {
            self.items.push_front(Item::new(child_of(value, name), false));
        }
    }

    /// The transaction has deleted the batch.
    pub(super) fn done(&mut self) {
        let deleted = self.batch.iter().filter(|item| item.goes).count();
        let deleted = u64::try_from(deleted).unwrap_or_default();
        self.deleted = self.deleted.saturating_add(deleted);
    }

    /// The transaction may have deleted the batch.
    pub(super) fn doubt(&mut self) {
        self.batch.iter_mut().for_each(|item| item.in_doubt = item.goes);
    }

    /// A node of the batch or the bucket has changed, so the sweep tries each node alone. If the node then has another
    /// conflict, it is in use, and it stays.
    pub(super) fn conflict(&mut self) {
        for mut item in take(&mut self.batch) {
            if !item.alone {
                item.alone = true;
                self.items.push_front(item);
            }
        }
    }
}

/// Whether this is the name of a bucket: two hexadecimal digits.
fn is_bucket(name: &str) -> bool {
    name.len() == 2 && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

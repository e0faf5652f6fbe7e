//! The way of a sweep through a scope: which bucket and which nodes are next, and what may be deleted.

use alloc::{collections::VecDeque, string::String, vec::Vec};
use core::mem::take;

use crate::claim::ServerTime;

use super::{
    super::super::{path::child_of, wire::Write},
    flight::{Answers, Fate, Found},
};

/// How many nodes are read at once. For a record these are two requests.
const BATCH: usize = 32;

/// What the names of the records of updates' ids begin with.
const OPERATION: &str = "operation-";

/// A node to look at.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Item {
    pub(super) path: String,
    /// Whether it is the record of an operation or a value, and not that of an update's id.
    pub(super) is_record: bool,
    /// Whether the transaction in which it was to be deleted met a conflict. It is tried alone, once.
    alone: bool,
    /// Whether the transaction deletes it; otherwise it writes it.
    goes: bool,
    /// Whether it may have been deleted, in a transaction without an answer.
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

/// Where the sweep is. It has the names of one bucket at a time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Walk {
    /// A time that the server's clock has passed.
    pub(super) now: ServerTime,
    /// The directory that is listed, or whose nodes are read: the scope's, or that of a bucket.
    pub(super) directory: String,
    /// Whether it is that of a bucket.
    in_bucket: bool,
    /// The buckets that come next.
    buckets: Vec<String>,
    /// The nodes of this bucket that come next.
    items: VecDeque<Item>,
    /// The nodes that are being read, or deleted.
    pub(super) batch: Vec<Item>,
    pub(super) deleted: u64,
}

impl Walk {
    /// At the directory of a scope.
    pub(super) fn new(directory: &str) -> Self {
        Self {
            directory: directory.into(),
            ..Self::default()
        }
    }

    /// The names in the directory.
    pub(super) fn listed(&mut self, names: Vec<String>) {
        let path = |name: &String| child_of(&self.directory, name);
        if self.in_bucket {
            self.items = names.iter().map(|name| Item::new(path(name), true)).collect();
        } else {
            self.buckets = names.iter().filter(|name| is_bucket(name)).map(path).collect();
        }
    }

    /// Takes the nodes that are to be read next. Returns whether there are any.
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

    /// Goes to the next bucket. Returns whether there is one.
    pub(super) fn next_bucket(&mut self) -> bool {
        let Some(bucket) = self.buckets.pop() else {
            return false;
        };
        self.directory = bucket;
        self.in_bucket = true;
        true
    }

    /// The writes that delete those nodes of the batch that may go, or begin their retentions. The batch is then these
    /// nodes alone.
    ///
    /// A node may have been deleted since, and another one with the same version created. A client that deletes a node
    /// changes the bucket. So the bucket must have the version that it had before the read.
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
                    // The lease of an attempt is a child. No other child is expected, and the next sweep comes.
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

    /// The batch is deleted.
    pub(super) fn done(&mut self) {
        let deleted = self.batch.iter().filter(|item| item.goes).count();
        let deleted = u64::try_from(deleted).unwrap_or_default();
        self.deleted = self.deleted.saturating_add(deleted);
    }

    /// The batch may be deleted.
    pub(super) fn doubt(&mut self) {
        self.batch.iter_mut().for_each(|item| item.in_doubt = item.goes);
    }

    /// Something in the batch has changed: each node is tried alone. What changes then, too, is in use, and stays.
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

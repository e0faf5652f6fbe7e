//! The client's knowledge of the nodes of one operation.

use alloc::{boxed::Box, string::String, vec::Vec};

use crate::{
    AttemptId,
    claim::{Corrupt, Known, Record, ServerTime, State},
};

/// The nodes on the server, as far as the client knows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Snapshot {
    /// There is no record.
    Absent,
    Node(Box<Node>),
}

/// The client's own claim, as it is on the server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Own {
    pub(super) record: Record,
    pub(super) version: i32,
}

/// The node of a record.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Node {
    pub(super) record: Result<Option<Record>, Corrupt>,
    pub(super) version: i32,
    /// The transaction that has last changed the node.
    pub(super) mzxid: i64,
    /// The time of the node's last change, by the server's clock.
    pub(super) changed: ServerTime,
    /// The names of the node's children.
    pub(super) children: Vec<String>,
    /// The version of the bucket, if the client has read it before the record.
    pub(super) bucket: Option<i32>,
    /// For an update: the record of its id.
    pub(super) operation: Result<Option<Record>, Corrupt>,
}

impl Snapshot {
    /// The record of an attempt that has just claimed the operation.
    pub(super) fn of_claim(own: &Own) -> Self {
        let children = Vec::from([own.record.attempt.text()]);
        Self::node(own.record.clone(), own.version, children)
    }

    /// A value that has this version. The create of the node stores the first version of the value, and each update
    /// changes the node once. So the value's version determines the node's version.
    pub(super) fn of_value(version: u64, attempt: AttemptId) -> Self {
        let mut record = Record::new(State::Value, attempt);
        record.version = version;
        let on_server = i32::try_from(version.saturating_sub(1)).unwrap_or(i32::MAX);
        Self::node(record, on_server, Vec::new())
    }

    fn node(record: Record, version: i32, children: Vec<String>) -> Self {
        Self::Node(Box::new(Node {
            record: Ok(Some(record)),
            version,
            mzxid: 0,
            changed: ServerTime(0),
            children,
            bucket: None,
            operation: Ok(None),
        }))
    }

    /// The table's inputs, and a time that is not later than the server's time.
    pub(super) fn known(&self) -> (Known, ServerTime) {
        let (record, operation, now) = match self {
            Self::Absent => (Ok(None), Ok(None), ServerTime(0)),
            Self::Node(node) => (node.record.clone(), node.operation.clone(), node.changed),
        };
        let known = Known {
            record,
            tombstone: None,
            operation,
        };
        (known, now)
    }
}

impl Node {
    pub(super) fn record(&self) -> Option<&Record> {
        self.record.as_ref().ok()?.as_ref()
    }

    /// Whether the attempt runs the operation and its lease exists.
    pub(super) fn is_leased_to(&self, attempt: &AttemptId) -> bool {
        self.lease().is_some_and(|record| record.attempt == *attempt)
    }

    /// Whether the operation runs, but its lease was not in the list that the client read after the record.
    pub(super) fn has_lapsed(&self) -> bool {
        self.lease().is_none() && self.record().is_some_and(|record| record.state == State::Running)
    }

    /// The record, if the operation runs and its lease exists.
    pub(super) fn lease(&self) -> Option<&Record> {
        self.record()
            .filter(|record| record.state == State::Running && self.children.contains(&record.attempt.text()))
    }
}

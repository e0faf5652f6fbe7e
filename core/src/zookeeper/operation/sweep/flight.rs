//! One group of requests of a sweep, which the client sends together, and their replies.

use alloc::{string::String, vec::Vec};

use crate::{
    CommandId, Failure,
    claim::{ServerTime, State, may_delete},
    outbox::Outbox,
};

use super::{
    super::{
        super::{
            setback::Setback,
            wire::{Answer, Request, Stat, Write},
        },
        flight::{Written, written},
        group::{Group, unread},
        stored,
    },
    walk::Walk,
};

/// The purpose of a request of the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Purpose {
    /// Write to the directory of the scope, so that its last change has the server's time.
    Touch,
    /// Read this time.
    Time,
    /// List a directory.
    List,
    /// Read the bucket's version.
    Bucket,
    /// Read a node of the batch.
    Node(usize),
    /// List the children of a node of the batch.
    Children(usize),
    /// Delete, in one transaction.
    Delete,
}

/// The contents of the replies. A missing value does not exist on the server, or was not requested.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Answers {
    pub(super) time: Option<ServerTime>,
    pub(super) names: Vec<String>,
    pub(super) bucket: Option<i32>,
    /// For each node of the batch.
    pub(super) found: Vec<Found>,
    pub(super) written: Option<Written>,
    /// The worst fault of all requests but the delete.
    pub(super) setback: Setback,
}

/// One node of a batch, as the server has it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Found {
    pub(super) node: Option<Node>,
    pub(super) children: Vec<String>,
}

/// The part of a node that a sweep needs. The record may be large, so the sweep does not store it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Node {
    pub(super) version: i32,
    pub(super) is_value: bool,
    /// What the sweep does with the node, if the node has no lease.
    pub(super) fate: Fate,
}

/// What a sweep does with a node that has no lease.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Fate {
    /// The node stays, because a request may need it.
    Stays,
    /// The sweep deletes the node, because no request needs it.
    Goes,
    /// The record's lease has ended at an unknown time. The sweep writes these bytes, and the retention starts again.
    Lapses(Vec<u8>),
}

impl Node {
    fn new(bytes: &[u8], stat: &Stat, now: ServerTime) -> Self {
        // A lease is a child, and the sweep handles the list of the children later.
        let stored = stored::read(bytes, stat, |_| false, 0);
        Self {
            version: stat.version,
            is_value: matches!(&stored, Ok(Some(record)) if record.state == State::Value),
            fate: match &stored {
                _ if !may_delete(&stored, now) => Fate::Stays,
                // The record becomes as it would be after a leave.
                Ok(Some(record)) if stored::is_of_claim(record, stat) => {
                    Fate::Lapses(stored::write(Some(record), None))
                }
                _ => Fate::Goes,
            },
        }
    }
}

/// The group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Flight {
    pending: Group<Purpose>,
    /// The time with which the sweep compares retentions.
    now: ServerTime,
    answers: Answers,
}

impl Flight {
    /// Gets the server's time: writes to the directory of the scope, and reads the time of that change. This time is
    /// never later than the server's present time.
    pub(super) fn time(walk: &Walk, out: &mut Outbox<Request>) -> Self {
        let mut flight = Self::default();
        let (path, data) = (walk.directory.clone(), Vec::new());
        flight
            .pending
            .send(Purpose::Touch, Request::Set { path, data }, out);
        flight.pending.get(Purpose::Time, walk.directory.clone(), out);
        flight
    }

    /// Lists a directory.
    pub(super) fn list(walk: &Walk, out: &mut Outbox<Request>) -> Self {
        let mut flight = Self::default();
        flight
            .pending
            .children(Purpose::List, walk.directory.clone(), false, out);
        flight
    }

    /// Reads the batch. The bucket comes first, because the delete contains its version. The children of a record come
    /// after the record: if the list has no lease, either the lease has ended or the record has changed since its read.
    pub(super) fn read(walk: &Walk, out: &mut Outbox<Request>) -> Self {
        let mut flight = Self {
            now: walk.now,
            ..Self::default()
        };
        let group = &mut flight.pending;
        group.get(Purpose::Bucket, walk.directory.clone(), out);
        for (at, item) in walk.batch.iter().enumerate() {
            flight.answers.found.push(Found::default());
            group.get(Purpose::Node(at), item.path.clone(), out);
            if item.is_record {
                group.children(Purpose::Children(at), item.path.clone(), false, out);
            }
        }
        flight
    }

    /// Sends the transaction that deletes nodes of the batch.
    pub(super) fn delete(writes: Vec<Write>, out: &mut Outbox<Request>) -> Self {
        let mut flight = Self::default();
        flight
            .pending
            .send(Purpose::Delete, Request::Multi { writes }, out);
        flight
    }

    /// The shape of the reply to a command of the group.
    pub(super) fn expects(&self, id: CommandId) -> Option<&'static str> {
        Some(match self.pending.purpose(id)? {
            Purpose::Touch => "done",
            Purpose::List | Purpose::Children(_) | Purpose::Delete => "children",
            Purpose::Time | Purpose::Bucket | Purpose::Node(_) => "data",
        })
    }

    /// Handles the outcome of a command of the group. After the last outcome, returns the contents of all replies.
    pub(super) fn answered(&mut self, id: CommandId, result: Result<Answer, Failure>) -> Option<Answers> {
        let purpose = self.pending.purpose(id)?;
        self.pending.remove(id);
        self.take(id, purpose, result);
        self.pending
            .is_empty()
            .then(|| core::mem::take(&mut self.answers))
    }

    fn take(&mut self, id: CommandId, purpose: Purpose, result: Result<Answer, Failure>) {
        let answers = &mut self.answers;
        match (purpose, result) {
            (Purpose::Delete, result) => answers.written = Some(written(id, result, "deleting records")),
            (Purpose::Touch, Ok(Answer::Done)) => {}
            (Purpose::Time, Ok(Answer::Data { stat, .. })) => answers.time = Some(stored::changed(&stat)),
            (Purpose::List, Ok(Answer::Children(names))) => answers.names = names,
            (Purpose::Bucket, Ok(Answer::Data { stat, .. })) => answers.bucket = Some(stat.version),
            (Purpose::Node(at), Ok(Answer::Data { data, stat })) => {
                if let Some(found) = answers.found.get_mut(at) {
                    found.node = Some(Node::new(&data, &stat, self.now));
                }
            }
            (Purpose::Children(at), Ok(Answer::Children(names))) => {
                if let Some(found) = answers.found.get_mut(at) {
                    found.children = names;
                }
            }
            (purpose, result) => {
                let deed = match purpose {
                    Purpose::Touch => "writing the directory of the scope",
                    _ => "reading records",
                };
                answers.setback.worsen(unread(id, result, deed));
            }
        }
    }
}

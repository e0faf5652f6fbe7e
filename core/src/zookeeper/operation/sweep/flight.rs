//! One group of requests of a sweep, which the client sends together, and their replies.

use alloc::vec::Vec;

use crate::{CommandId, Failure, claim::ServerTime, outbox::Outbox};

use super::{
    super::{
        super::wire::{Answer, Request, Write},
        flight::written,
        group::{Group, unread},
        stored,
    },
    answers::{Answers, Found, Node},
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

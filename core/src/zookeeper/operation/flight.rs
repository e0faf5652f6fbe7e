//! One group of requests, which the client sends together, and their replies.

use alloc::{string::String, vec::Vec};

use crate::{CommandId, Failure, outbox::Outbox};

use super::super::{
    barrier::Barrier,
    parents::Parents,
    setback::{Setback, closed, setback},
    wire::{Answer, CreateMode, Request, Stat, Write, code},
};
use super::{
    group::{Group, unread},
    paths::Paths,
};

/// The purpose of a request of the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Purpose {
    /// Create a directory above the record.
    Parent,
    /// Write, in one transaction.
    Write,
    /// Read the lease that the write has created.
    Lease,
    /// Ensure that the reads see all earlier writes.
    Barrier,
    /// Read the bucket's version.
    Bucket,
    /// Read the record.
    Record,
    /// Read the record of an update's id.
    Operation,
    /// List the leases.
    Children,
}

/// The contents of the replies. A missing value does not exist on the server, or was not requested.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Answers {
    pub(super) written: Option<Written>,
    pub(super) lease: Option<Stat>,
    pub(super) bucket: Option<i32>,
    pub(super) record: Option<(Vec<u8>, Stat)>,
    pub(super) operation: Option<(Vec<u8>, Stat)>,
    pub(super) children: Vec<String>,
    /// The list request of the leases, if it has set a watch.
    pub(super) watch: Option<CommandId>,
    /// The worst fault of all other requests.
    pub(super) setback: Setback,
    pub(super) parents: Parents,
}

/// The outcome of a write.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Written {
    Yes,
    /// Something has changed since the client read it.
    Conflict {
        error: i32,
    },
    /// The write may have been executed.
    Unknown,
    /// The write was not executed.
    No(Setback),
}

/// The group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Flight {
    pending: Group<Purpose>,
    barrier: Option<Barrier>,
    /// How many of the barrier's two requests have no reply yet.
    barred: u8,
    watches: bool,
    answers: Answers,
}

impl Flight {
    /// Writes. With `parents`, the client first creates the directories. `lease` is the lease that the write creates.
    pub(super) fn write(
        paths: &Paths,
        writes: Vec<Write>,
        parents: bool,
        lease: Option<String>,
        out: &mut Outbox<Request>,
    ) -> Self {
        let mut flight = Self::default();
        if parents {
            for path in paths.parents() {
                let (data, mode) = (Vec::new(), CreateMode::Persistent);
                flight
                    .pending
                    .send(Purpose::Parent, Request::Create { path, data, mode }, out);
            }
        }
        flight
            .pending
            .send(Purpose::Write, Request::Multi { writes }, out);
        if let Some(path) = lease {
            flight.pending.get(Purpose::Lease, path, out);
        }
        flight
    }

    /// Reads only the lease.
    pub(super) fn lease(path: String, out: &mut Outbox<Request>) -> Self {
        let mut flight = Self::default();
        flight.pending.get(Purpose::Lease, path, out);
        flight
    }

    /// Reads the record and its other nodes. The bucket comes first, because a write contains its version. The leases
    /// come last: if the lease of the record's attempt is not in the list, either that lease has ended or the record
    /// has changed since its read. If the client then writes, the record's version in the write shows which of the two
    /// is true. Otherwise the client reads again.
    pub(super) fn read(
        paths: &Paths,
        barrier: bool,
        operation: Option<String>,
        watch: bool,
        out: &mut Outbox<Request>,
    ) -> Self {
        let mut flight = Self::default();
        if barrier {
            flight.barrier = Some(Barrier::send(paths.record(), out));
            flight.barred = 2;
        }
        flight.watches = watch;
        let group = &mut flight.pending;
        group.get(Purpose::Bucket, paths.bucket(), out);
        group.get(Purpose::Record, paths.record(), out);
        if let Some(path) = operation {
            group.get(Purpose::Operation, path, out);
        }
        group.children(Purpose::Children, paths.record(), watch, out);
        flight
    }

    /// Whether the group has a write that may have been executed. After a move, a conflict may be the reply to another
    /// request.
    pub(super) fn may_have_written(&self) -> bool {
        let written = &self.answers.written;
        self.pending.awaits(Purpose::Write)
            || written.as_ref().is_some_and(|it| !matches!(it, Written::No(_)))
    }

    fn purpose(&self, id: CommandId) -> Option<Purpose> {
        if self.barrier.is_some_and(|barrier| barrier.has(id)) {
            return Some(Purpose::Barrier);
        }
        self.pending.purpose(id)
    }

    /// The shape of the reply to a command of the group.
    pub(super) fn expects(&self, id: CommandId) -> Option<&'static str> {
        Some(match self.purpose(id)? {
            Purpose::Barrier => self.barrier?.expects(id),
            Purpose::Parent => "created",
            Purpose::Write | Purpose::Children => "children",
            Purpose::Lease | Purpose::Bucket | Purpose::Record | Purpose::Operation => "data",
        })
    }

    /// Handles the outcome of a command of the group. After the last outcome, returns the contents of all replies.
    pub(super) fn answered(&mut self, id: CommandId, result: Result<Answer, Failure>) -> Option<Answers> {
        let purpose = self.purpose(id)?;
        if purpose == Purpose::Barrier {
            self.passed(id, &result);
        } else {
            self.pending.remove(id);
            self.take(id, purpose, result);
        }
        (self.pending.is_empty() && self.barred == 0).then(|| core::mem::take(&mut self.answers))
    }

    /// Handles the reply to one of the barrier's two requests. The client may use the reads only if both requests have
    /// passed.
    fn passed(&mut self, id: CommandId, result: &Result<Answer, Failure>) {
        self.barred = self.barred.saturating_sub(1);
        if !self.barrier.is_some_and(|barrier| barrier.is_passed(id, result)) {
            let setback = match result {
                Err(Failure::Closed) => closed(id),
                _ => Setback::Retry,
            };
            self.answers.setback.worsen(setback);
        }
    }

    fn take(&mut self, id: CommandId, purpose: Purpose, result: Result<Answer, Failure>) {
        let answers = &mut self.answers;
        match (purpose, result) {
            (Purpose::Parent, Err(Failure::Closed)) => answers.setback.worsen(closed(id)),
            (Purpose::Parent, result) => answers.parents.made(&result),
            (Purpose::Write, result) => answers.written = Some(written(id, result, "writing the record")),
            (Purpose::Lease, Ok(Answer::Data { stat, .. })) => answers.lease = Some(stat),
            (Purpose::Bucket, Ok(Answer::Data { stat, .. })) => answers.bucket = Some(stat.version),
            (Purpose::Record, Ok(Answer::Data { data, stat })) => answers.record = Some((data, stat)),
            (Purpose::Operation, Ok(Answer::Data { data, stat })) => answers.operation = Some((data, stat)),
            (Purpose::Children, Ok(Answer::Children(names))) => {
                answers.children = names;
                answers.watch = self.watches.then_some(id);
            }
            (_, result) => answers.setback.worsen(unread(id, result, "reading the record")),
        }
    }
}

/// The outcome of a transaction. `deed` describes it in an error.
pub(super) fn written(id: CommandId, result: Result<Answer, Failure>, deed: &str) -> Written {
    match result {
        Ok(Answer::Children(_)) => Written::Yes,
        Ok(Answer::Error(
            error @ (code::NO_NODE | code::NODE_EXISTS | code::BAD_VERSION | code::NOT_EMPTY),
        )) => Written::Conflict { error },
        Ok(Answer::Error(error)) => Written::No(setback(error, id, deed)),
        Ok(_) | Err(Failure::Unknown) => Written::Unknown,
        Err(Failure::NotSent) => Written::No(Setback::Retry),
        Err(Failure::Closed) => Written::No(closed(id)),
    }
}

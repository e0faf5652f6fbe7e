//! The inputs of the table, and its decisions.

use alloc::boxed::Box;

use super::super::{
    record::{Corrupt, Record},
    request::Answer,
};

/// What the server stores for an operation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Known {
    /// The record, if there is one. It may be past its retention.
    pub record: Result<Option<Record>, Corrupt>,
    /// The tombstone of the attempt that sends the request.
    pub tombstone: Option<Tombstone>,
    /// For an update: the record of its id.
    pub operation: Result<Option<Record>, Corrupt>,
}

/// A mark that an attempt has ended its claim. It is also written if the claim itself has not arrived yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tombstone {
    /// The answer to the attempt's release or leave was [`Answer::Released`].
    Released,
    /// The answer to the attempt's release or leave was another one.
    Lost,
}

/// An answer, and the changes on the server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Decision {
    /// The answer.
    pub answer: Answer,
    /// The change of the record.
    pub record: Change,
    /// The tombstone to write for the attempt.
    pub tombstone: Option<Tombstone>,
    /// The record of an update's id, which the same step stores.
    pub operation: Option<Record>,
}

/// The change of a record.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// The record is not changed.
    Nothing,
    /// The record is replaced by this one.
    Put(Box<Record>),
    /// The record is deleted.
    Delete,
}

pub(super) const fn unchanged(answer: Answer) -> Decision {
    changed(answer, Change::Nothing)
}

pub(super) fn put(answer: Answer, record: Record) -> Decision {
    changed(answer, Change::Put(Box::new(record)))
}

pub(super) const fn delete(answer: Answer) -> Decision {
    changed(answer, Change::Delete)
}

const fn changed(answer: Answer, record: Change) -> Decision {
    Decision {
        answer,
        record,
        tombstone: None,
        operation: None,
    }
}

/// Adds the tombstone of an attempt that has ended its claim, with any answer.
pub(super) fn with_tombstone(decision: Decision) -> Decision {
    let tombstone = match decision.answer {
        Answer::Released => Tombstone::Released,
        _ => Tombstone::Lost,
    };
    Decision {
        tombstone: Some(tombstone),
        ..decision
    }
}

//! What the table is given, and what it decides.

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
    /// The tombstone of the attempt that asks.
    pub tombstone: Option<Tombstone>,
    /// For an update: the record of its id.
    pub operation: Result<Option<Record>, Corrupt>,
}

/// A sign that an attempt has ended its claim, whether or not the claim has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tombstone {
    /// Its release or leave was answered with [`Answer::Released`].
    Released,
    /// Its release or leave was lost.
    Lost,
}

/// An answer, and what it changes on the server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Decision {
    /// The answer.
    pub answer: Answer,
    /// What becomes of the record.
    pub record: Change,
    /// The tombstone to put up for the attempt.
    pub tombstone: Option<Tombstone>,
    /// The record of an update's id, to be stored in the same step.
    pub operation: Option<Record>,
}

/// What becomes of a record.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// It stays as it is.
    Nothing,
    /// It becomes this one.
    Put(Box<Record>),
    /// There is none any more.
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

/// The attempt has ended its claim, however the end was answered.
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

//! The contents of the nodes of a scope, as a sweep has read them.

use alloc::{string::String, vec::Vec};

use crate::claim::{ServerTime, State, may_delete};

use super::super::{
    super::{setback::Setback, wire::Stat},
    flight::Written,
    stored,
};

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
    pub(super) fn new(bytes: &[u8], stat: &Stat, now: ServerTime) -> Self {
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

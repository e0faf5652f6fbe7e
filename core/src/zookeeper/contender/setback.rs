//! What has gone wrong with a flight into the line.

use crate::{Cause, CommandId, Refusal};

use super::super::{Verdict, judge};

/// The worst that has happened to a flight.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum Setback {
    #[default]
    None,
    /// Something was not executed, or not answered.
    Retry,
    /// The directory does not exist.
    NoDirectory,
    /// It will not work.
    Final(Refusal, Cause),
}

impl Setback {
    pub(super) fn worsen(&mut self, other: Self) {
        let keep = match (&*self, &other) {
            (Self::Final(..), _) => true,
            (Self::NoDirectory, other) => !matches!(other, Self::Final(..)),
            (Self::Retry, other) => matches!(other, Self::None),
            (Self::None, _) => false,
        };
        if !keep {
            *self = other;
        }
    }
}

pub(super) fn setback(error: i32, id: CommandId, deed: &str) -> Setback {
    match judge(error, id, deed) {
        Verdict::Transient => Setback::Retry,
        Verdict::Final(refusal, cause) => Setback::Final(refusal, cause),
    }
}

pub(super) fn closed(id: CommandId) -> Setback {
    Setback::Final(Refusal::ConnectionClosed, Cause::command(id))
}

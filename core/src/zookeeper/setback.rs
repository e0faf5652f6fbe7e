//! The faults in a group of requests.

use crate::{Cause, CommandId, Refusal};

use super::{Verdict, classify_error};

/// The worst fault among the requests of one group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum Setback {
    #[default]
    None,
    /// A request was not executed, or got no reply. A retry may succeed.
    Retry,
    /// The directory of the nodes does not exist.
    NoDirectory,
    /// A retry cannot succeed.
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
    match classify_error(error, id, deed) {
        Verdict::Transient => Setback::Retry,
        Verdict::Final(refusal, cause) => Setback::Final(refusal, cause),
    }
}

pub(super) fn closed(id: CommandId) -> Setback {
    Setback::Final(Refusal::ConnectionClosed, Cause::command(id))
}

//! The directories above a node. A client creates them when a request has shown that they are missing.

use crate::{Cause, Failure, Refusal};

use super::{Answer, answered, code, is_transient, refusal};

/// The result of the creates of directories. The reply to the request that needs the directories decides on the next
/// step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Parents {
    /// The server's last error, except for errors that only show whether a directory exists; 0 if there is none.
    denied: i32,
    /// Whether a create failed for a temporary reason, or got no reply. A retry may succeed.
    pub(super) postponed: bool,
}

impl Parents {
    /// Handles the reply to the create of a directory.
    pub(super) const fn made(&mut self, result: &Result<Answer, Failure>) {
        match result {
            Ok(Answer::Error(code::NODE_EXISTS | code::NO_NODE)) => {}
            Ok(Answer::Error(error)) if !is_transient(*error) => self.denied = *error,
            Ok(Answer::Error(_)) | Err(Failure::NotSent | Failure::Unknown) => self.postponed = true,
            Ok(_) | Err(Failure::Closed) => {}
        }
    }

    /// The refusal for a directory that is missing although the client has tried to create it.
    pub(super) fn refusal(self, directory: &str) -> (Refusal, Cause) {
        let (reason, why) = match self.denied {
            0 => (Refusal::NoParent, "".into()),
            error => (refusal(error), [": ", &answered(error)].concat()),
        };
        let detail = [directory, " cannot be made", &why].concat();
        (reason, Cause::detail(detail))
    }
}

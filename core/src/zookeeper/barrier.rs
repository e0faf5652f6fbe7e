//! A barrier: two requests. A read that the client sends after a barrier sees every write that was committed before the
//! client sent the barrier.
//!
//! The first request is a `sync`, which makes the session's server catch up with its leader. But a deposed leader
//! answers a `sync` without its followers, from old data. So the second request is a `multi` with one check: it needs a
//! quorum, and a deposed leader never answers it. A server answers the requests of a session in order, so it answers
//! the reads only after the check. The check alone is not enough: after a session has moved to another server, the
//! client may get the reply to an earlier write instead (see the session lease). This cannot happen to a `sync`,
//! because a `sync` is not a write.

use alloc::string::String;

use crate::{CommandId, Failure, outbox::Outbox};

use super::{
    quorum,
    wire::{Answer, Request},
};

/// The command ids of the two requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Barrier {
    sync: CommandId,
    check: CommandId,
}

impl Barrier {
    /// Sends the two requests. The caller must send the reads directly after them.
    pub(super) fn send(path: String, out: &mut Outbox<Request>) -> Self {
        let sync = out.command(Request::Sync { path }, None);
        let check = out.command(quorum::check(), None);
        Self { sync, check }
    }

    /// Whether a command is one of the two requests.
    pub(super) fn has(&self, id: CommandId) -> bool {
        id == self.sync || id == self.check
    }

    /// Whether this reply to one of the two requests allows the client to use the reads after the barrier.
    pub(super) fn is_passed(&self, id: CommandId, result: &Result<Answer, Failure>) -> bool {
        match result {
            Ok(Answer::Done) => id == self.sync,
            Ok(answer) => id == self.check && quorum::is_acknowledged(answer),
            Err(_) => false,
        }
    }

    /// The shape of the reply to one of the two requests.
    pub(super) fn expects(&self, id: CommandId) -> &'static str {
        if id == self.sync { "done" } else { "children" }
    }
}

//! A barrier: a read that is sent behind it sees everything that was committed before the barrier was sent.
//!
//! A barrier is two requests. A `sync` makes the session's server catch up with its leader. But a deposed leader
//! answers a `sync` alone, from old data. So a `multi` of one check follows: it needs a quorum, and a deposed leader
//! never answers it. A server answers no later request of a session before a write, so the reads wait for the check.
//! The check alone is not enough: after a session has moved, its answer may be that of an earlier request (see the
//! session lease). The answer to a `sync` cannot be, because a `sync` is no write.

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
    /// Sends the two requests. The caller must send the reads right behind them.
    pub(super) fn send(path: String, out: &mut Outbox<Request>) -> Self {
        let sync = out.command(Request::Sync { path }, None);
        let check = out.command(quorum::check(), None);
        Self { sync, check }
    }

    /// Whether a command is one of the two requests.
    pub(super) fn has(&self, id: CommandId) -> bool {
        id == self.sync || id == self.check
    }

    /// Whether this answer to one of the two requests lets the reads behind the barrier count.
    pub(super) fn is_passed(&self, id: CommandId, result: &Result<Answer, Failure>) -> bool {
        match result {
            Ok(Answer::Done) => id == self.sync,
            Ok(answer) => id == self.check && quorum::is_acknowledged(answer),
            Err(_) => false,
        }
    }

    /// The shape of the answer to one of the two requests.
    pub(super) fn expects(&self, id: CommandId) -> &'static str {
        if id == self.sync { "done" } else { "children" }
    }
}

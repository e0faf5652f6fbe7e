//! The requests of one group, which the client sends together, with their purposes.

use alloc::{string::String, vec::Vec};

use crate::{CommandId, Failure, outbox::Outbox};

use super::super::{
    setback::{Setback, closed, setback},
    wire::{Answer, Request, code},
};

/// The requests that have no outcome yet.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Group<P>(Vec<(CommandId, P)>);

impl<P> Default for Group<P> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<P: Copy + PartialEq> Group<P> {
    pub(super) fn send(&mut self, purpose: P, request: Request, out: &mut Outbox<Request>) {
        let id = out.command(request, None);
        self.0.push((id, purpose));
    }

    /// Reads a node.
    pub(super) fn get(&mut self, purpose: P, path: String, out: &mut Outbox<Request>) {
        self.send(purpose, Request::Get { path, watch: false }, out);
    }

    /// Lists the children of a node.
    pub(super) fn children(&mut self, purpose: P, path: String, watch: bool, out: &mut Outbox<Request>) {
        self.send(purpose, Request::Children { path, watch }, out);
    }

    /// The purpose of a request that has no outcome yet.
    pub(super) fn purpose(&self, id: CommandId) -> Option<P> {
        let mut pending = self.0.iter();
        let (_, purpose) = pending.find(|(waiting, _)| *waiting == id)?;
        Some(*purpose)
    }

    /// Removes a request whose outcome has arrived.
    pub(super) fn remove(&mut self, id: CommandId) {
        self.0.retain(|(waiting, _)| *waiting != id);
    }

    pub(super) fn awaits(&self, purpose: P) -> bool {
        self.0.iter().any(|(_, waiting)| *waiting == purpose)
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The fault of a read that returned no data. A missing node is not a fault.
pub(super) fn unread(id: CommandId, result: Result<Answer, Failure>, deed: &str) -> Setback {
    match result {
        Ok(Answer::Error(code::NO_NODE)) => Setback::None,
        Ok(Answer::Error(error)) => setback(error, id, deed),
        Err(Failure::Closed) => closed(id),
        Ok(_) | Err(Failure::NotSent | Failure::Unknown) => Setback::Retry,
    }
}

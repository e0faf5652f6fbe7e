//! A lock that is a single node: the contender that creates the node is the holder, and all others watch it.
//!
//! This lock is the cheapest one: one round trip to acquire, one to release. It is unfair: every release notifies all
//! waiters, and any of them may be next. The node's name does not identify its owner. A contender recognises its own
//! node by the data or the creating transaction, *and* by the session.

use crate::{Cause, CommandId, Failure, Instant, Refusal, text::shown};

use super::super::{
    path,
    setback::{self, Setback},
    wire::{Answer, Stat, code},
};
use super::{Contender, Node, Phase, Purpose, queued::Queued};

/// The owner of the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Holder {
    Us(i64),
    Another(i64),
    /// The node exists, but belongs to no session, so it is not a lock.
    Nothing,
    /// The node does not exist.
    Absent,
}

impl Contender {
    /// Whether the node that the client has read is this attempt's node. The node's data show this. If another client
    /// has changed the data, the creating transaction shows it.
    pub(super) fn is_own_single(&self, data: &[u8], stat: &Stat) -> bool {
        let known = self.own.node.as_ref().map(|node| node.czxid);
        self.session.owns(stat)
            && (self.attempt.is_written(data) || known == Some(stat.czxid) && stat.version > 0)
    }

    /// Whether another contender's node could have the same name as this contender's node, except for the number.
    pub(super) const fn is_doubtful_name(&self) -> bool {
        matches!(self.settings.layout, super::super::layout::Layout::Plain { .. }) && !self.is_single()
    }

    /// Handles the reply to a read of the node that was sent after a create or a barrier.
    pub(super) fn holder_read(&mut self, now: Instant, id: CommandId, result: Result<Answer, Failure>) {
        let outcome = match result {
            Ok(Answer::Data { data, stat }) if self.is_own_single(&data, &stat) => Ok(Holder::Us(stat.czxid)),
            Ok(Answer::Data { stat, .. }) if stat.ephemeral_owner == 0 => Ok(Holder::Nothing),
            Ok(Answer::Data { stat, .. }) => Ok(Holder::Another(stat.czxid)),
            Ok(Answer::Error(code::NO_NODE)) => Ok(Holder::Absent),
            Ok(Answer::Error(error)) => Err(setback::setback(error, id, "looking at the lock's node")),
            Ok(_) | Err(Failure::NotSent | Failure::Unknown) => Err(Setback::Retry),
            Err(Failure::Closed) => Err(setback::closed(id)),
        };
        if let Phase::Entering(entering) = &mut self.phase {
            match outcome {
                Ok(holder) => entering.holder = Some((id, holder)),
                Err(setback) => entering.setback.worsen(setback),
            }
            self.settle(now);
        }
    }

    /// Decides on the next step by the owner of the node.
    pub(super) fn find_holder(&mut self, now: Instant, look: CommandId, holder: Holder) {
        // The create in doubt was sent before this read.
        self.own.in_doubt = false;
        if self.acquire.stale.take_if(|stale| *stale == look).is_some() {
            return self.list_again(false);
        }
        match holder {
            Holder::Us(czxid) => {
                let name = path::last_part(&self.settings.lock_path()).into();
                self.own.node = Some(Node { name, czxid });
                self.own.watch = Some(look).filter(|_| !self.acquire.nonblocking);
                self.first(now);
            }
            Holder::Absent => {
                self.own.node = None;
                self.enter();
            }
            Holder::Nothing => self.refuse(
                now,
                Refusal::WrongType,
                Cause::detail(shown(&self.settings.lock_path())),
            ),
            Holder::Another(_) if self.acquire.nonblocking => {
                self.own.node = None;
                self.refuse(
                    now,
                    Refusal::NotAvailable,
                    Cause::detail(shown(&self.settings.lock_path())),
                );
            }
            Holder::Another(czxid) => {
                self.own.node = None;
                self.acquire.was_queued = true;
                self.go_to(Phase::Queued(Queued::behind_holder(look, czxid)));
                self.await_turn(now);
            }
        }
    }

    /// Whether the node in a create's reply may be another contender's, because no read has confirmed it yet.
    pub(super) fn may_be_foreign(&self) -> bool {
        self.is_doubtful_name() && self.is_unnumbered()
    }

    /// Removes the node from the contender's state. If it was the node of another contender or of an earlier attempt,
    /// this attempt's own node may still exist.
    pub(super) fn take_node(&mut self) -> Option<Node> {
        self.own.in_doubt |= self.may_be_foreign();
        self.own.node.take()
    }

    /// Schedules the deletion of the node. A node whose name does not contain the attempt is deleted once. Before a second
    /// delete, the client reads whether the node still exists and is still its own.
    pub(super) fn schedule_delete(&mut self, node: Node) {
        if !self.settings.names_attempts() {
            // The reply may have contained the name of another contender's node. The search reads the node to find its
            // owner.
            if self.own.in_doubt {
                return self.cleanup.search_guarded(self.attempt, node.czxid);
            }
            self.cleanup.guard(self.attempt, node.czxid);
        }
        self.cleanup.schedule_delete(node.name);
    }

    /// Abandons the contender's node and deletes it if it exists. If the name does not contain the attempt, the client
    /// first reads the node, because it may now be another contender's.
    pub(super) fn abandon_node(&mut self) {
        let Some(node) = self.take_node() else { return };
        if self.settings.names_attempts() {
            self.cleanup.schedule_delete(node.name);
        } else {
            self.cleanup.search_guarded(self.attempt, node.czxid);
        }
    }

    pub(super) const fn is_single(&self) -> bool {
        matches!(self.settings.role, super::super::layout::Role::Single)
    }

    /// The purpose of the read that shows the contender's place.
    pub(super) const fn reading(&self) -> Purpose {
        if self.is_single() {
            Purpose::Look
        } else {
            Purpose::List
        }
    }
}

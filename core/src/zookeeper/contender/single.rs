//! A single node that is the lock: whoever creates it holds it, and all others watch it.
//!
//! The cheapest lock there is (one flight in, one out), and an unfair one: every release wakes all who wait, and any of them may be the next.
//! The node's name says nothing of whose it is, so its data do, and its creating transaction: it is one's own by these *and* by its session.

use crate::{Cause, CommandId, Failure, Instant, Refusal, text::shown};

use super::super::{
    path,
    wire::{Answer, Stat, code},
};
use super::{
    Contender, Node, Phase, Purpose,
    queued::Queued,
    setback::{self, Setback},
};

/// Whose the node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Holder {
    Us(i64),
    Another(i64),
    /// It is there and goes with no session: no lock at all.
    Nothing,
    /// There is no node.
    Nobody,
}

impl Contender {
    /// Whether the node that was looked at is this attempt's own: its data say so, unless somebody has changed them.
    pub(super) fn is_own_single(&self, data: &[u8], stat: &Stat) -> bool {
        let known = self.node.as_ref().map(|node| node.czxid);
        Some(stat.ephemeral_owner) == self.session.id.map(|session| session.0)
            && (self.attempt.is_written(data) || known == Some(stat.czxid) && stat.version > 0)
    }

    /// Whether another contender's node could have the name of ours, but for its number.
    pub(super) const fn is_doubtful_name(&self) -> bool {
        matches!(self.settings.layout, super::super::layout::Layout::Plain { .. }) && !self.is_single()
    }

    /// The server has shown the node, behind a create or a barrier.
    pub(super) fn looked(&mut self, now: Instant, id: CommandId, result: Result<Answer, Failure>) {
        let outcome = match result {
            Ok(Answer::Data { data, stat }) if self.is_own_single(&data, &stat) => Ok(Holder::Us(stat.czxid)),
            Ok(Answer::Data { stat, .. }) if stat.ephemeral_owner == 0 => Ok(Holder::Nothing),
            Ok(Answer::Data { stat, .. }) => Ok(Holder::Another(stat.czxid)),
            Ok(Answer::Error(code::NO_NODE)) => Ok(Holder::Nobody),
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

    /// Draws the conclusion.
    pub(super) fn find_holder(&mut self, now: Instant, look: CommandId, holder: Holder) {
        // What was in doubt came before this look.
        self.doubt = false;
        if self.stale.take_if(|stale| *stale == look).is_some() {
            return self.list_again(false);
        }
        match holder {
            Holder::Us(czxid) => {
                let name = path::last_part(&self.settings.lock_path()).into();
                self.node = Some(Node { name, czxid });
                self.own_watch = Some(look).filter(|_| !self.trying);
                self.first(now);
            }
            Holder::Nobody => {
                self.node = None;
                self.enter();
            }
            Holder::Nothing => self.refuse(
                now,
                Refusal::WrongType,
                Cause::detail(shown(&self.settings.lock_path())),
            ),
            Holder::Another(_) if self.trying => {
                self.node = None;
                self.refuse(
                    now,
                    Refusal::NotAvailable,
                    Cause::detail(shown(&self.settings.lock_path())),
                );
            }
            Holder::Another(czxid) => {
                self.node = None;
                self.placed = true;
                self.phase = Phase::Queued(Queued::behind_holder(look, czxid));
                self.await_turn(now);
            }
        }
    }

    /// Whether the node that a create was answered with may be another contender's: nobody has looked at it yet.
    pub(super) fn is_another_ones(&self) -> bool {
        self.is_doubtful_name() && self.is_unnumbered()
    }

    /// Gives the node up. If it was another contender's or an earlier attempt's, this attempt's is there still.
    pub(super) fn take_node(&mut self) -> Option<Node> {
        self.doubt |= self.is_another_ones();
        self.node.take()
    }

    /// Has the node deleted. A single one is deleted once; whether it is still there, and still ours, is looked at before it is deleted again.
    pub(super) fn bury(&mut self, node: Node) {
        if self.is_single() {
            self.disposal.guard(self.attempt, node.czxid);
        }
        self.disposal.bury(node.name);
    }

    /// Has the node looked for, and deleted if it is there and ours.
    pub(super) fn bury_if_there(&mut self, node: Node) {
        if self.is_single() {
            self.disposal.guard(self.attempt, node.czxid);
            self.disposal.search(self.attempt);
        } else {
            self.disposal.bury(node.name);
        }
    }

    pub(super) const fn is_single(&self) -> bool {
        matches!(self.settings.role, super::super::layout::Role::Single)
    }

    /// What is read to know one's place.
    pub(super) const fn looking(&self) -> Purpose {
        if self.is_single() {
            Purpose::Look
        } else {
            Purpose::List
        }
    }
}

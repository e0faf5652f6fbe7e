//! A contender that is a part of another machine. That machine may also have created the contender's node. Such a
//! contender waits and holds like any other, but does not create another node if it loses this one.

use alloc::{string::String, vec::Vec};
use core::time::Duration;

use crate::{AttemptId, Cause, ContenderId, Event, Instant, Intent, Loss, Refusal, outbox::Outbox};

use super::super::{
    ContenderSettings,
    layout::Layout,
    path,
    wire::{CreateMode, Request},
};
use super::{Contender, Node, Phase, Purpose, entering::Entering};

impl Contender {
    /// A contender that is a part of another machine. It reports a refusal to that machine at once, and a denied
    /// deletion when the machine calls [`complaint`](Self::complaint).
    pub(in crate::zookeeper) const fn component(
        settings: ContenderSettings,
        contender: ContenderId,
        seed: u64,
    ) -> Self {
        let mut contender = Self::new(settings, contender, seed);
        contender.component = true;
        contender
    }

    /// The reason for which the server refused to delete one of the contender's nodes, if it did. Returned once.
    pub(in crate::zookeeper) const fn complaint(&mut self) -> Option<(Refusal, Cause)> {
        self.cleanup.refused.take()
    }

    /// Whether the client can expect that the server will soon answer the deletes of all nodes that the contender has
    /// created.
    pub(in crate::zookeeper) fn expects_answers(&self) -> bool {
        self.session.connected && !self.waits_for(Purpose::Create)
    }

    pub(in crate::zookeeper) const fn is_connected(&self) -> bool {
        self.session.connected
    }

    /// Lets the contender use the command ids of the machine that contains it, during the call of `put`.
    pub(in crate::zookeeper) fn with_command_ids<T>(
        &mut self,
        out: &mut Outbox<Request>,
        put: impl FnOnce(&mut Self) -> T,
    ) -> T {
        *self.out.next_id() = *out.next_id();
        let result = put(self);
        *out.next_id() = *self.out.next_id();
        result
    }

    pub(in crate::zookeeper) const fn answer_within(&self) -> Duration {
        self.settings.answer_within
    }

    /// The directories above the contender's node and the modes of their creates, the outermost directory first.
    pub(in crate::zookeeper) fn parents(&self) -> impl Iterator<Item = (String, CreateMode)> {
        // The server deletes an empty container. That would be wrong in the other layouts: some need names that are
        // never used twice, others a directory that remains.
        let mode = if self.containers && self.settings.layout == Layout::Curator {
            CreateMode::Container
        } else {
            CreateMode::Persistent
        };
        path::ancestors(&self.settings.directory)
            .into_iter()
            .map(move |path| (path, mode))
    }

    /// The server has no containers, so the contender does not create them any more.
    pub(in crate::zookeeper) const fn do_without_containers(&mut self) {
        self.containers = false;
    }

    /// The node of an attempt: its path, data and mode.
    pub(in crate::zookeeper) fn node_of(&self, attempt: &AttemptId) -> (String, Vec<u8>, CreateMode) {
        let settings = &self.settings;
        (
            settings.layout.path(&settings.directory, settings.role, attempt),
            settings.layout.data(attempt, settings.identifier.as_deref()),
            settings.layout.mode(settings.role),
        )
    }

    pub(in crate::zookeeper) fn could_be_of(&self, attempt: &AttemptId, name: &str) -> bool {
        self.settings.layout.names(self.settings.role, attempt, name)
    }

    /// Takes over a node that another machine has created for this contender. The client does not know the node's
    /// transaction yet: a read of the node returns it, and also sets the watch.
    pub(in crate::zookeeper) fn pre_enqueue(&mut self, attempt: AttemptId, name: String, nonblocking: bool) {
        self.begin(nonblocking, true);
        self.attempt = attempt;
        self.own.node = Some(Node {
            name,
            czxid: Node::UNKNOWN,
        });
        self.go_to(Phase::Entering(Entering::default()));
        self.send_list();
        self.watch_own();
    }

    /// Releases the lock, or cancels the acquire, if there is one.
    pub(in crate::zookeeper) fn give_up(&mut self, now: Instant) {
        for intent in [Intent::Release, Intent::Cancel] {
            // At most one of the two intents applies. The machine rejects the other one as misuse, and it changes
            // nothing.
            let _was_there = self.intent(now, intent);
        }
    }

    /// Searches for the nodes of an attempt, and deletes them.
    pub(in crate::zookeeper) fn search_for(&mut self, attempt: AttemptId) {
        self.cleanup.search(attempt);
        self.go_to(Phase::Leaving);
        self.advance_leaving();
    }

    /// The contender has lost its place, and must not take a new one.
    pub(super) fn lose_place(&mut self) {
        let (reason, cause) = (Loss::Deleted, Cause::none());
        self.out.event(Event::Lost { reason, cause });
        self.leave();
    }

    /// Whether the node's transaction, and with it the fence, is still unknown.
    pub(super) fn is_unnumbered(&self) -> bool {
        self.own
            .node
            .as_ref()
            .is_some_and(|node| node.czxid == Node::UNKNOWN)
    }
}

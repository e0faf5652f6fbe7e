//! A contender that is a part of another machine; and a place that was taken for it: waited in and held like any other, but never taken again.

use alloc::{string::String, vec::Vec};
use core::time::Duration;

use crate::{AttemptId, Cause, Event, Instant, Intent, Loss, OwnerId, Refusal, outbox::Outbox};

use super::super::{
    ContenderSettings,
    layout::Layout,
    path,
    wire::{CreateMode, Request},
};
use super::{Contender, Node, Phase, Purpose, entering::Entering};

impl Contender {
    /// A contender that is a part of another machine: it tells that one a refusal at once, and what the server would not delete when it is asked.
    pub(in crate::zookeeper) const fn part(settings: ContenderSettings, owner: OwnerId, seed: u64) -> Self {
        let mut part = Self::new(settings, owner, seed);
        part.part = true;
        part
    }

    /// Why something that it has made stays, if it does; said once.
    pub(in crate::zookeeper) const fn complaint(&mut self) -> Option<(Refusal, Cause)> {
        self.disposal.refused.take()
    }

    /// Whether the server can be expected to say soon what has become of all that was made.
    pub(in crate::zookeeper) fn expects_answers(&self) -> bool {
        self.session.connected && !self.waits_for(Purpose::Create)
    }

    pub(in crate::zookeeper) const fn is_connected(&self) -> bool {
        self.session.connected
    }

    /// Lends it the command ids of the machine that it is a part of.
    pub(in crate::zookeeper) fn lent<T>(
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

    /// The directories above its node, the outermost first, and how they are made.
    pub(in crate::zookeeper) fn parents(&self) -> impl Iterator<Item = (String, CreateMode)> {
        // Who counts on names that come once only, or on a directory that stays, must not find it reaped.
        let mode = if self.containers && self.settings.layout == Layout::Curator {
            CreateMode::Container
        } else {
            CreateMode::Persistent
        };
        path::ancestors(&self.settings.directory)
            .into_iter()
            .map(move |path| (path, mode))
    }

    /// The server has no containers.
    pub(in crate::zookeeper) const fn do_without_containers(&mut self) {
        self.containers = false;
    }

    /// The node of an attempt: its path, data and kind.
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

    /// Takes a node that was made for it. Its number is not known yet: a look at it tells, and watches it.
    pub(in crate::zookeeper) fn seat(&mut self, attempt: AttemptId, name: String, trying: bool) {
        self.begin(trying);
        self.seated = true;
        self.attempt = attempt;
        self.node = Some(Node { name, czxid: UNKNOWN });
        self.phase = Phase::Entering(Entering::default());
        self.send_list();
        self.watch_own();
    }

    /// Gives back what it holds or waits for, if anything.
    pub(in crate::zookeeper) fn give_up(&mut self, now: Instant) {
        for intent in [Intent::Release, Intent::Cancel] {
            // One of the two makes sense, or neither is needed.
            let _was_there = self.intent(now, intent);
        }
    }

    /// Has the nodes of an attempt searched for and deleted.
    pub(in crate::zookeeper) fn search_for(&mut self, attempt: AttemptId) {
        self.disposal.search(attempt);
        self.phase = Phase::Leaving;
        self.advance_leaving();
    }

    /// The place is lost, and is not this contender's to take again.
    pub(super) fn lose_seat(&mut self) {
        let (reason, cause) = (Loss::Deleted, Cause::none());
        self.out.event(Event::Lost { reason, cause });
        self.leave();
    }

    /// Whether the node's number, and with it the fence, is still to be learnt.
    pub(super) fn is_unnumbered(&self) -> bool {
        self.node.as_ref().is_some_and(|node| node.czxid == UNKNOWN)
    }
}

/// No transaction has this number.
pub(super) const UNKNOWN: i64 = 0;

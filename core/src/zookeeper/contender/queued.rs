//! Waiting in the queue. Each waiter watches one predecessor, so a release notifies one waiter and not all of them.

use core::time::Duration;

use crate::{Cause, CommandId, Event, Failure, Grant, Instant, Refusal, Timer};

use super::super::{
    Verdict, classify_error, path,
    wait_queue::Behind,
    wire::{Answer, Request, WatchEvent, code},
};
use super::{Contender, Hold, Phase, Purpose, downgrade::Downgrading};

/// A place in the queue, and the obstacle before it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Queued {
    pub(super) obstacle: Obstacle,
    /// The request that watches the obstacle, while its watch may still fire.
    pub(super) watch: Option<CommandId>,
    /// The last number of contenders ahead that the contender has reported.
    reported: Option<Option<u32>>,
}

/// The reason why the contender has to wait.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Obstacle {
    /// An earlier contender.
    Contender(Behind),
    /// Contenders have taken more permits than the semaphore has, by this number.
    Permits(u32),
    /// The holder of a single node, which this transaction created.
    Holder(i64),
}

impl Queued {
    pub(super) const fn behind_holder(watch: CommandId, czxid: i64) -> Self {
        Self {
            obstacle: Obstacle::Holder(czxid),
            watch: Some(watch),
            reported: None,
        }
    }

    const fn behind(behind: Behind, watch: CommandId) -> Self {
        Self {
            obstacle: Obstacle::Contender(behind),
            watch: Some(watch),
            reported: None,
        }
    }

    const fn full(list: CommandId, over: u32) -> Self {
        Self {
            obstacle: Obstacle::Permits(over),
            watch: Some(list),
            reported: None,
        }
    }

    /// Updates the place from a new list. Returns whether the watched predecessor is still the right one.
    fn update(&mut self, behind: &Behind) -> bool {
        match &mut self.obstacle {
            Obstacle::Contender(known) if self.watch.is_some() && known.predecessor == behind.predecessor => {
                known.doubtful = behind.doubtful;
                known.ahead = behind.ahead;
                true
            }
            Obstacle::Contender(_) | Obstacle::Permits(_) | Obstacle::Holder(_) => false,
        }
    }

    /// Updates the place from a new list of permits, whose watch replaces the old one.
    fn watch_permits(&mut self, list: CommandId, over: u32) {
        self.obstacle = Obstacle::Permits(over);
        self.watch = Some(list);
    }

    /// Whether the single node with this creating transaction is not the one that the contender waits for.
    pub(super) fn is_behind_another(&self, czxid: i64) -> bool {
        matches!(self.obstacle, Obstacle::Holder(held) if held != czxid)
    }

    const fn ahead(&self) -> Option<u32> {
        match &self.obstacle {
            Obstacle::Contender(behind) => Some(behind.ahead),
            Obstacle::Permits(over) => Some(*over),
            Obstacle::Holder(_) => None,
        }
    }
}

impl Contender {
    /// Waits behind another contender: watches the predecessor and the contender's own node.
    pub(super) fn stand_behind(&mut self, now: Instant, behind: Behind) {
        let known = match &mut self.phase {
            Phase::Queued(queued) => queued.update(&behind),
            _ => false,
        };
        self.acquire.was_queued = true;
        if !known {
            let path = path::child_of(&self.settings.directory, &behind.predecessor);
            let watch = self.send(Purpose::WatchPredecessor, Request::Get { path, watch: true });
            self.go_to(Phase::Queued(Queued::behind(behind, watch)));
        }
        self.await_turn(now);
        self.watch_own();
    }

    /// All permits are taken, so the contender watches the list. Only the first contender of the semaphore's queue does
    /// so, so a released permit notifies one contender.
    pub(super) fn wait_for_permit(&mut self, now: Instant, list: CommandId, over: u32) {
        self.acquire.was_queued = true;
        match &mut self.phase {
            Phase::Queued(queued) => queued.watch_permits(list, over),
            _ => self.go_to(Phase::Queued(Queued::full(list, over))),
        }
        self.await_turn(now);
        self.watch_own();
        if self.acquire.stale == Some(list) {
            self.watch_fired_for_permits();
        }
    }

    /// Waits for the contender's turn. Reports how many contenders are ahead, if that number has changed.
    pub(super) fn await_turn(&mut self, now: Instant) {
        if self.out.at(Timer::Poll).is_none() {
            self.recheck_later(now);
        }
        let Phase::Queued(queued) = &mut self.phase else {
            return;
        };
        let ahead = queued.ahead();
        if queued.reported != Some(ahead) {
            queued.reported = Some(ahead);
            self.out.event(Event::Queued { ahead });
        }
    }

    /// Watches the contender's node, so that the client gets a notice if another client deletes it.
    pub(super) fn watch_own(&mut self) {
        let Some(node) = &self.own.node else { return };
        if self.downgrading() != Downgrading::Asked
            && self.own.watch.is_none()
            && !self.waits_for(Purpose::WatchOwn)
        {
            let path = path::child_of(&self.settings.directory, &node.name);
            self.own.watch = Some(self.send(Purpose::WatchOwn, Request::Get { path, watch: true }));
        }
    }

    /// Handles the reply to the request that watches the predecessor.
    pub(super) fn predecessor_watched(
        &mut self,
        now: Instant,
        id: CommandId,
        result: Result<Answer, Failure>,
    ) {
        let Phase::Queued(queued) = &mut self.phase else {
            return;
        };
        if queued.watch != Some(id) {
            return;
        }
        match result {
            Ok(Answer::Data { .. }) => self.acquire.failures = 0,
            Ok(Answer::Error(code::NO_NODE)) => self.predecessor_gone(now),
            Ok(Answer::Error(error)) => match classify_error(error, id, "watching the contender before ours")
            {
                Verdict::Transient => self.list_later(now),
                Verdict::Final(reason, cause) => self.refuse(now, reason, cause),
            },
            Ok(_) | Err(Failure::NotSent | Failure::Unknown) => self.list_later(now),
            Err(Failure::Closed) => self.refuse(now, Refusal::ConnectionClosed, Cause::command(id)),
        }
    }

    /// Handles the event of a watch.
    pub(super) fn watch_fired(&mut self, now: Instant, id: CommandId, event: WatchEvent) {
        if self.pending.contains(&(id, self.reading())) {
            self.acquire.stale = Some(id);
        }
        if self.own.watch == Some(id) {
            self.own.watch = None;
            match event {
                WatchEvent::Deleted => self.own_node_gone(Some(id)),
                WatchEvent::Changed | WatchEvent::Gone => self.watch_own_again(id),
            }
            return;
        }
        let Phase::Queued(queued) = &mut self.phase else {
            return;
        };
        if queued.watch != Some(id) {
            return;
        }
        // The watch will not fire again. The reply to its request may still arrive, but the contender ignores it.
        queued.watch = None;
        match (&queued.obstacle, event) {
            (Obstacle::Permits(_), _) => self.watch_fired_for_permits(),
            (Obstacle::Holder(_), WatchEvent::Deleted) => self.enter(),
            (Obstacle::Holder(_), WatchEvent::Changed | WatchEvent::Gone) => self.list_again(false),
            (Obstacle::Contender(_), WatchEvent::Deleted) => self.predecessor_gone(now),
            (Obstacle::Contender(behind), WatchEvent::Changed | WatchEvent::Gone) => {
                let path = path::child_of(&self.settings.directory, &behind.predecessor);
                let watch = self.send(Purpose::WatchPredecessor, Request::Get { path, watch: true });
                if let Phase::Queued(queued) = &mut self.phase {
                    queued.watch = Some(watch);
                }
            }
        }
    }

    /// Permits were released or taken. Sends a list, which shows how many are taken now.
    pub(super) fn watch_fired_for_permits(&mut self) {
        self.acquire.stale = None;
        if !self.waits_for(Purpose::List) {
            self.send_list();
        }
    }

    fn watch_own_again(&mut self, spent: CommandId) {
        self.forget(spent);
        self.watch_own();
    }

    /// The predecessor's node was deleted. If the list showed no other contender before this one, this contender is
    /// first: numbers only grow, so no later contender can get an earlier place. Otherwise the predecessor may have
    /// stopped waiting while another contender holds the lock, or it may have become a reader by a downgrade. A new
    /// list decides. In most cases, this contender is first.
    fn predecessor_gone(&mut self, now: Instant) {
        let listing = self.waits_for(Purpose::List);
        let Phase::Queued(queued) = &mut self.phase else {
            return;
        };
        queued.watch = None;
        match &queued.obstacle {
            Obstacle::Contender(_) if listing => {}
            Obstacle::Contender(behind) if behind.doubtful => {
                self.send_list();
            }
            Obstacle::Contender(_) => self.first(now),
            Obstacle::Permits(_) | Obstacle::Holder(_) => {}
        }
    }

    /// The contender is first in the queue. It gets the lock as soon as the session is confirmed.
    pub(super) fn first(&mut self, now: Instant) {
        self.go_to(Phase::First);
        self.grant_if_confirmed(now);
    }

    /// The time that the session's proof may take, if the grant lacks only this proof: see
    /// [`grace`](super::super::grace).
    pub(in crate::zookeeper) fn unproved(&self, now: Instant) -> Option<Duration> {
        let unproved = self.session.connected && self.session.lasts_until(now).is_none();
        let first = matches!(self.phase, Phase::First);
        self.session.timeout.checked_div(2).filter(|_| first && unproved)
    }

    pub(super) fn grant_if_confirmed(&mut self, now: Instant) {
        if !matches!(self.phase, Phase::First) {
            return;
        }
        let Some(valid_until) = self.session.lasts_until(now) else {
            return;
        };
        if self.is_unnumbered() {
            return self.watch_own();
        }
        self.go_to(Phase::Held(Hold::default()));
        self.acquire.failures = 0;
        self.out.stop_all();
        self.out.set(Timer::Validity, valid_until);
        self.recheck_later(now);
        self.start_max_hold(now);
        let (attempt, fence) = (self.attempt, self.fence());
        self.out.event(Event::Acquired {
            grant: Grant {
                attempt,
                fence,
                takeovers: 0,
                valid_until: Some(valid_until),
            },
        });
        if self.settings.revocable {
            self.watch_own();
        }
        // The cleanup may have waited for the retry timer, which was just stopped, and other contenders may wait for
        // the cleanup. So the cleanup continues now.
        self.advance_cleanup();
        self.report_revocation();
    }
}

//! Standing in the line: one neighbour is watched, so that a release wakes one waiter and a queue is no herd.

use core::time::Duration;

use crate::{Cause, CommandId, Event, Failure, Grant, Instant, Refusal, Timer, lease};

use super::super::{
    Verdict, judge,
    line::Behind,
    path,
    wire::{Answer, Request, WatchEvent, code},
};
use super::{Contender, Phase, Purpose, downgrade::Turning, entering::Entering};

/// A place behind somebody.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Queued {
    pub(super) obstacle: Obstacle,
    /// The request that watches it, while its watch may still fire.
    pub(super) watch: Option<CommandId>,
    /// The number of contenders ahead that was told last.
    told: Option<Option<u32>>,
}

/// What is in the way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Obstacle {
    /// An earlier contender.
    Contender(Behind),
    /// So many more than there are permits.
    Permits(u32),
    /// Whoever has the single node that is the lock, made in this transaction.
    Holder(i64),
}

impl Queued {
    pub(super) const fn behind_holder(watch: CommandId, czxid: i64) -> Self {
        Self {
            obstacle: Obstacle::Holder(czxid),
            watch: Some(watch),
            told: None,
        }
    }

    pub(super) const fn behind(behind: Behind, watch: CommandId) -> Self {
        Self {
            obstacle: Obstacle::Contender(behind),
            watch: Some(watch),
            told: None,
        }
    }

    pub(super) const fn full(list: CommandId, over: u32) -> Self {
        Self {
            obstacle: Obstacle::Permits(over),
            watch: Some(list),
            told: None,
        }
    }

    /// Takes what a new list says; whether the watched neighbour is still the right one.
    pub(super) fn update(&mut self, behind: &Behind) -> bool {
        match &mut self.obstacle {
            Obstacle::Contender(known) if self.watch.is_some() && known.neighbour == behind.neighbour => {
                known.doubtful = behind.doubtful;
                known.ahead = behind.ahead;
                true
            }
            Obstacle::Contender(_) | Obstacle::Permits(_) | Obstacle::Holder(_) => false,
        }
    }

    /// Takes what a new list of permits says, and waits for its watch.
    pub(super) fn watch_room(&mut self, list: CommandId, over: u32) {
        self.obstacle = Obstacle::Permits(over);
        self.watch = Some(list);
    }

    /// Whether a single node is held by another one than this.
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
    /// Waits for its turn, and says how many come first when that has changed.
    pub(super) fn await_turn(&mut self, now: Instant) {
        if self.out.at(Timer::Poll).is_none() {
            self.look_later(now);
        }
        let Phase::Queued(queued) = &mut self.phase else {
            return;
        };
        let ahead = queued.ahead();
        if queued.told != Some(ahead) {
            queued.told = Some(ahead);
            self.out.event(Event::Queued { ahead });
        }
    }

    /// Watches the own node, so that its deletion by somebody else is told.
    pub(super) fn watch_own(&mut self) {
        let Some(node) = &self.node else { return };
        if self.turning != Turning::Asked && self.own_watch.is_none() && !self.waits_for(Purpose::WatchOwn) {
            let path = path::child_of(&self.settings.directory, &node.name);
            self.own_watch = Some(self.send(Purpose::WatchOwn, Request::Get { path, watch: true }));
        }
    }

    /// The server has answered the watching of the neighbour.
    pub(super) fn neighbour_watched(&mut self, now: Instant, id: CommandId, result: Result<Answer, Failure>) {
        let Phase::Queued(queued) = &mut self.phase else {
            return;
        };
        if queued.watch != Some(id) {
            return;
        }
        match result {
            Ok(Answer::Data { .. }) => self.failures = 0,
            Ok(Answer::Error(code::NO_NODE)) => self.neighbour_gone(now),
            Ok(Answer::Error(error)) => match judge(error, id, "watching the contender before ours") {
                Verdict::Transient => self.list_later(now),
                Verdict::Final(reason, cause) => self.refuse(now, reason, cause),
            },
            Ok(_) | Err(Failure::NotSent | Failure::Unknown) => self.list_later(now),
            Err(Failure::Closed) => self.refuse(now, Refusal::ConnectionClosed, Cause::command(id)),
        }
    }

    /// A watch has something to say.
    pub(super) fn watch_fired(&mut self, now: Instant, id: CommandId, event: WatchEvent) {
        if self.pending.contains(&(id, self.looking())) {
            self.stale = Some(id);
        }
        if self.own_watch == Some(id) {
            self.own_watch = None;
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
        // The watch is spent. Its own reply may still be on the way, and has nothing to add.
        queued.watch = None;
        match (&queued.obstacle, event) {
            (Obstacle::Permits(_), _) => self.watch_fired_for_room(),
            (Obstacle::Holder(_), WatchEvent::Deleted) => self.enter(),
            (Obstacle::Holder(_), WatchEvent::Changed | WatchEvent::Gone) => self.list_again(false),
            (Obstacle::Contender(_), WatchEvent::Deleted) => self.neighbour_gone(now),
            (Obstacle::Contender(behind), WatchEvent::Changed | WatchEvent::Gone) => {
                let path = path::child_of(&self.settings.directory, &behind.neighbour);
                let watch = self.send(Purpose::WatchNeighbour, Request::Get { path, watch: true });
                if let Phase::Queued(queued) = &mut self.phase {
                    queued.watch = Some(watch);
                }
            }
        }
    }

    /// Permits have come back, or were taken: one list tells.
    pub(super) fn watch_fired_for_room(&mut self) {
        self.stale = None;
        if !self.waits_for(Purpose::List) {
            self.send_list();
        }
    }

    fn watch_own_again(&mut self, spent: CommandId) {
        self.forget(spent);
        self.watch_own();
    }

    /// The neighbour has gone. If the list named nobody else before us, we are first: numbers only grow, so nobody can have come
    /// in between. Otherwise the neighbour may have given up waiting while somebody earlier holds, or may have turned from a writer
    /// into a reader: the list tells, and mostly that we are first.
    fn neighbour_gone(&mut self, now: Instant) {
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

    fn list_later(&mut self, now: Instant) {
        self.phase = Phase::Entering(Entering::default());
        self.retry_later(now);
    }

    /// First in the line: the lock is ours as soon as the session is confirmed.
    pub(super) fn first(&mut self, now: Instant) {
        self.phase = Phase::First;
        self.grant_if_confirmed(now);
    }

    /// How long the proof may take that alone is missing, where nothing of the session is proved yet: see [`grace`](super::super::grace).
    pub(in crate::zookeeper) fn unproved(&self) -> Option<Duration> {
        let unproved = self.session.connected && self.session.valid_until.is_none();
        let first = matches!(self.phase, Phase::First);
        self.session.timeout.checked_div(2).filter(|_| first && unproved)
    }

    pub(super) fn grant_if_confirmed(&mut self, now: Instant) {
        if !matches!(self.phase, Phase::First) {
            return;
        }
        // A grant that is over before the application has heard of it is none: the next confirmation is not far.
        let least = lease::least_told(self.session.timeout);
        let Some(valid_until) = self.confirmed(now).filter(|until| *until > now.plus(least)) else {
            return;
        };
        if self.is_unnumbered() {
            return self.watch_own();
        }
        self.phase = Phase::Held { suspended: false };
        self.failures = 0;
        self.out.stop_all();
        self.out.set(Timer::Validity, valid_until);
        self.look_later(now);
        let (attempt, fence) = (self.attempt, self.fence());
        self.out.event(Event::Acquired {
            grant: Grant {
                attempt,
                fence,
                valid_until: Some(valid_until),
            },
        });
        if self.settings.revocable {
            self.watch_own();
        }
        // A clean-up that was to be tried again later is tried now: its timer has just been stopped, and others may wait for it.
        self.advance_disposal();
        if !self.seated {
            self.hold(now);
        }
    }
}

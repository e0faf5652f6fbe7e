//! Which machine is next: those that have been given something, in turn, and those whose time comes.
//!
//! Nothing here depends on the family, so that it is there once in a program with hubs of several.

use alloc::collections::VecDeque;

use crate::{Instant, Key, Timer, Wait, sorted::SortedSet};

/// What is to be done, and for whom.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Agenda {
    /// When machines want to look at the time.
    timers: SortedSet<(Instant, Key, Option<Timer>)>,
    /// Machines that have been given something since they were last polled dry.
    dirty: VecDeque<Key>,
}

impl Agenda {
    /// A machine that had nothing to say has been given something.
    pub(super) fn mark(&mut self, key: Key) {
        self.dirty.push_back(key);
    }

    /// Whom to poll.
    pub(super) fn next(&self) -> Option<Key> {
        self.dirty.front().copied()
    }

    /// A machine has nothing more to say.
    #[inline(never)]
    pub(super) fn polled_dry(&mut self, key: Key) {
        if self.dirty.front() == Some(&key) {
            self.dirty.pop_front();
        } else {
            self.dirty.retain(|dirty| *dirty != key);
        }
    }

    /// A machine waits for something else than before. A timer that has fired was taken out: it is put in again if it is still waited for.
    #[inline(never)]
    pub(super) fn wait(&mut self, key: Key, before: Wait, now: Wait) {
        if let Some(until) = before.until.filter(|_| before != now) {
            self.timers.remove(&(until, key, before.reason));
        }
        if let Some(until) = now.until {
            self.timers.insert((until, key, now.reason));
        }
    }

    /// Takes out a machine whose time has come.
    #[inline(never)]
    pub(super) fn take_due(&mut self, now: Instant) -> Option<Key> {
        let due = self.timers.first().copied().filter(|(until, ..)| *until <= now)?;
        self.timers.remove(&due);
        Some(due.1)
    }

    /// The time that comes first.
    #[inline(never)]
    pub(super) fn first(&self) -> Wait {
        self.timers
            .first()
            .map_or_else(Wait::default, |(until, _, reason)| Wait {
                until: Some(*until),
                reason: *reason,
            })
    }
}

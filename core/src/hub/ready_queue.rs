//! Decides which machine the hub polls next: machines with new inputs in turn, and machines whose timers have expired.
//!
//! Nothing here depends on the family, so a program with hubs of several families contains this code once.

use alloc::collections::VecDeque;

use crate::{Instant, Key, Timer, Wait, sorted::SortedSet};

/// The machines with new inputs, and the timers of all machines.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct ReadyQueue {
    /// When each machine's next timer expires.
    timers: SortedSet<(Instant, Key, Option<Timer>)>,
    /// Machines that got an input since they last had no output left.
    dirty: VecDeque<Key>,
}

impl ReadyQueue {
    /// Adds a machine that had no output left and now got an input.
    pub(super) fn mark(&mut self, key: Key) {
        self.dirty.push_back(key);
    }

    /// The machine to poll next.
    pub(super) fn next(&self) -> Option<Key> {
        self.dirty.front().copied()
    }

    /// Removes a machine that has no output left.
    #[inline(never)]
    pub(super) fn polled_dry(&mut self, key: Key) {
        if self.dirty.front() == Some(&key) {
            self.dirty.pop_front();
        } else {
            self.dirty.retain(|dirty| *dirty != key);
        }
    }

    /// Replaces a machine's timer. `take_due` removes a timer when it expires, so an expired timer that the machine
    /// still waits for is inserted again.
    #[inline(never)]
    pub(super) fn wait(&mut self, key: Key, before: Wait, now: Wait) {
        if let Some(until) = before.until.filter(|_| before != now) {
            self.timers.remove(&(until, key, before.reason));
        }
        if let Some(until) = now.until {
            self.timers.insert((until, key, now.reason));
        }
    }

    /// Removes an expired timer and returns its machine.
    #[inline(never)]
    pub(super) fn take_due(&mut self, now: Instant) -> Option<Key> {
        let due = self.timers.first().copied().filter(|(until, ..)| *until <= now)?;
        self.timers.remove(&due);
        Some(due.1)
    }

    /// The timer that expires first.
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

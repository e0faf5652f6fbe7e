//! What a machine has to say: commands and events in order, then how long it waits.

use alloc::collections::VecDeque;
use core::time::Duration;

use crate::{Command, CommandId, Event, Instant, Output, Patience, Target, Timer, Wait};

/// A machine's queue of outputs, its command ids and its timers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Outbox<Q> {
    queue: VecDeque<Output<Q, Event>>,
    next: u64,
    timers: [Option<Instant>; TIMERS.len()],
    /// The earliest timer, until one is changed: a hub asks many times as often as a timer is set.
    earliest: Option<Wait>,
}

/// The first of those that end at the same time counts.
fn find_earliest(timers: &[Option<Instant>]) -> Wait {
    let mut earliest = Wait::default();
    for (timer, until) in TIMERS.iter().zip(timers) {
        let wait = Wait {
            until: *until,
            reason: Some(*timer),
        };
        if until.is_some() {
            earliest = earliest.or_earlier(wait);
        }
    }
    earliest
}

const TIMERS: [Timer; 7] = [
    Timer::Patience,
    Timer::Retry,
    Timer::Poll,
    Timer::Renew,
    Timer::Validity,
    Timer::MaxHold,
    Timer::Linger,
];

impl<Q> Outbox<Q> {
    pub(crate) const fn new() -> Self {
        Self {
            queue: VecDeque::new(),
            next: 1,
            timers: [None; TIMERS.len()],
            earliest: None,
        }
    }

    /// The id of the next command: the hub keeps it in step over all its machines.
    pub(crate) const fn next_id(&mut self) -> &mut u64 {
        &mut self.next
    }

    /// Queues a command for any connection.
    pub(crate) fn command(&mut self, request: Q, deadline: Option<Instant>) -> CommandId {
        let id = CommandId(self.next);
        self.next = self.next.saturating_add(1);
        self.queue.push_back(Output::Command(Command {
            id,
            target: Target::Any,
            deadline,
            request,
        }));
        id
    }

    /// Queues an event.
    pub(crate) fn event(&mut self, event: Event) {
        self.queue.push_back(Output::Event(event));
    }

    /// Drops the commands that nobody has polled yet: what was meant for a session that is over must not reach the next one.
    pub(crate) fn purge_commands(&mut self) {
        for _ in 0..self.queue.len() {
            if let Some(event @ Output::Event(_)) = self.queue.pop_front() {
                self.queue.push_back(event);
            }
        }
    }

    /// Takes the next event and leaves the commands: for a machine that is made of others, and hears them.
    pub(crate) fn take_event(&mut self) -> Option<Event> {
        let mut first = None;
        // Once around: the order of what stays is the same then.
        for _ in 0..self.queue.len() {
            match self.queue.pop_front() {
                Some(Output::Event(event)) if first.is_none() => first = Some(event),
                other => self.queue.extend(other),
            }
        }
        first
    }

    /// Takes the next output.
    pub(crate) fn poll(&mut self) -> Output<Q, Event> {
        if let Some(output) = self.queue.pop_front() {
            return output;
        }
        // A burst must not be paid for as long as the machine waits.
        if self.queue.capacity() > 4 {
            self.queue = VecDeque::new();
        }
        let timers = &self.timers;
        Output::Wait(*self.earliest.get_or_insert_with(|| find_earliest(timers)))
    }

    /// Starts a timer, or starts it anew.
    pub(crate) fn set(&mut self, timer: Timer, at: Instant) {
        self.earliest = None;
        *self.slot(timer) = Some(at);
    }

    /// Starts a timer that runs for `after` from `now`.
    pub(crate) fn set_after(&mut self, timer: Timer, now: Instant, after: Duration) {
        self.set(timer, now.plus(after));
    }

    /// Starts the timer of an acquire: a try waits for the servers' answers alone.
    pub(crate) fn set_patience(&mut self, now: Instant, patience: Patience, answer_within: Duration) {
        match patience {
            Patience::Forever => {}
            Patience::For(limit) => self.set_after(Timer::Patience, now, limit),
            Patience::Try => self.set_after(Timer::Patience, now, answer_within),
        }
    }

    /// Stops a timer.
    pub(crate) fn stop(&mut self, timer: Timer) {
        self.earliest = None;
        *self.slot(timer) = None;
    }

    /// Stops all timers.
    pub(crate) const fn stop_all(&mut self) {
        self.earliest = Some(Wait {
            until: None,
            reason: None,
        });
        self.timers = [None; TIMERS.len()];
    }

    /// Stops all timers but that of [`Timer::Patience`].
    pub(crate) const fn stop_all_but_patience(&mut self) {
        let [_, others @ ..] = &mut self.timers;
        *others = [None; TIMERS.len() - 1];
        self.earliest = None;
    }

    /// When the timer ends, if it runs.
    pub(crate) fn at(&mut self, timer: Timer) -> Option<Instant> {
        *self.slot(timer)
    }

    /// Whether the timer has ended; it is stopped then.
    pub(crate) fn expired(&mut self, timer: Timer, now: Instant) -> bool {
        let slot = self.slot(timer);
        let due = slot.is_some_and(|at| at <= now);
        if due {
            *slot = None;
            self.earliest = None;
        }
        due
    }

    fn slot(&mut self, timer: Timer) -> &mut Option<Instant> {
        let [patience, retry, poll, renew, validity, max_hold, linger] = &mut self.timers;
        match timer {
            Timer::Patience => patience,
            Timer::Retry => retry,
            Timer::Poll => poll,
            Timer::Renew => renew,
            Timer::Validity => validity,
            Timer::MaxHold => max_hold,
            Timer::Linger => linger,
        }
    }
}

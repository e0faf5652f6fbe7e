//! A machine's outputs: commands and events in order, then how long it waits.

use alloc::collections::VecDeque;
use core::time::Duration;

use crate::{AcquireTimeout, Command, CommandId, Event, Instant, Output, Target, Timer, Wait};

/// A machine's queue of outputs, its command ids and its timers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Outbox<Q> {
    queue: VecDeque<Output<Q, Event>>,
    next: u64,
    timers: [Option<Instant>; TIMERS.len()],
    /// The earliest timer, cached until a timer changes. A hub polls much more often than a machine sets timers.
    earliest: Option<Wait>,
}

/// If several timers expire at the same time, the first one in the list counts.
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
    Timer::AcquireTimeout,
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

    /// The id of the next command. The hub keeps it the same in all its machines.
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

    /// Queues an event. A grant is valid at most until the longest hold allowed ends, even if its lease is longer.
    pub(crate) fn event(&mut self, mut event: Event) {
        if let (Some(longest), Some(valid_until)) = (self.at(Timer::MaxHold), event.valid_until_mut()) {
            *valid_until = Some(valid_until.map_or(longest, |until| until.min(longest)));
        }
        self.queue.push_back(Output::Event(event));
    }

    /// Drops the queued commands: a command for a session that has ended must not reach the next session.
    pub(crate) fn purge_commands(&mut self) {
        for _ in 0..self.queue.len() {
            if let Some(event @ Output::Event(_)) = self.queue.pop_front() {
                self.queue.push_back(event);
            }
        }
    }

    /// Takes the next event and leaves the commands. For a machine that consists of other machines and handles their
    /// events.
    pub(crate) fn take_event(&mut self) -> Option<Event> {
        let mut first = None;
        // The loop visits each output once, so the remaining outputs keep their order.
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
        // A long queue leaves a large buffer. The machine frees it before it waits.
        if self.queue.capacity() > 4 {
            self.queue = VecDeque::new();
        }
        let timers = &self.timers;
        Output::Wait(*self.earliest.get_or_insert_with(|| find_earliest(timers)))
    }

    /// Starts or restarts a timer.
    pub(crate) fn set(&mut self, timer: Timer, at: Instant) {
        self.earliest = None;
        *self.slot(timer) = Some(at);
    }

    /// Starts a timer that runs for `after` from `now`.
    pub(crate) fn set_after(&mut self, timer: Timer, now: Instant, after: Duration) {
        self.set(timer, now.plus(after));
    }

    /// Starts the timer for the acquire's timeout. A nonblocking acquire waits only for the server's answers.
    pub(crate) fn set_acquire_timeout(
        &mut self,
        now: Instant,
        acquire_timeout: AcquireTimeout,
        answer_within: Duration,
    ) {
        match acquire_timeout {
            AcquireTimeout::Forever => {}
            AcquireTimeout::For(limit) => self.set_after(Timer::AcquireTimeout, now, limit),
            AcquireTimeout::Try => self.set_after(Timer::AcquireTimeout, now, answer_within),
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

    /// Stops all timers but that of [`Timer::AcquireTimeout`].
    pub(crate) const fn stop_all_but_acquire_timeout(&mut self) {
        let [_, others @ ..] = &mut self.timers;
        *others = [None; TIMERS.len() - 1];
        self.earliest = None;
    }

    /// When the timer expires, if it runs.
    pub(crate) fn at(&mut self, timer: Timer) -> Option<Instant> {
        *self.slot(timer)
    }

    /// Whether the timer has expired; if so, stops it.
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
        let [acquire_timeout, retry, poll, renew, validity, max_hold, linger] = &mut self.timers;
        match timer {
            Timer::AcquireTimeout => acquire_timeout,
            Timer::Retry => retry,
            Timer::Poll => poll,
            Timer::Renew => renew,
            Timer::Validity => validity,
            Timer::MaxHold => max_hold,
            Timer::Linger => linger,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The requests and the names of the events that are left.
    fn left(mut out: Outbox<u8>) -> ([u8; 4], usize) {
        let (mut requests, mut size) = ([0; 4], 0);
        loop {
            let output = match out.poll() {
                Output::Command(command) => command.request,
                Output::Event(event) => u8::try_from(event.name().len()).unwrap(),
                Output::Wait(_) => return (requests, size),
            };
            requests[size] = output;
            size += 1;
        }
    }

    /// Two commands, each followed by an event.
    fn filled() -> Outbox<u8> {
        let mut out = Outbox::new();
        for (request, event) in [(1, Event::Released), (2, Event::Suspended)] {
            out.command(request, None);
            out.event(event);
        }
        out
    }

    const RELEASED: u8 = 8;
    const SUSPENDED: u8 = 9;

    #[test]
    fn purged_commands_leave_the_events() {
        let mut out = filled();
        out.purge_commands();
        assert_eq!(left(out), ([RELEASED, SUSPENDED, 0, 0], 2));
    }

    #[test]
    fn events_are_taken_one_by_one_and_the_commands_stay() {
        let mut out = filled();
        assert_eq!(out.take_event(), Some(Event::Released));
        assert_eq!(left(out.clone()), ([1, 2, SUSPENDED, 0], 3));
        assert_eq!(out.take_event(), Some(Event::Suspended));
        assert_eq!(out.take_event(), None);
        assert_eq!(left(out), ([1, 2, 0, 0], 2));
    }

    #[test]
    fn no_grant_is_valid_beyond_the_longest_hold() {
        let [before, longest, after] = [1, 2, 3].map(Instant::from_micros);
        for (given, valid) in [(Some(before), before), (Some(after), longest), (None, longest)] {
            for event in [
                Event::Extended { valid_until: given },
                Event::Resumed { valid_until: given },
            ] {
                let mut out = Outbox::<u8>::new();
                out.set(Timer::MaxHold, longest);
                out.event(event);
                let valid_until = out
                    .take_event()
                    .as_mut()
                    .and_then(|event| event.valid_until_mut().copied());
                assert_eq!(valid_until, Some(Some(valid)));
            }
        }
    }

    #[test]
    fn a_machine_that_waits_keeps_a_small_buffer_and_frees_a_large_one() {
        for (commands, kept) in [(4, true), (5, false)] {
            let mut out = Outbox::new();
            (0..commands).for_each(|request| _ = out.command(request, None));
            while !matches!(out.poll(), Output::Wait(_)) {}
            assert_eq!(out.queue.capacity() > 0, kept, "{commands}");
        }
    }
}

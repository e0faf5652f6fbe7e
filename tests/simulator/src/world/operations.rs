//! The operations of applications, and their writes to the resource.

use core::time::Duration;

use fencepost_core::{AcquireTimeout, Instant, Intent};

use crate::{
    backend::{Backend, Owner, Subject},
    checker::{Belief, Fate, Hold, Mode, Property, Write, name},
    step::{Number, Operation},
    trace::{Act, Actor, Input, Trace},
};

use super::World;

impl<B: Backend, S: Subject<B>> World<B, S> {
    pub(super) fn invoke(&mut self, client: Number, operation: Operation, trace: &mut impl Trace<B>) -> bool {
        let local = self.local(client);
        if self.client(client).paused {
            return false;
        }
        let within = |micros: u32| Duration::from_micros(u64::from(micros).max(1));
        let belief = self.checker.belief(client);
        let (intent, next) = match (operation, belief) {
            (Operation::Acquire, Belief::Idle) => {
                (Intent::Acquire(AcquireTimeout::Forever), Belief::Waits(None))
            }
            (Operation::AcquireWithin(micros), Belief::Idle) => (
                Intent::Acquire(AcquireTimeout::For(within(micros))),
                Belief::Waits(Some(local.plus(within(micros)))),
            ),
            (Operation::Try, Belief::Idle) => (Intent::Acquire(AcquireTimeout::Try), Belief::Waits(None)),
            (Operation::Cancel, Belief::Waits(_) | Belief::Late(_)) => {
                (Intent::Cancel, Belief::Ends(local.plus(B::CLEANUP_LIMIT)))
            }
            (Operation::Cancel, Belief::Ends(_)) => (Intent::Cancel, belief),
            (Operation::Extend, Belief::Holds(_)) => (Intent::Extend, belief),
            // The holder counts as a reader from its request on, because other readers may be granted before
            // the answer arrives.
            (Operation::Downgrade, Belief::Holds(hold)) => (
                Intent::Downgrade,
                Belief::Holds(Hold {
                    mode: Mode::Shared,
                    ..hold
                }),
            ),
            (Operation::Release, Belief::Holds(hold)) => (
                Intent::Release,
                Belief::Leaves(
                    hold.attempt,
                    hold.mode,
                    hold.suspended || belief.valid(local).is_some(),
                ),
            ),
            (Operation::Write, _) => return self.write(client, local, trace),
            _ => return false,
        };
        let accepted = self.client(client).subject.intent(local, intent.clone());
        // It may still be cleaning up. And a client that is not a writer, or no longer one, cannot downgrade.
        if accepted.is_err() && matches!(intent, Intent::Acquire(_) | Intent::Downgrade) {
            return false;
        }
        trace.act(self.now, Act::Point(Actor::Client(client)), || {
            format!("{} wants to {}", name(client), describe(operation))
        });
        match accepted {
            Ok(()) => {
                trace.input(client, local, || Input::Intent(intent.clone()));
                if matches!(
                    operation,
                    Operation::Acquire | Operation::AcquireWithin(_) | Operation::Try
                ) {
                    let one = self.client(client);
                    (one.in_doubt, one.notice_lost, one.left) = (false, false, None);
                }
                if operation == Operation::Cancel && self.has_won(client) {
                    self.checker.seen.cancelled_grants += 1;
                }
                if let Intent::Acquire(_) = intent {
                    self.begins(client);
                }
                self.checker.believes(client, next);
                self.stale = true;
            }
            Err(misuse) => self.checker.violated(Property::S7, || {
                format!("{operation:?} of {} was refused: {misuse}", name(client))
            }),
        }
        self.drain(client, trace);
        true
    }

    /// Whether a client that still waits has the lock on the server.
    pub(super) fn has_won(&self, client: Number) -> bool {
        let owned = |owner| owner == Owner::Client(client);
        let belongings = self.backend.belongings(self.now);
        belongings.first().is_some_and(|(_, owner, _)| owned(*owner))
    }

    /// A holder sends a write to the resource, if its grant is valid now. The write arrives later.
    pub(super) fn write(&mut self, client: Number, local: Instant, trace: &mut impl Trace<B>) -> bool {
        let Some(hold) = self.checker.belief(client).valid(local).copied() else {
            return false;
        };
        trace.act(
            self.now,
            Act::Arrow(Actor::Client(client), Actor::Resource),
            || format!("{} writes, fence {:?}", name(client), hold.fence),
        );
        self.writes.push(Write { client, hold });
        true
    }

    pub(super) fn land(&mut self, nth: u8, trace: &mut impl Trace<B>) -> bool {
        if usize::from(nth) >= self.writes.len() {
            return false;
        }
        let write = self.writes.remove(nth.into());
        let fate = self.resource.take(&write);
        trace.act(self.now, Act::Point(Actor::Resource), || {
            format!("the write of {} is {fate:?}", name(write.client))
        });
        match fate {
            Fate::Accepted => self.checker.seen.writes += 1,
            Fate::Refused => self.checker.seen.stale_writes += 1,
            Fate::Stale if !self.checker.two_may_hold && !self.checker.is_broken(write.hold.fence) => {
                self.checker.violated(Property::S4, || {
                    format!(
                        "a write of {} was accepted after one of a later grant",
                        name(write.client)
                    )
                });
            }
            Fate::Stale => {}
        }
        true
    }
}

const fn describe(operation: Operation) -> &'static str {
    match operation {
        Operation::Acquire => "acquire",
        Operation::AcquireWithin(_) => "acquire in time",
        Operation::Try => "acquire at once",
        Operation::Cancel => "cancel",
        Operation::Extend => "extend",
        Operation::Downgrade => "go on as a reader",
        Operation::Release => "release",
        Operation::Write => "write",
    }
}

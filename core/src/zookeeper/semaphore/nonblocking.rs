//! A try that is not first in the queue. It waits only while earlier contenders take free permits, and only for a short
//! time.

use core::time::Duration;

use crate::{Cause, CommandId, Instant, Misuse, Outcome, Refusal, Timer};

use super::super::wire::{Answer, Reply, Request};
use super::Semaphore;

/// How much longer than this client's round trip the earlier contenders may take, as a factor. A healthy contender
/// takes its permit and leaves the queue within two of its own round trips, and its client may be slower than this one.
const FLIGHTS: u32 = 4;

/// The minimum of the time that the earlier contenders get, even if this client's round trip was faster.
const LEAST: Duration = Duration::from_millis(50);

/// The times of a try.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Nonblocking {
    began: Instant,
    /// How long this client's round trip to enter the queue took.
    flight: Option<Duration>,
    /// The deadline for the server's replies.
    until: Instant,
}

impl Nonblocking {
    pub(super) const fn new(began: Instant, until: Instant) -> Self {
        Self {
            began,
            flight: None,
            until,
        }
    }
}

impl Semaphore {
    /// The try is behind another contender in the queue. One list shows whether all permits are taken.
    pub(super) fn try_behind(&mut self, now: Instant) {
        self.was_queued = true;
        if let Some(nonblocking) = &mut self.nonblocking {
            nonblocking.flight.get_or_insert(now.since(nonblocking.began));
        }
        let (path, watch) = (self.permits_directory.clone(), false);
        self.count = Some(self.out.command(Request::Children { path, watch }, None));
    }

    /// Permits are free. The earlier contenders take their permits in a short time, unless the process of one of them
    /// is paused or dead. Such a process blocks all contenders behind it, and a try does not wait for it.
    fn try_on(&mut self, now: Instant) {
        if let Some(nonblocking) = self.nonblocking {
            let flight = nonblocking.flight.unwrap_or_default();
            let served = now.plus(flight.saturating_mul(FLIGHTS).max(LEAST));
            self.out.set(Timer::AcquireTimeout, served.min(nonblocking.until));
        }
    }

    /// The contender is first in the queue. If the acquire is a try, it now waits only for the server's replies.
    /// Returns whether it is a try.
    pub(super) fn try_at_the_head(&mut self) -> bool {
        if let Some(nonblocking) = self.nonblocking {
            // A missing proof may have extended the timeout (`grace`).
            let prolonged = self.out.at(Timer::AcquireTimeout).unwrap_or(nonblocking.until);
            self.out
                .set(Timer::AcquireTimeout, prolonged.max(nonblocking.until));
        }
        self.nonblocking.is_some()
    }

    /// Handles the list of permits. A try in the queue continues to wait only if a permit is free.
    pub(super) fn counted(
        &mut self,
        now: Instant,
        id: CommandId,
        outcome: Outcome<Reply>,
    ) -> Result<(), Misuse> {
        self.count = None;
        match outcome {
            Outcome::Reply(Reply {
                answer: Answer::Children(permits),
                ..
            }) => {
                if u32::try_from(permits.len()).is_ok_and(|taken| taken < self.number.of_permits()) {
                    self.try_on(now);
                    return Ok(());
                }
                self.refuse(now, Refusal::NotAvailable, Cause::command(id));
            }
            // No permit was ever taken, or the client does not know how many permits are taken. In both cases the try
            // stays in the queue until its timeout.
            Outcome::Reply(Reply {
                answer: Answer::Error(_),
                ..
            })
            | Outcome::Failed(_) => {}
            Outcome::Reply(_) => {
                let expected = "children";
                return Err(Misuse::WrongReply { id: id.0, expected });
            }
        }
        Ok(())
    }
}

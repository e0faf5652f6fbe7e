//! A try that is not first in the line: it waits for nobody but those who are being served, and for them only for as long as that takes.

use core::time::Duration;

use crate::{Cause, CommandId, Instant, Misuse, Outcome, Refusal, Timer};

use super::super::wire::{Answer, Reply, Request};
use super::Semaphore;

/// A healthy contender takes its permit and leaves the line within two flights of its own. Its client may be slower than ours by this factor.
const FLIGHTS: u32 = 4;

/// And it gets this much time at least, however fast our own flight was.
const LEAST: Duration = Duration::from_millis(50);

/// The times of a try.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Trying {
    began: Instant,
    /// How long our own flight into the line has taken.
    flight: Option<Duration>,
    /// When the server has to have answered everything.
    until: Instant,
}

impl Trying {
    pub(super) const fn new(began: Instant, until: Instant) -> Self {
        Self {
            began,
            flight: None,
            until,
        }
    }
}

impl Semaphore {
    /// A try stands behind somebody in the line: one list tells whether all permits are taken.
    pub(super) fn try_behind(&mut self, now: Instant) {
        self.placed = true;
        if let Some(trying) = &mut self.trying {
            trying.flight.get_or_insert(now.since(trying.began));
        }
        let (path, watch) = (self.room.clone(), false);
        self.count = Some(self.out.command(Request::Children { path, watch }, None));
    }

    /// Permits are free. Whoever comes before is served in no time, unless its process stands still or has died: then it keeps the permits from
    /// everybody, and a try does not wait for that.
    fn try_on(&mut self, now: Instant) {
        if let Some(trying) = self.trying {
            let flight = trying.flight.unwrap_or_default();
            let served = now.plus(flight.saturating_mul(FLIGHTS).max(LEAST));
            self.out.set(Timer::Patience, served.min(trying.until));
        }
    }

    /// A try is at the head of the line: only the server has to answer now. Whether it is a try at all.
    pub(super) fn try_at_the_head(&mut self) -> bool {
        if let Some(trying) = self.trying {
            self.out.set(Timer::Patience, trying.until);
        }
        self.trying.is_some()
    }

    /// A try that stands in the line goes on waiting only if not all permits are taken.
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
            // Nobody has ever taken one; or nobody knows, and the line tells in time.
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

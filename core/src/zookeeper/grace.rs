//! The patience of an acquire that is first in the line, on a session of which nothing is proved yet.
//!
//! Of a session that the application has made nobody knows since when its leader counts. The proof takes a quarter of the timeout from when
//! the client was made: the server answers all the while, and the lock is free. So the patience is prolonged for as long as the proof may
//! take, once an acquire: a free lock is granted late, and not refused.

use core::time::Duration;

use crate::{Instant, Timer, outbox::Outbox};

use super::wire::Request;

/// Whether the patience of an acquire was prolonged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Grace(bool);

impl Grace {
    /// Of an acquire that begins.
    pub(super) const UNUSED: Self = Self(false);

    /// Whether the patience has ended. If it has, and a proof may still take so long, it is prolonged instead.
    pub(super) fn is_over(
        &mut self,
        out: &mut Outbox<Request>,
        now: Instant,
        unproved: Option<Duration>,
    ) -> bool {
        let deadline = out.at(Timer::Patience);
        if !out.expired(Timer::Patience, now) {
            return false;
        }
        let (Some(deadline), Some(by), Self(false)) = (deadline, unproved, *self) else {
            return true;
        };
        self.0 = true;
        let deadline = deadline.plus(by);
        out.set(Timer::Patience, deadline);
        deadline <= now
    }
}

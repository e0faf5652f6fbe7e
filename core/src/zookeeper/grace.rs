//! One extension of the acquire's timeout, for a contender that is first in the queue but has no proof of its session.
//!
//! The server answers and the lock is free, but the client must not grant the lock yet. There are two causes. Either
//! the application made the session, so the client cannot know when the leader began to count the session's timeout. Or
//! the process was paused: it sent no confirmations, and the last proof has expired. The next proof takes a quarter of
//! the session's timeout and a few round trips. So the contender extends the acquire's timeout by the time that the
//! proof may take, once per acquire. It then gets a free lock late, instead of a refusal.

use core::time::Duration;

use crate::{Instant, Timer, outbox::Outbox};

use super::wire::Request;

/// Whether the acquire's timeout was already extended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Grace(bool);

impl Grace {
    /// The value for a new acquire.
    pub(super) const UNUSED: Self = Self(false);

    /// Whether the acquire's timeout has expired. If only the proof is missing, extends the timeout by `unproved`
    /// instead, once.
    pub(super) fn is_over(
        &mut self,
        out: &mut Outbox<Request>,
        now: Instant,
        unproved: Option<Duration>,
    ) -> bool {
        if !out.expired(Timer::AcquireTimeout, now) {
            return false;
        }
        let (Some(by), Self(false)) = (unproved, *self) else {
            return true;
        };
        self.0 = true;
        // The extension counts from now, because a paused process may handle its timeout long after the deadline.
        out.set_after(Timer::AcquireTimeout, now, by);
        false
    }
}

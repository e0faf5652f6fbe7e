//! One extension of the acquire's timeout, for a contender that is first in the queue but has no proof of its session.
//!
//! The server answers and the lock is free, but the client may not grant the lock yet. There are two causes. Either the
//! application made the session: the client cannot know since when the leader counts its time. Or the process was
//! paused: it sent no confirmation, and the last proof has run out. The next proof takes a quarter of the session's
//! timeout and a few round trips. So the acquire's timeout is extended by the time that the proof may take, once per
//! acquire. The contender then gets a free lock late, instead of a refusal.

use core::time::Duration;

use crate::{Instant, Timer, outbox::Outbox};

use super::wire::Request;

/// Whether the acquire's timeout was extended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Grace(bool);

impl Grace {
    /// The value for an acquire that begins.
    pub(super) const UNUSED: Self = Self(false);

    /// Whether the acquire's timeout has ended. If only the proof is missing, the timeout is extended by `unproved`
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
        // The extension counts from now: a process that was paused may see its deadline only long after it.
        out.set_after(Timer::AcquireTimeout, now, by);
        false
    }
}

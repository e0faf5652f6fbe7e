//! The last word on an acquire or a grant: said when nothing of it stands in anybody's way any more.
//!
//! A node that a contender may create but not delete stays until its session ends, and everybody behind it waits. So whoever gives up hears of it: the
//! last word waits for the answer to the deletion, as in Curator and Kazoo, and is the server's refusal if there was one.

use core::time::Duration;

use crate::{Cause, Event, Instant, Refusal, Timer, outbox::Outbox};

use super::wire::Request;

/// How long a refusal that is certain waits for what was made to be gone. A server that takes longer is in trouble, and whoever has set a limit has set
/// it for that.
const WAITED: Duration = Duration::from_millis(500);

/// What is still to be said, if anything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum Farewell {
    /// Nobody waits for a word: it was a loss, which is told at once.
    #[default]
    Nothing,
    /// A release is said to be done when it is done, however long that takes.
    Released,
    /// An acquire has come to nothing, and that is said at that time at the latest.
    Refused {
        reason: Refusal,
        cause: Cause,
        until: Instant,
    },
}

impl Farewell {
    /// An acquire ends now, or has ended with its patience if only that is seen now.
    pub(super) fn refused(now: Instant, reason: Refusal, cause: Cause, out: &mut Outbox<Request>) -> Self {
        let end = out.at(Timer::Patience).map_or(now, |end| end.min(now));
        let until = end.plus(WAITED);
        Self::Refused { reason, cause, until }
    }

    /// A refusal waits, but not for ever.
    pub(super) fn wait(&self, out: &mut Outbox<Request>) {
        if let Self::Refused { until, .. } = self {
            out.set(Timer::Patience, *until);
        }
    }

    /// All is gone, or the server has said why it lets something stand.
    pub(super) fn say(&mut self, complaint: Option<(Refusal, Cause)>, out: &mut Outbox<Request>) {
        match (core::mem::take(self), complaint) {
            (Self::Nothing, _) => {}
            (Self::Released, None) => out.event(Event::Released),
            (Self::Refused { reason, cause, .. }, None) | (_, Some((reason, cause))) => {
                out.event(Event::Refused { reason, cause });
            }
        }
    }

    /// Nobody waits for an answer that may take its time; whether a refusal was still to be said.
    pub(super) fn hurry(&mut self, out: &mut Outbox<Request>) -> bool {
        let refused = matches!(self, Self::Refused { .. });
        if refused {
            out.stop(Timer::Patience);
            self.say(None, out);
        }
        refused
    }
}

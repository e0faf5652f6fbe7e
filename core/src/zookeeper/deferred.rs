//! The last event of an acquire or a grant. It waits until the contender's nodes no longer block other contenders.
//!
//! If a contender may create its node but may not delete it, the node remains until the session ends, and all later
//! contenders wait for it. The contender must report this to the application. So the last event waits for the reply to
//! the delete, as in Curator and Kazoo. If the server denies the delete, the application gets this refusal, unless the
//! deferred event is a worse one.

use core::time::Duration;

use crate::{Cause, Event, Instant, Loss, Refusal, Timer, outbox::Outbox};

use super::wire::Request;

/// How long a refusal waits for the deletion of the contender's nodes. A server that takes longer has a problem, and
/// the application's timeout is for such cases.
const WAITED: Duration = Duration::from_millis(500);

/// The event to report. After a loss, there is no such event, because a loss is reported at once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Deferred(Option<Event>);

impl Deferred {
    pub(super) const NOTHING: Self = Self(None);

    /// The application releases the grant. The contender reports the release only when the deletion is done.
    pub(super) fn release(&mut self) {
        self.0 = Some(Event::Released);
    }

    /// The grant was lost before its release. The loss is reported at once, instead of the release.
    pub(super) fn lose(&mut self, reason: Loss, cause: Cause, out: &mut Outbox<Request>) {
        if self.0.take_if(|word| *word == Event::Released).is_some() {
            out.event(Event::Lost { reason, cause });
        }
    }

    /// The acquire has failed. The refusal waits for the deletion, but not longer than `WAITED`.
    pub(super) fn refuse(&mut self, now: Instant, reason: Refusal, cause: Cause, out: &mut Outbox<Request>) {
        out.set_after(Timer::AcquireTimeout, now, WAITED);
        self.0 = Some(Event::Refused { reason, cause });
    }

    /// Reports the event, after the deletion of all nodes or after the server has refused to delete one (`complaint`).
    pub(super) fn report(&mut self, complaint: Option<(Refusal, Cause)>, out: &mut Outbox<Request>) {
        if let Some(event) = self.0.take() {
            out.event(match complaint {
                Some((reason, cause)) if !is_worse(&event) => Event::Refused { reason, cause },
                _ => event,
            });
        }
    }

    /// Reports a refusal now, without waiting for the deletion. Returns whether there was a refusal.
    pub(super) fn flush(&mut self, out: &mut Outbox<Request>) -> bool {
        let refused = matches!(self.0, Some(Event::Refused { .. }));
        if refused {
            out.stop(Timer::AcquireTimeout);
            self.report(None, out);
        }
        refused
    }
}

/// Whether the cause of the refusal must be fixed in any case, even if the node is deleted.
const fn is_worse(word: &Event) -> bool {
    use Refusal::{Cancelled, NotAvailable, Timeout, Unreachable};
    matches!(word, Event::Refused { reason, .. } if !matches!(reason, Cancelled | NotAvailable | Timeout | Unreachable))
}

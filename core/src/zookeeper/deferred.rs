//! The last event of an acquire or a grant. It waits until the contender's nodes no longer block other contenders.
//!
//! A node that a contender may create but not delete stays until its session ends, and all later contenders wait behind
//! it. The application has to learn of that. So the last event waits for the answer to the deletion, as in Curator and
//! Kazoo. If the server denies the deletion, the application gets that refusal, unless the deferred event is a worse
//! one.

use core::time::Duration;

use crate::{Cause, Event, Instant, Loss, Refusal, Timer, outbox::Outbox};

use super::wire::Request;

/// How long a refusal that is certain waits for the deletion of the contender's nodes. A server that takes longer is in
/// trouble, and the application has set its timeout for such cases.
const WAITED: Duration = Duration::from_millis(500);

/// The event to report. There is none after a loss, which is reported at once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Deferred(Option<Event>);

impl Deferred {
    pub(super) const NOTHING: Self = Self(None);

    /// The application releases the grant. The release is reported when the deletion is done, however long that takes.
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

    /// Reports the event. All nodes are deleted, or the server has answered why it keeps one (`complaint`).
    pub(super) fn report(&mut self, complaint: Option<(Refusal, Cause)>, out: &mut Outbox<Request>) {
        if let Some(event) = self.0.take() {
            out.event(match complaint {
                Some((reason, cause)) if !is_worse(&event) => Event::Refused { reason, cause },
                _ => event,
            });
        }
    }

    /// Reports a refusal now, without the answer to the deletion. Returns whether there was one.
    pub(super) fn flush(&mut self, out: &mut Outbox<Request>) -> bool {
        let refused = matches!(self.0, Some(Event::Refused { .. }));
        if refused {
            out.stop(Timer::AcquireTimeout);
            self.report(None, out);
        }
        refused
    }
}

/// Whether the refusal has a cause that must be fixed in any case, whatever becomes of the node.
const fn is_worse(word: &Event) -> bool {
    use Refusal::{Cancelled, NotAvailable, Timeout, Unreachable};
    matches!(word, Event::Refused { reason, .. } if !matches!(reason, Cancelled | NotAvailable | Timeout | Unreachable))
}

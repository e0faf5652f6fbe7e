//! The last word on an acquire or a grant: said when nothing of it stands in anybody's way any more.
//!
//! A node that a contender may create but not delete stays until its session ends, and everybody behind it waits. So whoever gives up hears of it: the
//! last word waits for the answer to the deletion, as in Curator and Kazoo. If the server refuses that, it is the last word, where there was no worse one.

use core::time::Duration;

use crate::{Cause, Event, Instant, Loss, Refusal, Timer, outbox::Outbox};

use super::wire::Request;

/// How long a refusal that is certain waits for what was made to be gone. A server that takes longer is in trouble, and whoever has set a limit has set
/// it for that.
const WAITED: Duration = Duration::from_millis(500);

/// What is still to be said: nothing after a loss, which is told at once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Farewell(Option<Event>);

impl Farewell {
    pub(super) const NOTHING: Self = Self(None);

    /// A grant is given back: that is told when it is done, however long it takes.
    pub(super) fn release(&mut self) {
        self.0 = Some(Event::Released);
    }

    /// What is being given back was lost before: that is told instead of its release, and at once.
    pub(super) fn lose(&mut self, reason: Loss, cause: Cause, out: &mut Outbox<Request>) {
        if self.0.take_if(|word| *word == Event::Released).is_some() {
            out.event(Event::Lost { reason, cause });
        }
    }

    /// An acquire has come to nothing: the refusal waits, but not for ever.
    pub(super) fn refuse(&mut self, now: Instant, reason: Refusal, cause: Cause, out: &mut Outbox<Request>) {
        out.set_after(Timer::Patience, now, WAITED);
        self.0 = Some(Event::Refused { reason, cause });
    }

    /// All is gone, or the server has said why it lets something stand.
    pub(super) fn say(&mut self, complaint: Option<(Refusal, Cause)>, out: &mut Outbox<Request>) {
        if let Some(word) = self.0.take() {
            out.event(match complaint {
                Some((reason, cause)) if !is_worse(&word) => Event::Refused { reason, cause },
                _ => word,
            });
        }
    }

    /// Nobody waits for an answer that may take its time; whether a refusal was still to be said.
    pub(super) fn hurry(&mut self, out: &mut Outbox<Request>) -> bool {
        let refused = matches!(self.0, Some(Event::Refused { .. }));
        if refused {
            out.stop(Timer::Patience);
            self.say(None, out);
        }
        refused
    }
}

/// Whether a refusal has a reason of its own, which has to be mended whatever becomes of the node.
const fn is_worse(word: &Event) -> bool {
    use Refusal::{Cancelled, NotAvailable, Timeout, Unreachable};
    matches!(word, Event::Refused { reason, .. } if !matches!(reason, Cancelled | NotAvailable | Timeout | Unreachable))
}

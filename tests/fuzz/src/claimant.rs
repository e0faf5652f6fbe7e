//! The events that a claim may report, by the calls that it got.

use fencepost_core::{Event, Intent};

/// The account of one claim. Intents count when they are accepted, events when they are polled, so events lag behind.
#[derive(Debug, Default)]
pub(crate) struct Claimant {
    /// Claims and ends of claims that still have no answer.
    asked: u32,
    held: bool,
    suspended: bool,
    /// Losses that may be the answer to an end, or the loss of the grant before it.
    perhaps_answered: u32,
    pub(crate) closed: bool,
}

impl Claimant {
    pub(crate) fn accepted(&mut self, intent: &Intent) {
        assert!(!self.closed, "{intent:?} was accepted after the close");
        match intent {
            Intent::Acquire(_) | Intent::Complete(_) | Intent::Release | Intent::Leave => self.asked += 1,
            _ => {}
        }
    }

    pub(crate) fn told(&mut self, event: &Event) {
        assert!(!self.closed, "{event:?} came after the close");
        match event {
            Event::Queued { .. } => self.assert(self.asked > 0, event),
            Event::Extended { .. } => self.assert(self.held, event),
            Event::Acquired { .. } => {
                self.answer(event);
                self.held = true;
                self.suspended = false;
            }
            Event::Suspended => {
                self.assert(self.held && !self.suspended, event);
                self.suspended = true;
            }
            Event::Resumed { .. } => {
                self.assert(self.held && self.suspended, event);
                self.suspended = false;
            }
            Event::Completed { .. } | Event::Released | Event::Replayed { .. } => {
                self.answer(event);
                self.held = false;
            }
            // A refused claim, or a refused end, after which the claim continues. It may be suspended again.
            Event::Refused { .. } => {
                self.answer(event);
                self.suspended = false;
            }
            Event::Lost { .. } if self.held => {
                self.perhaps_answered += u32::from(self.asked > 0);
                self.held = false;
            }
            Event::Lost { .. } => self.answer(event),
            other => panic!("an event that no claim has: {other:?}"),
        }
    }

    /// Whether every call has its result.
    pub(crate) const fn is_at_rest(&self) -> bool {
        self.closed || !self.held && self.asked <= self.perhaps_answered
    }

    fn answer(&mut self, event: &Event) {
        self.assert(self.asked > 0, event);
        self.asked -= 1;
    }

    fn assert(&self, holds: bool, event: &Event) {
        assert!(holds, "{event:?} makes no sense to {self:?}");
    }
}

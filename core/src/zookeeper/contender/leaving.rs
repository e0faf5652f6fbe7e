//! The end of an acquire or a grant: what was created goes, and then it is said.

use crate::{Cause, Event, Instant, Loss, Refusal, Timer};

use super::{Contender, Phase, Purpose, downgrade::Turning};

impl Contender {
    /// The end of an acquire that has come to nothing: told when all is cleaned up, if an answer to that is to be expected.
    pub(super) fn refuse(&mut self, now: Instant, reason: Refusal, cause: Cause) {
        self.farewell.refuse(now, reason, cause, &mut self.out);
        self.leave();
        if self.part || !self.expects_answers() {
            self.farewell.hurry(&mut self.out);
        }
    }

    /// The end of a grant that was not released: told at once, cleaned up behind.
    pub(super) fn lose(&mut self, reason: Loss, cause: Cause) {
        self.out.event(Event::Lost { reason, cause });
        self.leave();
    }

    /// Gives the lock back. What the deletion finds says whether it was still ours.
    pub(super) fn release(&mut self) {
        self.farewell.release();
        // A writer that has asked to be a reader has one of the two nodes, and only the server knows which.
        let reader = (self.turning == Turning::Asked).then(|| self.name_as_reader());
        let writer = self.node.as_ref().map(|node| node.name.clone());
        for name in [reader.flatten(), writer].into_iter().flatten() {
            self.disposal.bury_held(name);
        }
        self.leave();
    }

    /// Has everything deleted that this attempt has created.
    pub(super) fn leave(&mut self) {
        self.out.stop_all_but_patience();
        if self.turning == Turning::Asked
            && let Some(reader) = self.name_as_reader()
        {
            self.disposal.bury(reader);
        }
        if let Some(node) = self.take_node() {
            self.bury(node);
        }
        if self.doubt {
            self.disposal.search(self.attempt);
        }
        self.own_watch = None;
        self.failures = 0;
        // A create under way is waited for; of everything else no answer is needed.
        self.forget_all_but_creates();
        self.phase = Phase::Leaving;
        self.advance_leaving();
    }

    pub(super) fn advance_leaving(&mut self) {
        if self.phase != Phase::Leaving {
            return;
        }
        if self.session.connected && !self.retrying() {
            self.advance_disposal();
        }
        if !self.disposal.is_done() || self.waits_for(Purpose::Create) {
            return;
        }
        let complaint = if self.part { None } else { self.complaint() };
        self.farewell.say(complaint, &mut self.out);
        self.rest();
    }

    pub(super) fn advance_disposal(&mut self) {
        self.disposal.advance(&self.settings, &mut self.out);
    }

    /// Whether a retry is waiting for its time.
    fn retrying(&mut self) -> bool {
        self.out.at(Timer::Retry).is_some()
    }

    fn rest(&mut self) {
        self.out.stop_all();
        self.doubt = false;
        self.seated = false;
        self.phase = Phase::Idle;
    }
}

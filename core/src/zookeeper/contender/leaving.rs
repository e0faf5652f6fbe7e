//! The end of an acquire or a grant: the client deletes what it created, then reports the end.

use crate::{Cause, Event, Instant, Loss, Refusal, Timer};

use super::{Contender, Phase, Purpose, downgrade::Downgrading};

impl Contender {
    /// Ends an acquire that has failed. The contender reports the refusal after the cleanup, or at once if it cannot
    /// expect the server to answer soon.
    pub(super) fn refuse(&mut self, now: Instant, reason: Refusal, cause: Cause) {
        self.deferred.refuse(now, reason, cause, &mut self.out);
        self.leave();
        if self.component || !self.expects_answers() {
            self.deferred.flush(&mut self.out);
        }
    }

    /// Ends a grant that was not released. The contender reports the loss at once, before the cleanup.
    pub(super) fn lose(&mut self, reason: Loss, cause: Cause) {
        self.out.event(Event::Lost { reason, cause });
        self.leave();
    }

    /// Releases the lock. The reply to the delete shows whether the contender still held it.
    pub(super) fn release(&mut self) {
        self.deferred.release();
        // A writer that has requested a downgrade has one of the two nodes. Only the server knows which one.
        let reader = (self.downgrading() == Downgrading::Asked).then(|| self.name_as_reader());
        let writer = self.own.node.as_ref().map(|node| node.name.clone());
        for name in [reader.flatten(), writer].into_iter().flatten() {
            self.cleanup.schedule_delete_of_held(name);
        }
        self.leave();
    }

    /// Deletes all nodes that this attempt has created.
    pub(super) fn leave(&mut self) {
        self.out.stop_all_but_acquire_timeout();
        if self.downgrading() == Downgrading::Asked
            && let Some(reader) = self.name_as_reader()
        {
            self.cleanup.schedule_delete(reader);
        }
        if let Some(node) = self.take_node() {
            self.schedule_delete(node);
        }
        if self.own.in_doubt {
            self.cleanup.search(self.attempt);
        }
        self.own.watch = None;
        self.acquire.failures = 0;
        // The contender still waits for the reply to a create that is in flight. It needs no other replies.
        self.forget_all_but_creates();
        self.go_to(Phase::Leaving);
        self.advance_leaving();
    }

    pub(super) fn advance_leaving(&mut self) {
        if self.phase != Phase::Leaving {
            return;
        }
        if self.session.connected && !self.retrying() {
            self.advance_cleanup();
        }
        if !self.cleanup.is_done() || self.waits_for(Purpose::Create) {
            return;
        }
        let complaint = if self.component { None } else { self.complaint() };
        self.deferred.report(complaint, &mut self.out);
        self.rest();
    }

    pub(super) fn advance_cleanup(&mut self) {
        self.cleanup.advance(&self.settings, &mut self.out);
    }

    /// Whether a retry is scheduled.
    fn retrying(&mut self) -> bool {
        self.out.at(Timer::Retry).is_some()
    }

    fn rest(&mut self) {
        self.out.stop_all();
        self.own.in_doubt = false;
        self.acquire.pre_enqueued = false;
        self.go_to(Phase::Idle);
    }
}

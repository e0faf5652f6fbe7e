//! The inputs of a semaphore. Each half (the permit and the place in the queue) knows its own commands. All other
//! commands concern the number of permits.

use crate::Cause;
use crate::{CommandId, Event, Instant, Machine, Misuse, Outcome, Output, Refusal, Timer, io::sealed};

use super::super::wire::{Notice, Reply, Request};
use super::{Phase, Semaphore};

impl sealed::Sealed for Semaphore {}

impl Machine for Semaphore {
    type Request = Request;
    type Reply = Reply;
    type Notice = Notice;
    type Event = Event;

    fn handle_outcome(&mut self, now: Instant, id: CommandId, outcome: Outcome<Reply>) -> Result<(), Misuse> {
        let verdict = if self.number.is_asked_by(id) {
            self.compare(now, id, outcome)
        } else if self.count == Some(id) {
            self.counted(now, id, outcome)
        } else {
            // Each half handles its own commands and ignores those of the other half.
            let other = outcome.clone();
            self.permit(|permit| permit.handle_outcome(now, id, outcome))
                .and(self.wait_queue(|wait_queue| wait_queue.handle_outcome(now, id, other)))
        };
        self.drain_events(now);
        verdict
    }

    fn handle_notice(&mut self, now: Instant, notice: Notice) -> Result<(), Misuse> {
        let session = matches!(notice, Notice::Session { .. });
        if session {
            self.count = None;
            self.out.purge_commands();
            // The directories may have been deleted and created again. That cannot happen while this contender is first
            // in the queue, because its node is then in the directory.
            if self.phase == Phase::Queueing || !self.number.is_ours() {
                self.number.forget();
            }
        }
        let other = notice.clone();
        self.permit(|permit| permit.handle_notice(now, notice))?;
        self.wait_queue(|wait_queue| wait_queue.handle_notice(now, other))?;
        if session {
            self.ask_number();
        }
        if !self.wait_queue.expects_answers() {
            self.deferred.flush(&mut self.out);
        }
        self.drain_events(now);
        Ok(())
    }

    fn handle_timeout(&mut self, now: Instant) {
        let unproved = self
            .wait_queue
            .unproved(now)
            .or_else(|| self.permit.unproved(now));
        if self.grace.is_over(&mut self.out, now, unproved) {
            let was_queued = self.was_queued && self.wait_queue.is_connected();
            let reason = match (was_queued, self.nonblocking.is_some()) {
                (true, true) => Refusal::NotAvailable,
                (true, false) => Refusal::Timeout,
                (false, _) => Refusal::Unreachable,
            };
            if matches!(self.phase, Phase::Queueing | Phase::Taking | Phase::Restarting) {
                self.refuse(now, reason, Cause::none());
            } else {
                self.deferred.flush(&mut self.out);
            }
        }
        // This stops the timer if it has expired. `drain_events` then does the step that waited for the timer.
        self.out.expired(Timer::Retry, now);
        self.permit(|permit| permit.handle_timeout(now));
        self.wait_queue(|wait_queue| wait_queue.handle_timeout(now));
        self.drain_events(now);
    }

    fn poll_output(&mut self) -> Output<Request, Event> {
        let own = match self.out.poll() {
            Output::Wait(wait) => wait,
            output => return output,
        };
        // The client deletes the permit's node before the node in the queue, so that the next contender in the queue
        // finds the permit free. The order is reversed while the number of permits is unknown, because the read of that
        // number is sent with the commands of the queue.
        let mut halves = [&mut self.permit, &mut self.wait_queue];
        if !self.number.is_ours() {
            halves.reverse();
        }
        let mut earliest = own;
        for half in halves {
            match half.poll_output() {
                Output::Wait(wait) => earliest = earliest.or_earlier(wait),
                output => return output,
            }
        }
        Output::Wait(earliest)
    }
}

//! Inputs of the machine: outcomes, notices, time.

use crate::{
    Cause, CommandId, Event, Instant, Loss, Machine, Misuse, Outcome, Output, Refusal, Timer, io::sealed,
};

use super::super::{
    scripts::Script,
    wire::{Notice, Reply, Request},
};
use super::{Phase, StringLock, Subscription};

impl sealed::Sealed for StringLock {}

impl Machine for StringLock {
    type Request = Request;
    type Reply = Reply;
    type Notice = Notice;
    type Event = Event;

    fn handle_outcome(&mut self, now: Instant, id: CommandId, outcome: Outcome<Reply>) -> Result<(), Misuse> {
        let result = match &outcome {
            Outcome::Reply(reply) => Ok(reply),
            Outcome::Failed(failure) => Err(*failure),
        };
        if self.subscription == Subscription::Wanted(id) {
            self.subscribed(now, id, result);
            return Ok(());
        }
        let Some(ran) = self.running.take_if(|running| running.id == id) else {
            self.renewed_late(now, id, result);
            self.asked_late(id, result);
            return Ok(());
        };
        self.out.stop(Timer::Retry);
        let fits = match (self.phase, ran.script) {
            (Phase::Asking, Script::Acquire) => self.asked(now, ran, result),
            (Phase::Held, Script::Renew) => self.renewed(now, ran, result),
            (Phase::Leaving { release, earlier }, Script::Release) => {
                self.released(now, ran, result, release, earlier)
            }
            _ => true,
        };
        if fits {
            Ok(())
        } else {
            Err(Misuse::WrongReply {
                id: id.0,
                expected: "the script's answer",
            })
        }
    }

    fn handle_notice(&mut self, now: Instant, notice: Notice) -> Result<(), Misuse> {
        let (Notice::Message { id } | Notice::Gone { id }) = notice;
        // A message may arrive before the answer to its own subscription.
        if !matches!(self.subscription, Subscription::Wanted(own) | Subscription::Live(own) if own == id) {
            return Ok(());
        }
        match notice {
            Notice::Message { .. } => self.hint(now),
            Notice::Gone { .. } => self.subscription_gone(now),
        }
        Ok(())
    }

    fn handle_timeout(&mut self, now: Instant) {
        if self.out.expired(Timer::AcquireTimeout, now)
            && matches!(self.phase, Phase::Asking | Phase::Waiting)
        {
            let reason = if self.acquire.was_queued {
                Refusal::Timeout
            } else {
                Refusal::Unreachable
            };
            let trouble = core::mem::take(&mut self.acquire.trouble);
            self.refuse(now, reason, trouble);
        }
        if self.out.expired(Timer::Validity, now) {
            match self.phase {
                Phase::Held => self.lease_ended(now),
                Phase::Leaving { release, .. } => self.gone(release),
                Phase::Idle | Phase::Asking | Phase::Waiting => {}
            }
        }
        if self.out.expired(Timer::MaxHold, now) && self.is_held() {
            self.lose(now, Loss::MaxHold, Cause::none());
        }
        if self.out.expired(Timer::Renew, now) && self.is_held() {
            self.renew(now);
        }
        if self.out.expired(Timer::Poll, now) && self.phase == Phase::Waiting {
            self.ask(now);
        }
        if self.out.expired(Timer::Retry, now) {
            self.try_again(now);
        }
    }

    fn poll_output(&mut self) -> Output<Request, Event> {
        self.out.poll()
    }
}

impl StringLock {
    /// A retry is due, or an answer is overdue: sends the script again. A script whose answer is overdue counts as in
    /// doubt.
    fn try_again(&mut self, now: Instant) {
        let overdue = self.running.take();
        match self.phase {
            Phase::Asking => {
                if let Some(acquire) = overdue {
                    self.acquire_overdue(acquire);
                }
                self.ask(now);
            }
            Phase::Held => {
                if let Some(renewal) = overdue {
                    self.awaited_still(renewal);
                }
                self.run(now, Script::Renew, false);
            }
            Phase::Leaving { release, earlier } => {
                let earlier = overdue.map_or(earlier, |ran| earlier.or_since(ran.start));
                self.go_to(Phase::Leaving { release, earlier });
                self.run(now, Script::Release, false);
            }
            Phase::Idle | Phase::Waiting => {}
        }
    }
}

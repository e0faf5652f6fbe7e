//! The inputs of a contender: outcomes, notices, time.

use crate::{
    Cause, CommandId, Event, Instant, Loss, Machine, Misuse, Outcome, Output, Refusal, Timer, io::sealed,
};

use super::super::wire::{Notice, Reply, Request};
use super::{Contender, Leaving, Phase, Purpose, Subscription};

impl sealed::Sealed for Contender {}

impl Machine for Contender {
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
        let fits = match (&self.phase, ran.purpose) {
            (Phase::Asking, Purpose::Acquire) => self.asked(now, ran, result),
            (Phase::Held, Purpose::Renew) => self.renewed(now, ran, result),
            (Phase::Leaving(_), Purpose::End) => self.ended(now, ran, result),
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
        // A message may arrive before the reply to its own subscription.
        if !matches!(self.subscription, Subscription::Wanted(own) | Subscription::Live(own) if own == id) {
            return Ok(());
        }
        match notice {
            Notice::Message { .. } => {
                self.acquire.lost_subscriptions = 0;
                self.hint(now);
            }
            Notice::Gone { .. } => self.subscription_gone(now),
        }
        Ok(())
    }

    fn handle_timeout(&mut self, now: Instant) {
        if self.out.expired(Timer::AcquireTimeout, now)
            && matches!(self.phase, Phase::Asking | Phase::Waiting)
        {
            let trouble = core::mem::take(&mut self.acquire.trouble);
            // If the server has failed after it reported the holder, it may have lost the lock, too. So the client does
            // not know whether the lock is held.
            let is_held = self.acquire.was_queued && self.acquire.failures == 0;
            let (reason, cause) = if is_held {
                (self.subject.held_by_another(false), self.retry_after(now))
            } else {
                (Refusal::Unreachable, trouble)
            };
            self.refuse(now, reason, cause);
        }
        if self.out.expired(Timer::Validity, now) {
            match &self.phase {
                Phase::Held => self.lease_ended(now),
                Phase::Leaving(_) => self.unanswered(),
                Phase::Idle | Phase::Asking | Phase::Waiting | Phase::Lapsed => {}
            }
        }
        if self.out.expired(Timer::MaxHold, now) && self.is_held() {
            self.lose(now, Loss::MaxHold, Cause::none());
        }
        if self.out.expired(Timer::Renew, now) && self.is_held() {
            self.renew(now);
        }
        if self.out.expired(Timer::Poll, now) && self.phase == Phase::Waiting {
            self.poll(now);
        }
        if self.out.expired(Timer::Retry, now) {
            self.try_again(now);
        }
    }

    fn poll_output(&mut self) -> Output<Request, Event> {
        self.out.poll()
    }
}

impl Contender {
    /// A retry is due, or a reply is overdue: sends the script again. A script whose reply is overdue counts as in
    /// doubt.
    fn try_again(&mut self, now: Instant) {
        let overdue = self.running.take();
        match &mut self.phase {
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
                self.run(now, false);
            }
            Phase::Leaving(Leaving { earlier, .. }) => {
                if let Some(ran) = overdue {
                    *earlier = earlier.or_since(ran.start);
                }
                self.run(now, false);
            }
            Phase::Idle | Phase::Waiting | Phase::Lapsed => {}
        }
    }
}

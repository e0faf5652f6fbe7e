//! The end of an attempt: the machine repeats the request until the server has answered, or until the lease has ended.

use core::{mem, time::Duration};

use crate::{Cause, Event, Failure, Instant, Loss, Refusal, Timer, claim::outcome, lease};

use super::super::{
    ask::{End, Ended, TOMBSTONE},
    reply::Trouble,
    settings::LeaseSettings,
    wire::Reply,
};
use super::{Acquire, Contender, Earlier, Leaving, Phase, Purpose, Running};

impl Contender {
    /// Begins to end the attempt. `reported`: the application waits for an event about this end.
    pub(super) fn end(&mut self, now: Instant, end: End, reported: bool) {
        self.stop_listening();
        let valid_until = self.out.at(Timer::Validity);
        self.out.stop_all();
        self.acquire.failures = 0;
        self.acquire.late_renewal |=
            matches!(self.running, Some(running) if running.purpose == Purpose::Renew);
        if matches!(end, End::Complete(_)) || !self.in_doubt() && !self.acquire.late_renewal {
            // The lease counts from now: the client does not know when the server executed the last request that
            // extended it.
            let &LeaseSettings { ttl, margin, .. } = self.subject.lease();
            self.out.set(Timer::Validity, lease::ended_by(now, ttl, margin));
        }
        self.go_to(Phase::Leaving(Leaving {
            end,
            reported,
            earlier: Earlier::No,
            valid_until,
        }));
        self.run(now, false);
    }

    /// Handles the outcome of the script that ends the attempt.
    pub(super) fn ended(&mut self, now: Instant, ran: Running, result: Result<&Reply, Failure>) -> bool {
        let Phase::Leaving(leaving) = &self.phase else {
            return true;
        };
        let (earlier, reported) = (leaving.earlier, leaving.reported);
        let is_completion = matches!(leaving.end, End::Complete(_));
        let answer = match result {
            Ok(reply) => self.subject.ended(reply),
            Err(Failure::NotSent) => {
                self.retry_later(now);
                return true;
            }
            Err(Failure::Unknown) => {
                self.end_in_doubt(now, earlier.or_since(ran.start), Cause::command(ran.id));
                return true;
            }
            Err(Failure::Closed) => {
                // The client cannot send any more requests, so the lock or the claim stays until its lease ends.
                self.report_loss(reported, Loss::ConnectionClosed, Cause::command(ran.id));
                return true;
            }
        };
        match answer {
            Ok(Ended::Lost(Loss::Taken | Loss::Deleted | Loss::Superseded))
                if earlier.may_have_released(now) && !is_completion =>
            {
                self.gone();
            }
            Ok(Ended::Own) => self.gone(),
            Ok(Ended::Lost(loss)) => self.report_loss(reported, loss, Cause::command(ran.id)),
            Ok(Ended::Replayed(record)) if reported => self.replayed(record),
            Ok(Ended::Replayed(_)) => self.rest(),
            Ok(Ended::No(reason)) => self.end_refused(now, reason, Cause::command(ran.id)),
            Err(Trouble::NoScript) => self.run(now, true),
            Err(Trouble::Transient(detail)) => {
                self.acquire.trouble = Cause::answer(ran.id, detail);
                self.retry_later(now);
            }
            // The server may have freed the lock, and refused only the write of the tombstone.
            Err(Trouble::Unwritable(detail)) => {
                self.end_in_doubt(now, Earlier::Unmarked, Cause::answer(ran.id, detail));
            }
            Err(Trouble::Final(reason, detail)) => {
                self.end_refused(now, reason, Cause::answer(ran.id, detail));
            }
            Err(Trouble::Shape) => {
                self.end_in_doubt(now, Earlier::Unmarked, Cause::command(ran.id));
                return false;
            }
        }
        true
    }

    /// The server may have executed the script. The machine sends it again, and the repeated script finds the effects
    /// of the first one.
    fn end_in_doubt(&mut self, now: Instant, earlier: Earlier, trouble: Cause) {
        if let Phase::Leaving(leaving) = &mut self.phase {
            leaving.earlier = earlier;
        }
        self.acquire.trouble = trouble;
        self.retry_later(now);
    }

    /// The server refuses to end the attempt. A claim continues, so that the application can end it in another way.
    fn end_refused(&mut self, now: Instant, reason: Refusal, cause: Cause) {
        let valid_until = match &self.phase {
            Phase::Leaving(leaving) if leaving.reported => leaving.valid_until,
            _ => return self.rest(),
        };
        self.out.event(Event::Refused { reason, cause });
        if !self.subject.is_claim() {
            return self.rest();
        }
        match valid_until {
            // The machine has already reported the loss of this claim.
            None => self.stop_in(Phase::Lapsed),
            Some(valid_until) if valid_until <= now => {
                self.out.event(Event::Lost {
                    reason: Loss::LeaseEnded,
                    cause: Cause::none(),
                });
                self.stop_in(Phase::Lapsed);
            }
            Some(valid_until) => {
                self.out.stop_all();
                self.go_to(Phase::Held);
                self.out.set(Timer::Validity, valid_until);
                if self.subject.lease().renew {
                    self.renew(now);
                }
            }
        }
    }

    /// The server has not answered in time: the lease has certainly ended.
    pub(super) fn unanswered(&mut self) {
        // A left claim and a released lock need only the end of the lease, and the lease has ended. But the end of the
        // lease does not free a released operation, and the server may not have stored the result of a completion.
        let is_lost =
            matches!(&self.phase, Phase::Leaving(leaving) if leaving.reported && leaving.end != End::Leave);
        if self.subject.is_claim() && is_lost {
            let cause = mem::take(&mut self.acquire.trouble);
            self.out.event(Event::Lost {
                reason: Loss::LeaseEnded,
                cause,
            });
            return self.stop_in(Phase::Lapsed);
        }
        self.gone();
    }

    fn report_loss(&mut self, reported: bool, reason: Loss, cause: Cause) {
        if reported {
            self.out.event(Event::Lost { reason, cause });
        }
        self.rest();
    }

    /// The attempt has ended as the application requested: the server has confirmed this, or the lease has ended.
    fn gone(&mut self) {
        let end = match &mut self.phase {
            // The result may be large, so the event gets it without a copy.
            Phase::Leaving(leaving) if leaving.reported => Some(mem::replace(&mut leaving.end, End::Release)),
            _ => None,
        };
        if let Some(end) = end {
            let event = match end {
                End::Release | End::Leave => Event::Released,
                End::Complete(content) => {
                    let Acquire { fence, takeovers, .. } = self.acquire;
                    outcome::completed(self.attempt, fence, takeovers, content)
                }
            };
            self.out.event(event);
        }
        self.rest();
    }

    pub(super) fn rest(&mut self) {
        self.stop_in(Phase::Idle);
    }

    /// Stops all timers, forgets all pending commands, and enters the phase `Idle` or `Lapsed`.
    pub(super) fn stop_in(&mut self, phase: Phase) {
        self.stop_listening();
        self.out.stop_all();
        self.running = None;
        self.acquire.in_doubt = false;
        self.acquire.overdue.clear();
        self.go_to(phase);
    }
}

impl Earlier {
    /// Stores that the server may have executed a release that was sent at this time.
    pub(super) fn or_since(self, sent: Instant) -> Self {
        match self {
            Self::No => Self::Marked(sent),
            known => known,
        }
    }

    /// The server has answered that this attempt does not hold the lock. Returns whether an earlier release may be the
    /// reason. While the tombstone of that release exists, the server answers "released" instead.
    fn may_have_released(self, now: Instant) -> bool {
        match self {
            Self::No => false,
            Self::Marked(sent) => now >= sent.plus(TOMBSTONE.saturating_sub(SURE)),
            Self::Unmarked => true,
        }
    }
}

/// A safety margin: the clocks of client and server drift apart by less than this during the life of a tombstone.
const SURE: Duration = Duration::from_secs(1);

//! The end of an attempt: the machine asks until the server has answered, or until the lease has ended.

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
    /// Begins to end the attempt. The application waits for the answer if `reported`.
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
                // The client cannot send anything any more: the lock or the claim stays until its lease ends.
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
            // The server may have freed the lock and refused only the tombstone.
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

    /// The server may have executed the script. It finds its own effects when the machine sends it again.
    fn end_in_doubt(&mut self, now: Instant, earlier: Earlier, trouble: Cause) {
        if let Phase::Leaving(leaving) = &mut self.phase {
            leaving.earlier = earlier;
        }
        self.acquire.trouble = trouble;
        self.retry_later(now);
    }

    /// The server refuses the end of the attempt. A claim goes on, so that the application can end it otherwise.
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
            // Its loss has been reported.
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
        // To leave is to let the lease end, and a lock is free without a lease. But an operation that has not happened is
        // not free, and the server may not have the result of a completion.
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

    /// This attempt has ended as the application asked: the server has confirmed it, or the lease has ended.
    fn gone(&mut self) {
        let end = match &mut self.phase {
            // The result may be large: it goes into the event without a copy.
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

    /// Ends all that is under way, in `Idle` or in `Lapsed`.
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
    /// Adds that the server may have executed a release that was sent at this time.
    pub(super) fn or_since(self, sent: Instant) -> Self {
        match self {
            Self::No => Self::Marked(sent),
            known => known,
        }
    }

    /// Whether an earlier release may have freed the lock when the server answers that this attempt does not hold it.
    /// While the tombstone of that release exists, the server answers "released" instead.
    fn may_have_released(self, now: Instant) -> bool {
        match self {
            Self::No => false,
            Self::Marked(sent) => now >= sent.plus(TOMBSTONE.saturating_sub(SURE)),
            Self::Unmarked => true,
        }
    }
}

/// More than the client's and the server's clocks can drift apart during the life of a tombstone.
const SURE: Duration = Duration::from_secs(1);

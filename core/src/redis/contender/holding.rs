//! Holding: the machine renews the lease, and decides by its own clock how long the grant is valid.

use crate::{Cause, CommandId, Event, Failure, Instant, Loss, Refusal, Timer, lease};

use super::super::{
    ask::{End, Ended},
    reply::Trouble,
    settings::LeaseSettings,
    wire::Reply,
};
use super::{Contender, Phase, Running};

impl Contender {
    /// Starts the timers of a lease that the client requested at `start`.
    pub(super) fn lease_runs(&mut self, start: Instant, valid_until: Instant) {
        self.out.set(Timer::Validity, valid_until);
        let &LeaseSettings { ttl, renew, .. } = self.subject.lease();
        if renew {
            self.out.set(Timer::Renew, lease::renew_at(start, ttl));
        }
    }

    /// Renews the lease now. If a renewal is already in flight, no other one is needed.
    pub(super) fn renew(&mut self, now: Instant) {
        self.out.stop(Timer::Renew);
        if self.running.is_none() {
            self.out.stop(Timer::Retry);
            self.run(now, false);
        }
    }

    pub(super) fn renewed(&mut self, now: Instant, ran: Running, result: Result<&Reply, Failure>) -> bool {
        let answer = match result {
            Ok(reply) => self.subject.ended(reply),
            Err(Failure::Closed) => {
                self.lose(now, Loss::ConnectionClosed, Cause::command(ran.id));
                return true;
            }
            // The machine renews again until the grant stops being valid, whether or not the server executed this
            // renewal.
            Err(failure @ (Failure::NotSent | Failure::Unknown)) => {
                self.acquire.late_renewal |= failure == Failure::Unknown;
                self.renewal_failed(now, Cause::command(ran.id));
                return true;
            }
        };
        match answer {
            Ok(Ended::Own) => {
                self.out.stop(Timer::Retry);
                self.confirmed(now, ran.start);
            }
            Ok(Ended::Lost(loss)) => self.lose(now, loss, Cause::command(ran.id)),
            Err(Trouble::NoScript) => self.run(now, true),
            Err(Trouble::Final(Refusal::WrongType, detail)) => {
                self.lose(now, Loss::Taken, Cause::answer(ran.id, detail));
            }
            Err(Trouble::Transient(detail) | Trouble::Unwritable(detail) | Trouble::Final(_, detail)) => {
                self.renewal_failed(now, Cause::answer(ran.id, detail));
            }
            Ok(Ended::No(_)) => self.lose(now, Loss::Refused, Cause::command(ran.id)),
            // Only the end of an attempt can find a result.
            Ok(Ended::Replayed(_)) | Err(Trouble::Shape) => {
                self.acquire.late_renewal = true;
                self.renewal_failed(now, Cause::command(ran.id));
                return false;
            }
        }
        true
    }

    /// Stores a renewal whose reply is overdue. The machine sends another renewal, but still uses this reply if it
    /// arrives.
    pub(super) fn awaited_still(&mut self, renewal: Running) {
        self.acquire.late_renewal = true;
        if self.acquire.renewals.len() >= MOST_AWAITED {
            self.acquire.renewals.remove(0);
        }
        self.acquire.renewals.push(renewal);
    }

    /// Handles the reply to a renewal that the machine has repeated in the meantime.
    pub(super) fn renewed_late(&mut self, now: Instant, id: CommandId, result: Result<&Reply, Failure>) {
        let Some(at) = self.acquire.renewals.iter().position(|renewal| renewal.id == id) else {
            return;
        };
        let renewal = self.acquire.renewals.remove(at);
        let (Phase::Held, Ok(reply)) = (&self.phase, result) else {
            return;
        };
        match self.subject.ended(reply) {
            Ok(Ended::Own) => self.confirmed(now, renewal.start),
            Ok(Ended::Lost(loss)) => self.lose(now, loss, Cause::command(id)),
            // A slow server would send the same reply to the renewal in flight, with the same delay. So the machine
            // sends the text now.
            Err(Trouble::NoScript) => {
                if let Some(repeated) = self.running.take_if(|running| !running.with_text) {
                    self.awaited_still(repeated);
                    self.run(now, true);
                }
            }
            // The outcome of the renewal in flight decides.
            Ok(Ended::Replayed(_) | Ended::No(_)) | Err(_) => {}
        }
    }

    /// The server has confirmed a renewal that was sent at `start`.
    fn confirmed(&mut self, now: Instant, start: Instant) {
        if self.out.expired(Timer::Validity, now) {
            // The grant has ended by the holder's own clock, and a late answer does not restore it.
            return self.lease_ended(now);
        }
        let &LeaseSettings { ttl, margin, .. } = self.subject.lease();
        let valid_until = lease::valid_until(start, ttl, margin);
        let known = self.out.at(Timer::Validity);
        if known.is_some_and(|known| known > valid_until) {
            return;
        }
        self.acquire.failures = 0;
        self.acquire.trouble = Cause::none();
        self.lease_runs(start, valid_until);
        self.out.event(Event::Extended {
            valid_until: Some(valid_until),
        });
    }

    fn renewal_failed(&mut self, now: Instant, trouble: Cause) {
        self.acquire.trouble = trouble;
        self.retry_later(now);
    }

    /// Ends a grant that was not released. The application gets the event at once; the cleanup follows.
    pub(super) fn lose(&mut self, now: Instant, reason: Loss, cause: Cause) {
        self.out.event(Event::Lost { reason, cause });
        self.acquire.late_renewal |= self.running.take().is_some();
        match reason {
            _ if self.subject.is_claim() => self.stop_in(Phase::Lapsed),
            // This attempt has no lock to clean up, or the client cannot send requests. The machine does not change a
            // lock of another contender.
            Loss::Taken | Loss::Deleted | Loss::ConnectionClosed if !self.in_doubt() => self.rest(),
            _ => self.end(now, End::Release, false),
        }
    }

    /// The grant's validity has ended.
    pub(super) fn lease_ended(&mut self, now: Instant) {
        let cause = core::mem::take(&mut self.acquire.trouble);
        self.lose(now, Loss::LeaseEnded, cause);
    }

    /// Whether this contender holds the lock.
    pub(super) const fn is_held(&self) -> bool {
        matches!(self.phase, Phase::Held)
    }
}

/// How many overdue renewals the machine tracks. A reply is overdue after a third of the lease or earlier, so a lease
/// usually has time for three renewals.
const MOST_AWAITED: usize = 4;

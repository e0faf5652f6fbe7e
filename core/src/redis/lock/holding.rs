//! Holding: renewed by the machine, valid by its own clock.

use crate::{Cause, CommandId, Event, Failure, Instant, Loss, Timer, lease};

use super::super::{
    reply::{self, Compared, Trouble},
    scripts::Script,
    wire::Reply,
};
use super::{Phase, Running, StringLock};

impl StringLock {
    /// A lease that was asked for at `start` runs.
    pub(super) fn lease_runs(&mut self, start: Instant, valid_until: Instant) {
        self.out.set(Timer::Validity, valid_until);
        if self.settings.renew {
            self.out
                .set(Timer::Renew, lease::renew_at(start, self.settings.ttl));
        }
    }

    /// Renews now. If a renewal is under way, its answer will do.
    pub(super) fn renew(&mut self, now: Instant) {
        self.out.stop(Timer::Renew);
        if self.running.is_none() {
            self.out.stop(Timer::Retry);
            self.run(now, Script::Renew, false);
        }
    }

    pub(super) fn renewed(&mut self, now: Instant, ran: Running, result: Result<&Reply, Failure>) -> bool {
        let answer = match result {
            Ok(reply) => reply::compared(reply),
            Err(Failure::Closed) => {
                self.lose(now, Loss::ConnectionClosed, Cause::command(ran.id));
                return true;
            }
            // In doubt or not: asked again until the grant's own time has come.
            Err(failure @ (Failure::NotSent | Failure::Unknown)) => {
                self.late_renewal |= failure == Failure::Unknown;
                self.renewal_failed(now, Cause::command(ran.id));
                return true;
            }
        };
        match answer {
            Ok(Compared::Own) => {
                self.out.stop(Timer::Retry);
                self.confirmed(now, ran.start);
            }
            Ok(Compared::Foreign) => self.lose(now, Loss::Taken, Cause::command(ran.id)),
            Ok(Compared::Absent) => self.lose(now, Loss::Deleted, Cause::command(ran.id)),
            Err(Trouble::NoScript) => self.run(now, Script::Renew, true),
            Err(Trouble::Final(crate::Refusal::WrongType, detail)) => {
                self.lose(now, Loss::Taken, Cause::answer(ran.id, detail));
            }
            Err(Trouble::Transient(detail) | Trouble::Unwritable(detail) | Trouble::Final(_, detail)) => {
                self.renewal_failed(now, Cause::answer(ran.id, detail));
            }
            Err(Trouble::Shape) => {
                self.late_renewal = true;
                self.renewal_failed(now, Cause::command(ran.id));
                return false;
            }
        }
        true
    }

    /// A renewal that was not answered in time is asked for again, and its own answer still counts.
    pub(super) fn awaited_still(&mut self, renewal: Running) {
        self.late_renewal = true;
        if self.renewals.len() >= MOST_AWAITED {
            self.renewals.remove(0);
        }
        self.renewals.push(renewal);
    }

    /// The answer of a renewal that has been asked for again meanwhile.
    pub(super) fn renewed_late(&mut self, now: Instant, id: CommandId, result: Result<&Reply, Failure>) {
        let Some(at) = self.renewals.iter().position(|renewal| renewal.id == id) else {
            return;
        };
        let renewal = self.renewals.remove(at);
        let (Phase::Held, Ok(reply)) = (self.phase, result) else {
            return;
        };
        match reply::compared(reply) {
            Ok(Compared::Own) => self.confirmed(now, renewal.start),
            Ok(Compared::Foreign) => self.lose(now, Loss::Taken, Cause::command(id)),
            Ok(Compared::Absent) => self.lose(now, Loss::Deleted, Cause::command(id)),
            // What comes of the one that is under way counts.
            Err(_) => {}
        }
    }

    /// A renewal that was asked for at `start` has made the lease last.
    fn confirmed(&mut self, now: Instant, start: Instant) {
        if self.out.expired(Timer::Validity, now) {
            // The grant has ended by the holder's own clock, and stays ended.
            return self.lease_ended(now);
        }
        let valid_until = lease::valid_until(start, self.settings.ttl, self.settings.margin);
        let known = self.out.at(Timer::Validity);
        if known.is_some_and(|known| known > valid_until) {
            return;
        }
        self.failures = 0;
        self.trouble = Cause::none();
        self.lease_runs(start, valid_until);
        self.out.event(Event::Extended {
            valid_until: Some(valid_until),
        });
    }

    fn renewal_failed(&mut self, now: Instant, trouble: Cause) {
        self.trouble = trouble;
        self.retry_later(now);
    }

    /// The end of a grant that was not released: told at once, cleaned up behind.
    pub(super) fn lose(&mut self, now: Instant, reason: Loss, cause: Cause) {
        self.out.event(Event::Lost { reason, cause });
        self.late_renewal |= self.running.take().is_some();
        match reason {
            // Nobody else's lock is touched, and ours is not there.
            Loss::Taken | Loss::Deleted | Loss::ConnectionClosed if !self.in_doubt() => self.rest(),
            _ => self.leave(now, false),
        }
    }

    /// The grant's time has come.
    pub(super) fn lease_ended(&mut self, now: Instant) {
        let cause = core::mem::take(&mut self.trouble);
        self.lose(now, Loss::LeaseEnded, cause);
    }

    /// What a late answer of a renewal would be for.
    pub(super) const fn is_held(&self) -> bool {
        matches!(self.phase, Phase::Held)
    }
}

/// How many overdue renewals are waited for: more than a lease has thirds.
const MOST_AWAITED: usize = 4;

//! Releasing the lock: the machine asks until the server has answered, or until the lease has ended.

use core::time::Duration;

use crate::{Cause, Event, Failure, Instant, Loss, Timer, lease};

use super::super::{
    reply::{self, Compared, Trouble},
    scripts::Script,
    wire::Reply,
};
use super::{Earlier, Phase, Running, StringLock, acquiring::TOMBSTONE};

impl StringLock {
    pub(super) fn leave(&mut self, now: Instant, release: bool) {
        self.stop_listening();
        self.out.stop_all();
        self.acquire.failures = 0;
        let earlier = Earlier::No;
        self.go_to(Phase::Leaving { release, earlier });
        self.acquire.late_renewal |= matches!(self.running, Some(running) if running.script == Script::Renew);
        if !self.in_doubt() && !self.acquire.late_renewal {
            // The lease counts from now: the client does not know when the server executed the last request that
            // extended it.
            let end = lease::ended_by(now, self.settings.ttl, self.settings.margin);
            self.out.set(Timer::Validity, end);
        }
        self.run(now, Script::Release, false);
    }

    pub(super) fn released(
        &mut self,
        now: Instant,
        ran: Running,
        result: Result<&Reply, Failure>,
        release: bool,
        earlier: Earlier,
    ) -> bool {
        let answer = match result {
            Ok(reply) => reply::compared(reply),
            Err(Failure::NotSent) => {
                self.retry_later(now);
                return true;
            }
            Err(Failure::Unknown) => {
                self.release_in_doubt(now, release, earlier.or_since(ran.start));
                return true;
            }
            Err(Failure::Closed) => {
                // The client cannot send anything any more: the lock stays until its lease ends.
                if release {
                    let cause = Cause::command(ran.id);
                    self.out.event(Event::Lost {
                        reason: Loss::ConnectionClosed,
                        cause,
                    });
                }
                self.rest();
                return true;
            }
        };
        match answer {
            Ok(Compared::Foreign) if release && !earlier.may_have_released(now) => {
                self.found_lost(Loss::Taken, ran);
            }
            Ok(Compared::Absent) if release && !earlier.may_have_released(now) => {
                self.found_lost(Loss::Deleted, ran);
            }
            Ok(Compared::Own | Compared::Foreign | Compared::Absent) => self.gone(release),
            Err(Trouble::NoScript) => self.run(now, Script::Release, true),
            Err(Trouble::Transient(_)) => self.retry_later(now),
            // The server may have freed the lock and refused only the tombstone.
            Err(Trouble::Unwritable(_)) => self.release_in_doubt(now, release, Earlier::Unmarked),
            Err(Trouble::Final(reason, detail)) => {
                if release {
                    self.out.event(Event::Refused {
                        reason,
                        cause: Cause::answer(ran.id, detail),
                    });
                }
                self.rest();
            }
            Err(Trouble::Shape) => {
                self.release_in_doubt(now, release, Earlier::Unmarked);
                return false;
            }
        }
        true
    }

    fn release_in_doubt(&mut self, now: Instant, release: bool, earlier: Earlier) {
        self.go_to(Phase::Leaving { release, earlier });
        self.retry_later(now);
    }

    /// The release has found that this attempt did not hold the lock any more.
    fn found_lost(&mut self, reason: Loss, ran: Running) {
        self.out.event(Event::Lost {
            reason,
            cause: Cause::command(ran.id),
        });
        self.rest();
    }

    /// This attempt does not hold the lock any more: the server has confirmed it, or the lease has ended.
    pub(super) fn gone(&mut self, release: bool) {
        if release {
            self.out.event(Event::Released);
        }
        self.rest();
    }

    pub(super) fn rest(&mut self) {
        self.stop_listening();
        self.out.stop_all();
        self.running = None;
        self.acquire.in_doubt = false;
        self.acquire.overdue.clear();
        self.go_to(Phase::Idle);
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

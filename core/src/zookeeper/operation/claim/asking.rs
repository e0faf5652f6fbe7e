//! Requesting a claim, and waiting while another attempt runs the operation.

use alloc::boxed::Box;
use core::time::Duration;

use crate::{
    Cause, CommandId, Event, Failure, Grant, Instant, Refusal, Timer,
    claim::{Answer, Request as Asked, Step, outcome},
};

use super::super::{
    super::wire::{Answer as Reply, Request},
    exchange::Exchange,
    snapshot::{Own, Snapshot},
};
use super::{Claimant, End, Hold, Leaving, Phase, Purpose};

/// The time between two rechecks, in session timeouts (randomized): see the locks' recheck.
const TIMEOUTS: u32 = 3;
/// The minimum of the time between two rechecks (before it is randomized), even if the session's timeout is shorter.
const LEAST: Duration = Duration::from_secs(1);

impl Claimant {
    /// Requests the claim for the first time in this acquire.
    pub(super) fn ask_first(&mut self, now: Instant) {
        let request = self.request(Step::Claim(self.settings.claim.clone()));
        let known = Exchange::assumed(&request);
        let exchange = Exchange::new(request, known, self.sets_watch());
        self.go_to(Phase::Asking(Box::new(exchange)));
        match self.session.ended {
            Some(reason) => self.refuse(now, reason, Cause::none()),
            None => self.go(now),
        }
    }

    /// Requests the claim again. `own`: this attempt may already have the claim.
    pub(super) fn ask_again(&mut self, now: Instant, own: bool) {
        self.out.stop(Timer::Poll);
        self.out.stop(Timer::Retry);
        let request = self.request(Step::Claim(self.settings.claim.clone()));
        let exchange = Exchange::new(request, None, self.sets_watch());
        let exchange = if own {
            exchange.after_a_write()
        } else {
            exchange.without_barrier()
        };
        self.go_to(Phase::Asking(Box::new(exchange)));
        self.go(now);
    }

    pub(super) const fn request(&self, step: Step) -> Asked {
        Asked {
            attempt: self.attempt,
            step,
        }
    }

    /// A try does not wait, so it sets no watch.
    const fn sets_watch(&self) -> bool {
        !self.acquire.nonblocking && self.acquire.leases.is_none()
    }

    pub(super) fn asked(&mut self, now: Instant, answer: Answer) {
        match answer {
            Answer::Replayed(record) => {
                self.out.event(Event::Replayed { record });
                self.rest();
            }
            Answer::InProgress { left } => self.in_progress(now, left.map(Duration::from_millis)),
            answer => {
                let reason = outcome::refusal(&answer).unwrap_or(Refusal::GivenUp);
                self.refuse(now, reason, Cause::none());
            }
        }
    }

    /// Another attempt runs the operation. If its lease has ended (`left` is `None`), the record's policy is to block.
    fn in_progress(&mut self, now: Instant, left: Option<Duration>) {
        self.acquire.failures = 0;
        self.acquire.left = left;
        if self.acquire.nonblocking {
            return self.refuse(now, Refusal::InProgress, self.retry_after());
        }
        if !core::mem::replace(&mut self.acquire.was_queued, true) {
            self.out.event(Event::Queued { ahead: None });
        }
        let (watch, version) = match self.phase.exchange() {
            Some(exchange) => (exchange.take_watch(), exchange.version()),
            None => (None, None),
        };
        self.acquire.leases = watch.or(self.acquire.leases);
        self.go_to(Phase::Waiting);
        if watch.is_some() && self.acquire.early == watch {
            self.acquire.leases = None;
        }
        // The watch has fired before the reply, so the reply may be old.
        if left.is_some() && self.acquire.leases.is_none() {
            return self.ask_again(now, false);
        }
        // There is no lease whose end the waiter could watch, so it waits for a change of the record.
        if left.is_none() && self.acquire.record.is_none() {
            let path = self.settings.paths.record();
            self.send(Purpose::WatchRecord(version), Request::Get { path, watch: true });
        }
        self.recheck_later(now);
    }

    /// Handles the reply to the request that watches the record.
    pub(super) fn record_watched(
        &mut self,
        now: Instant,
        id: CommandId,
        version: Option<i32>,
        result: &Result<Reply, Failure>,
    ) {
        let unchanged = matches!(result, Ok(Reply::Data { stat, .. }) if Some(stat.version) == version);
        if matches!(result, Ok(Reply::Data { .. })) && self.acquire.early != Some(id) {
            self.acquire.record = Some(id);
        }
        if matches!(self.phase, Phase::Waiting) && (!unchanged || self.acquire.record.is_none()) {
            match result {
                Ok(_) => self.ask_again(now, false),
                Err(_) => self.retry_later(now),
            }
        }
    }

    /// The cause of a refusal while another attempt runs the operation.
    pub(super) const fn retry_after(&self) -> Cause {
        let mut cause = Cause::none();
        cause.retry_after = self.acquire.left;
        cause
    }

    /// The server has granted the claim.
    pub(super) fn claimed(&mut self, now: Instant, own: Box<Own>) {
        self.acquire.fence = own.record.fence;
        self.acquire.takeovers = own.record.takeovers;
        self.acquire.failures = 0;
        self.go_to(Phase::Proving(own));
        self.grant_if_confirmed(now);
    }

    pub(super) fn grant_if_confirmed(&mut self, now: Instant) {
        let Some(valid_until) = self.session.lasts_until(now) else {
            return;
        };
        let Phase::Proving(own) = &self.phase else {
            return;
        };
        let own = own.clone();
        self.go_to(Phase::Held(Hold {
            own,
            suspended: false,
            watch: None,
            gone: false,
        }));
        self.out.stop_all();
        self.out.set(Timer::Validity, valid_until);
        self.recheck_later(now);
        self.acquire.trouble = Cause::none();
        self.out.event(Event::Acquired {
            grant: Grant {
                attempt: self.attempt,
                fence: Some(self.acquire.fence),
                takeovers: self.acquire.takeovers,
                valid_until: Some(valid_until),
            },
        });
    }

    /// The time that the session's proof may take, if the grant lacks only this proof.
    pub(super) fn unproved(&self, now: Instant) -> Option<Duration> {
        let proving = matches!(self.phase, Phase::Proving(_));
        let unproved = self.session.connected && self.session.lasts_until(now).is_none();
        self.session
            .timeout
            .checked_div(2)
            .filter(|_| proving && unproved)
    }

    /// Schedules the next recheck of the watched nodes.
    pub(super) fn recheck_later(&mut self, now: Instant) {
        let about = self.session.timeout.saturating_mul(TIMEOUTS).max(LEAST);
        let wait = self.jitter.spread(about);
        self.out.set_after(Timer::Poll, now, wait);
    }

    /// Ends an acquire that failed. The application gets the event at once; the cleanup follows.
    pub(super) fn refuse(&mut self, now: Instant, reason: Refusal, cause: Cause) {
        self.out.event(Event::Refused { reason, cause });
        let known = match &self.phase {
            Phase::Asking(exchange) if exchange.may_have_written() => None,
            Phase::Proving(own) => Some(Snapshot::of_claim(own)),
            _ => return self.rest(),
        };
        if self.session.ended.is_some() {
            return self.rest();
        }
        // The operation has not run, because the application had no grant.
        let exchange = Exchange::new(self.request(Step::Release), known, false);
        self.stop_in(Phase::Leaving(Box::new(Leaving {
            exchange,
            end: End::Release,
            reported: false,
            before: None,
        })));
        self.go(now);
    }
}

//! Holding a claim: the session lease confirms the grant, and the client watches its own lease.

use alloc::boxed::Box;

use crate::{
    Cause, CommandId, Event, Failure, Instant, Loss, Timer,
    claim::{Answer as Asked, Known, Step, decide, outcome},
};

use super::super::{
    super::{
        Verdict, classify_error,
        wire::{Answer, Request, Stat, code},
    },
    exchange::Exchange,
    snapshot::Snapshot,
    stored,
};
use super::{Claimant, Phase, Purpose};

impl Claimant {
    /// Handles a confirmation: the session is alive until a later time.
    pub(super) fn session_confirmed(&mut self, now: Instant, valid_until: Instant) {
        self.session.valid_until = Some(valid_until);
        match &self.phase {
            Phase::Proving(_) => self.grant_if_confirmed(now),
            // The grant has ended by the holder's own clock. A late confirmation does not restore it.
            Phase::Held(_) if self.out.expired(Timer::Validity, now) => {
                self.lose(now, Loss::LeaseEnded, Cause::none());
            }
            // The lease was deleted, so a confirmation of the session does not extend the claim.
            Phase::Held(hold) if hold.gone => {}
            Phase::Held(hold) => {
                let suspended = hold.suspended;
                self.out.set(Timer::Validity, valid_until);
                if !suspended {
                    self.out.event(Event::Extended {
                        valid_until: Some(valid_until),
                    });
                }
                self.watch_own();
            }
            // The server is alive, so it may still answer the end of the claim.
            Phase::Leaving(leaving) if leaving.reported => self.out.set(Timer::Validity, valid_until),
            Phase::Idle | Phase::Asking(_) | Phase::Waiting | Phase::Leaving(_) | Phase::Lapsed(_) => {}
        }
    }

    /// Reads and watches the claimant's lease, unless it has a watch or the request for a watch is in flight.
    pub(super) fn watch_own(&mut self) {
        let Phase::Held(hold) = &self.phase else { return };
        let under_way = self
            .pending
            .iter()
            .any(|(_, purpose)| *purpose == Purpose::WatchOwn);
        if hold.watch.is_none() && !under_way && self.session.connected {
            self.read_own(Purpose::WatchOwn);
        }
    }

    pub(super) fn read_own(&mut self, purpose: Purpose) {
        let path = self.settings.paths.lease(&self.attempt);
        let watch = purpose == Purpose::WatchOwn;
        self.send(purpose, Request::Get { path, watch });
    }

    /// Handles the reply to a read of the claimant's lease.
    pub(super) fn own_read(
        &mut self,
        now: Instant,
        id: CommandId,
        watched: bool,
        result: &Result<Answer, Failure>,
    ) {
        let Phase::Held(hold) = &mut self.phase else {
            return;
        };
        match result {
            Ok(Answer::Data { stat, .. }) if self.session.owns(stat) => {
                if watched {
                    hold.watch = Some(id);
                }
                self.resume(now);
            }
            Ok(Answer::Error(code::NO_NODE)) => self.lease_gone(),
            Ok(Answer::Data { .. }) => self.lose(now, Loss::Deleted, Cause::command(id)),
            Ok(Answer::Error(error)) => match classify_error(*error, id, "reading our lease") {
                Verdict::Final(_, cause) if hold.suspended => self.lose(now, Loss::Refused, cause),
                Verdict::Transient if hold.suspended => self.retry_later(now),
                Verdict::Final(..) | Verdict::Transient => {}
            },
            Ok(_) | Err(_) if hold.suspended => self.retry_later(now),
            Ok(_) | Err(_) => {}
        }
    }

    /// Another client has deleted the claimant's lease. The record shows whether that client has ended the claim. The
    /// client reads the record after the lease, so the record is not older.
    pub(super) fn lease_gone(&mut self) {
        let Phase::Held(hold) = &mut self.phase else {
            return;
        };
        hold.gone = true;
        let is_asked = |(_, purpose): &(CommandId, Purpose)| *purpose == Purpose::WhyGone;
        if self.session.connected && !self.pending.iter().any(is_asked) {
            let path = self.settings.paths.record();
            self.send(Purpose::WhyGone, Request::Get { path, watch: false });
        }
    }

    /// Handles the reply to the read of the record. The claimant reports the loss that a renewal would report.
    pub(super) fn why_gone(&mut self, now: Instant, id: CommandId, result: &Result<Answer, Failure>) {
        let (reason, cause) = match result {
            Ok(Answer::Data { data, stat }) => (self.loss_by(data, stat), Cause::command(id)),
            Ok(Answer::Error(code::NO_NODE)) => (Loss::Deleted, Cause::command(id)),
            Ok(Answer::Error(error)) => match classify_error(*error, id, "reading our record") {
                Verdict::Final(_, cause) => (Loss::Deleted, cause),
                Verdict::Transient => return self.retry_later(now),
            },
            Ok(_) | Err(_) => return self.retry_later(now),
        };
        self.lose(now, reason, cause);
    }

    /// The loss that a renewal would report on Redis. If a renewal would extend the lease, the record has not changed,
    /// and only the lease was deleted.
    fn loss_by(&self, record: &[u8], stat: &Stat) -> Loss {
        let known = Known {
            record: stored::read(record, stat, |_| false, 0),
            tombstone: None,
            operation: Ok(None),
        };
        let renewal = self.request(Step::Renew { lease: 0 });
        match decide(known, &renewal, stored::changed(stat)).answer {
            Asked::Lost(lost) => outcome::loss(lost),
            _ => Loss::Deleted,
        }
    }

    /// The client has read the claimant's lease again, in the same session.
    fn resume(&mut self, now: Instant) {
        let Some(valid_until) = self.session.confirmed(now) else {
            return;
        };
        if let Phase::Held(hold) = &mut self.phase
            && core::mem::take(&mut hold.suspended)
        {
            self.acquire.failures = 0;
            self.out.event(Event::Resumed {
                valid_until: Some(valid_until),
            });
        }
    }

    /// The grant has ended without a request of the application. If the claimant's lease may still exist, it would
    /// block the operation until the session ends. So the machine leaves the claim.
    pub(super) fn lose(&mut self, now: Instant, reason: Loss, cause: Cause) {
        let known = match &self.phase {
            Phase::Held(hold) if matches!(reason, Loss::LeaseEnded | Loss::Refused) => {
                Some(Snapshot::of_claim(&hold.own))
            }
            _ => None,
        };
        self.out.event(Event::Lost { reason, cause });
        let leave = known.map(|known| Box::new(Exchange::new(self.request(Step::Leave), Some(known), false)));
        self.stop_in(Phase::Lapsed(leave));
        self.go(now);
    }
}

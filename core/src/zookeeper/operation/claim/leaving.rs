//! The end of a claim: the machine repeats the request until the server has answered, or until the last confirmation of
//! the session expires.

use alloc::boxed::Box;

use crate::{
    Cause, Event, Instant, Loss, Refusal, Timer,
    claim::{Answer, Step, outcome},
};

use super::super::{exchange::Exchange, snapshot::Snapshot};
use super::{Claimant, End, Hold, Leaving, Phase};

impl Claimant {
    /// The application ends the claim.
    pub(super) fn end(&mut self, now: Instant, end: End) {
        let before = match &self.phase {
            Phase::Held(hold) => self
                .out
                .at(Timer::Validity)
                .map(|until| (hold.own.clone(), until)),
            _ => None,
        };
        let known = before.as_ref().map(|(own, _)| Snapshot::of_claim(own));
        let step = match &end {
            End::Release => Step::Release,
            End::Leave => Step::Leave,
            End::Complete(content) => Step::Complete(content.clone()),
        };
        let exchange = Exchange::new(self.request(step), known, false);
        // A lost claim has no end of validity. The server then gets the session's timeout to answer.
        let limit = self.session.timeout.max(self.settings.answer_within);
        let until = before
            .as_ref()
            .map_or_else(|| now.plus(limit), |(_, until)| *until);
        self.acquire.failures = 0;
        self.stop_in(Phase::Leaving(Box::new(Leaving {
            exchange,
            end,
            reported: true,
            before,
        })));
        self.out.set(Timer::Validity, until);
        self.go(now);
    }

    /// The server has answered the end of the claim.
    pub(super) fn ended(&mut self, now: Instant, answer: Answer) {
        let Phase::Leaving(leaving) = &mut self.phase else {
            return;
        };
        let event = match answer {
            Answer::Completed => match core::mem::replace(&mut leaving.end, End::Release) {
                End::Complete(content) => {
                    outcome::completed(self.attempt, self.acquire.fence, self.acquire.takeovers, content)
                }
                End::Release | End::Leave => Event::Released,
            },
            Answer::Released => Event::Released,
            Answer::Replayed(record) => Event::Replayed { record },
            Answer::Lost(lost) => Event::Lost {
                reason: outcome::loss(lost),
                cause: Cause::none(),
            },
            answer => {
                let reason = outcome::refusal(&answer).unwrap_or(Refusal::GivenUp);
                return self.end_refused(now, reason, Cause::none());
            }
        };
        if leaving.reported {
            self.out.event(event);
        }
        self.rest();
    }

    /// The server refuses to end the claim. The claim continues, so that the application can end it in another way.
    pub(super) fn end_refused(&mut self, now: Instant, reason: Refusal, cause: Cause) {
        let Phase::Leaving(leaving) = &mut self.phase else {
            return;
        };
        if !leaving.reported {
            return self.rest();
        }
        let before = leaving.before.take();
        let valid_until = self.session.valid_until;
        self.out.event(Event::Refused { reason, cause });
        let Some((own, until)) = before else {
            return self.stop_in(Phase::Lapsed(None));
        };
        let until = valid_until.map_or(until, |latest| latest.max(until));
        if until <= now {
            return self.lose(now, Loss::LeaseEnded, Cause::none());
        }
        let suspended = !self.session.connected;
        if suspended {
            self.out.event(Event::Suspended);
        }
        self.stop_in(Phase::Held(Hold {
            own,
            suspended,
            watch: None,
            gone: false,
        }));
        self.out.set(Timer::Validity, until);
        self.recheck_later(now);
        self.watch_own();
    }

    /// The server has not answered before the session's last confirmation expired. Reports a loss to the application:
    /// the server may not have stored the result, or may not have freed the released operation. A leave is not reported
    /// here, but only when the lease has certainly ended, as for the release of a lock.
    pub(super) fn unanswered(&mut self, now: Instant) {
        match &self.phase {
            Phase::Leaving(leaving) if leaving.reported && leaving.end != End::Leave => {}
            _ => return,
        }
        let cause = core::mem::take(&mut self.acquire.trouble);
        self.out.event(Event::Lost {
            reason: Loss::LeaseEnded,
            cause,
        });
        let leave = Exchange::new(self.request(Step::Leave), None, false);
        self.stop_in(Phase::Lapsed(Some(Box::new(leave))));
        self.go(now);
    }

    pub(super) fn rest(&mut self) {
        self.stop_in(Phase::Idle);
    }

    /// Stops all timers, forgets all pending commands, and enters this phase.
    pub(super) fn stop_in(&mut self, phase: Phase) {
        self.out.stop_all();
        self.pending.clear();
        self.go_to(phase);
    }
}

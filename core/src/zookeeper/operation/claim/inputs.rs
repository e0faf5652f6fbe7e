//! The inputs of a claimant: outcomes, notices, time.

use crate::{
    Cause, CommandId, Event, Instant, Loss, Machine, Misuse, Outcome, Output, Refusal, Timer, io::sealed,
};

use super::super::super::{
    session::SessionChange,
    wire::{Notice, Reply, Request, WatchEvent},
};
use super::{Claimant, Phase, Purpose};

impl sealed::Sealed for Claimant {}

impl Machine for Claimant {
    type Request = Request;
    type Reply = Reply;
    type Notice = Notice;
    type Event = Event;

    fn handle_outcome(&mut self, now: Instant, id: CommandId, outcome: Outcome<Reply>) -> Result<(), Misuse> {
        if let Some(at) = self.pending.iter().position(|(waiting, _)| *waiting == id) {
            let (_, purpose) = self.pending.remove(at);
            let (result, verdict) = self.session.read(id, outcome, "data");
            match purpose {
                Purpose::WatchOwn => self.own_read(now, id, true, &result),
                Purpose::RecheckOwn => self.own_read(now, id, false, &result),
                Purpose::WhyGone => self.why_gone(now, id, &result),
                Purpose::WatchRecord(version) => self.record_watched(now, id, version, &result),
            }
            return verdict;
        }
        let Some(expected) = self.phase.exchange().and_then(|exchange| exchange.expects(id)) else {
            return Ok(());
        };
        let (result, verdict) = self.session.read(id, outcome, expected);
        let progress = self.with_exchange(|exchange, wire| exchange.answered(id, result, wire));
        if let Some(progress) = progress {
            self.advance(now, progress);
        }
        verdict
    }

    fn handle_notice(&mut self, now: Instant, notice: Notice) -> Result<(), Misuse> {
        match notice {
            Notice::Watch { id, session, event } => {
                // After a suspension the client reads everything again, so it does not need the old watches.
                if self.session.id == Some(session) && self.session.connected {
                    self.watch_fired(now, id, event);
                }
            }
            Notice::Session {
                state,
                session,
                timeout,
            } => {
                let change = self.session.change(state, session, timeout);
                self.session_changed(now, change);
            }
            Notice::Confirmed { session, valid_until } => {
                if self.session.id == Some(session) {
                    self.session_confirmed(now, valid_until);
                }
            }
        }
        Ok(())
    }

    fn handle_timeout(&mut self, now: Instant) {
        let unproved = self.unproved(now);
        if self.acquire.grace.is_over(&mut self.out, now, unproved) && self.is_waiting() {
            let trouble = core::mem::take(&mut self.acquire.trouble);
            let (reason, cause) = if self.acquire.was_queued && self.session.connected {
                let retry_after = self.acquire.left;
                let cause = Cause {
                    retry_after,
                    ..trouble
                };
                (Refusal::InProgress, cause)
            } else {
                (Refusal::Unreachable, trouble)
            };
            self.refuse(now, reason, cause);
        }
        if self.out.expired(Timer::Validity, now) {
            match &self.phase {
                Phase::Held(_) => self.lose(now, Loss::LeaseEnded, Cause::none()),
                Phase::Leaving(_) => self.unanswered(now),
                _ => {}
            }
        }
        if self.out.expired(Timer::Retry, now) {
            self.go_on(now);
        }
        if self.out.expired(Timer::Poll, now) {
            self.recheck(now);
        }
    }

    fn poll_output(&mut self) -> Output<Request, Event> {
        self.out.poll()
    }
}

impl Claimant {
    const fn is_waiting(&self) -> bool {
        matches!(self.phase, Phase::Asking(_) | Phase::Waiting | Phase::Proving(_))
    }

    fn watch_fired(&mut self, now: Instant, id: CommandId, event: WatchEvent) {
        let known = self.forget_watch(id);
        match &mut self.phase {
            Phase::Held(hold) if hold.watch == Some(id) => {
                hold.watch = None;
                if event == WatchEvent::Deleted {
                    self.lease_gone();
                } else {
                    self.watch_own();
                }
            }
            Phase::Waiting if known => self.ask_again(now, false),
            // The notice may have arrived before the reply to the request that set the watch.
            Phase::Asking(_) | Phase::Waiting if !known => self.acquire.early = Some(id),
            _ => {}
        }
    }

    /// A watch has fired. Returns whether it was one of this acquire's watches.
    fn forget_watch(&mut self, id: CommandId) -> bool {
        let leases = self.acquire.leases.take_if(|watch| *watch == id).is_some();
        let record = self.acquire.record.take_if(|watch| *watch == id).is_some();
        leases || record
    }

    /// Continues after a pause.
    fn go_on(&mut self, now: Instant) {
        match self.phase {
            Phase::Held(_) => self.watch_own(),
            Phase::Waiting => self.ask_again(now, false),
            Phase::Idle | Phase::Asking(_) | Phase::Proving(_) | Phase::Leaving(_) | Phase::Lapsed(_) => {
                self.go(now);
            }
        }
    }

    /// Reads the watched nodes again, because a client can miss the event of a watch, as with locks.
    fn recheck(&mut self, now: Instant) {
        match self.phase {
            Phase::Held(_) => {
                self.recheck_later(now);
                if self.session.connected {
                    self.read_own(Purpose::RecheckOwn);
                }
            }
            Phase::Waiting if self.session.connected => self.ask_again(now, false),
            _ => {}
        }
    }

    fn session_changed(&mut self, now: Instant, change: SessionChange) {
        match change {
            SessionChange::None => {}
            SessionChange::Connected { is_new } => {
                if is_new {
                    self.session_over(now);
                }
                self.acquire.failures = 0;
                self.reconnected(now);
            }
            SessionChange::Suspended => self.suspend(),
            SessionChange::Over => self.session_over(now),
            SessionChange::Ended(reason) => self.no_session(now, reason),
        }
    }

    /// The client is connected, for the first time or again. Watches may be lost, so the client reads everything again.
    fn reconnected(&mut self, now: Instant) {
        match &self.phase {
            Phase::Waiting => self.ask_again(now, false),
            Phase::Proving(_) => self.ask_again(now, true),
            Phase::Held(_) => self.watch_own(),
            Phase::Idle | Phase::Asking(_) | Phase::Leaving(_) | Phase::Lapsed(_) => self.go(now),
        }
    }

    /// The connection is lost. Until it is back, the holder must start no new work. The grant still ends at its time.
    fn suspend(&mut self) {
        self.out.stop(Timer::Retry);
        self.forget_connection();
        if let Some(exchange) = self.phase.exchange() {
            exchange.suspended();
        }
        if let Phase::Held(hold) = &mut self.phase {
            hold.watch = None;
            if !core::mem::replace(&mut hold.suspended, true) {
                self.out.event(Event::Suspended);
            }
        }
    }

    fn forget_connection(&mut self) {
        self.pending.clear();
        self.acquire.leases = None;
        self.acquire.record = None;
        self.acquire.early = None;
    }

    /// The session has ended, and the server has deleted the claimant's lease. A holder has lost its claim. A claimant
    /// without a grant requests the claim again in the next session. The record contains its attempt, so it finds its
    /// own claim.
    fn session_over(&mut self, now: Instant) {
        self.out.purge_commands();
        self.forget_connection();
        if let Some(exchange) = self.phase.exchange() {
            exchange.session_over();
        }
        match &self.phase {
            Phase::Held(_) => self.lose(now, Loss::SessionExpired, Cause::none()),
            Phase::Waiting => self.ask_again(now, false),
            Phase::Proving(_) => self.ask_again(now, true),
            Phase::Lapsed(Some(_)) => self.stop_in(Phase::Lapsed(None)),
            Phase::Idle | Phase::Asking(_) | Phase::Leaving(_) | Phase::Lapsed(None) => {}
        }
    }

    /// The client library will not make another session.
    fn no_session(&mut self, now: Instant, reason: Refusal) {
        self.out.purge_commands();
        self.forget_connection();
        match &self.phase {
            Phase::Held(_) => self.lose(now, Loss::ConnectionClosed, Cause::none()),
            Phase::Asking(_) | Phase::Waiting | Phase::Proving(_) => self.refuse(now, reason, Cause::none()),
            Phase::Leaving(leaving) => {
                if leaving.reported {
                    self.out.event(Event::Lost {
                        reason: Loss::ConnectionClosed,
                        cause: Cause::none(),
                    });
                }
                self.rest();
            }
            Phase::Lapsed(Some(_)) => self.stop_in(Phase::Lapsed(None)),
            Phase::Idle | Phase::Lapsed(None) => {}
        }
    }
}

//! The inputs of a multi-lock. Each place knows its own commands. All other commands belong to the transaction.

use crate::{
    Cause, CommandId, Event, Failure, Instant, Machine, Misuse, Outcome, Output, Refusal, SessionId, Timer,
    io::sealed,
};

use super::super::{
    Contender,
    wire::{Answer, Notice, Reply, Request, SessionState},
};
use super::{MultiLock, Phase};

impl sealed::Sealed for MultiLock {}

impl Machine for MultiLock {
    type Request = Request;
    type Reply = Reply;
    type Notice = Notice;
    type Event = Event;

    fn handle_outcome(&mut self, now: Instant, id: CommandId, outcome: Outcome<Reply>) -> Result<(), Misuse> {
        let verdict = if self.enqueuing == Some(id) {
            let result = self.read(outcome);
            self.enqueued(now, id, result)
        } else if let Some(made) = self.parents.iter().position(|(parent, _)| *parent == id) {
            let (_, mode) = self.parents.remove(made);
            let result = self.read(outcome);
            self.parent_made(now, id, mode, &result);
            Ok(())
        } else {
            // Each place handles its own commands and ignores all others.
            let mut verdict = Ok(());
            for place in &mut self.places {
                let outcome = outcome.clone();
                let put = |contender: &mut Contender| contender.handle_outcome(now, id, outcome);
                verdict = verdict.and(place.contender.with_command_ids(&mut self.out, put));
            }
            verdict
        };
        self.drain_events(now);
        verdict
    }

    fn handle_notice(&mut self, now: Instant, notice: Notice) -> Result<(), Misuse> {
        if let Notice::Session { state, session, .. } = notice {
            self.session_changed(state, session);
        }
        for place in &mut self.places {
            let notice = notice.clone();
            place
                .contender
                .with_command_ids(&mut self.out, |contender| contender.handle_notice(now, notice))?;
        }
        if let Notice::Session { .. } = notice {
            self.out.stop(Timer::Retry);
            if self.session.is_none() {
                self.deferred.flush(&mut self.out);
            }
            if let (Some(reason), Phase::Enqueuing | Phase::Waiting | Phase::Restarting) =
                (self.ended, self.phase)
            {
                self.refuse(now, reason, Cause::none());
            } else if self.phase == Phase::Enqueuing && self.enqueuing.is_none() {
                self.enqueue(self.parents_made > 0);
            }
        }
        self.drain_events(now);
        Ok(())
    }

    fn handle_timeout(&mut self, now: Instant) {
        let mut places = self.places.iter().filter(|_| self.reported.is_none());
        let unproved = places.find_map(|place| place.contender.unproved(now));
        if self.grace.is_over(&mut self.out, now, unproved) {
            let reason = if self.reported.is_some() && self.session.is_some() {
                Refusal::Timeout
            } else {
                Refusal::Unreachable
            };
            if matches!(self.phase, Phase::Enqueuing | Phase::Waiting | Phase::Restarting) {
                self.refuse(now, reason, Cause::none());
            } else {
                self.deferred.flush(&mut self.out);
            }
        }
        if self.out.expired(Timer::Retry, now) && self.phase == Phase::Enqueuing && self.enqueuing.is_none() {
            self.enqueue(self.parents_made > 0);
        }
        for place in &mut self.places {
            place
                .contender
                .with_command_ids(&mut self.out, |contender| contender.handle_timeout(now));
        }
        self.drain_events(now);
    }

    fn poll_output(&mut self) -> Output<Request, Event> {
        let mut earliest = match self.out.poll() {
            Output::Wait(wait) => wait,
            output => return output,
        };
        for place in &mut self.places {
            match place.contender.poll_output() {
                Output::Wait(wait) => earliest = earliest.or_earlier(wait),
                output => return output,
            }
        }
        Output::Wait(earliest)
    }
}

impl MultiLock {
    fn read(&self, outcome: Outcome<Reply>) -> Result<Answer, Failure> {
        match outcome {
            Outcome::Failed(failure) => Err(failure),
            // The commands known here belong to the present session. The comparison of sessions is a second safeguard.
            Outcome::Reply(reply) if self.session.is_some_and(|session| session != reply.session) => {
                Err(Failure::Unknown)
            }
            Outcome::Reply(reply) if reply.is_made_up() => Err(Failure::Unknown),
            Outcome::Reply(reply) => Ok(reply.answer),
        }
    }

    fn session_changed(&mut self, state: SessionState, session: SessionId) {
        match state {
            SessionState::Connected => {
                self.session = Some(session);
                self.moved = self.known.replace(session) == Some(session);
                self.ended = None;
            }
            SessionState::Connecting => (self.session, self.ended) = (None, None),
            SessionState::Suspended => self.session = None,
            SessionState::Expired | SessionState::AuthFailed | SessionState::Closed => {
                self.session = None;
                // The server has deleted the nodes with the session.
                self.enqueuing = None;
                self.ended = match state {
                    SessionState::AuthFailed => Some(Refusal::AuthFailed),
                    SessionState::Closed => Some(Refusal::ConnectionClosed),
                    _ => None,
                };
            }
        }
        self.parents.clear();
    }
}

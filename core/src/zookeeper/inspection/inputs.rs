//! The inputs of an inspection: outcomes, notices of the session, time.

use crate::{
    Cause, CommandId, Event, Failure, Instant, Machine, Misuse, Outcome, Output, Refusal, Timer, io::sealed,
};

use super::super::wire::{Notice, Reply, Request, SessionState};
use super::{Inspection, Phase};

impl sealed::Sealed for Inspection {}

impl Machine for Inspection {
    type Request = Request;
    type Reply = Reply;
    type Notice = Notice;
    type Event = Event;

    fn handle_outcome(&mut self, now: Instant, id: CommandId, outcome: Outcome<Reply>) -> Result<(), Misuse> {
        if !self.waits_for(id) {
            return Ok(());
        }
        let result = match outcome {
            Outcome::Failed(failure) => Err(failure),
            Outcome::Reply(reply) if Some(reply.session) != self.session || reply.is_made_up() => {
                Err(Failure::Unknown)
            }
            Outcome::Reply(reply) => Ok(reply.answer),
        };
        self.settle(now, id, result)
    }

    fn handle_notice(&mut self, _now: Instant, notice: Notice) -> Result<(), Misuse> {
        let Notice::Session { state, session, .. } = notice else {
            return Ok(());
        };
        let wanted = !self.is_idle();
        if wanted {
            self.doubt();
            self.go_to(Phase::Wanted);
            self.out.stop(Timer::Retry);
        }
        self.out.purge_commands();
        match state {
            SessionState::Connected => {
                self.session = Some(session);
                self.ended = None;
                if wanted {
                    self.begin();
                }
            }
            SessionState::Connecting => (self.session, self.ended) = (None, None),
            SessionState::Suspended | SessionState::Expired => self.session = None,
            SessionState::AuthFailed | SessionState::Closed => {
                let reason = match state {
                    SessionState::AuthFailed => Refusal::AuthFailed,
                    _ => Refusal::ConnectionClosed,
                };
                self.session = None;
                self.ended = Some(reason);
                if wanted {
                    self.refuse(reason, Cause::none());
                }
            }
        }
        Ok(())
    }

    fn handle_timeout(&mut self, now: Instant) {
        if self.out.expired(Timer::AcquireTimeout, now) && !self.is_idle() {
            self.refuse(Refusal::Unreachable, Cause::none());
        }
        if self.out.expired(Timer::Retry, now) && self.phase == Phase::Wanted {
            self.begin();
        }
    }

    fn poll_output(&mut self) -> Output<Request, Event> {
        self.out.poll()
    }
}

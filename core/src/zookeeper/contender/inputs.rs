//! What is put in: outcomes, notices, time. Everything arrives here and is handed to the room it is for.

use crate::{
    Cause, CommandId, Event, Failure, Instant, Loss, Machine, Misuse, Outcome, Output, Refusal, SessionId,
    Timer, io::sealed,
};

use super::super::{
    disposal::Handled,
    wire::{Answer, Notice, Reply, Request, SessionState},
};
use super::{CREATED, CREATED_OWN, Contender, Phase, Purpose, downgrade::Turning, entering::Entering};

impl sealed::Sealed for Contender {}

impl Machine for Contender {
    type Request = Request;
    type Reply = Reply;
    type Notice = Notice;
    type Event = Event;

    fn handle_outcome(&mut self, now: Instant, id: CommandId, outcome: Outcome<Reply>) -> Result<(), Misuse> {
        let purpose = self
            .pending
            .iter()
            .find(|(waiting, _)| *waiting == id)
            .map(|(_, purpose)| *purpose);
        let Some(expected) = purpose
            .map(Purpose::expects)
            .or_else(|| self.disposal.expects(id))
        else {
            return Ok(());
        };
        let (result, verdict) = self.read(id, outcome, expected);
        self.forget(id);
        match purpose {
            Some(Purpose::Parent(mode)) => self.parent_made(now, id, mode, &result),
            Some(Purpose::Create) => self.created(now, id, result),
            Some(Purpose::Barrier) => self.barrier_passed(now, &result),
            Some(Purpose::List) => self.listed(now, id, result),
            Some(Purpose::WatchNeighbour) => self.neighbour_watched(now, id, result),
            Some(Purpose::LookAgain | Purpose::CountAgain) => self.looked_again(now, id, &result),
            Some(Purpose::WatchOwn) if self.own_watch == Some(id) => self.own_watched(now, id, &result),
            // A watch that was set later is perhaps another node's.
            Some(Purpose::LookOwn) if self.own_watch.is_some_and(|watch| watch < id) => {
                self.own_watched(now, id, &result);
            }
            Some(Purpose::WatchOwn | Purpose::LookOwn) => {}
            Some(Purpose::Adopt) => self.adopted(now, id, &result),
            Some(Purpose::Look) => self.looked(now, id, result),
            Some(Purpose::Downgrade) => self.turned(now, id, &result),
            None => self.disposed(now, id, &result),
        }
        verdict
    }

    fn handle_notice(&mut self, now: Instant, notice: Notice) -> Result<(), Misuse> {
        match notice {
            Notice::Watch { id, session, event } => {
                // After a suspend everything is read again: what old watches say adds nothing then.
                if self.session.id == Some(session) && self.session.connected {
                    self.watch_fired(now, id, event);
                }
            }
            Notice::Session {
                state,
                session,
                timeout,
            } => {
                // Drivers know it of a session that is there: of another they may say nothing.
                if state == SessionState::Connected {
                    self.session.timeout = timeout;
                }
                self.session_changed(now, state, session);
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
        let unproved = self.unproved();
        if self.grace.is_over(&mut self.out, now, unproved) {
            let reason = if self.placed {
                Refusal::Timeout
            } else {
                Refusal::Unreachable
            };
            if self.is_waiting() {
                self.refuse(now, reason, Cause::none());
            } else {
                self.farewell.hurry(&mut self.out);
            }
        }
        if self.out.expired(Timer::Validity, now) && matches!(self.phase, Phase::Held { .. }) {
            self.lose(Loss::LeaseEnded, Cause::none());
        }
        if self.out.expired(Timer::MaxHold, now) && matches!(self.phase, Phase::Held { .. }) {
            self.lose(Loss::MaxHold, Cause::none());
        }
        if self.out.expired(Timer::Retry, now) {
            self.go_on();
        }
        if self.out.expired(Timer::Poll, now) {
            self.look_again(now);
        }
    }

    fn poll_output(&mut self) -> Output<Request, Event> {
        self.out.poll()
    }
}

impl Contender {
    /// Reads an outcome: an answer of another session, or of the wrong shape, is no answer.
    ///
    /// Commands and watches known here are of this session: its end forgets them, and no driver sends later what it was given before a session
    /// notice. So the compare is the second line, against drivers that take one session for the other.
    fn read(
        &self,
        id: CommandId,
        outcome: Outcome<Reply>,
        expected: &'static str,
    ) -> (Result<Answer, Failure>, Result<(), Misuse>) {
        let answer = match outcome {
            Outcome::Failed(failure) => return (Err(failure), Ok(())),
            Outcome::Reply(reply) if self.session.id != Some(reply.session) || reply.is_made_up() => {
                return (Err(Failure::Unknown), Ok(()));
            }
            Outcome::Reply(reply) => reply.answer,
        };
        let fits = match &answer {
            Answer::Created { path, .. } => {
                expected == CREATED && self.is_above(path)
                    || expected == CREATED_OWN && self.is_own_path(path)
            }
            Answer::Children(_) => expected == "children",
            Answer::Data { .. } => expected == "data",
            Answer::Done => expected == "done",
            Answer::Error(_) => true,
        };
        if fits {
            (Ok(answer), Ok(()))
        } else {
            (
                Err(Failure::Unknown),
                Err(Misuse::WrongReply { id: id.0, expected }),
            )
        }
    }

    /// Whether a node made by our create could be called so: anything else would be looked for in vain.
    fn is_own_path(&self, path: &str) -> bool {
        let settings = &self.settings;
        self.name_in(path)
            .is_some_and(|name| settings.layout.names(settings.role, &self.attempt, name))
    }

    /// Whether a path is that of a directory which the lock lies in.
    fn is_above(&self, path: &str) -> bool {
        self.parents().any(|(parent, _)| parent == path)
    }

    /// The name of a node in the lock's directory.
    pub(super) fn name_in<'a>(&self, path: &'a str) -> Option<&'a str> {
        path.strip_prefix(&self.settings.directory)?.strip_prefix('/')
    }

    const fn is_waiting(&self) -> bool {
        matches!(self.phase, Phase::Entering(_) | Phase::Queued(_) | Phase::First)
    }

    fn disposed(&mut self, now: Instant, id: CommandId, result: &Result<Answer, Failure>) {
        let handled = self.disposal.outcome(id, result, &self.settings, &mut self.out);
        if handled == Handled::Retry {
            self.retry_later(now);
        } else if self.session.connected {
            self.advance_disposal();
        }
        // Something of ours stays, perhaps before us, where nobody would ever make way; and what we wait with would stay, too.
        if self.is_waiting()
            && let Some((reason, cause)) = self.complaint()
        {
            self.refuse(now, reason, cause);
        }
        if let Some(id) = self.disposal.take_loss() {
            self.farewell
                .lose(Loss::Deleted, Cause::command(id), &mut self.out);
        }
        self.advance_leaving();
    }

    fn session_changed(&mut self, now: Instant, state: SessionState, session: SessionId) {
        match state {
            SessionState::Connecting => {}
            SessionState::Connected => {
                let known = self.session.id.replace(session);
                self.session.moved = known == Some(session);
                if known.is_some_and(|known| known != session) {
                    self.expired();
                    self.session.id = Some(session);
                }
                self.session.connected = true;
                self.session.ended = None;
                self.failures = 0;
                self.reconnected();
            }
            SessionState::Suspended => {
                self.session.id.get_or_insert(session);
                self.suspend();
            }
            SessionState::Expired => self.expired(),
            SessionState::AuthFailed => self.ended(now, Refusal::AuthFailed),
            SessionState::Closed => self.ended(now, Refusal::ConnectionClosed),
        }
    }

    /// The session is over. A holder has lost its lock; a waiter queues again in the next session.
    fn expired(&mut self) {
        self.session_over();
        match self.phase {
            Phase::Held { .. } => self.lose(Loss::SessionExpired, Cause::none()),
            Phase::Entering(_) | Phase::Queued(_) | Phase::First => {
                self.phase = Phase::Entering(Entering::default());
            }
            Phase::Leaving => self.advance_leaving(),
            Phase::Idle => {}
        }
    }

    /// There will be no session any more.
    fn ended(&mut self, now: Instant, reason: Refusal) {
        self.session_over();
        self.session.ended = Some(reason);
        match self.phase {
            Phase::Held { .. } => self.lose(Loss::ConnectionClosed, Cause::none()),
            Phase::Entering(_) | Phase::Queued(_) | Phase::First => self.refuse(now, reason, Cause::none()),
            Phase::Leaving => self.advance_leaving(),
            Phase::Idle => {}
        }
    }

    /// The connection is there, perhaps again: watches may or may not have survived, so everything is read again.
    fn reconnected(&mut self) {
        match &self.phase {
            Phase::Queued(_) | Phase::First => self.list_again(true),
            Phase::Held { .. } if self.turning == Turning::Asked => self.turn(),
            Phase::Held { suspended: true } => self.watch_own(),
            Phase::Held { suspended: false } | Phase::Idle => {}
            Phase::Entering(_) | Phase::Leaving => self.go_on(),
        }
        if !self.disposal.is_done() {
            self.advance_disposal();
        }
    }

    /// Goes on after a pause or a reconnect.
    fn go_on(&mut self) {
        match &self.phase {
            Phase::Entering(_) => self.continue_entering(),
            Phase::Held { .. } if self.turning == Turning::Asked => self.turn(),
            Phase::Held { .. } => self.watch_own(),
            Phase::Queued(_) => self.watch_own(),
            Phase::Leaving => self.advance_leaving(),
            Phase::First if self.is_unnumbered() => self.watch_own(),
            Phase::Idle | Phase::First => {}
        }
        if self.session.connected && !self.disposal.is_done() {
            self.advance_disposal();
        }
    }
}

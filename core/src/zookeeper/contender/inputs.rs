//! The inputs of a contender: outcomes, notices, time. Each input is passed to the module that handles it.

use crate::{
    Cause, CommandId, Event, Failure, Instant, Loss, Machine, Misuse, Outcome, Output, Refusal, Timer,
    io::sealed,
};

use super::super::{
    cleanup::Handled,
    session::SessionChange,
    wire::{Answer, Notice, Reply, Request},
};
use super::{CREATED, CREATED_OWN, Contender, Phase, Purpose, downgrade::Downgrading, entering::Entering};

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
        let Some(expected) = purpose.map(Purpose::expects).or_else(|| self.cleanup.expects(id)) else {
            return Ok(());
        };
        let (result, verdict) = self.read(id, outcome, expected);
        self.forget(id);
        match purpose {
            Some(Purpose::Parent(mode)) => self.parent_made(now, id, mode, &result),
            Some(Purpose::Create) => self.created(now, id, result),
            Some(Purpose::Barrier) => self.barrier_passed(now, &result),
            Some(Purpose::List) => self.listed(now, id, result),
            Some(Purpose::WatchPredecessor) => self.predecessor_watched(now, id, result),
            Some(Purpose::Recheck | Purpose::RecheckPermits) => self.rechecked(now, id, &result),
            Some(Purpose::WatchOwn) if self.own.watch == Some(id) => self.own_watched(now, id, &result),
            // A watch that was set after this recheck may be on another node.
            Some(Purpose::RecheckOwn) if self.own.watch.is_some_and(|watch| watch < id) => {
                self.own_watched(now, id, &result);
            }
            Some(Purpose::WatchOwn | Purpose::RecheckOwn) => {}
            Some(Purpose::Adopt) => self.adopted(now, id, &result),
            Some(Purpose::Look) => self.holder_read(now, id, result),
            Some(Purpose::Downgrade) => self.downgrade_answered(now, id, &result),
            None => self.cleanup_answered(now, id, &result),
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
        if self.acquire.grace.is_over(&mut self.out, now, unproved) {
            let reason = if self.acquire.was_queued && self.session.connected {
                Refusal::Timeout
            } else {
                Refusal::Unreachable
            };
            if self.is_waiting() {
                self.refuse(now, reason, Cause::none());
            } else {
                self.deferred.flush(&mut self.out);
            }
        }
        if self.out.expired(Timer::Validity, now) && matches!(self.phase, Phase::Held(_)) {
            self.lose(Loss::LeaseEnded, Cause::none());
        }
        if self.out.expired(Timer::MaxHold, now) && matches!(self.phase, Phase::Held(_)) {
            self.lose(Loss::MaxHold, Cause::none());
        }
        if self.out.expired(Timer::Retry, now) {
            self.go_on();
        }
        if self.out.expired(Timer::Poll, now) {
            self.recheck(now);
        }
    }

    fn poll_output(&mut self) -> Output<Request, Event> {
        self.out.poll()
    }
}

impl Contender {
    /// Reads an outcome. The client treats a reply from another session, or of the wrong shape, as no reply.
    fn read(
        &self,
        id: CommandId,
        outcome: Outcome<Reply>,
        expected: &'static str,
    ) -> (Result<Answer, Failure>, Result<(), Misuse>) {
        let answer = match self.session.answer(outcome) {
            Ok(answer) => answer,
            Err(failure) => return (Err(failure), Ok(())),
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

    /// Whether the create can have made a node with this path. A later search would not find a node with another name.
    fn is_own_path(&self, path: &str) -> bool {
        let settings = &self.settings;
        self.name_in(path)
            .is_some_and(|name| settings.layout.names(settings.role, &self.attempt, name))
    }

    /// Whether a path is the path of a directory above the lock's nodes.
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

    fn cleanup_answered(&mut self, now: Instant, id: CommandId, result: &Result<Answer, Failure>) {
        let handled = self.cleanup.outcome(id, result, &self.settings, &mut self.out);
        if handled == Handled::Retry {
            self.retry_later(now);
        } else if self.session.connected {
            self.advance_cleanup();
        }
        // The server refuses to delete a node of this contender. That node may have an earlier place in the queue, and
        // would then block this contender without end. The server would not delete the contender's present node either.
        if self.is_waiting()
            && let Some((reason, cause)) = self.complaint()
        {
            self.refuse(now, reason, cause);
        }
        if let Some(id) = self.cleanup.take_loss() {
            self.deferred
                .lose(Loss::Deleted, Cause::command(id), &mut self.out);
        }
        self.advance_leaving();
    }

    fn session_changed(&mut self, now: Instant, change: SessionChange) {
        match change {
            SessionChange::None => {}
            SessionChange::Connected { is_new } => {
                if is_new {
                    self.expired();
                }
                self.acquire.failures = 0;
                self.reconnected();
            }
            SessionChange::Suspended => self.suspend(),
            SessionChange::Over => self.expired(),
            SessionChange::Ended(reason) => self.ended(now, reason),
        }
    }

    /// The session has ended. A holder has lost its lock. A waiter enters the queue again in the next session.
    fn expired(&mut self) {
        self.session_over();
        match self.phase {
            Phase::Held(_) => self.lose(Loss::SessionExpired, Cause::none()),
            Phase::Entering(_) | Phase::Queued(_) | Phase::First => {
                self.go_to(Phase::Entering(Entering::default()));
            }
            Phase::Leaving => self.advance_leaving(),
            Phase::Idle => {}
        }
    }

    /// The client library will not make another session.
    fn ended(&mut self, now: Instant, reason: Refusal) {
        self.session_over();
        match self.phase {
            Phase::Held(_) => self.lose(Loss::ConnectionClosed, Cause::none()),
            Phase::Entering(_) | Phase::Queued(_) | Phase::First => self.refuse(now, reason, Cause::none()),
            Phase::Leaving => self.advance_leaving(),
            Phase::Idle => {}
        }
    }

    /// The client is connected, for the first time or again. Watches may be lost, so the client reads everything again.
    fn reconnected(&mut self) {
        match &self.phase {
            Phase::Queued(_) | Phase::First => self.list_again(true),
            Phase::Held(_) if self.downgrading() == Downgrading::Asked => self.send_downgrade(),
            Phase::Held(hold) if hold.suspended => self.watch_own(),
            Phase::Held(_) | Phase::Idle => {}
            Phase::Entering(_) | Phase::Leaving => self.go_on(),
        }
        if !self.cleanup.is_done() {
            self.advance_cleanup();
        }
    }

    /// Continues after a pause or a reconnect.
    fn go_on(&mut self) {
        match &self.phase {
            Phase::Entering(_) => self.continue_entering(),
            Phase::Held(_) if self.downgrading() == Downgrading::Asked => self.send_downgrade(),
            Phase::Held(_) => self.watch_own(),
            Phase::Queued(_) => self.watch_own(),
            Phase::Leaving => self.advance_leaving(),
            Phase::First if self.is_unnumbered() => self.watch_own(),
            Phase::Idle | Phase::First => {}
        }
        if self.session.connected && !self.cleanup.is_done() {
            self.advance_cleanup();
        }
    }
}

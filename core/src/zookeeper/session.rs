//! What a machine knows of its session.

use core::time::Duration;

use crate::{CommandId, Failure, Instant, Misuse, Outcome, Refusal, SessionId, lease};

use super::wire::{Answer, Reply};

/// What is known of the session.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Session {
    pub(super) id: Option<SessionId>,
    pub(super) connected: bool,
    pub(super) timeout: Duration,
    /// Until when the session is confirmed.
    pub(super) valid_until: Option<Instant>,
    /// Why no further session will come, if so.
    pub(super) ended: Option<Refusal>,
    /// Whether the session has moved to another connection. Then an answer may be that of a request from before the
    /// move.
    pub(super) moved: bool,
}

impl Session {
    /// Before the first notice.
    pub(super) const UNKNOWN: Self = Self {
        id: None,
        connected: false,
        timeout: Duration::ZERO,
        valid_until: None,
        ended: None,
        moved: false,
    };

    /// The answer in an outcome. An answer from another session, and one that the client library has made up, count as
    /// no answer.
    ///
    /// The commands and watches that a machine knows belong to the present session. The end of a session forgets them,
    /// and no driver sends a command in a later session than the one in which it was given. So the comparison of
    /// sessions is a second safeguard, against drivers that mix up two sessions.
    pub(super) fn answer(&self, outcome: Outcome<Reply>) -> Result<Answer, Failure> {
        match outcome {
            Outcome::Failed(failure) => Err(failure),
            Outcome::Reply(reply) if self.id != Some(reply.session) || reply.is_made_up() => {
                Err(Failure::Unknown)
            }
            Outcome::Reply(reply) => Ok(reply.answer),
        }
    }

    /// As [`answer`](Self::answer). An answer of another shape than the command `id` expects counts as no answer, too.
    pub(super) fn read(
        &self,
        id: CommandId,
        outcome: Outcome<Reply>,
        expected: &'static str,
    ) -> (Result<Answer, Failure>, Result<(), Misuse>) {
        let result = self.answer(outcome);
        let fits = match &result {
            Ok(Answer::Created { .. }) => expected == "created",
            Ok(Answer::Children(_)) => expected == "children",
            Ok(Answer::Data { .. }) => expected == "data",
            Ok(Answer::Done) => expected == "done",
            Ok(Answer::Error(_)) | Err(_) => true,
        };
        if fits {
            (result, Ok(()))
        } else {
            let wrong = Misuse::WrongReply { id: id.0, expected };
            (Err(Failure::Unknown), Err(wrong))
        }
    }

    /// The connection is up. Returns whether an earlier session is over.
    pub(super) fn connect(&mut self, session: SessionId) -> bool {
        let known = self.id.replace(session);
        let is_new = known.is_some_and(|known| known != session);
        if is_new {
            self.valid_until = None;
        }
        self.moved = known == Some(session);
        self.connected = true;
        self.ended = None;
        is_new
    }

    /// The connection is lost.
    pub(super) fn suspend(&mut self, session: SessionId) {
        self.id.get_or_insert(session);
        self.connected = false;
    }

    /// The session is over.
    pub(super) const fn over(&mut self) {
        self.id = None;
        self.connected = false;
        self.valid_until = None;
    }

    /// Until when the session is confirmed, if it is connected and confirmed now.
    pub(super) fn confirmed(&self, now: Instant) -> Option<Instant> {
        self.valid_until.filter(|until| self.connected && *until > now)
    }

    /// Until when a grant made now would be valid. `None` if it would end before the application could use it: the next
    /// confirmation comes soon.
    pub(super) fn lasts_until(&self, now: Instant) -> Option<Instant> {
        let least = lease::least_told(self.timeout);
        self.confirmed(now).filter(|until| *until > now.plus(least))
    }
}

//! A machine's knowledge of its session.

use core::time::Duration;

use crate::{CommandId, Failure, Instant, Misuse, Outcome, Refusal, SessionId, lease};

use super::wire::{Answer, Reply, SessionState, Stat};

/// The session, as far as the machine knows it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Session {
    pub(super) id: Option<SessionId>,
    pub(super) connected: bool,
    pub(super) timeout: Duration,
    /// Until when the session is confirmed.
    pub(super) valid_until: Option<Instant>,
    /// The reason why the client library will not make another session, if this is so.
    pub(super) ended: Option<Refusal>,
    /// Whether the session has moved to another connection. Then a reply may belong to a request from before the move.
    pub(super) moved: bool,
}

/// The change that a notice of the session reports to a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SessionChange {
    /// No change: there is no session yet.
    None,
    /// The client is connected.
    Connected {
        /// Whether this is a new session, so the earlier one has ended.
        is_new: bool,
    },
    /// The connection is lost. The session may still be alive.
    Suspended,
    /// The server has ended the session, and deleted its nodes.
    Over,
    /// The session has ended, and the client library will not make another one.
    Ended(Refusal),
}

impl Session {
    /// The value before the first notice.
    pub(super) const UNKNOWN: Self = Self {
        id: None,
        connected: false,
        timeout: Duration::ZERO,
        valid_until: None,
        ended: None,
        moved: false,
    };

    /// The answer in an outcome. A reply from another session counts as no reply, and so does one that the client
    /// library made itself.
    ///
    /// All commands and watches of a machine belong to the present session: the machine forgets them when the session
    /// ends, and no driver sends a command in a later session than the one in which it got the command. So the
    /// comparison of sessions is a second safeguard, against drivers that confuse two sessions.
    pub(super) fn answer(&self, outcome: Outcome<Reply>) -> Result<Answer, Failure> {
        match outcome {
            Outcome::Failed(failure) => Err(failure),
            Outcome::Reply(reply) if self.id != Some(reply.session) || reply.is_made_up() => {
                Err(Failure::Unknown)
            }
            Outcome::Reply(reply) => Ok(reply.answer),
        }
    }

    /// Does the same as [`answer`](Self::answer). A reply of another shape than the command `id` expects also counts as
    /// no reply.
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

    /// Stores a change of the session.
    pub(super) fn change(
        &mut self,
        state: SessionState,
        session: SessionId,
        timeout: Duration,
    ) -> SessionChange {
        match state {
            SessionState::Connecting => {
                self.ended = None;
                SessionChange::None
            }
            SessionState::Connected => {
                // Only the notice of a connected session always contains the timeout. In other states, drivers may
                // leave it out.
                self.timeout = timeout;
                let known = self.id.replace(session);
                let is_new = known.is_some_and(|known| known != session);
                if is_new {
                    self.valid_until = None;
                }
                self.moved = known == Some(session);
                self.connected = true;
                self.ended = None;
                SessionChange::Connected { is_new }
            }
            SessionState::Suspended => {
                self.id.get_or_insert(session);
                self.connected = false;
                SessionChange::Suspended
            }
            SessionState::Expired => {
                self.over();
                SessionChange::Over
            }
            SessionState::AuthFailed => self.end(Refusal::AuthFailed),
            SessionState::Closed => self.end(Refusal::ConnectionClosed),
        }
    }

    const fn end(&mut self, reason: Refusal) -> SessionChange {
        self.over();
        self.ended = Some(reason);
        SessionChange::Ended(reason)
    }

    const fn over(&mut self) {
        self.id = None;
        self.connected = false;
        self.valid_until = None;
    }

    /// Whether a node belongs to this session.
    pub(super) fn owns(&self, stat: &Stat) -> bool {
        self.id == Some(SessionId(stat.ephemeral_owner))
    }

    /// Until when the session is confirmed, if it is connected and the confirmation is still valid.
    pub(super) fn confirmed(&self, now: Instant) -> Option<Instant> {
        self.valid_until.filter(|until| self.connected && *until > now)
    }

    /// Until when a grant that begins now would be valid. `None` if it would end before the application could use it.
    /// The next confirmation then comes soon.
    pub(super) fn lasts_until(&self, now: Instant) -> Option<Instant> {
        let least = lease::least_left(self.timeout);
        self.confirmed(now).filter(|until| *until > now.plus(least))
    }
}

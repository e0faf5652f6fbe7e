//! The session's keeper: one confirmation for all machines of a hub.
//!
//! ZooKeeper has no lease that a client can read off its connection: a follower cut off from its leader goes on answering
//! reads and pings after the leader has expired the session. Only what has been through the leader proves anything, so the keeper
//! sends a `sync` every third of the session's timeout. The leader learns of a session's life from the follower's pings,
//! so a `sync` proves that the session lives, but not that its time has started anew. The one **before** it does: its touch had
//! reached the leader by then. So a grant is valid until the start of the last but one answered confirmation + timeout − drift − margin.

use core::time::Duration;

use alloc::string::String;

use crate::{
    CommandId, Event, Failure, Instant, Misuse, Outcome, Output, SessionId, Timer, jitter::Jitter, lease,
    outbox::Outbox,
};

use super::wire::{Answer, Notice, Reply, Request, SessionState};

/// Keeps one session confirmed while machines need it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Keeper {
    out: Outbox<Request>,
    jitter: Jitter,
    session: Option<(SessionId, Duration)>,
    connected: bool,
    /// The last word on the session, if nothing will come after it.
    ended: Option<Notice>,
    /// Starts of the last two answered confirmations of this session, the newer one last.
    answered: [Option<Instant>; 2],
    under_way: Option<(CommandId, Instant)>,
    /// Whether a further confirmation is wanted as soon as the one under way has been answered.
    again: bool,
    /// Until when confirmations go on although no machine is open, so that the next acquire finds a warm session.
    needed: Needed,
    failures: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Needed {
    No,
    Yes,
    Until(Instant),
}

impl Keeper {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            out: Outbox::new(),
            jitter: Jitter::new(seed),
            session: None,
            connected: false,
            ended: None,
            answered: [None; 2],
            under_way: None,
            again: false,
            needed: Needed::No,
            failures: 0,
        }
    }

    pub(crate) const fn next_id(&mut self) -> &mut u64 {
        self.out.next_id()
    }

    pub(crate) fn poll_output(&mut self) -> Output<Request, Event> {
        self.out.poll()
    }

    /// The session as a machine opened now has to see it, as notices.
    pub(crate) fn present(&self) -> impl Iterator<Item = Notice> {
        let state = if self.connected {
            SessionState::Connected
        } else {
            SessionState::Suspended
        };
        let seen = self.session.map(|(session, timeout)| Notice::Session {
            state,
            session,
            timeout,
        });
        seen.or(self.ended.clone()).into_iter().chain(self.confirmed())
    }

    /// A machine was opened.
    pub(crate) fn opened(&mut self, now: Instant) {
        let cold = self.needed == Needed::No;
        self.needed = Needed::Yes;
        if cold {
            self.confirm(now);
        }
    }

    /// The last machine has gone.
    pub(crate) fn idle(&mut self, now: Instant) {
        let timeout = self.session.map_or(Duration::ZERO, |(_, timeout)| timeout);
        self.needed = Needed::Until(now.plus(timeout));
    }

    /// Confirms now: somebody wants to know.
    pub(crate) fn confirm(&mut self, now: Instant) {
        if !self.connected {
            return;
        }
        if self.under_way.is_some() {
            self.again = true;
            return;
        }
        let id = self.out.command(
            Request::Sync {
                path: String::from("/"),
            },
            None,
        );
        self.under_way = Some((id, now));
        self.out.stop(Timer::Renew);
    }

    /// Takes the outcome of a confirmation; gives what the machines have to know.
    pub(crate) fn handle_outcome(
        &mut self,
        now: Instant,
        id: CommandId,
        outcome: Outcome<Reply>,
    ) -> Result<Option<Notice>, Misuse> {
        let Some((_, start)) = self.under_way.take_if(|(waiting, _)| *waiting == id) else {
            return Ok(None);
        };
        let Some((session, timeout)) = self.session else {
            return Ok(None);
        };
        let mut misuse = Ok(None);
        let answered = match outcome {
            Outcome::Reply(reply) if reply.session == session => match reply.answer {
                Answer::Done => true,
                Answer::Error(_) => false,
                Answer::Created { .. } | Answer::Children(_) | Answer::Data { .. } => {
                    misuse = Err(Misuse::WrongReply {
                        id: id.0,
                        expected: "done",
                    });
                    false
                }
            },
            Outcome::Reply(_) | Outcome::Failed(Failure::NotSent | Failure::Unknown | Failure::Closed) => {
                false
            }
        };
        if !answered {
            self.failures = self.failures.saturating_add(1);
            if self.connected {
                let wait = self.jitter.backoff(self.failures);
                self.out.set_after(Timer::Renew, now, wait);
            }
            return misuse;
        }
        self.failures = 0;
        let [_, last] = self.answered;
        self.answered = [last, Some(start)];
        // Two recent ones are needed to say anything: a session that is new or has rested gets them one after the other.
        let rested = last.is_none_or(|last| lease::renew_at(lease::renew_at(last, timeout), timeout) < now);
        if core::mem::take(&mut self.again) || rested {
            self.confirm(now);
        } else {
            self.out.set(Timer::Renew, lease::renew_at(start, timeout));
        }
        Ok(self.confirmed())
    }

    /// Takes a notice of the session.
    pub(crate) fn handle_session(
        &mut self,
        now: Instant,
        state: SessionState,
        session: SessionId,
        timeout: Duration,
    ) {
        match state {
            SessionState::Connected => {
                if self.session.is_none_or(|(known, _)| known != session) {
                    self.answered = [None; 2];
                }
                self.session = Some((session, timeout));
                self.connected = true;
                self.ended = None;
                self.under_way = None;
                self.failures = 0;
                if self.needed != Needed::No {
                    self.confirm(now);
                }
            }
            SessionState::Suspended => self.disconnected(),
            SessionState::Expired | SessionState::AuthFailed | SessionState::Closed => {
                self.disconnected();
                self.session = None;
                self.ended = (state != SessionState::Expired).then_some(Notice::Session {
                    state,
                    session,
                    timeout,
                });
                self.answered = [None; 2];
            }
        }
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        if !self.out.expired(Timer::Renew, now) {
            return;
        }
        if let Needed::Until(until) = self.needed
            && until <= now
        {
            self.needed = Needed::No;
            return;
        }
        self.confirm(now);
    }

    fn disconnected(&mut self) {
        self.connected = false;
        self.under_way = None;
        self.again = false;
        self.out.stop_all();
        self.out.purge_commands();
    }

    fn confirmed(&self) -> Option<Notice> {
        let (session, timeout) = self.session?;
        let [last_but_one, _] = self.answered;
        let valid_until = lease::valid_until(last_but_one?, timeout, lease::DEFAULT_MARGIN);
        Some(Notice::Confirmed { session, valid_until })
    }
}

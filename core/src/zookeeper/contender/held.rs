//! Holding: confirmed by the session's keeper, watched at the own node, and over at once when either says so.

use crate::{Cause, CommandId, Event, Failure, Instant, Loss, Refusal, Timer};

use super::super::{
    Verdict, judge,
    wire::{Answer, code},
};
use super::{Contender, Phase, Wanted};

/// What Curator's `Revoker` writes into the node of a contender whose lock it would like to have.
pub(in crate::zookeeper) const REVOKE: &[u8] = b"__REVOKE__";

impl Contender {
    /// The keeper has the session confirmed for longer.
    pub(super) fn session_confirmed(&mut self, now: Instant, valid_until: Instant) {
        self.session.valid_until = Some(valid_until);
        match self.phase {
            Phase::First => self.grant_if_confirmed(now),
            // The grant has ended by the holder's own clock, and stays ended.
            Phase::Held { .. } if self.out.expired(Timer::Validity, now) => {
                self.lose(Loss::LeaseEnded, Cause::none());
            }
            Phase::Held { suspended } => {
                self.out.set(Timer::Validity, valid_until);
                if !suspended {
                    self.out.event(Event::Extended {
                        valid_until: Some(valid_until),
                    });
                }
                // An uncontended acquire has not paid for a watch: a grant that lasts gets one now.
                self.watch_own();
            }
            Phase::Idle | Phase::Entering(_) | Phase::Queued(_) | Phase::Leaving => {}
        }
    }

    /// The server has answered the watching of the own node.
    pub(super) fn own_watched(&mut self, now: Instant, id: CommandId, result: &Result<Answer, Failure>) {
        match result {
            Ok(Answer::Data { stat, data }) => {
                let own = Some(stat.ephemeral_owner) == self.session.id.map(|session| session.0);
                if own && self.is_another_ones() && !self.attempt.is_written(data) {
                    // The create was answered with the node of another contender of ours, or of an earlier attempt.
                    self.own_node_gone(Some(id));
                } else if own && (!self.is_single() || self.is_own_single(data, stat)) {
                    if self.is_unnumbered()
                        && let Some(node) = &mut self.node
                    {
                        node.czxid = stat.czxid;
                        self.grant_if_confirmed(now);
                    }
                    self.resume(now);
                    if data == REVOKE && self.wanted == Wanted::No {
                        self.wanted = Wanted::Yes;
                    }
                    self.tell_wanted();
                } else if self.is_single() {
                    self.own_node_missed(id);
                } else {
                    self.own_node_gone(Some(id));
                }
            }
            Ok(Answer::Error(code::NO_NODE)) => self.own_node_missed(id),
            Ok(Answer::Error(error)) => {
                self.watch_failed(id);
                match judge(*error, id, "watching our node") {
                    Verdict::Transient => self.watch_own_later(now),
                    Verdict::Final(reason, cause) => self.own_node_unreadable(now, reason, cause),
                }
            }
            Ok(_) | Err(_) => {
                self.watch_failed(id);
                self.watch_own_later(now);
            }
        }
    }

    /// A look that has failed says nothing of the watch, which was set before it.
    fn watch_failed(&mut self, id: CommandId) {
        self.own_watch.take_if(|watch| *watch == id);
    }

    /// The server has not shown our node, or the list does not have it. It may be there all the same, on a server that has caught up: a client library that does not say
    /// what it has seen can be connected to one that has not.
    pub(super) fn own_node_missed(&mut self, look: CommandId) {
        if let Some(node) = self.take_node() {
            self.bury_if_there(node);
        }
        self.own_node_gone(Some(look));
        self.advance_disposal();
    }

    /// The hold begins: of one of many locks, when all of them are held.
    pub(in crate::zookeeper) fn hold(&mut self, now: Instant) {
        self.seated = false;
        if let Some(most) = self.settings.max_hold {
            self.out.set_after(Timer::MaxHold, now, most);
        }
        self.tell_wanted();
    }

    /// Tells a holder, once, that somebody wants the lock.
    fn tell_wanted(&mut self) {
        if self.wanted == Wanted::Yes && matches!(self.phase, Phase::Held { .. }) && !self.seated {
            self.wanted = Wanted::Told;
            self.out.event(Event::RevokeRequested);
        }
    }

    /// Without a watch on its node a waiter could be granted what is not there any more, and a suspended holder never resumes. For
    /// other holders the next confirmation is soon enough.
    fn watch_own_later(&mut self, now: Instant) {
        let first = matches!(self.phase, Phase::First) && self.is_unnumbered();
        if first || matches!(self.phase, Phase::Queued(_) | Phase::Held { suspended: true }) {
            self.retry_later(now);
        }
    }

    /// The server does not let us look at our own node: nobody can say that it is still there.
    fn own_node_unreadable(&mut self, now: Instant, reason: Refusal, cause: Cause) {
        match self.phase {
            Phase::Queued(_) => self.refuse(now, reason, cause),
            Phase::First if self.is_unnumbered() => self.refuse(now, reason, cause),
            Phase::Held { suspended: true } => self.lose(Loss::Refused, cause),
            Phase::Held { suspended: false }
            | Phase::Idle
            | Phase::Entering(_)
            | Phase::First
            | Phase::Leaving => {}
        }
    }

    /// The own node is not there any more, although its session lives: somebody has deleted it.
    pub(super) fn own_node_gone(&mut self, cause: Option<CommandId>) {
        match self.phase {
            Phase::Held { .. } => {
                self.take_node();
                self.lose(
                    Loss::Deleted,
                    Cause {
                        command: cause,
                        detail: None,
                    },
                );
            }
            Phase::Entering(_) | Phase::Queued(_) | Phase::First => {
                self.take_node();
                self.pending.clear();
                self.own_watch = None;
                self.enter();
            }
            Phase::Idle | Phase::Leaving => {}
        }
    }

    /// The connection is gone: a grant means "start nothing new" until it is back, and ends at its time.
    pub(super) fn suspend(&mut self) {
        self.session.connected = false;
        self.own_watch = None;
        self.out.stop(Timer::Retry);
        self.farewell.hurry(&mut self.out);
        // Everything is read again when the connection is back; only what a create has come to still matters.
        self.forget_all_but_creates();
        if let Phase::Entering(entering) = &mut self.phase {
            entering.forget_list();
        }
        if let Phase::Held { suspended } = &mut self.phase
            && !*suspended
        {
            *suspended = true;
            self.out.event(Event::Suspended);
        }
    }

    /// The own node has been seen again in the same session.
    fn resume(&mut self, now: Instant) {
        if !matches!(self.phase, Phase::Held { suspended: true }) {
            return;
        }
        let Some(valid_until) = self.confirmed(now) else {
            return;
        };
        self.phase = Phase::Held { suspended: false };
        self.failures = 0;
        self.out.event(Event::Resumed {
            valid_until: Some(valid_until),
        });
    }

    /// The session is over, and all its nodes with it.
    pub(super) fn session_over(&mut self) {
        self.session.id = None;
        self.session.connected = false;
        self.session.valid_until = None;
        self.node = None;
        self.twin = None;
        self.own_watch = None;
        self.doubt = false;
        self.pending.clear();
        self.out.purge_commands();
        self.disposal.clear();
    }
}

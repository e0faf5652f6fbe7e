//! Holding the lock. The session lease confirms the grant, and the client watches its own node. The grant ends when no
//! confirmation comes in time, or when the node is deleted.

use crate::{Cause, CommandId, Event, Failure, Instant, Loss, Refusal, Timer};

use super::super::{
    Verdict, classify_error,
    wire::{Answer, code},
};
use super::{Contender, OwnNode, Phase, Revocation};

/// The data that Curator's `Revoker` writes into a contender's node to request the lock.
pub(in crate::zookeeper) const REVOKE: &[u8] = b"__REVOKE__";

impl Contender {
    /// Handles a confirmation: the session is alive until a later time.
    pub(super) fn session_confirmed(&mut self, now: Instant, valid_until: Instant) {
        self.session.valid_until = Some(valid_until);
        match self.phase {
            Phase::First => self.grant_if_confirmed(now),
            // The grant has ended by the holder's own clock. A late confirmation does not restore it.
            Phase::Held(_) if self.out.expired(Timer::Validity, now) => {
                self.lose(Loss::LeaseEnded, Cause::none());
            }
            Phase::Held(hold) => {
                self.out.set(Timer::Validity, valid_until);
                if !hold.suspended {
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

    /// Handles the reply to the request that watches or rechecks the contender's node.
    pub(super) fn own_watched(&mut self, now: Instant, id: CommandId, result: &Result<Answer, Failure>) {
        match result {
            Ok(Answer::Data { stat, data }) => {
                let own = self.session.owns(stat);
                if own && self.may_be_foreign() && !self.attempt.is_written(data) {
                    // The reply to the create contained the name of a node of another contender in this session, or of
                    // an earlier attempt.
                    self.own_node_gone(Some(id));
                } else if own && (!self.is_single() || self.is_own_single(data, stat)) {
                    if self.is_unnumbered()
                        && let Some(node) = &mut self.own.node
                    {
                        node.czxid = stat.czxid;
                        self.grant_if_confirmed(now);
                    }
                    self.resume(now);
                    if data == REVOKE && self.acquire.revocation == Revocation::None {
                        self.acquire.revocation = Revocation::Requested;
                    }
                    self.report_revocation();
                } else if self.is_single() {
                    self.own_node_missed(id);
                } else {
                    self.own_node_gone(Some(id));
                }
            }
            Ok(Answer::Error(code::NO_NODE)) => self.own_node_missed(id),
            Ok(Answer::Error(error)) => {
                self.watch_failed(id);
                match classify_error(*error, id, "watching our node") {
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

    /// The request that should set the watch has failed. A failed recheck changes nothing: the watch was set before it.
    fn watch_failed(&mut self, id: CommandId) {
        self.own.watch.take_if(|watch| *watch == id);
    }

    /// A read or a list did not contain the contender's node. The node may still exist on other servers: some client
    /// libraries do not send the last transaction that they have seen, and can be connected to a server with older
    /// data.
    pub(super) fn own_node_missed(&mut self, look: CommandId) {
        self.abandon_node();
        self.own_node_gone(Some(look));
        self.advance_cleanup();
    }

    /// The multi-lock holds all its locks, so the hold of this one begins. Returns the end of the longest hold allowed.
    pub(in crate::zookeeper) fn begin_hold(&mut self, now: Instant) -> Option<Instant> {
        self.acquire.pre_enqueued = false;
        self.start_max_hold(now);
        self.report_revocation();
        self.out.at(Timer::MaxHold)
    }

    /// Starts the timer of `max_hold`. In a multi-lock, [`begin_hold`](Self::begin_hold) starts it later.
    pub(super) fn start_max_hold(&mut self, now: Instant) {
        if let Some(longest) = self.settings.max_hold
            && !self.acquire.pre_enqueued
        {
            self.out.set_after(Timer::MaxHold, now, longest);
        }
    }

    /// Reports a revocation request to the holder, once.
    pub(super) fn report_revocation(&mut self) {
        if self.acquire.revocation == Revocation::Requested
            && matches!(self.phase, Phase::Held(_))
            && !self.acquire.pre_enqueued
        {
            self.acquire.revocation = Revocation::Reported;
            self.out.event(Event::RevokeRequested);
        }
    }

    /// Without a watch on its node, a waiter could get the lock after its node was deleted, and a suspended holder
    /// would never resume. For other holders, the watch can wait until the next confirmation.
    fn watch_own_later(&mut self, now: Instant) {
        let first = matches!(self.phase, Phase::First) && self.is_unnumbered();
        if first || matches!(self.phase, Phase::Queued(_)) || self.is_suspended() {
            self.retry_later(now);
        }
    }

    /// The server does not allow this client to read the contender's node. So the client cannot know whether the node
    /// still exists.
    fn own_node_unreadable(&mut self, now: Instant, reason: Refusal, cause: Cause) {
        match self.phase {
            Phase::Queued(_) => self.refuse(now, reason, cause),
            Phase::First if self.is_unnumbered() => self.refuse(now, reason, cause),
            Phase::Held(hold) if hold.suspended => self.lose(Loss::Refused, cause),
            Phase::Held(_) | Phase::Idle | Phase::Entering(_) | Phase::First | Phase::Leaving => {}
        }
    }

    /// The contender's node does not exist any more, although its session is alive: another client has deleted it.
    pub(super) fn own_node_gone(&mut self, cause: Option<CommandId>) {
        match self.phase {
            Phase::Held(_) => {
                self.take_node();
                self.lose(
                    Loss::Deleted,
                    Cause {
                        command: cause,
                        ..Cause::none()
                    },
                );
            }
            Phase::Entering(_) | Phase::Queued(_) | Phase::First => {
                self.take_node();
                self.pending.clear();
                self.own.watch = None;
                self.enter();
            }
            Phase::Idle | Phase::Leaving => {}
        }
    }

    /// The connection is lost. Until it is back, the holder must start no new work. The grant still ends at its time.
    pub(super) fn suspend(&mut self) {
        self.own.watch = None;
        self.out.stop(Timer::Retry);
        self.deferred.flush(&mut self.out);
        // After a reconnect the client reads everything again. It still needs only the replies to creates.
        self.forget_all_but_creates();
        if let Phase::Entering(entering) = &mut self.phase {
            entering.forget_list();
        }
        if let Phase::Held(hold) = &mut self.phase
            && !hold.suspended
        {
            hold.suspended = true;
            self.out.event(Event::Suspended);
        }
    }

    /// The client has read the contender's node again, in the same session.
    fn resume(&mut self, now: Instant) {
        if !self.is_suspended() {
            return;
        }
        let Some(valid_until) = self.session.confirmed(now) else {
            return;
        };
        if let Phase::Held(hold) = &mut self.phase {
            hold.suspended = false;
        }
        self.acquire.failures = 0;
        self.out.event(Event::Resumed {
            valid_until: Some(valid_until),
        });
    }

    /// The session has ended, so the server has deleted all its nodes.
    pub(super) fn session_over(&mut self) {
        self.own = OwnNode::NONE;
        self.pending.clear();
        self.out.purge_commands();
        self.cleanup.clear();
    }
}

//! The inputs of the small lock.

use fencepost_core::{
    AcquireTimeout, CommandId, Event, Instant, Intent, Loss, Misuse, Outcome, Output, Refusal, Timer, Wait,
    zookeeper::{Answer, Notice, Reply, SessionState, code},
};

use crate::{
    backend::Subject,
    checker::Mode,
    zookeeper::{Ask, Servers},
};

use super::{super::limit, Defect, PAUSE, Phase, Role, Small, What};

impl Small {
    fn answered(&mut self, now: Instant, id: CommandId, what: What, answer: Result<Answer, ()>) {
        match (what, answer) {
            // The answer belongs to another request, so the client searches for the node of this create.
            (What::Create, Ok(Answer::Created { path, .. }))
                if self.role != Role::Single && !path.contains(&self.own()) =>
            {
                self.in_doubt = true;
            }
            (What::Create, Ok(Answer::Created { path, zxid })) => {
                let name = path.rsplit_once('/').map_or(path.as_str(), |(_, name)| name);
                self.node = Some((name.into(), zxid));
                match (self.role, self.phase) {
                    // After a move, this may be the answer to an earlier create: the node's data name its owner.
                    (Role::Single, Phase::Wants) if self.moved => self.look(),
                    (Role::Single, Phase::Wants) => self.first(now),
                    _ => {}
                }
            }
            (What::Create, Err(())) if self.has(Defect::NeverMine) => self.retry = Some(now.plus(PAUSE)),
            (What::Create, Ok(Answer::Error(code::NODE_EXISTS))) if self.nonblocking => {
                self.refuse(Refusal::NotAvailable);
            }
            (What::Create, Ok(Answer::Error(code::NODE_EXISTS))) => self.look(),
            (What::Create, Err(())) if self.role == Role::Single => {
                self.in_doubt = true;
                self.retry = Some(now.plus(PAUSE));
            }
            (What::Look, Ok(answer)) => self.looked(now, &answer),
            (What::Own, Ok(Answer::Data { stat, .. })) => {
                if let Some((_, czxid)) = &mut self.node {
                    *czxid = stat.czxid;
                    self.first(now);
                }
            }
            (What::Reader, Ok(Answer::Created { path, zxid })) => self.goes_on_as_reader(&path, zxid),
            (What::Create, Err(())) => self.in_doubt = true,
            (What::Create, Ok(Answer::Error(code::NO_NODE))) if self.phase == Phase::Wants => {
                // The list that was sent behind the create fails in the same way.
                self.pending.clear();
                self.make_parents();
            }
            (What::List, Ok(Answer::Children(names))) => self.listed(now, &names),
            (What::List, Ok(Answer::Error(code::NO_NODE))) if self.phase == Phase::Wants => {
                self.in_doubt = false;
                self.node = None;
                if self.pending.is_empty() {
                    self.make_parents();
                }
            }
            (What::List, Ok(Answer::Error(code::NO_NODE))) if matches!(self.phase, Phase::Leaves { .. }) => {
                self.gone();
            }
            (What::Watch, Ok(Answer::Data { .. })) => {}
            (What::Watch, Ok(_)) if self.has(Defect::ExistsWatch) => {}
            (What::Watch, Ok(Answer::Error(code::NO_NODE))) if self.watched == Some(id) => {
                self.list_again(now)
            }
            (What::Delete, Ok(_)) if self.phase == Phase::Holds => self.emit(Event::Downgraded),
            (What::Delete, Ok(Answer::Done | Answer::Error(code::NO_NODE))) => {
                if !self.waits_for(What::Delete) {
                    self.gone();
                }
            }
            (What::Delete, Err(())) if self.has(Defect::DeleteOnce) => self.gone(),
            // After a move, an error may be that of an earlier request.
            (What::Delete, Err(()) | Ok(Answer::Error(_))) if self.role == Role::Single => {
                self.in_doubt = !self.has(Defect::DeleteAgain);
                self.retry = Some(now.plus(PAUSE));
            }
            (What::Parent, Ok(_)) | (What::Barrier, Ok(Answer::Done)) => {}
            (What::Barrier, _) if !self.has(Defect::RefusedBarrier) => {
                // The list that was sent behind the barrier may be out of date.
                self.pending
                    .retain(|(_, what)| !matches!(what, What::List | What::Look));
                self.retry = Some(now.plus(PAUSE));
            }
            _ => self.retry = Some(now.plus(PAUSE)),
        }
    }

    fn list_again(&mut self, now: Instant) {
        self.watched = None;
        if self.connected && self.pending.is_empty() {
            self.list();
        } else {
            self.retry = Some(now.plus(PAUSE));
        }
    }

    fn expired(&mut self) {
        self.node = None;
        self.in_doubt = false;
        self.pending.clear();
        self.first_probe = None;
        self.proved = None;
        self.confirming = None;
        match self.phase {
            Phase::Holds => {
                self.emit(Event::Lost {
                    reason: Loss::SessionExpired,
                    cause: fencepost_core::Cause::default(),
                });
                self.rest();
            }
            Phase::Leaves { .. } => self.gone(),
            Phase::First => self.phase = Phase::Wants,
            Phase::Wants | Phase::Idle => {}
        }
    }

    fn connected_again(&mut self, now: Instant) {
        self.watched = None;
        self.pending.clear();
        match self.phase {
            Phase::First => {
                self.phase = Phase::Wants;
                self.go_on();
            }
            Phase::Wants | Phase::Leaves { .. } => self.go_on(),
            Phase::Idle | Phase::Holds => {}
        }
        self.confirm(now);
    }
}

impl Subject<Servers> for Small {
    fn intent(&mut self, now: Instant, intent: Intent) -> Result<(), Misuse> {
        match (intent, self.phase) {
            (Intent::Acquire(timeout), Phase::Idle) => {
                self.nonblocking = timeout == AcquireTimeout::Try;
                self.acquire_timeout = limit(timeout);
                self.deadline = self.acquire_timeout.map(|limit| now.plus(limit));
                self.phase = Phase::Wants;
                self.was_queued = false;
                self.confirm(now);
                self.enter();
            }
            (Intent::Acquire(_), _) => return Err(Misuse::Busy),
            // Without a confirmation, a grant has no end.
            (Intent::Release, Phase::Holds) if !self.has(Defect::NoConfirmation) && self.is_over(now) => {
                self.lose(Loss::LeaseEnded);
            }
            (Intent::Release, Phase::Holds) => self.leave(true),
            (Intent::Extend, Phase::Holds) => self.confirm(now),
            (Intent::Downgrade, Phase::Holds) if self.has(Defect::FreshNumber) => self.downgrade()?,
            (Intent::Downgrade, _) => return Err(Misuse::NotAWriter),
            (Intent::Release | Intent::Extend, _) => return Err(Misuse::NotHeld),
            (Intent::Cancel, Phase::Wants | Phase::First) => self.refuse(Refusal::Cancelled),
            (_, _) => return Err(Misuse::NotWaiting),
        }
        Ok(())
    }

    fn handle_outcome(&mut self, now: Instant, id: CommandId, outcome: Outcome<Reply>) -> Result<(), Misuse> {
        let answer = match outcome {
            Outcome::Reply(reply) if Some(reply.session) == self.session => Ok(reply.answer),
            Outcome::Reply(_) | Outcome::Failed(_) => Err(()),
        };
        if let Some((_, start)) = self.confirming.take_if(|(waiting, _)| *waiting == id) {
            if self.is_over(now) && self.phase == Phase::Holds && !self.has(Defect::NoConfirmation) {
                self.lose(Loss::LeaseEnded);
            }
            if answer.is_ok_and(|answer| self.confirms(&answer)) {
                self.confirmed(now, start);
                if self.phase == Phase::Holds && !self.has(Defect::NoConfirmation) {
                    let valid_until = self.valid_until();
                    self.emit(Event::Extended { valid_until });
                }
                if self.phase == Phase::First {
                    self.hold(now);
                }
            } else {
                self.confirm_at = Some(now.plus(PAUSE));
            }
            return Ok(());
        }
        let Some(at) = self.pending.iter().position(|(waiting, _)| *waiting == id) else {
            return Ok(());
        };
        let (_, what) = self.pending.remove(at);
        self.answered(now, id, what, answer);
        Ok(())
    }

    fn handle_notice(&mut self, now: Instant, notice: Notice) -> Result<(), Misuse> {
        match notice {
            Notice::Watch { id, .. } if self.watched == Some(id) && self.phase == Phase::Wants => {
                if self.has(Defect::PredecessorGone) {
                    self.first(now);
                } else if self.waits_for(What::Watch) || self.waits_for(What::Look) {
                    // The answer to the request that set the watch is on its way: the client lists the queue again a little later.
                    self.retry = Some(now.plus(PAUSE));
                } else {
                    self.list_again(now);
                }
            }
            Notice::Session { state, session, .. } => match state {
                SessionState::Connected => {
                    let known = self.session.replace(session);
                    self.moved = known == Some(session);
                    if known.is_some() && !self.moved {
                        self.expired();
                    }
                    self.connected = true;
                    self.connected_again(now);
                }
                SessionState::Suspended => {
                    self.connected = false;
                    self.first_probe = None;
                    self.confirming = None;
                    self.interrupted();
                    self.pending.clear();
                }
                _ => self.expired(),
            },
            _ => {}
        }
        Ok(())
    }

    fn handle_timeout(&mut self, now: Instant) {
        if self.deadline.take_if(|deadline| *deadline <= now).is_some()
            && matches!(self.phase, Phase::Wants | Phase::First)
        {
            self.refuse(if self.was_queued {
                Refusal::Timeout
            } else {
                Refusal::Unreachable
            });
        }
        if self.phase == Phase::Holds && !self.has(Defect::NoConfirmation) && self.is_over(now) {
            self.lose(Loss::LeaseEnded);
        }
        if self.confirm_at.take_if(|at| *at <= now).is_some() {
            self.confirm(now);
        }
        if self.retry.take_if(|at| *at <= now).is_some() {
            if self.connected && !self.pending.is_empty() {
                self.retry = Some(now.plus(PAUSE));
            }
            self.go_on();
        }
        if self.look.take_if(|at| *at <= now).is_some() && self.watched.is_some() {
            self.look_later(now);
            self.list_again(now);
        }
    }

    fn poll_output(&mut self) -> Output<Ask, Event> {
        self.out.pop_front().unwrap_or_else(|| {
            let until = (self.phase == Phase::Holds).then(|| self.valid_until()).flatten();
            let look = self.look.filter(|_| self.phase == Phase::Wants);
            let timers = [self.retry, self.deadline, until, self.confirm_at, look];
            let until = timers.into_iter().flatten().min();
            let reason = until.filter(|_| until == look).map(|_| Timer::Poll);
            Output::Wait(Wait { until, reason })
        })
    }

    fn shutdown(&mut self, _now: Instant) {
        self.shut = true;
        match self.phase {
            Phase::Idle | Phase::Leaves { .. } => {}
            Phase::Wants | Phase::First => self.refuse(Refusal::Cancelled),
            Phase::Holds => self.leave(false),
        }
    }

    fn pending(&self) -> usize {
        usize::from(self.phase != Phase::Idle)
    }

    fn mode(&self) -> Mode {
        self.role.mode()
    }
}

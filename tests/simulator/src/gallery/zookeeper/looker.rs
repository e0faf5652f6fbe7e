//! A small inspector, as found in scripts, and its known mistakes; and a holder that does not watch its node.

use std::collections::VecDeque;

use fencepost_core::{
    Cause, CommandId, Event, Fence, Found, Instant, Intent, Misuse, Outcome, Output, Refusal, SessionId,
    Wait,
    zookeeper::{Answer, Notice, Reply, Request, SessionState, Stat, ZooKeeper, code},
};

use crate::{
    backend::Subject,
    checker::{Aim, Task},
    inspector::{Plan, Tasks},
    subject::Fencepost,
    zookeeper::{Ask, DIRECTORY, REVOKE, Servers},
};

use super::{super::limit, PAUSE, command};

/// The mistakes of an inspector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Oversight {
    /// It always returns its first list.
    Remembers,
    /// It omits a contender that it could not read.
    LeavesOut,
    /// It breaks a contender by its path.
    ByPath,
    /// It treats a request without an answer as done.
    SilenceIsDone,
    /// It writes the revocation request in another format.
    OtherWords,
}

/// A small inspector of a mutex in Curator's layout.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Looker {
    oversight: Option<Oversight>,
    plan: Plan,
    phase: Phase,
    out: VecDeque<Output<Ask, Event>>,
    last: u64,
    connected: bool,
    deadline: Option<Instant>,
    retry: Option<Instant>,
    known: Option<Vec<Found>>,
    shut: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Phase {
    Idle,
    Wants,
    Lists(CommandId),
    /// The contenders that it reads, each with whether it is the first, and the contenders that it has read.
    Reads(Vec<(CommandId, String, bool)>, Vec<Found>),
    Looks(CommandId),
    Acts(CommandId, Found),
}

impl Looker {
    /// An idle inspector; `turn` chooses its first task.
    #[must_use]
    pub const fn new(turn: u64, oversight: Option<Oversight>) -> Self {
        Self {
            oversight,
            plan: Plan::new(Tasks::All, turn),
            phase: Phase::Idle,
            out: VecDeque::new(),
            last: 0,
            connected: false,
            deadline: None,
            retry: None,
            known: None,
            shut: false,
        }
    }

    fn has(&self, oversight: Oversight) -> bool {
        self.oversight == Some(oversight)
    }

    fn send(&mut self, request: Request) -> CommandId {
        command(&mut self.out, &mut self.last, request.into())
    }

    fn end(&mut self, event: Event) {
        self.phase = Phase::Idle;
        self.deadline = None;
        self.retry = None;
        if let Event::Found { contenders } = &event {
            self.plan.has_found(contenders);
        }
        if !self.shut {
            self.out.push_back(Output::Event(event));
        }
    }

    fn found(&mut self, contenders: Vec<Found>) {
        self.end(Event::Found { contenders });
    }

    fn refuse(&mut self, reason: Refusal) {
        let cause = Cause::default();
        self.end(Event::Refused { reason, cause });
    }

    fn begin(&mut self) {
        if !self.connected {
            return;
        }
        let aim = self.plan.task().aim().cloned();
        let watch = false;
        self.phase = match (aim, &self.known) {
            (Some(Aim { node: path, .. }), _) => Phase::Looks(self.send(Request::Get { path, watch })),
            (None, Some(known)) if self.has(Oversight::Remembers) => return self.found(known.clone()),
            (None, _) => {
                let path = DIRECTORY.into();
                Phase::Lists(self.send(Request::Children { path, watch }))
            }
        };
    }

    fn listed(&mut self, mut names: Vec<String>) {
        names.sort_unstable_by_key(|name| name.rsplit_once('-').map(|(_, number)| number.to_owned()));
        let read = (0..).zip(names).map(|(place, name)| {
            let path = format!("{DIRECTORY}/{name}");
            let (node, watch) = (path.clone(), false);
            (self.send(Request::Get { path, watch }), node, place == 0)
        });
        let reads = read.collect();
        self.read_on(reads, Vec::new());
    }

    fn read_on(&mut self, reads: Vec<(CommandId, String, bool)>, found: Vec<Found>) {
        if !reads.is_empty() {
            self.phase = Phase::Reads(reads, found);
            return;
        }
        self.known = Some(found.clone());
        self.found(found);
    }

    fn looked(&mut self, stat: Stat) {
        let Some(aim) = self.plan.task().aim().cloned() else {
            return;
        };
        let found = describe(&aim.node, stat, false);
        if found.fence.0 != aim.fence && !self.has(Oversight::ByPath) {
            return self.refuse(Refusal::NoContender);
        }
        let path = aim.node;
        let id = self.send(match self.plan.task() {
            Task::Revoke(_) if self.has(Oversight::OtherWords) => Request::Set {
                path,
                data: b"please".into(),
            },
            Task::Revoke(_) => Request::Set {
                path,
                data: REVOKE.into(),
            },
            _ => Request::Delete { path },
        });
        self.phase = Phase::Acts(id, found);
    }

    fn waits_for(&self, id: CommandId) -> bool {
        match &self.phase {
            Phase::Idle | Phase::Wants => false,
            Phase::Lists(own) | Phase::Looks(own) | Phase::Acts(own, _) => *own == id,
            Phase::Reads(reads, _) => reads.iter().any(|(own, ..)| *own == id),
        }
    }

    fn answered(&mut self, now: Instant, id: CommandId, answer: Option<Answer>) {
        match (core::mem::replace(&mut self.phase, Phase::Wants), answer) {
            (Phase::Lists(_), Some(Answer::Children(names))) => self.listed(names),
            (Phase::Lists(_), Some(Answer::Error(code::NO_NODE))) => self.found(Vec::new()),
            (Phase::Reads(mut reads, mut found), answer) => {
                let place = reads.iter().position(|(own, ..)| *own == id);
                let read = place.map(|place| reads.remove(place));
                match (answer, read) {
                    (Some(Answer::Data { stat, .. }), Some((_, path, first))) => {
                        found.push(describe(&path, stat, first));
                    }
                    (Some(Answer::Error(code::NO_NODE)), _) => {}
                    _ if self.has(Oversight::LeavesOut) => {}
                    _ => return self.again(now),
                }
                self.read_on(reads, found);
            }
            (Phase::Looks(_), Some(Answer::Data { stat, .. })) => self.looked(stat),
            (Phase::Looks(_), Some(Answer::Error(code::NO_NODE))) => self.refuse(Refusal::NoContender),
            (Phase::Acts(_, found), Some(Answer::Done)) => self.found(vec![found]),
            (Phase::Acts(_, found), None) if self.has(Oversight::SilenceIsDone) => self.found(vec![found]),
            (Phase::Acts(_, found), Some(Answer::Error(code::NO_NODE))) => match self.plan.task() {
                Task::Revoke(_) => self.refuse(Refusal::NoContender),
                _ => self.found(vec![found]),
            },
            _ => self.again(now),
        }
    }

    fn again(&mut self, now: Instant) {
        self.phase = Phase::Wants;
        self.retry = Some(now.plus(PAUSE));
    }
}

impl Subject<Servers> for Looker {
    fn intent(&mut self, now: Instant, intent: Intent) -> Result<(), Misuse> {
        match (intent, &self.phase) {
            (Intent::Acquire(timeout), Phase::Idle) => {
                self.plan.go_on();
                self.phase = Phase::Wants;
                self.deadline = limit(timeout).map(|limit| now.plus(limit));
                self.begin();
                Ok(())
            }
            (Intent::Acquire(_), _) => Err(Misuse::Busy),
            (Intent::Cancel, phase) if *phase != Phase::Idle => {
                self.refuse(Refusal::Cancelled);
                Ok(())
            }
            _ => Err(Misuse::NotWaiting),
        }
    }

    fn handle_outcome(&mut self, now: Instant, id: CommandId, outcome: Outcome<Reply>) -> Result<(), Misuse> {
        if self.waits_for(id) {
            let answer = match outcome {
                Outcome::Reply(reply) => Some(reply.answer),
                Outcome::Failed(_) => None,
            };
            self.answered(now, id, answer);
        }
        Ok(())
    }

    fn handle_notice(&mut self, _now: Instant, notice: Notice) -> Result<(), Misuse> {
        if let Notice::Session { state, .. } = notice {
            self.connected = state == SessionState::Connected;
            if self.phase != Phase::Idle {
                self.phase = Phase::Wants;
                self.begin();
            }
        }
        Ok(())
    }

    fn handle_timeout(&mut self, now: Instant) {
        if self.deadline.is_some_and(|deadline| deadline <= now) {
            self.refuse(Refusal::Unreachable);
        }
        if self.retry.take_if(|retry| *retry <= now).is_some() && self.phase == Phase::Wants {
            self.begin();
        }
    }

    fn poll_output(&mut self) -> Output<Ask, Event> {
        self.out.pop_front().unwrap_or_else(|| {
            let until = [self.deadline, self.retry].into_iter().flatten().min();
            Output::Wait(Wait { until, reason: None })
        })
    }

    fn shutdown(&mut self, _now: Instant) {
        self.shut = true;
        self.phase = Phase::Idle;
        self.deadline = None;
        self.retry = None;
    }

    fn pending(&self) -> usize {
        0
    }

    fn inspects(&self) -> Option<&Task> {
        Some(self.plan.task())
    }

    fn is_satisfied(&self) -> bool {
        self.plan.looks_next()
    }
}

/// A contender that receives no revocation request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Unwatching(pub Fencepost<ZooKeeper>);

impl Subject<Servers> for Unwatching {
    fn intent(&mut self, now: Instant, intent: Intent) -> Result<(), Misuse> {
        Subject::<Servers>::intent(&mut self.0, now, intent)
    }

    fn handle_outcome(&mut self, now: Instant, id: CommandId, outcome: Outcome<Reply>) -> Result<(), Misuse> {
        Subject::<Servers>::handle_outcome(&mut self.0, now, id, outcome)
    }

    fn handle_notice(&mut self, now: Instant, notice: Notice) -> Result<(), Misuse> {
        Subject::<Servers>::handle_notice(&mut self.0, now, notice)
    }

    fn handle_timeout(&mut self, now: Instant) {
        Subject::<Servers>::handle_timeout(&mut self.0, now);
    }

    fn poll_output(&mut self) -> Output<Ask, Event> {
        loop {
            match Subject::<Servers>::poll_output(&mut self.0) {
                Output::Event(Event::RevokeRequested) => {}
                output => return output,
            }
        }
    }

    fn shutdown(&mut self, now: Instant) {
        Subject::<Servers>::shutdown(&mut self.0, now);
    }

    fn pending(&self) -> usize {
        Subject::<Servers>::pending(&self.0)
    }
}

fn describe(node: &str, stat: Stat, holds: bool) -> Found {
    Found {
        node: node.into(),
        holds,
        shared: false,
        session: Some(SessionId(stat.ephemeral_owner)),
        since: Some(stat.created),
        expires_in: None,
        fence: Fence(u64::try_from(stat.czxid).unwrap_or_default()),
        identifier: String::new(),
    }
}

//! A place in every line: one transaction, and what its answer means.

use alloc::{string::String, vec::Vec};

use crate::{Cause, CommandId, Failure, Instant, Misuse, Refusal, Timer};

use super::super::{
    MAKING_A_DIRECTORY, Verdict, is_transient, judge, no_directory,
    wire::{Answer, CreateMode, Request, Write, code},
};
use super::{MultiLock, Phase};

/// A directory that vanishes as often as this while it is being made is missing for good.
const MOST_PARENT_FLIGHTS: u32 = 4;

impl MultiLock {
    /// A node in every line, all of them or none; before it, if they are missing, the directories.
    pub(super) fn enqueue(&mut self, parents: bool) {
        if self.session.is_none() {
            return;
        }
        self.attempt.number = self.attempt.number.saturating_add(1);
        self.forbidden = false;
        self.postponed = false;
        if parents {
            for place in &self.places {
                for (path, mode) in place.contender.parents() {
                    let data = Vec::new();
                    let request = Request::Create { path, data, mode };
                    self.parents.push((self.out.command(request, None), mode));
                }
            }
        }
        let attempt = &self.attempt;
        let writes = self
            .places
            .iter()
            .map(|place| {
                let (path, data, mode) = place.contender.node_of(attempt);
                Write::Create { path, data, mode }
            })
            .collect();
        let deadline = self.out.at(Timer::Patience);
        self.enqueuing = Some(self.out.command(Request::Multi { writes }, deadline));
    }

    /// Made, or there, or not ours to make: the transaction behind it tells. But a server that does not know the request hangs up
    /// before it has read the transaction.
    pub(super) fn parent_made(
        &mut self,
        now: Instant,
        id: CommandId,
        mode: CreateMode,
        result: &Result<Answer, Failure>,
    ) {
        match result {
            Ok(Answer::Error(code::UNIMPLEMENTED)) if mode == CreateMode::Container => {
                for place in &mut self.places {
                    place.contender.do_without_containers();
                }
            }
            Ok(Answer::Error(error @ code::UNIMPLEMENTED)) if self.phase == Phase::Enqueuing => {
                if let Verdict::Final(reason, cause) = judge(*error, id, MAKING_A_DIRECTORY) {
                    self.refuse(now, reason, cause);
                }
            }
            Ok(Answer::Error(code::NO_AUTH)) => self.forbidden = true,
            Ok(Answer::Error(error)) if is_transient(*error) => self.postponed = true,
            Err(Failure::NotSent | Failure::Unknown) => self.postponed = true,
            _ => {}
        }
    }

    pub(super) fn enqueued(
        &mut self,
        now: Instant,
        id: CommandId,
        result: Result<Answer, Failure>,
    ) -> Result<(), Misuse> {
        self.enqueuing = None;
        let waited = self.phase == Phase::Enqueuing;
        // The error may be that of a request of before a move, and the nodes may be there.
        let doubtful = self.moved && matches!(result, Ok(Answer::Error(_)));
        if doubtful {
            self.search(waited);
        }
        match result {
            Ok(Answer::Children(names)) if self.are_ours(&names) => {
                for (place, name) in self.places.iter_mut().zip(names) {
                    let (attempt, trying) = (self.attempt, self.trying);
                    place
                        .contender
                        .lent(&mut self.out, |contender| contender.seat(attempt, name, trying));
                }
                if waited {
                    self.failures = 0;
                    self.phase = Phase::Waiting;
                } else {
                    self.withdraw(now);
                }
            }
            // That a directory is missing still says nothing of whether it can be made.
            Ok(Answer::Error(code::NO_NODE)) if waited && self.postponed => self.retry_later(now),
            Ok(Answer::Error(code::NO_NODE)) if waited => {
                self.parents_made = self.parents_made.saturating_add(1);
                if self.parents_made > MOST_PARENT_FLIGHTS {
                    let reason = no_directory(self.forbidden);
                    let detail = "a lock's directory cannot be made".into();
                    self.refuse(now, reason, Cause::answer(id, detail));
                } else if !doubtful {
                    self.enqueue(true);
                }
            }
            Ok(Answer::Error(error)) if waited => match judge(error, id, "queueing for all locks") {
                Verdict::Transient => self.retry_later(now),
                Verdict::Final(reason, cause) => self.refuse(now, reason, cause),
            },
            Ok(Answer::Error(_)) => {}
            Err(Failure::NotSent) if waited => self.retry_later(now),
            Err(Failure::Closed) if waited => self.refuse(now, Refusal::ConnectionClosed, Cause::command(id)),
            Err(Failure::NotSent | Failure::Closed) => {}
            // Nobody knows whether the nodes are there: they are searched for and deleted before new ones are made.
            Ok(_) | Err(Failure::Unknown) => {
                self.search(waited);
                if let Ok(_odd) = result {
                    // The nodes, in the order of the writes.
                    let expected = "children";
                    return Err(Misuse::WrongReply { id: id.0, expected });
                }
            }
        }
        Ok(())
    }

    /// Has the nodes of the transaction searched for and deleted; whoever waits for them begins anew then.
    fn search(&mut self, waited: bool) {
        let attempt = self.attempt;
        for place in &mut self.places {
            place
                .contender
                .lent(&mut self.out, |contender| contender.search_for(attempt));
        }
        if waited {
            self.phase = Phase::Restarting;
        }
    }

    fn are_ours(&self, names: &[String]) -> bool {
        let mut pairs = self.places.iter().zip(names);
        names.len() == self.places.len()
            && pairs.all(|(place, name)| place.contender.could_be_of(&self.attempt, name))
    }

    fn retry_later(&mut self, now: Instant) {
        if self.session.is_some() {
            let wait = self.jitter.backoff(self.failures);
            self.out.set_after(Timer::Retry, now, wait);
        }
        self.failures = self.failures.saturating_add(1);
    }
}

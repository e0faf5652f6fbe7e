//! Enqueuing: one transaction takes a place in every queue. This module sends the transaction and handles its reply.

use alloc::{string::String, vec::Vec};

use crate::{Cause, CommandId, Failure, Instant, Misuse, Refusal, Timer};

use super::super::{
    MAKING_A_DIRECTORY, Verdict, classify_error,
    parents::Parents,
    wire::{Answer, CreateMode, Request, Write, code},
};
use super::{MultiLock, Phase};

/// If a directory is still missing after this number of creations, the acquire fails.
const MOST_PARENT_FLIGHTS: u32 = 4;

impl MultiLock {
    /// Creates a node in every queue, in one transaction. If `parents` is set, creates the directories first.
    pub(super) fn enqueue(&mut self, parents: bool) {
        if self.session.is_none() {
            return;
        }
        self.attempt.number = self.attempt.number.saturating_add(1);
        self.parent_answers = Parents::default();
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
        let deadline = self.out.at(Timer::AcquireTimeout);
        self.enqueuing = Some(self.out.command(Request::Multi { writes }, deadline));
    }

    /// The client has created a directory, or the directory existed already, or the client may not create it. The reply
    /// to the transaction, which follows, decides. The exception is a server that does not know the request: it closes
    /// the connection before it reads the transaction.
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
                if let Verdict::Final(reason, cause) = classify_error(*error, id, MAKING_A_DIRECTORY) {
                    self.refuse(now, reason, cause);
                }
            }
            _ => self.parent_answers.made(result),
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
        // The error may be the reply to a request from before the move, and the nodes may exist.
        let doubtful = self.moved && matches!(result, Ok(Answer::Error(_)));
        if doubtful {
            self.search(waited);
        }
        match result {
            Ok(Answer::Children(names)) if self.are_ours(&names) => {
                for (place, name) in self.places.iter_mut().zip(names) {
                    let (attempt, nonblocking) = (self.attempt, self.nonblocking);
                    place.contender.with_command_ids(&mut self.out, |contender| {
                        contender.pre_enqueue(attempt, name, nonblocking)
                    });
                }
                if waited {
                    self.failures = 0;
                    self.go_to(Phase::Waiting);
                } else {
                    self.withdraw(now);
                }
            }
            // A temporary fault has prevented the create of the directory. A retry may succeed.
            Ok(Answer::Error(code::NO_NODE)) if waited && self.parent_answers.postponed => {
                self.retry_later(now)
            }
            Ok(Answer::Error(code::NO_NODE)) if waited => {
                self.parents_made = self.parents_made.saturating_add(1);
                if self.parents_made > MOST_PARENT_FLIGHTS {
                    let (reason, cause) = self.parent_answers.refusal("a lock's directory");
                    self.refuse(now, reason, cause);
                } else if !doubtful {
                    self.enqueue(true);
                }
            }
            Ok(Answer::Error(error)) if waited => match classify_error(error, id, "queueing for all locks") {
                Verdict::Transient => self.retry_later(now),
                Verdict::Final(reason, cause) => self.refuse(now, reason, cause),
            },
            Ok(Answer::Error(_)) => {}
            Err(Failure::NotSent) if waited => self.retry_later(now),
            Err(Failure::Closed) if waited => self.refuse(now, Refusal::ConnectionClosed, Cause::command(id)),
            Err(Failure::NotSent | Failure::Closed) => {}
            // The nodes may or may not exist. The client searches for them and deletes them before it creates new ones.
            Ok(_) | Err(Failure::Unknown) => {
                self.search(waited);
                if waited {
                    // A follower without global sessions answers every transaction in this way, at once.
                    self.retry_later(now);
                }
                if let Ok(_odd) = result {
                    // The names of the nodes, in the order of the writes.
                    let expected = "children";
                    return Err(Misuse::WrongReply { id: id.0, expected });
                }
            }
        }
        Ok(())
    }

    /// Searches for the transaction's nodes and deletes them. If the acquire still waits, it starts again afterwards.
    fn search(&mut self, waited: bool) {
        let attempt = self.attempt;
        for place in &mut self.places {
            place
                .contender
                .with_command_ids(&mut self.out, |contender| contender.search_for(attempt));
        }
        if waited {
            self.go_to(Phase::Restarting);
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

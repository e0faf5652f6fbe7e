//! Turning from a writer into a reader: the reader's node takes the writer's place in the line in one transaction.
//!
//! It has the writer's number, so it stands before everybody who came later, and nobody gets in between (Curator's rule since CURATOR-621).
//! The transaction can be asked for again until it is answered: when the reader's node is there, it has been carried out.

use crate::{Cause, CommandId, Event, Failure, Instant, Loss, Misuse, Refusal};

use super::super::{
    Verdict, judge,
    layout::Role,
    path,
    wire::{Answer, CreateMode, Request, Write, code},
};
use super::{Contender, Phase, Purpose};

/// How far a writer has come on its way to be a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Turning {
    /// It stays what it is.
    No,
    /// It has asked for it.
    Asked,
    /// It is a reader.
    Done,
}

impl Contender {
    /// The holder would go on as a reader.
    pub(super) fn downgrade(&mut self) -> Result<(), Misuse> {
        match self.turning {
            Turning::Asked => return Err(Misuse::Busy),
            Turning::No if self.settings.role == Role::Writer => {}
            Turning::No | Turning::Done => return Err(Misuse::NotAWriter),
        }
        self.turning = Turning::Asked;
        if self.session.connected {
            self.turn();
        }
        Ok(())
    }

    /// The name that the node has, or will have, as a reader's.
    pub(super) fn name_as_reader(&self) -> Option<alloc::string::String> {
        let node = self.node.as_ref()?;
        self.settings.layout.downgraded(&self.attempt, &node.name)
    }

    /// Has the transaction carried out, if it is not under way. Its own deletion of the writer's node is no loss: that watch is forgotten.
    pub(super) fn turn(&mut self) {
        let (Some(node), Some(reader)) = (&self.node, self.name_as_reader()) else {
            return;
        };
        if self.waits_for(Purpose::Downgrade) {
            return;
        }
        let directory = &self.settings.directory;
        let writes = alloc::vec![
            Write::Create {
                path: path::child_of(directory, &reader),
                data: self
                    .settings
                    .layout
                    .data(&self.attempt, self.settings.identifier.as_deref()),
                mode: CreateMode::Ephemeral,
            },
            Write::Delete {
                path: path::child_of(directory, &node.name),
            },
        ];
        self.own_watch = None;
        self.send(Purpose::Downgrade, Request::Multi { writes });
    }

    pub(super) fn turned(&mut self, now: Instant, id: CommandId, result: &Result<Answer, Failure>) {
        if !matches!(self.phase, Phase::Held { .. }) {
            return;
        }
        match result {
            Ok(answer) if self.is_turned_by(answer) => {
                let reader = self.name_as_reader();
                // The fence stays the writer's: it is the number that the resource knows.
                if let (Some(node), Some(reader)) = (&mut self.node, reader) {
                    node.name = reader;
                }
                self.turning = Turning::Done;
                self.failures = 0;
                self.out.event(Event::Downgraded);
                self.watch_own();
            }
            // What is there still, of whatever name, is deleted.
            Ok(Answer::Error(code::NO_NODE)) => self.lose(Loss::Deleted, Cause::command(id)),
            Ok(Answer::Error(error)) => match judge(*error, id, "turning from a writer into a reader") {
                Verdict::Transient => self.retry_later(now),
                Verdict::Final(reason, cause) => self.stays_a_writer(reason, cause),
            },
            Err(Failure::Closed) => {
                self.stays_a_writer(Refusal::ConnectionClosed, Cause::command(id));
            }
            Ok(_) | Err(Failure::NotSent | Failure::Unknown) => self.retry_later(now),
        }
    }

    /// Whether the transaction has been carried out: the reader's node was made by it, or is there. Another name is another request's answer.
    fn is_turned_by(&self, answer: &Answer) -> bool {
        match answer {
            Answer::Children(names) => self.name_as_reader().is_some_and(|reader| *names == [reader]),
            Answer::Error(error) => *error == code::NODE_EXISTS,
            Answer::Created { .. } | Answer::Data { .. } | Answer::Done => false,
        }
    }

    fn stays_a_writer(&mut self, reason: Refusal, cause: Cause) {
        self.turning = Turning::No;
        self.out.event(Event::Refused { reason, cause });
        self.watch_own();
    }
}

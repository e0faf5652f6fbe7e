//! Downgrade from a writer to a reader: one transaction puts the reader's node into the writer's place in the queue.
//!
//! The reader's node has the writer's number. So it stays ahead of all later contenders, and no other contender can get
//! the lock in between (Curator's rule since CURATOR-621). The client may repeat the transaction until the server
//! answers it: if the reader's node already exists, the transaction was carried out.

use crate::{Cause, CommandId, Event, Failure, Instant, Loss, Misuse, Refusal};

use super::super::{
    Verdict, classify_error,
    layout::Role,
    path,
    wire::{Answer, CreateMode, Request, Write, code},
};
use super::{Contender, Phase, Purpose};

/// The state of a downgrade.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum Downgrading {
    /// No downgrade is in progress or done.
    #[default]
    No,
    /// The application has requested the downgrade, and it is not done yet.
    Asked,
    /// The contender is a reader now.
    Done,
}

impl Contender {
    /// The application requests a downgrade of its grant.
    pub(super) fn downgrade(&mut self) -> Result<(), Misuse> {
        let Phase::Held(hold) = &mut self.phase else {
            return Err(Misuse::NotHeld);
        };
        match hold.downgrading {
            Downgrading::Asked => return Err(Misuse::Busy),
            Downgrading::No if self.settings.role == Role::Writer => {}
            Downgrading::No | Downgrading::Done => return Err(Misuse::NotAWriter),
        }
        hold.downgrading = Downgrading::Asked;
        if self.session.connected {
            self.send_downgrade();
        }
        Ok(())
    }

    /// The node's name after the downgrade.
    pub(super) fn name_as_reader(&self) -> Option<alloc::string::String> {
        let node = self.own.node.as_ref()?;
        self.settings.layout.downgraded(&self.attempt, &node.name)
    }

    /// Sends the transaction, unless it is in flight. The transaction itself deletes the writer's node. That is not a
    /// loss, so the contender forgets its watch of that node.
    pub(super) fn send_downgrade(&mut self) {
        let (Some(node), Some(reader)) = (&self.own.node, self.name_as_reader()) else {
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
                version: None,
            },
        ];
        self.own.watch = None;
        self.send(Purpose::Downgrade, Request::Multi { writes });
    }

    pub(super) fn downgrade_answered(
        &mut self,
        now: Instant,
        id: CommandId,
        result: &Result<Answer, Failure>,
    ) {
        if !matches!(self.phase, Phase::Held(_)) {
            return;
        }
        match result {
            Ok(answer) if self.is_downgraded_by(answer) => {
                let reader = self.name_as_reader();
                // The fence does not change, because the resource knows that number.
                if let (Some(node), Some(reader)) = (&mut self.own.node, reader) {
                    node.name = reader;
                }
                self.downgrade_is(Downgrading::Done);
                self.acquire.failures = 0;
                self.out.event(Event::Downgraded);
                self.watch_own();
            }
            // The writer's node does not exist any more. If one of the two nodes still exists, the cleanup deletes it.
            Ok(Answer::Error(code::NO_NODE)) => self.lose(Loss::Deleted, Cause::command(id)),
            Ok(Answer::Error(error)) => {
                match classify_error(*error, id, "downgrading from a writer to a reader") {
                    Verdict::Transient => self.retry_later(now),
                    Verdict::Final(reason, cause) => self.downgrade_refused(reason, cause),
                }
            }
            Err(Failure::Closed) => {
                self.downgrade_refused(Refusal::ConnectionClosed, Cause::command(id));
            }
            Ok(_) | Err(Failure::NotSent | Failure::Unknown) => self.retry_later(now),
        }
    }

    /// Whether the transaction was carried out: it has created the reader's node now, or the node already existed. A
    /// reply with another name belongs to another request.
    fn is_downgraded_by(&self, answer: &Answer) -> bool {
        match answer {
            Answer::Children(names) => self.name_as_reader().is_some_and(|reader| *names == [reader]),
            Answer::Error(error) => *error == code::NODE_EXISTS,
            Answer::Created { .. } | Answer::Data { .. } | Answer::Done => false,
        }
    }

    const fn downgrade_is(&mut self, downgrading: Downgrading) {
        if let Phase::Held(hold) = &mut self.phase {
            hold.downgrading = downgrading;
        }
    }

    fn downgrade_refused(&mut self, reason: Refusal, cause: Cause) {
        self.downgrade_is(Downgrading::No);
        self.out.event(Event::Refused { reason, cause });
        self.watch_own();
    }
}

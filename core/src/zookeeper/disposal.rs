//! Getting rid of what an attempt has created, until the server has answered.
//!
//! An attempt leaves at most its own nodes behind. Their paths are known from the create's reply, or have to be searched for when
//! that reply was lost. Deleting by path is safe to repeat: a node's name holds its attempt, so it never belongs to somebody else.

use alloc::{string::String, vec::Vec};

use crate::{Cause, CommandId, Failure, Refusal, outbox::Outbox};

use super::{
    Verdict, judge, name,
    wire::{Answer, Request, code},
};

/// Nodes to delete and, if a create's outcome is not known, a search for more of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Disposal {
    graves: Vec<(String, Option<CommandId>)>,
    search: Search,
    /// Why the server would not delete, if it would not.
    pub(super) refused: Option<(Refusal, Cause)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Search {
    No,
    Wanted,
    /// A barrier and the list behind it: without the barrier, a list without the node would prove nothing.
    Running {
        barrier: CommandId,
        list: CommandId,
    },
}

/// What an outcome has meant to the disposal.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Handled {
    /// It was for somebody else.
    No,
    /// It was ours.
    Yes,
    /// It was ours, and something has to be tried again.
    Retry,
}

impl Disposal {
    pub(super) const fn new() -> Self {
        Self {
            graves: Vec::new(),
            search: Search::No,
            refused: None,
        }
    }

    /// Whether nothing is left to do.
    pub(super) fn is_done(&self) -> bool {
        self.graves.is_empty() && matches!(self.search, Search::No)
    }

    /// Has the node of that name deleted.
    pub(super) fn bury(&mut self, name: String) {
        if !self.graves.iter().any(|(known, _)| *known == name) {
            self.graves.push((name, None));
        }
    }

    /// Has all nodes of the attempt searched for and deleted.
    pub(super) fn search(&mut self) {
        if matches!(self.search, Search::No) {
            self.search = Search::Wanted;
        }
    }

    /// The session is over, and all its nodes with it.
    pub(super) fn clear(&mut self) {
        *self = Self::new();
    }

    /// Sends what is not under way.
    pub(super) fn advance(&mut self, directory: &str, out: &mut Outbox<Request>) {
        for (name, pending) in self.graves.iter_mut().filter(|(_, pending)| pending.is_none()) {
            *pending = Some(out.command(
                Request::Delete {
                    path: name::child_of(directory, name),
                },
                None,
            ));
        }
        if matches!(self.search, Search::Wanted) {
            let barrier = out.command(
                Request::Sync {
                    path: directory.into(),
                },
                None,
            );
            let list = out.command(
                Request::Children {
                    path: directory.into(),
                    watch: false,
                },
                None,
            );
            self.search = Search::Running { barrier, list };
        }
    }

    /// Takes an outcome. `prefix` gives what the attempt's nodes are called.
    pub(super) fn outcome(
        &mut self,
        id: CommandId,
        result: &Result<Answer, Failure>,
        prefix: impl FnOnce() -> String,
    ) -> Handled {
        if let Some(index) = self.graves.iter().position(|(_, pending)| *pending == Some(id)) {
            return self.deleted(index, id, result);
        }
        let Search::Running { barrier, list } = self.search else {
            return Handled::No;
        };
        if id == barrier {
            if matches!(result, Ok(Answer::Done)) {
                return Handled::Yes;
            }
        } else if id == list {
            match result {
                Ok(Answer::Children(names)) => {
                    self.search = Search::No;
                    let prefix = prefix();
                    names
                        .iter()
                        .filter(|name| name.starts_with(&prefix))
                        .for_each(|name| self.bury(name.clone()));
                    return Handled::Yes;
                }
                Ok(Answer::Error(code::NO_NODE)) | Err(Failure::Closed) => {
                    self.search = Search::No;
                    return Handled::Yes;
                }
                Ok(Answer::Error(error)) => {
                    if let Verdict::Final(refusal, cause) = judge(*error, id, "listing the lock's directory")
                    {
                        self.search = Search::No;
                        self.refused = Some((refusal, cause));
                        return Handled::Yes;
                    }
                }
                Ok(_) | Err(_) => {}
            }
        } else {
            return Handled::No;
        }
        self.search = Search::Wanted;
        Handled::Retry
    }

    fn deleted(&mut self, index: usize, id: CommandId, result: &Result<Answer, Failure>) -> Handled {
        match result {
            Ok(Answer::Done | Answer::Error(code::NO_NODE)) | Err(Failure::Closed) => {}
            Ok(Answer::Error(error)) => match judge(*error, id, "deleting our node") {
                Verdict::Transient => return self.again(index),
                Verdict::Final(refusal, cause) => self.refused = Some((refusal, cause)),
            },
            Ok(_) | Err(_) => return self.again(index),
        }
        self.graves.swap_remove(index);
        Handled::Yes
    }

    fn again(&mut self, index: usize) -> Handled {
        if let Some((_, pending)) = self.graves.get_mut(index) {
            *pending = None;
        }
        Handled::Retry
    }

    /// The answer's shape that a command of the disposal asks for.
    pub(super) fn expects(&self, id: CommandId) -> Option<&'static str> {
        match self.search {
            Search::Running { list, .. } if id == list => Some("children"),
            Search::Running { barrier, .. } if id == barrier => Some("done"),
            _ => self
                .graves
                .iter()
                .any(|(_, pending)| *pending == Some(id))
                .then_some("done"),
        }
    }
}

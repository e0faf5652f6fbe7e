//! Getting rid of what an attempt has created, until the server has answered.
//!
//! An attempt leaves at most its own nodes behind. Their paths are known from the create's reply, or have to be searched for when
//! that reply was lost. Deleting by path is safe to repeat: a node's name holds its attempt or the server's number, so it never belongs to
//! somebody else.

use alloc::{string::String, vec::Vec};

use crate::{AttemptId, Cause, CommandId, Failure, Refusal, outbox::Outbox};

use super::{
    Verdict, judge,
    layout::{Child, Layout},
    path,
    wire::{Answer, Request, code},
};

/// Nodes to delete and, if a create's outcome is not known, a search for more of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Disposal {
    graves: Vec<(String, Option<CommandId>)>,
    search: Search,
    /// The attempts whose nodes are searched for.
    sought: Vec<AttemptId>,
    /// Why the server would not delete, if it would not.
    pub(super) refused: Option<(Refusal, Cause)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Search {
    No,
    Wanted,
    /// A barrier and the list behind it: without the barrier, a list without the node would prove nothing.
    Listing {
        barrier: CommandId,
        list: CommandId,
    },
    /// Names do not say whose they are: what stands in the nodes does.
    Reading(Vec<(String, CommandId)>),
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
            sought: Vec::new(),
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

    /// Has all nodes of an attempt searched for and deleted.
    pub(super) fn search(&mut self, attempt: AttemptId) {
        if !self.sought.contains(&attempt) {
            self.sought.push(attempt);
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
                    path: path::child_of(directory, name),
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
            self.search = Search::Listing { barrier, list };
        }
    }

    /// Takes an outcome; a search may have to look into nodes then.
    pub(super) fn outcome(
        &mut self,
        id: CommandId,
        result: &Result<Answer, Failure>,
        (layout, directory): (&Layout, &str),
        out: &mut Outbox<Request>,
    ) -> Handled {
        if let Some(index) = self.graves.iter().position(|(_, pending)| *pending == Some(id)) {
            return self.deleted(index, id, result);
        }
        match &self.search {
            Search::Listing { barrier, .. } if id == *barrier => match result {
                Ok(Answer::Done) => Handled::Yes,
                _ => self.search_again(),
            },
            Search::Listing { list, .. } if id == *list => match result {
                Ok(Answer::Children(names)) => {
                    self.listed(names, layout, directory, out);
                    Handled::Yes
                }
                Ok(Answer::Error(code::NO_NODE)) | Err(Failure::Closed) => self.search_over(),
                Ok(Answer::Error(error)) => match judge(*error, id, "listing the lock's directory") {
                    Verdict::Transient => self.search_again(),
                    Verdict::Final(refusal, cause) => {
                        self.refused = Some((refusal, cause));
                        self.search_over()
                    }
                },
                Ok(_) | Err(_) => self.search_again(),
            },
            Search::Reading(nodes) => match nodes.iter().position(|(_, get)| *get == id) {
                Some(index) => self.looked_at(index, result),
                None => Handled::No,
            },
            Search::No | Search::Wanted | Search::Listing { .. } => Handled::No,
        }
    }

    fn listed(&mut self, names: &[String], layout: &Layout, directory: &str, out: &mut Outbox<Request>) {
        let stems: Vec<String> = self
            .sought
            .iter()
            .filter_map(|attempt| layout.stem(attempt))
            .collect();
        for name in names {
            if stems.iter().any(|stem| name.starts_with(stem)) {
                self.bury(name.clone());
            }
        }
        let mut nodes = Vec::new();
        if stems.is_empty() {
            for name in names {
                if matches!(layout.read(name), Child::Contender(_)) {
                    let path = path::child_of(directory, name);
                    nodes.push((
                        name.clone(),
                        out.command(Request::Get { path, watch: false }, None),
                    ));
                }
            }
        }
        if nodes.is_empty() {
            self.search_over();
        } else {
            self.search = Search::Reading(nodes);
        }
    }

    /// What stands in a node says whose it is.
    fn looked_at(&mut self, index: usize, result: &Result<Answer, Failure>) -> Handled {
        let own = match result {
            Ok(Answer::Data { data, .. }) => self.sought.iter().any(|attempt| attempt.is_written(data)),
            // Gone, or none of our business.
            Ok(Answer::Error(code::NO_NODE | code::NO_AUTH)) | Err(Failure::Closed) => false,
            Ok(_) | Err(_) => return self.search_again(),
        };
        let Search::Reading(nodes) = &mut self.search else {
            return Handled::No;
        };
        let (name, _) = nodes.swap_remove(index);
        if nodes.is_empty() {
            self.search_over();
        }
        if own {
            self.bury(name);
        }
        Handled::Yes
    }

    fn search_again(&mut self) -> Handled {
        self.search = Search::Wanted;
        Handled::Retry
    }

    fn search_over(&mut self) -> Handled {
        self.search = Search::No;
        self.sought.clear();
        Handled::Yes
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
        match &self.search {
            Search::Listing { list, .. } if id == *list => Some("children"),
            Search::Listing { barrier, .. } if id == *barrier => Some("done"),
            Search::Reading(nodes) if nodes.iter().any(|(_, get)| *get == id) => Some("data"),
            _ => self
                .graves
                .iter()
                .any(|(_, pending)| *pending == Some(id))
                .then_some("done"),
        }
    }
}

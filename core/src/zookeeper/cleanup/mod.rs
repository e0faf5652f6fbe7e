//! Deletion of the nodes that an attempt has created. The client repeats each delete until the server has answered it.
//!
//! An attempt creates only its own nodes, so only these can remain. The client knows their paths from the replies to
//! its creates. If a reply was lost, the client searches for the nodes. A delete by path can be repeated safely if the
//! node's name contains its attempt, because no other contender's node has that name. In two cases, the name does not
//! contain the attempt. A lock that is a single node always has the same name. In the layout `plain`, a name contains
//! only the server's number, and the same number can occur again: a server deletes an empty directory that is a
//! container, and counts from 0 in the next one. The client repeats the delete of such a node only if a read after a
//! barrier shows that the node is still its own. (A version in the delete does not help: every new node has version 0,
//! so the delete could remove another contender's node.)

use alloc::{string::String, vec::Vec};

use crate::{AttemptId, Cause, CommandId, Failure, Refusal, outbox::Outbox};

mod search;

use super::{
    ContenderSettings, Verdict,
    barrier::Barrier,
    classify_error,
    layout::Role,
    path,
    wire::{Answer, Request, code},
};

use search::Search;

/// Nodes to delete and, if a create's outcome is unknown, a search for more such nodes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Cleanup {
    pending_deletes: Vec<PendingDelete>,
    /// Whether the nodes of a released grant still existed, as far as the deletes have shown.
    held: Held,
    search: Search,
    /// The attempts whose nodes the search looks for.
    sought: Vec<AttemptId>,
    /// The transaction that created the node, if its name does not contain the attempt.
    guarded: Option<i64>,
    /// The reason for which the server denied a delete or the search, if it did.
    pub(super) refused: Option<(Refusal, Cause)>,
}

/// A node to delete.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct PendingDelete {
    name: String,
    pending: Option<CommandId>,
    /// Whether this node held a grant that is being released.
    held: bool,
    /// Whether an earlier delete of the node got no reply. That delete may have removed the node.
    repeated: bool,
}

/// Whether the nodes of a released grant existed when it was released.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Held {
    /// No delete has been answered yet.
    Unknown,
    /// One of them existed, or may have existed.
    There,
    /// Another client had deleted the node, as the answer to this command shows.
    Gone(CommandId),
}

/// The result of the cleanup's handling of an outcome.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Handled {
    /// The outcome was not for the cleanup.
    No,
    /// The outcome was for the cleanup.
    Yes,
    /// The outcome was for the cleanup, which has to retry a request.
    Retry,
}

impl Cleanup {
    pub(super) const fn new() -> Self {
        Self {
            pending_deletes: Vec::new(),
            held: Held::Unknown,
            search: Search::No,
            sought: Vec::new(),
            guarded: None,
            refused: None,
        }
    }

    /// Whether nothing is left to do.
    pub(super) fn is_done(&self) -> bool {
        self.pending_deletes.is_empty() && matches!(self.search, Search::No)
    }

    /// Schedules the deletion of the node with this name.
    pub(super) fn schedule_delete(&mut self, name: String) {
        self.schedule(name, false);
    }

    /// Schedules the deletion of a node that held a grant. If the node does not exist, the grant was lost.
    pub(super) fn schedule_delete_of_held(&mut self, name: String) {
        self.held = Held::Unknown;
        self.schedule(name, true);
    }

    fn schedule(&mut self, name: String, held: bool) {
        if !self
            .pending_deletes
            .iter()
            .any(|pending_delete| pending_delete.name == name)
        {
            self.pending_deletes.push(PendingDelete {
                name,
                pending: None,
                held,
                repeated: false,
            });
        }
    }

    /// The command that showed that another client had already deleted a released grant's node. Returned once, after
    /// the server has answered all deletes.
    pub(super) fn take_loss(&mut self) -> Option<CommandId> {
        match self.held {
            Held::Gone(id)
                if !self
                    .pending_deletes
                    .iter()
                    .any(|pending_delete| pending_delete.held) =>
            {
                self.held = Held::Unknown;
                Some(id)
            }
            Held::Unknown | Held::There | Held::Gone(_) => None,
        }
    }

    /// Stores the attempt and the creating transaction of a node whose name does not contain the attempt, before the node
    /// is deleted or searched for.
    pub(super) fn guard(&mut self, attempt: AttemptId, czxid: i64) {
        if self.is_done() {
            self.sought.clear();
        }
        if !self.sought.contains(&attempt) {
            self.sought.push(attempt);
        }
        self.guarded = Some(czxid);
    }

    /// Does the same as [`guard`](Self::guard), and schedules a search for the node. A search that is already in
    /// progress may have begun before the node was created.
    pub(super) fn search_guarded(&mut self, attempt: AttemptId, czxid: i64) {
        self.guard(attempt, czxid);
        self.search = Search::Wanted;
    }

    /// Schedules a search for all nodes of an attempt, and their deletion.
    pub(super) fn search(&mut self, attempt: AttemptId) {
        let known = self.sought.contains(&attempt);
        if !known {
            self.sought.push(attempt);
        }
        if !known || matches!(self.search, Search::No) {
            self.search = Search::Wanted;
        }
    }

    /// Forgets everything: the session has ended, so the server has deleted its nodes.
    pub(super) fn clear(&mut self) {
        *self = Self::new();
    }

    /// Sends the requests that are not in flight.
    pub(super) fn advance(&mut self, settings: &ContenderSettings, out: &mut Outbox<Request>) {
        let directory = settings.directory.as_str();
        for pending_delete in self
            .pending_deletes
            .iter_mut()
            .filter(|pending_delete| pending_delete.pending.is_none())
        {
            let path = path::child_of(directory, &pending_delete.name);
            pending_delete.pending = Some(out.command(Request::Delete { path }, None));
        }
        if matches!(self.search, Search::Wanted) {
            let path = settings.lock_path();
            let barrier = Barrier::send(path.clone(), out);
            if settings.role == Role::Single {
                let get = out.command(Request::Get { path, watch: false }, None);
                self.search = Search::Looking { barrier, get };
                return;
            }
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

    /// Handles an outcome.
    pub(super) fn outcome(
        &mut self,
        id: CommandId,
        result: &Result<Answer, Failure>,
        settings: &ContenderSettings,
        out: &mut Outbox<Request>,
    ) -> Handled {
        if let Some(index) = self
            .pending_deletes
            .iter()
            .position(|pending_delete| pending_delete.pending == Some(id))
        {
            return self.deleted(index, id, result, settings);
        }
        self.search_outcome(id, result, settings, out)
    }

    fn deleted(
        &mut self,
        index: usize,
        id: CommandId,
        result: &Result<Answer, Failure>,
        settings: &ContenderSettings,
    ) -> Handled {
        let (single, named) = (settings.role == Role::Single, settings.names_attempts());
        match result {
            Ok(Answer::Error(code::NO_NODE)) => self.missed(index, id),
            Ok(Answer::Done) | Err(Failure::Closed) => self.found(index),
            Ok(Answer::Error(error)) => match classify_error(*error, id, "deleting our node, which may stay")
            {
                Verdict::Transient => return self.again(index, named),
                Verdict::Final(refusal, cause) => {
                    self.found(index);
                    self.refused = Some((refusal, cause));
                }
            },
            Err(Failure::NotSent) => return self.again(index, named),
            Ok(_) | Err(Failure::Unknown) => {
                if let Some(pending_delete) = self.pending_deletes.get_mut(index) {
                    pending_delete.repeated = true;
                }
                return self.again(index, named);
            }
        }
        self.pending_deletes.swap_remove(index);
        if single && self.pending_deletes.is_empty() || self.is_done() {
            self.search_over();
        }
        Handled::Yes
    }

    /// The node existed, or may have existed. So the client does not know that the grant was lost.
    fn found(&mut self, index: usize) {
        if self
            .pending_deletes
            .get(index)
            .is_some_and(|pending_delete| pending_delete.held)
        {
            self.held = Held::There;
        }
    }

    /// The node did not exist. If none of this contender's deletes can have removed it, another client has removed it.
    fn missed(&mut self, index: usize, id: CommandId) {
        let Some(pending_delete) = self
            .pending_deletes
            .get(index)
            .filter(|pending_delete| pending_delete.held)
        else {
            return;
        };
        if pending_delete.repeated {
            self.held = Held::There;
        } else if self.held != Held::There {
            self.held = Held::Gone(id);
        }
    }

    fn again(&mut self, index: usize, named: bool) -> Handled {
        if !named {
            self.found(index);
            self.pending_deletes.swap_remove(index);
            return self.search_again();
        }
        if let Some(pending_delete) = self.pending_deletes.get_mut(index) {
            pending_delete.pending = None;
        }
        Handled::Retry
    }

    /// The shape of the reply to a command of the cleanup.
    pub(super) fn expects(&self, id: CommandId) -> Option<&'static str> {
        match &self.search {
            Search::Listing { list, .. } if id == *list => Some("children"),
            Search::Listing { barrier, .. } | Search::Looking { barrier, .. } if barrier.has(id) => {
                Some(barrier.expects(id))
            }
            Search::Looking { get, .. } if id == *get => Some("data"),
            Search::Reading(nodes) if nodes.iter().any(|(_, get)| *get == id) => Some("data"),
            _ => self
                .pending_deletes
                .iter()
                .any(|pending_delete| pending_delete.pending == Some(id))
                .then_some("done"),
        }
    }
}

//! Getting rid of what an attempt has created, until the server has answered.
//!
//! An attempt leaves at most its own nodes behind. Their paths are known from the create's reply, or have to be searched for when
//! that reply was lost. Deleting by path is safe to repeat: a node's name holds its attempt or the server's number, so it never belongs to
//! somebody else. But a single node that is the lock: that is deleted again only if a look behind a barrier shows it to be still one's own (every
//! fresh node has version 0, so a delete of a version alone can hit a stranger's).
//!
//! The barrier is a `sync`, which a deposed leader answers alone. A look behind it that shows the node as one's own does no harm there: such a
//! leader carries out no delete. A list without the node can be too old, and the node then stays for as long as the session lives. That
//! takes a create through the new leader whose answer was lost, and a reconnection to the old one before it misses its followers.

use alloc::{string::String, vec::Vec};

use crate::{AttemptId, Cause, CommandId, Failure, Refusal, outbox::Outbox};

use super::{
    ContenderSettings, Verdict, judge,
    layout::{Child, Layout, Role},
    path,
    wire::{Answer, Request, code},
};

/// Nodes to delete and, if a create's outcome is not known, a search for more of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Disposal {
    graves: Vec<Grave>,
    /// What the deletions have shown of the nodes by which a grant was held.
    held: Held,
    search: Search,
    /// The attempts whose nodes are searched for.
    sought: Vec<AttemptId>,
    /// The transaction that has created a single node.
    guarded: Option<i64>,
    /// Why the server would not delete, if it would not.
    pub(super) refused: Option<(Refusal, Cause)>,
}

/// A node to delete.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Grave {
    name: String,
    pending: Option<CommandId>,
    /// Whether a grant that is being released was held by it.
    held: bool,
    /// Whether a deletion of it had no answer: it may have gone by that one.
    repeated: bool,
}

/// Whether the nodes by which a grant was held were still there when it was released.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Held {
    /// No deletion has been answered yet.
    Unknown,
    /// One of them was there, or may have been.
    There,
    /// Somebody else had deleted it, as the answer to this command shows.
    Gone(CommandId),
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
    /// A barrier and a look at the one node that may be ours.
    Looking {
        barrier: CommandId,
        get: CommandId,
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
            held: Held::Unknown,
            search: Search::No,
            sought: Vec::new(),
            guarded: None,
            refused: None,
        }
    }

    /// Whether nothing is left to do.
    pub(super) fn is_done(&self) -> bool {
        self.graves.is_empty() && matches!(self.search, Search::No)
    }

    /// Has the node of that name deleted.
    pub(super) fn bury(&mut self, name: String) {
        self.dig(name, false);
    }

    /// Has the node of that name deleted, by which a grant was held: it has to be there.
    pub(super) fn bury_held(&mut self, name: String) {
        self.held = Held::Unknown;
        self.dig(name, true);
    }

    fn dig(&mut self, name: String, held: bool) {
        if !self.graves.iter().any(|grave| grave.name == name) {
            self.graves.push(Grave {
                name,
                pending: None,
                held,
                repeated: false,
            });
        }
    }

    /// The command that has shown that what a released grant was held by had been deleted before; said once, when all of it is answered for.
    pub(super) fn take_loss(&mut self) -> Option<CommandId> {
        match self.held {
            Held::Gone(id) if !self.graves.iter().any(|grave| grave.held) => {
                self.held = Held::Unknown;
                Some(id)
            }
            Held::Unknown | Held::There | Held::Gone(_) => None,
        }
    }

    /// Says whose a single node is, and which, before it is buried or searched for.
    pub(super) fn guard(&mut self, attempt: AttemptId, czxid: i64) {
        self.sought = Vec::from([attempt]);
        self.guarded = Some(czxid);
    }

    /// Has all nodes of an attempt searched for and deleted.
    pub(super) fn search(&mut self, attempt: AttemptId) {
        let known = self.sought.contains(&attempt);
        if !known {
            self.sought.push(attempt);
        }
        if !known || matches!(self.search, Search::No) {
            self.search = Search::Wanted;
        }
    }

    /// The session is over, and all its nodes with it.
    pub(super) fn clear(&mut self) {
        *self = Self::new();
    }

    /// Sends what is not under way.
    pub(super) fn advance(&mut self, settings: &ContenderSettings, out: &mut Outbox<Request>) {
        let directory = settings.directory.as_str();
        for grave in self.graves.iter_mut().filter(|grave| grave.pending.is_none()) {
            let path = path::child_of(directory, &grave.name);
            grave.pending = Some(out.command(Request::Delete { path }, None));
        }
        if matches!(self.search, Search::Wanted) {
            let path = settings.lock_path();
            let barrier = out.command(Request::Sync { path: path.clone() }, None);
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

    /// Takes an outcome; a search may have to look into nodes then.
    pub(super) fn outcome(
        &mut self,
        id: CommandId,
        result: &Result<Answer, Failure>,
        settings: &ContenderSettings,
        out: &mut Outbox<Request>,
    ) -> Handled {
        if let Some(index) = self.graves.iter().position(|grave| grave.pending == Some(id)) {
            return self.deleted(index, id, result, settings);
        }
        match &self.search {
            Search::Listing { barrier, .. } | Search::Looking { barrier, .. } if id == *barrier => {
                match result {
                    Ok(Answer::Done) => Handled::Yes,
                    _ => self.search_again(),
                }
            }
            Search::Listing { list, .. } if id == *list => match result {
                Ok(Answer::Children(names)) => {
                    self.listed(names, &settings.layout, &settings.directory, out);
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
            Search::Looking { get, .. } if id == *get => {
                let name = path::last_part(&settings.lock_path()).into();
                self.search = Search::Reading(Vec::from([(name, id)]));
                self.looked_at(0, result, settings)
            }
            Search::Reading(nodes) => match nodes.iter().position(|(_, get)| *get == id) {
                Some(index) => self.looked_at(index, result, settings),
                None => Handled::No,
            },
            Search::No | Search::Wanted | Search::Listing { .. } | Search::Looking { .. } => Handled::No,
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
    fn looked_at(
        &mut self,
        index: usize,
        result: &Result<Answer, Failure>,
        settings: &ContenderSettings,
    ) -> Handled {
        let own = match result {
            Ok(Answer::Data { data, stat }) => {
                let written = self.sought.iter().any(|attempt| attempt.is_written(data));
                (written || self.guarded == Some(stat.czxid)).then_some(stat.czxid)
            }
            // Gone, or none of our business.
            Ok(Answer::Error(code::NO_NODE | code::NO_AUTH)) | Err(Failure::Closed) => None,
            Ok(_) | Err(_) => return self.search_again(),
        };
        let Search::Reading(nodes) = &mut self.search else {
            return Handled::No;
        };
        let (name, _) = nodes.swap_remove(index);
        let all = nodes.is_empty();
        if settings.role == Role::Single && own.is_some() {
            // Whose it is has to be known still if this delete, too, has no answer.
            self.guarded = own;
            self.search = Search::No;
        } else if all {
            self.search_over();
        }
        if own.is_some() {
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
        self.guarded = None;
        Handled::Yes
    }

    fn deleted(
        &mut self,
        index: usize,
        id: CommandId,
        result: &Result<Answer, Failure>,
        settings: &ContenderSettings,
    ) -> Handled {
        let single = settings.role == Role::Single;
        match result {
            Ok(Answer::Error(code::NO_NODE)) => self.missed(index, id),
            Ok(Answer::Done) | Err(Failure::Closed) => self.found(index),
            Ok(Answer::Error(error)) => match judge(*error, id, "deleting our node, which may stay") {
                Verdict::Transient => return self.again(index, single),
                Verdict::Final(refusal, cause) => {
                    self.found(index);
                    self.refused = Some((refusal, cause));
                }
            },
            Err(Failure::NotSent) => return self.again(index, single),
            Ok(_) | Err(Failure::Unknown) => {
                if let Some(grave) = self.graves.get_mut(index) {
                    grave.repeated = true;
                }
                return self.again(index, single);
            }
        }
        self.graves.swap_remove(index);
        if single && self.graves.is_empty() {
            self.search_over();
        }
        Handled::Yes
    }

    /// The node was there, or may have been: a grant that was held by it was not lost for all that anybody knows.
    fn found(&mut self, index: usize) {
        if self.graves.get(index).is_some_and(|grave| grave.held) {
            self.held = Held::There;
        }
    }

    /// The node was not there. If no deletion of ours can have done that, somebody else has.
    fn missed(&mut self, index: usize, id: CommandId) {
        let Some(grave) = self.graves.get(index).filter(|grave| grave.held) else {
            return;
        };
        if grave.repeated {
            self.held = Held::There;
        } else if self.held != Held::There {
            self.held = Held::Gone(id);
        }
    }

    fn again(&mut self, index: usize, single: bool) -> Handled {
        if single {
            self.found(index);
            self.graves.swap_remove(index);
            return self.search_again();
        }
        if let Some(grave) = self.graves.get_mut(index) {
            grave.pending = None;
        }
        Handled::Retry
    }

    /// The answer's shape that a command of the disposal asks for.
    pub(super) fn expects(&self, id: CommandId) -> Option<&'static str> {
        match &self.search {
            Search::Listing { list, .. } if id == *list => Some("children"),
            Search::Listing { barrier, .. } | Search::Looking { barrier, .. } if id == *barrier => {
                Some("done")
            }
            Search::Looking { get, .. } if id == *get => Some("data"),
            Search::Reading(nodes) if nodes.iter().any(|(_, get)| *get == id) => Some("data"),
            _ => self
                .graves
                .iter()
                .any(|grave| grave.pending == Some(id))
                .then_some("done"),
        }
    }
}

//! The search, after a barrier, for nodes whose names the client does not know because it got no reply.

use alloc::{string::String, vec::Vec};

use crate::{CommandId, Failure, outbox::Outbox};

use super::super::{
    ContenderSettings, Verdict,
    barrier::Barrier,
    classify_error,
    layout::{Child, Layout, Role},
    path,
    wire::{Answer, Request, code},
};
use super::{Cleanup, Handled};

/// The progress of the search for the nodes of attempts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Search {
    No,
    Wanted,
    /// A barrier and the list after it. Without the barrier, the absence of a node in the list would prove nothing.
    Listing {
        barrier: Barrier,
        list: CommandId,
    },
    /// A barrier and a read of the single node, which may be this contender's.
    Looking {
        barrier: Barrier,
        get: CommandId,
    },
    /// Reads of nodes: their names do not show to which attempt they belong, but their data do.
    Reading(Vec<(String, CommandId)>),
}

impl Cleanup {
    /// Handles an outcome of the search. After a list, the search may have to read nodes.
    pub(super) fn search_outcome(
        &mut self,
        id: CommandId,
        result: &Result<Answer, Failure>,
        settings: &ContenderSettings,
        out: &mut Outbox<Request>,
    ) -> Handled {
        match &self.search {
            Search::Listing { barrier, .. } | Search::Looking { barrier, .. } if barrier.has(id) => {
                if barrier.is_passed(id, result) {
                    Handled::Yes
                } else {
                    self.search_again()
                }
            }
            Search::Listing { list, .. } if id == *list => match result {
                Ok(Answer::Children(names)) => {
                    self.listed(names, &settings.layout, &settings.directory, out);
                    Handled::Yes
                }
                Ok(Answer::Error(code::NO_NODE)) | Err(Failure::Closed) => self.search_over(),
                Ok(Answer::Error(error)) => {
                    match classify_error(*error, id, "listing the lock's directory") {
                        Verdict::Transient => self.search_again(),
                        Verdict::Final(refusal, cause) => {
                            self.refused = Some((refusal, cause));
                            self.search_over()
                        }
                    }
                }
                Ok(_) | Err(_) => self.search_again(),
            },
            Search::Looking { get, .. } if id == *get => {
                let name = path::last_part(&settings.lock_path()).into();
                self.search = Search::Reading(Vec::from([(name, id)]));
                self.node_read(0, result, settings)
            }
            Search::Reading(nodes) => match nodes.iter().position(|(_, get)| *get == id) {
                Some(index) => self.node_read(index, result, settings),
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
                self.schedule_delete(name.clone());
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

    /// Handles the reply to the read of a node. The node's data show whether it belongs to one of the attempts.
    fn node_read(
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
            // The node does not exist, or this client may not read it. In both cases, the client treats it as another
            // contender's node.
            Ok(Answer::Error(code::NO_NODE | code::NO_AUTH)) | Err(Failure::Closed) => None,
            Ok(_) | Err(_) => return self.search_again(),
        };
        let Search::Reading(nodes) = &mut self.search else {
            return Handled::No;
        };
        let (name, _) = nodes.swap_remove(index);
        let all = nodes.is_empty();
        if all || settings.role == Role::Single && own.is_some() {
            self.search = Search::No;
        }
        if own.is_some() {
            // If this delete gets no reply either, the client must still be able to recognise its node.
            self.guarded = own;
            self.schedule_delete(name);
        }
        if self.is_done() {
            self.search_over();
        }
        Handled::Yes
    }

    pub(super) fn search_again(&mut self) -> Handled {
        self.search = Search::Wanted;
        Handled::Retry
    }

    pub(super) fn search_over(&mut self) -> Handled {
        self.search = Search::No;
        self.sought.clear();
        self.guarded = None;
        Handled::Yes
    }
}

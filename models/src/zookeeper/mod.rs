//! A model of one ZooKeeper server: a tree, sessions, and watches that fire once.
//!
//! The rules are the real server's (3.8), as far as locks can see them: a sequence counts every create below its parent and sticks at the
//! end of 32 bits, `get` sets a watch only on a node that is there, a session's end deletes its nodes, watches come in the order of the changes.

mod tree;

use alloc::{collections::VecDeque, string::String, vec::Vec};

use fencepost_core::{
    CommandId, SessionId,
    sorted::{SortedMap, SortedSet},
    zookeeper::{Answer, Notice, Reply, Request, WatchEvent, code},
};
use tree::Tree;

/// One server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Server {
    tree: Tree,
    sessions: SortedMap<SessionId, VecDeque<Notice>>,
    watches: SortedMap<String, Vec<(SessionId, CommandId)>>,
    last_session: i64,
    /// Sessions that have notices nobody has taken.
    heard: SortedSet<SessionId>,
}

impl Server {
    /// An empty server.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens a session. It ends with [`end_session`](Self::end_session).
    pub fn open_session(&mut self) -> SessionId {
        self.last_session = self.last_session.saturating_add(1);
        let session = SessionId(self.last_session);
        self.sessions.insert(session, VecDeque::new());
        session
    }

    /// Ends a session: closed by its client or expired. Its ephemeral nodes go, and those who watch them are told.
    pub fn end_session(&mut self, session: SessionId) {
        self.sessions.remove(&session);
        self.heard.remove(&session);
        for watchers in self.watches.values_mut() {
            watchers.retain(|(watcher, _)| *watcher != session);
        }
        for path in self.tree.ephemerals(session.0) {
            self.delete(&path);
        }
    }

    /// Executes one request of a session.
    pub fn execute(&mut self, session: SessionId, id: CommandId, request: Request) -> Reply {
        let answer = if self.sessions.contains_key(&session) {
            self.answer(session, id, request)
        } else {
            Answer::Error(SESSION_EXPIRED)
        };
        Reply { session, answer }
    }

    /// What a session has been told since it was last asked.
    pub fn take_notices(&mut self, session: SessionId) -> VecDeque<Notice> {
        self.heard.remove(&session);
        self.sessions
            .get_mut(&session)
            .map(core::mem::take)
            .unwrap_or_default()
    }

    /// The sessions that have notices to take.
    pub fn heard(&self) -> impl Iterator<Item = SessionId> {
        self.heard.iter().copied()
    }

    /// The names of a node's children, for tests of what is left behind.
    #[must_use]
    pub fn children(&self, path: &str) -> Option<Vec<String>> {
        self.tree.children(path)
    }

    /// Whose ephemeral node it is, if it is one.
    #[must_use]
    pub fn owner(&self, path: &str) -> Option<SessionId> {
        let (_, stat) = self.tree.get(path)?;
        (stat.ephemeral_owner != 0).then_some(SessionId(stat.ephemeral_owner))
    }

    /// Deletes a node as an operator would.
    pub fn delete(&mut self, path: &str) -> Answer {
        match self.tree.delete(path) {
            Ok(()) => {
                self.fire(path, WatchEvent::Deleted);
                Answer::Done
            }
            Err(error) => Answer::Error(error),
        }
    }

    /// Removes containers that have lost their last child, as the leader does once a minute.
    pub fn reap_containers(&mut self) {
        while let Some(path) = self.tree.empty_container() {
            self.delete(&path);
        }
    }

    fn answer(&mut self, session: SessionId, id: CommandId, request: Request) -> Answer {
        match request {
            Request::Create { path, data, mode } => match self.tree.create(&path, data, mode, session.0) {
                Ok((path, zxid)) => Answer::Created { path, zxid },
                Err(error) => Answer::Error(error),
            },
            Request::Children { path } => self
                .tree
                .children(&path)
                .map_or(Answer::Error(code::NO_NODE), Answer::Children),
            Request::Get { path, watch } => match self.tree.get(&path) {
                Some((data, stat)) => {
                    if watch {
                        self.watches.update(path, |watchers| watchers.push((session, id)));
                    }
                    Answer::Data { data, stat }
                }
                None => Answer::Error(code::NO_NODE),
            },
            Request::Delete { path } => self.delete(&path),
            Request::Sync { .. } => Answer::Done,
            _ => Answer::Error(code::UNIMPLEMENTED),
        }
    }

    fn fire(&mut self, path: &str, event: WatchEvent) {
        for (session, id) in self.watches.remove(path).unwrap_or_default() {
            if let Some(notices) = self.sessions.get_mut(&session) {
                notices.push_back(Notice::Watch { id, session, event });
                self.heard.insert(session);
            }
        }
    }
}

const SESSION_EXPIRED: i32 = -112;

//! A model of ZooKeeper: a tree, sessions, and watches that fire once, on one server or on an ensemble.
//!
//! The rules are those of the real server (3.8), as far as they concern locks. A sequence counts every create below its
//! parent, and stops at the end of 32 bits. `get` sets a watch only on an existing node. The end of a session deletes
//! its nodes. Watches fire in the order of the changes.
//!
//! [`Server::new`] makes one server: when it answers a request, all effects of the request have happened.
//! [`Server::ensemble`] makes several servers. All of them except the leader may lag.

mod ask;
mod ensemble;
mod member;
mod session;
mod tree;
mod trial;
mod watches;
pub mod words;

use alloc::{
    collections::VecDeque,
    string::{String, ToString},
    vec,
    vec::Vec,
};
use core::time::Duration;

use fencepost_core::{
    CommandId, Instant, SessionId,
    sorted::{SortedMap, SortedSet},
    zookeeper::{Answer, Notice, Reply, Request, Stat, Write, code},
};

use ask::Kind;
pub use ask::{Answered, Ask, Event, FiredWatch};
pub use ensemble::CannotAttach;
use member::{Change, Member, Transaction};
use session::Session;
use trial::kind_of;
use watches::Watch;

/// One server, or an ensemble.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Server {
    members: Vec<Member>,
    leader: usize,
    /// The committed transactions that at least one server has not applied.
    log: VecDeque<Transaction>,
    zxid: i64,
    /// The leader's wall clock, in milliseconds.
    time: i64,
    sessions: SortedMap<SessionId, Session>,
    last_session: i64,
    /// The sessions with notices that their clients have not taken.
    notified: SortedSet<SessionId>,
}

impl Default for Server {
    fn default() -> Self {
        Self::ensemble(1)
    }
}

impl Server {
    /// One empty server.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the leader's wall clock, in milliseconds. Nodes that are created or changed from now on have this time. The
    /// clock may go back, as the clock of a real server may.
    pub const fn set_time(&mut self, millis: i64) {
        self.time = millis;
    }

    /// Opens a session on the leader. It lasts until [`end_session`](Self::end_session), and never expires.
    pub fn open_session(&mut self) -> SessionId {
        self.new_session(self.leader, Duration::MAX, Instant::ZERO)
    }

    /// Ends a session, as when its client closes it or when it expires. The server deletes its ephemeral nodes and
    /// fires their watches.
    pub fn end_session(&mut self, session: SessionId) {
        let Some(known) = self.sessions.get_mut(&session) else {
            return;
        };
        if known.ended.is_none() {
            known.ended = Some(i64::MAX);
            let zxid = self.commit(Change::EndSession(session));
            if let Some(known) = self.sessions.get_mut(&session) {
                known.ended = Some(zxid);
            }
            self.forget_what_is_everywhere();
        }
    }

    /// Whether the leader knows the session, and has not ended it.
    #[must_use]
    pub fn is_alive(&self, session: SessionId) -> bool {
        let known = self.sessions.get(&session);
        known.is_some_and(|known| known.ended.is_none())
    }

    /// Executes a request of a session. Unlike [`ask`](Self::ask), it returns `CONNECTION_LOSS` if an ensemble does not
    /// answer.
    pub fn execute(&mut self, session: SessionId, id: CommandId, request: Request) -> Reply {
        let answered = self.ask(session, id, request.into());
        answered.map_or(
            Reply {
                session,
                answer: Answer::Error(code::CONNECTION_LOSS),
            },
            |answered| answered.reply,
        )
    }

    /// Executes a request of a session on the server that it is connected to. The server answers reads from the
    /// transactions that it has applied. All other requests go through the leader, and the server answers when it has
    /// applied their transactions. Returns `None` if the server does not answer, because the session is not connected,
    /// or because its server is cut off from the leader. Then the request is not executed.
    ///
    /// To model a request that is executed although its reply is lost, discard the reply.
    pub fn ask(&mut self, session: SessionId, id: CommandId, ask: Ask) -> Option<Answered> {
        let Some(known) = self.sessions.get(&session) else {
            return Some(self.answered(session, self.leader, Answer::Error(code::SESSION_EXPIRED)));
        };
        let server = known.at?;
        let over = |server: &Self| {
            let known = server.sessions.get(&session);
            known.is_none_or(|known| known.is_over(server.applied(server.leader)))
        };
        let answer = match ask {
            Ask::Request(Request::Children { path, watch }) => {
                let watch = watch.then_some((session, id));
                self.list(server, path, watch)
            }
            Ask::Request(Request::Get { path, watch }) => {
                let watch = watch.then_some((session, id));
                self.look(server, path, watch, true)
            }
            Ask::Exists { path, watch } => {
                let watch = watch.then_some((session, id));
                self.look(server, path, watch, false)
            }
            Ask::Request(Request::Sync { .. }) if self.members[server].deposed => Answer::Done,
            _ if self.members[server].cut_off => return None,
            _ if over(self) => {
                self.catch_up_all(server);
                Answer::Error(code::SESSION_EXPIRED)
            }
            write => {
                let answer = self.write(session, write).unwrap_or_else(Answer::Error);
                self.catch_up_all(server);
                answer
            }
        };
        Some(self.answered(session, server, answer))
    }

    /// The notices for a session since the last call.
    pub fn take_notices(&mut self, session: SessionId) -> VecDeque<Notice> {
        self.take_fired_watches(session)
            .into_iter()
            .map(Notice::from)
            .collect()
    }

    /// The watches of a session that fired since the last call, in the server's form.
    pub fn take_fired_watches(&mut self, session: SessionId) -> VecDeque<FiredWatch> {
        if !self.notified.remove(&session) {
            return VecDeque::new();
        }
        let known = self.sessions.get_mut(&session);
        known
            .map(|known| core::mem::take(&mut known.fired))
            .unwrap_or_default()
    }

    /// The sessions that have notices to take.
    pub fn notified(&self) -> impl Iterator<Item = SessionId> {
        self.notified.iter().copied()
    }

    /// The names of a node's children on the leader, for tests that check which nodes remain after the clients have
    /// ended.
    #[must_use]
    pub fn children(&self, path: &str) -> Option<Vec<String>> {
        self.members[self.leader].tree.children(path)
    }

    /// The session that owns a node; `None` if there is no such node, or if it is not ephemeral.
    #[must_use]
    pub fn owner(&self, path: &str) -> Option<SessionId> {
        self.members[self.leader].tree.owner(path).map(SessionId)
    }

    /// The ephemeral nodes on the leader: each with its data and its session.
    pub fn owned(&self) -> impl Iterator<Item = (&str, &[u8], SessionId)> {
        let nodes = self.members[self.leader].tree.owned();
        nodes.map(|(path, data, session)| (path, data, SessionId(session)))
    }

    /// All nodes on the leader, in the order of their paths: each with its stat, and the session that owns it.
    pub fn nodes(&self) -> impl Iterator<Item = (&str, Stat, Option<SessionId>)> {
        self.nodes_on(self.leader)
    }

    /// All nodes on one server, which may lag; empty if there is no such server.
    pub fn nodes_on(&self, server: usize) -> impl Iterator<Item = (&str, Stat, Option<SessionId>)> {
        let member = self.members.get(server).into_iter();
        let nodes = member.flat_map(|member| member.tree.nodes());
        nodes.map(|(path, stat, session)| (path, stat, session.map(SessionId)))
    }

    /// A node's data and stat, on the leader.
    #[must_use]
    pub fn node(&self, path: &str) -> Option<(&[u8], Stat)> {
        self.members[self.leader].tree.get(path)
    }

    /// Deletes a node, as an operator does.
    pub fn delete(&mut self, path: &str) -> Answer {
        let path = path.to_string();
        let delete = Ask::Request(Request::Delete { path });
        self.write(SessionId(0), delete).unwrap_or_else(Answer::Error)
    }

    /// Deletes containers that have lost their last child, as the leader does once a minute.
    pub fn reap_containers(&mut self) {
        while let Some(path) = self.members[self.leader].tree.empty_container() {
            self.delete(&path);
        }
    }

    fn answered(&self, session: SessionId, server: usize, answer: Answer) -> Answered {
        Answered {
            reply: Reply { session, answer },
            zxid: self.applied(server),
        }
    }

    fn list(&mut self, server: usize, path: String, watch: Option<(SessionId, CommandId)>) -> Answer {
        let member = &mut self.members[server];
        let Some(names) = member.tree.children(&path) else {
            return Answer::Error(code::NO_NODE);
        };
        if let Some((session, id)) = watch {
            let kind = Kind::Children;
            member.watches.add(path, Watch { id, session, kind });
        }
        Answer::Children(names)
    }

    /// Reads a node. If the node does not exist, only a request that does not read data sets a watch.
    fn look(
        &mut self,
        server: usize,
        path: String,
        watch: Option<(SessionId, CommandId)>,
        data: bool,
    ) -> Answer {
        let member = &mut self.members[server];
        let (kind, answer) = match member.tree.get(&path) {
            Some((bytes, stat)) => {
                let data = if data { bytes.into() } else { Vec::new() };
                (Kind::Data, Answer::Data { data, stat })
            }
            None if data => return Answer::Error(code::NO_NODE),
            None => (Kind::Absence, Answer::Error(code::NO_NODE)),
        };
        if let Some((session, id)) = watch {
            member.watches.add(path, Watch { id, session, kind });
        }
        answer
    }

    /// Executes a request that goes through the leader.
    fn write(&mut self, session: SessionId, ask: Ask) -> Result<Answer, i32> {
        let tree = &self.members[self.leader].tree;
        match ask {
            Ask::Request(Request::Create { path, data, mode }) => {
                let (kind, sequential) = kind_of(session, mode);
                let path = tree.may_create(&path, sequential)?;
                let zxid = self.commit(Change::Create {
                    path: path.clone(),
                    data,
                    kind,
                });
                Ok(Answer::Created { path, zxid })
            }
            Ask::Request(Request::Delete { path }) => {
                tree.may_delete(&path, None)?;
                self.commit(Change::Delete { path });
                Ok(Answer::Done)
            }
            Ask::Request(Request::Set { path, data }) => {
                tree.may_set(&path, None)?;
                self.commit(Change::Set { path, data });
                Ok(Answer::Done)
            }
            Ask::Request(Request::Multi { writes }) => self.write_all(session, writes),
            Ask::DeleteVersion { path, version } => {
                tree.may_delete(&path, Some(version))?;
                self.commit(Change::Delete { path });
                Ok(Answer::Done)
            }
            Ask::Set { path, data, version } => {
                tree.may_set(&path, version)?;
                let change = Change::Set {
                    path: path.clone(),
                    data,
                };
                self.commit(change);
                let (_, stat) = self.node(&path).ok_or(code::NO_NODE)?;
                let data = vec![];
                Ok(Answer::Data { data, stat })
            }
            Ask::Request(Request::Sync { .. }) => Ok(Answer::Done),
            _ => Err(code::UNIMPLEMENTED),
        }
    }

    /// Carries out several writes in one transaction: all of them or none.
    fn write_all(&mut self, session: SessionId, writes: Vec<Write>) -> Result<Answer, i32> {
        let changes = trial::tried(&mut self.members[self.leader].tree, session, writes)?;
        let names = changes.iter().filter_map(|change| match change {
            Change::Create { path, .. } => Some(path.rsplit_once('/')?.1.to_string()),
            _ => None,
        });
        let names = names.collect();
        self.commit(Change::All(changes));
        Ok(Answer::Children(names))
    }
}

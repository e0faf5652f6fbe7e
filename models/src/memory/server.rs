//! The server behind `memory:`: the model, and a connection for each hub.

use alloc::vec::Vec;
use core::time::Duration;

use fencepost_core::{
    CommandId, Failure, Instant, Outcome, SessionId,
    zookeeper::{Notice, Reply, Request, SessionState},
};

use crate::zookeeper;

use super::{
    connection::{Connected, Connection},
    messages::{At, Message, Messages},
};

/// A server inside the process. A hub is identified by its id, which [`connect`](Self::connect) returns.
///
/// A control changes nothing if its effect already exists: [`resume`](Self::resume) of a hub that is not paused, for
/// example. After a control, the hubs that [`take_woken`](Self::take_woken) returns have outputs to poll.
#[derive(Clone, Debug, Default)]
pub struct Server {
    model: zookeeper::Server,
    /// The connections, sorted by the ids of their hubs. New ids are always the greatest.
    connections: Vec<Connection>,
    messages: Messages,
    executed: u32,
}

/// A node on the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Node<'a> {
    /// The path.
    pub path: &'a str,
    /// The data.
    pub data: &'a [u8],
    /// The hub whose session owns the node; 0 if the node is not ephemeral.
    pub hub: u64,
}

/// After how many requests the model deletes empty containers.
const REAP_EVERY: u32 = 4096;

impl Server {
    /// An empty server.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Connects a hub with a new session. Returns the hub's id. `timeout` is the session timeout with which the hub
    /// calculates; the server does not enforce it.
    pub fn connect(&mut self, timeout: Duration) -> u64 {
        let connection = Connection::new(&mut self.model, timeout);
        let hub = connection.hub;
        self.connections.push(connection);
        hub
    }

    /// Ends the hub's session, and forgets the hub, which may be paused. Returns the hub's last notice.
    pub fn disconnect(&mut self, hub: u64, now: Instant) -> Notice {
        let session = self
            .find(hub)
            .map_or(SessionId(0), |at| self.connections.remove(at).session);
        self.model.end_session(session);
        let closed = Notice::Session {
            state: SessionState::Closed,
            session,
            timeout: Duration::ZERO,
        };
        let at = At {
            time: now,
            hub,
            session,
        };
        self.messages.session(at, &closed);
        closed
    }

    /// Executes a command of a hub. Returns its outcome, or `None` if the command gets no outcome. The hub must not be
    /// [paused](Self::is_paused).
    ///
    /// A command of a suspended hub fails with [`Failure::NotSent`], and a command of an unknown hub with
    /// [`Failure::Closed`].
    pub fn execute(
        &mut self,
        hub: u64,
        now: Instant,
        id: CommandId,
        request: Request,
    ) -> Option<Outcome<Reply>> {
        let Some(connection) = self.known(hub) else {
            return Some(Outcome::Failed(Failure::Closed));
        };
        if !connection.attached {
            return Some(Outcome::Failed(Failure::NotSent));
        }
        let session = connection.session;
        if request == Request::Reconnect {
            // There is no other server to connect to.
            return None;
        }
        self.executed = self.executed.wrapping_add(1);
        if self.executed.is_multiple_of(REAP_EVERY) {
            self.model.reap_containers();
        }
        self.model
            .set_time(i64::try_from(now.as_micros() / 1000).unwrap_or(i64::MAX));
        let at = At {
            time: now,
            hub,
            session,
        };
        self.messages.request(at, id, &request);
        let Some(answered) = self.model.ask(session, id, request.into()) else {
            return Some(Outcome::Failed(Failure::Unknown));
        };
        self.model.saw(session, answered.zxid);
        self.messages.reply(at, id, &answered.reply.answer);
        Some(Outcome::Reply(answered.reply))
    }

    /// The notices for a hub since the last call; none while the hub is paused.
    pub fn take_notices(&mut self, hub: u64, now: Instant) -> Vec<Notice> {
        let known = self.find(hub).and_then(|at| self.connections.get_mut(at));
        let Some(connection) = known else {
            return Vec::new();
        };
        if connection.paused {
            return Vec::new();
        }
        let session = connection.session;
        let at = At {
            time: now,
            hub,
            session,
        };
        let mut notices: Vec<Notice> = connection.take_unreported().collect();
        for notice in &notices {
            self.messages.session(at, notice);
        }
        for fired in self.model.take_fired_watches(session) {
            self.messages.watch(at, &fired);
            notices.push(fired.into());
        }
        notices
    }

    /// The ids of the hubs that have outputs to poll. The server returns a hub again until the hub takes its notices.
    #[must_use]
    pub fn take_woken(&mut self) -> Vec<u64> {
        let is_woken = |known: &&Connection| {
            !known.paused && (known.awake || self.model.notified().any(|session| session == known.session))
        };
        let woken = self.connections.iter().filter(is_woken);
        woken.map(|known| known.hub).collect()
    }

    /// Ends the hub's session, as real servers do when they have received nothing from a client for the session's
    /// timeout. The server deletes the session's ephemeral nodes. A hub that is connected and not paused gets a notice
    /// at once, and a new session. A suspended hub gets the notice when it reconnects, and a paused hub when it
    /// resumes.
    ///
    /// Returns `false` if there is no such hub, as the other controls do.
    pub fn expire(&mut self, hub: u64) -> bool {
        self.control(hub, Connection::expire)
    }

    /// Cuts the hub's connection. The server keeps the session until a call of [`expire`](Self::expire).
    pub fn suspend(&mut self, hub: u64) -> bool {
        self.control(hub, Connection::suspend)
    }

    /// Lets the hub connect again: in its session, or in a new one if the server has ended the old one.
    pub fn reconnect(&mut self, hub: u64) -> bool {
        self.control(hub, Connection::reconnect)
    }

    /// Pauses the hub, as if its process were stopped: it gets no notices and sends no requests, and no time passes for
    /// it. The server keeps the session until a call of [`expire`](Self::expire).
    pub fn pause(&mut self, hub: u64) -> bool {
        self.control(hub, |connection, _| connection.pause())
    }

    /// Resumes the hub. It then gets the notices that it has missed.
    pub fn resume(&mut self, hub: u64) -> bool {
        self.control(hub, Connection::resume)
    }

    /// Whether the hub is paused.
    #[must_use]
    pub fn is_paused(&self, hub: u64) -> bool {
        self.known(hub).is_some_and(|known| known.paused)
    }

    /// All hubs, in the order in which they connected.
    pub fn sessions(&self) -> impl Iterator<Item = Connected> {
        self.connections.iter().map(|known| Connected {
            hub: known.hub,
            session: known.session,
            state: known.state(&self.model),
            paused: known.paused,
        })
    }

    /// All nodes, in the order of their paths, without the root.
    pub fn nodes(&self) -> impl Iterator<Item = Node<'_>> {
        let nodes = self.model.nodes().filter(|(path, ..)| !path.is_empty());
        nodes.filter_map(|(path, _, session)| {
            Some(Node {
                path,
                data: self.model.node(path)?.0,
                hub: session.map_or(0, |session| self.hub_of(session)),
            })
        })
    }

    /// Starts to record all messages between hubs and the server, in an empty list; or stops, and keeps the list. At
    /// first, the server records nothing. While recording is on, the list grows without limit.
    pub fn record(&mut self, on: bool) {
        self.messages.turn(on);
    }

    /// The recorded messages with a number above `after`, in the order in which they were sent.
    #[must_use]
    pub fn messages(&self, after: u64) -> &[Message] {
        self.messages.after(after)
    }

    /// The model, for tests that inspect it or inject faults.
    pub const fn model(&mut self) -> &mut zookeeper::Server {
        &mut self.model
    }

    fn control(&mut self, hub: u64, change: impl FnOnce(&mut Connection, &mut zookeeper::Server)) -> bool {
        let known = self.find(hub).and_then(|at| self.connections.get_mut(at));
        known.is_some_and(|connection| {
            change(connection, &mut self.model);
            true
        })
    }

    fn known(&self, hub: u64) -> Option<&Connection> {
        self.connections.get(self.find(hub)?)
    }

    fn find(&self, hub: u64) -> Option<usize> {
        self.connections
            .binary_search_by_key(&hub, |known| known.hub)
            .ok()
    }

    /// The hub that has this session.
    fn hub_of(&self, session: SessionId) -> u64 {
        let known = self.connections.iter().find(|known| known.session == session);
        known.map_or(0, |known| known.hub)
    }
}

//! ZooKeeper clients on the model server or ensemble: sessions that outlive connections, and end on the leader's clock.

mod faults;
mod kinds;
mod places;
mod sessions;
mod shown;
mod swapped;
mod words;

use core::time::Duration;

use fencepost_core::{
    AttemptId, CommandId, Instant, SessionId, lease,
    zookeeper::{Answer, Notice, Reply, Request, ZooKeeper, code},
};
pub use fencepost_models::zookeeper::Ask;
use fencepost_models::zookeeper::Server;

use crate::{
    backend::{Aftermath, Answered, Backend, Belongings, Owner},
    checker::{ContenderNode, Shown},
    shared::Shared,
    step::{Number, ServerFault},
};
use kinds::{alone, is_check, is_sync};
use places::QUEUES;
pub use places::RECORD;
use sessions::Session;

/// How long the leader keeps a session from which it receives nothing.
pub const TIMEOUT: Duration = Duration::from_millis(900);

/// The same after an operator has made the shortest timeout longer.
pub const LONGER: Duration = Duration::from_millis(2500);

/// How many permits its semaphores have.
pub const PERMITS: u8 = 2;

/// A revocation request, as Curator's `Revoker` writes it into a holder's node.
pub const REVOKE: &[u8] = b"__REVOKE__";

/// The lock's directory.
pub const DIRECTORY: &str = "/shop/stock";

/// The servers, and every client's session.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Servers {
    server: Shared<Server>,
    members: Vec<Member>,
    /// The timeout that connections negotiate now.
    timeout: Duration,
    /// Whether an operator has deleted a node.
    operated: bool,
    sessions: Vec<Session>,
    /// Sessions with their clients, the latest last.
    owners: Vec<(SessionId, Owner)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Member {
    /// When the leader last sent it a ping.
    pinged: Instant,
    /// Whether this ping is still pending.
    ping_waits: bool,
    level: Instant,
    cut_off: Option<Instant>,
}

impl Servers {
    /// The model itself: its clock, its nodes, and its operations for tests.
    pub fn server(&mut self) -> &mut Server {
        &mut self.server
    }

    fn session(&mut self, client: Number) -> &mut Session {
        &mut self.sessions[usize::from(client)]
    }

    fn owner(&self, session: SessionId) -> Owner {
        let known = self.owners.iter().find(|(id, _)| *id == session);
        known.map_or(Owner::Ended, |(_, owner)| *owner)
    }

    /// The member with a number.
    fn member(&self, server: u8) -> usize {
        usize::from(server) % self.members.len()
    }

    fn level(&mut self) {
        for member in 0..self.members.len() {
            self.server.catch_up(member, usize::MAX);
        }
    }
}

impl Backend for Servers {
    type Family = ZooKeeper;
    type Ask = Ask;
    type Connection = SessionId;

    const ORDERED: bool = true;
    const CLEANUP_LIMIT: Duration = Duration::from_millis(500);

    // For an acquire that only waits for the confirmation of its session. The clock of the client may run
    // fast.
    fn grace(&self, client: Number) -> Duration {
        self.sessions[usize::from(client)].timeout / 2
    }

    fn new(clients: Number, servers: u8) -> Self {
        let servers = servers.max(1).into();
        Self {
            server: Shared::new(Server::ensemble(servers)),
            members: vec![
                Member {
                    pinged: Instant::ZERO,
                    ping_waits: false,
                    level: Instant::ZERO,
                    cut_off: None
                };
                servers
            ],
            timeout: TIMEOUT,
            operated: false,
            sessions: vec![Session::default(); clients.into()],
            owners: Vec::new(),
        }
    }

    fn connection(&self, client: Number) -> SessionId {
        self.sessions[usize::from(client)].id.unwrap_or(SessionId(0))
    }

    fn connect(&mut self, now: Instant, client: Number, server: u8) -> Option<Vec<Notice>> {
        self.attach(now, client, server)
    }

    fn disconnect(&mut self, _now: Instant, client: Number) -> Vec<Notice> {
        self.suspend(client)
    }

    fn broken(&self) -> Vec<Number> {
        let closed = |session: &Session| {
            let open = session.id.and_then(|id| self.server.connected_to(id)).is_some();
            session.connected && !open
        };
        let all = (0..).zip(&self.sessions);
        all.filter(|(_, session)| closed(session))
            .map(|(client, _)| client)
            .collect()
    }

    fn forget(&mut self, client: Number) {
        for (_, owner) in &mut self.owners {
            if *owner == Owner::Client(client) {
                *owner = Owner::Ended;
            }
        }
        // The servers keep its session for a while.
        *self.session(client) = Session::default();
    }

    // The Rust client resumes a session in this way: `last_zxid` is 0.
    fn forget_connection(&mut self, client: Number) {
        if let Some(id) = self.session(client).id {
            self.server.forget_watches(id);
            self.server.forget_seen(id);
        }
    }

    fn alive(&mut self, now: Instant, client: Number) {
        let session = self.session(client);
        let (Some(id), Some(contact)) = (session.id, session.last_contact) else {
            return;
        };
        // A library sends a ping when it has sent nothing for a third of its timeout.
        if lease::renew_at(contact, session.timeout) <= now {
            session.last_contact = Some(now);
            self.server.heard(now, id);
        }
    }

    // A server answers the requests of a session in order: a read waits behind a request that needs the leader.
    fn stalls(&self, connection: SessionId, ask: &Ask) -> bool {
        let member = self
            .server
            .connected_to(connection)
            .and_then(|member| self.members.get(member));
        let connected = self.server.connected_to(connection);
        let deposed = connected.is_some_and(|member| self.server.is_deposed(member));
        let stalls = !(alone(ask) || deposed && is_sync(ask));
        stalls && member.is_some_and(|member| member.cut_off.is_some())
    }

    fn execute(
        &mut self,
        now: Instant,
        client: Number,
        connection: SessionId,
        id: CommandId,
        ask: Ask,
    ) -> Option<Answered<Self>> {
        if self.session(client).id == Some(connection) {
            self.session(client).last_contact = Some(now);
            self.server.heard(now, connection);
        }
        let through_leader = !alone(&ask);
        let follower = self.server.connected_to(connection);
        let follower = follower.filter(|member| through_leader && !self.server.is_deposed(*member));
        // A request that a follower forwards reaches the leader after the follower's report. The answer
        // reaches the follower after the leader's ping.
        if let Some(member) = follower {
            self.server.take_report(now, member);
        }
        let answered = self.server.ask(connection, id, ask)?;
        if let Some(member) = follower
            && core::mem::take(&mut self.members[member].ping_waits)
        {
            self.server.report(member);
        }
        Some(Answered {
            reply: answered.reply,
            mark: answered.zxid,
        })
    }

    fn delivered(&mut self, client: Number, mark: i64) -> bool {
        if let Some(id) = self.session(client).id
            && self.server.seen(id) < Some(mark)
        {
            self.server.saw(id, mark);
        }
        false
    }

    fn behind(&self, connection: SessionId) -> usize {
        let member = self.server.connected_to(connection);
        member.map_or(0, |member| self.server.lag(member))
    }

    fn throttled(&self, connection: SessionId, _ask: &Ask) -> Option<Reply> {
        Some(Reply {
            session: connection,
            answer: Answer::Error(code::THROTTLED),
        })
    }

    fn take_notices(&mut self, client: Number) -> Vec<Notice> {
        let session = self.session(client).id;
        let notified = session.filter(|session| self.server.notified().any(|notified| notified == *session));
        let notices = notified.map(|session| self.server.take_fired_watches(session));
        notices.into_iter().flatten().map(Notice::from).collect()
    }

    fn pass(&mut self, now: Instant) {
        self.time_passes(now);
    }

    fn server_fault(&mut self, now: Instant, fault: ServerFault) -> Option<Aftermath> {
        self.apply_fault(now, fault)
    }

    fn holds(&self, _now: Instant, client: Number, attempt: &AttemptId) -> bool {
        self.own(client, attempt).next().is_some()
    }

    // The number of a transaction always increases.
    fn last_fence(&self, _now: Instant) -> Option<u64> {
        None
    }

    fn belongings(&self, _now: Instant) -> Belongings {
        let contenders = self.contenders().into_iter();
        contenders
            .map(|(name, owner)| (name.to_owned(), owner, None))
            .collect()
    }

    fn queue(&self) -> Option<Vec<Number>> {
        let mut clients = Vec::new();
        for (_, owner) in self.contenders() {
            // A contender that takes a permit is still at the head of the queue.
            if let Owner::Client(client) = owner
                && !clients.contains(&client)
            {
                clients.push(client);
            }
        }
        Some(clients)
    }

    fn left_behind(&self, _now: Instant) -> Vec<String> {
        self.contenders()
            .into_iter()
            .map(|(path, _)| path.to_owned())
            .collect()
    }

    fn heal(&mut self, _now: Instant) {
        for number in 0..self.members.len() {
            self.members[number].cut_off = None;
            self.server.rejoin(number);
        }
    }

    fn is_routine(ask: &Ask) -> bool {
        is_sync(ask) || is_check(ask)
    }

    fn is_reconnect(ask: &Ask) -> bool {
        matches!(ask, Ask::Request(Request::Reconnect))
    }

    // For every second client, its driver makes the session.
    fn next_server(&self, client: Number) -> Option<u8> {
        let session = self.sessions[usize::from(client)].id?;
        let present = self
            .server
            .connected_to(session)
            .filter(|_| client.is_multiple_of(2))?;
        u8::try_from((present + 1) % self.members.len()).ok()
    }

    fn is_of_others(&self, client: Number, ask: &Ask) -> bool {
        match ask {
            Ask::Request(Request::Children { .. }) => true,
            Ask::Request(Request::Get { path, .. }) => {
                let mut nodes = self.server.owned();
                let node = nodes.find(|(known, ..)| known == path);
                node.is_none_or(|(_, _, session)| self.owner(session) != Owner::Client(client))
            }
            _ => false,
        }
    }

    fn reads(ask: &Ask) -> bool {
        alone(ask) || Self::is_routine(ask)
    }

    fn is_committed(ask: &Ask) -> bool {
        !alone(ask)
    }

    // The server encodes the result of the transaction in the form of the request with which it confuses it.
    fn instead(ask: &Ask, reply: &Reply, before: &Ask, theirs: Reply) -> Option<Reply> {
        swapped::answer(ask, reply, before, theirs).filter(|swapped| swapped.session == reply.session)
    }

    fn harms(ask: &Ask) -> bool {
        matches!(
            ask,
            Ask::Request(Request::Delete { .. } | Request::Set { .. }) | Ask::DeleteVersion { .. }
        )
    }

    fn shown(&self, _now: Instant, client: Number) -> Vec<Shown> {
        self.shown_to(client)
    }

    fn node(&self, _now: Instant, path: &str) -> Option<ContenderNode> {
        let (data, stat) = self.server.node(path)?;
        Some(ContenderNode {
            fence: u64::try_from(stat.czxid).unwrap_or_default(),
            session: Some(SessionId(stat.ephemeral_owner)),
            revocation_requested: data == REVOKE,
        })
    }

    fn is_revocation_requested(&self, client: Number, attempt: &AttemptId) -> bool {
        self.own(client, attempt)
            .any(|(directory, data)| data == REVOKE && !QUEUES.contains(&directory))
    }

    fn aims_at(ask: &Ask) -> Option<&str> {
        match ask {
            Ask::Request(Request::Delete { path } | Request::Set { path, .. }) => Some(path),
            _ => None,
        }
    }

    fn deletes(ask: &Ask) -> bool {
        matches!(ask, Ask::Request(Request::Delete { .. }))
    }

    fn describe_ask(ask: &Ask) -> String {
        words::ask(ask)
    }

    fn describe_reply(reply: &Reply) -> String {
        words::answer(&reply.answer)
    }

    fn describe_notice(notice: &Notice) -> String {
        words::notice(notice)
    }
}

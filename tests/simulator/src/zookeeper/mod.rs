//! ZooKeeper clients on the model server or ensemble: sessions that outlive connections, and end on the leader's clock.

mod shown;
mod swapped;
mod words;

use core::time::Duration;

use fencepost_core::{
    AttemptId, CommandId, Instant, SessionId, lease,
    zookeeper::{Answer, Notice, Reply, Request, SessionState, Write, ZooKeeper, code},
};
pub use fencepost_models::zookeeper::Ask;
use fencepost_models::zookeeper::Server;

use crate::{
    backend::{Aftermath, Answered, Backend, Belongings, Owner},
    checker::{Placed, Shown},
    step::{Number, Outage},
};

/// How long the leader keeps a session that it hears nothing of.
pub const TIMEOUT: Duration = Duration::from_millis(900);

/// How many permits its semaphores have.
pub const PERMITS: u8 = 2;

/// What somebody who wants a lock writes into its node (Curator's `Revoker` does).
pub const REVOKE: &[u8] = b"__REVOKE__";

/// The lock's directory.
pub const DIRECTORY: &str = "/shop/stock";

/// Where contenders' nodes lie, those who hold first: a semaphore keeps its permits and its line below the directory (or beside it, as Kazoo
/// does), and of many locks there is another one.
const DIRECTORIES: [&str; 5] = [
    "/shop/stock/leases",
    DIRECTORY,
    "/shop/stock/locks",
    "/shop/stock-__lock__",
    "/shop/till",
];

/// Where those stand in line who will hold by another node.
const LINES: [&str; 2] = [DIRECTORIES[2], DIRECTORIES[3]];

/// What is no contender there.
const HALVES: [&str; 2] = ["leases", "locks"];

/// How often followers tell the leader whom they have heard.
const HALF_TICK: Duration = Duration::from_millis(200);

/// How long a follower may lag.
const LAG: Duration = Duration::from_millis(150);

/// After how long a follower notices that it is cut off.
const NOTICES: Duration = Duration::from_millis(700);

/// After how long a leader misses its followers: by default five ticks, of which a timeout may have but two.
const MISSES: Duration = Duration::from_millis(2200);

/// The servers, and every client's session.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Servers {
    server: Server,
    members: Vec<Member>,
    sessions: Vec<Session>,
    /// Sessions with their clients, the latest last.
    owners: Vec<(SessionId, Owner)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Member {
    /// When the leader has last sent it a ping.
    pinged: Instant,
    /// Whether that is still on its way.
    ping_waits: bool,
    level: Instant,
    cut_off: Option<Instant>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Session {
    id: Option<SessionId>,
    connected: bool,
    /// When its client was last heard by its server.
    heard: Option<Instant>,
}

impl Servers {
    fn session(&mut self, client: Number) -> &mut Session {
        &mut self.sessions[usize::from(client)]
    }

    fn owner(&self, session: SessionId) -> Owner {
        let known = self.owners.iter().find(|(id, _)| *id == session);
        known.map_or(Owner::Nobody, |(_, owner)| *owner)
    }

    /// What an attempt of a client's has on the leader: in which directory, and with which data.
    fn own(&self, client: Number, attempt: &AttemptId) -> impl Iterator<Item = (&str, &[u8])> {
        // Asked at nearly every step: names are written only for a client that has a node.
        let mut names = None;
        let owned = self.server.owned().map(|(path, data, session)| {
            let directory = directory_of(path);
            (directory, &path[directory.len()..], data, session)
        });
        let own = owned.filter(move |(directory, name, data, session)| {
            self.owner(*session) == Owner::Client(client) && DIRECTORIES.contains(directory) && {
                let (uuid, hex, written) =
                    names.get_or_insert_with(|| (attempt.uuid(), attempt.hex(), attempt.to_string()));
                *data == written.as_bytes() || name.contains(&**uuid) || name.contains(&**hex)
            }
        });
        own.map(|(directory, _, data, _)| (directory, data))
    }

    /// Which member a number means.
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
    type Line = SessionId;

    const ORDERED: bool = true;
    const FAREWELL: Duration = Duration::from_millis(500);

    // On a session of which nothing is proved yet: those of drivers that do not make them. By a clock that runs ahead.
    fn grace(client: Number) -> Duration {
        if client.is_multiple_of(2) {
            Duration::ZERO
        } else {
            TIMEOUT / 2
        }
    }

    fn new(clients: Number, servers: u8) -> Self {
        let servers = servers.max(1).into();
        Self {
            server: Server::ensemble(servers),
            members: vec![
                Member {
                    pinged: Instant::ZERO,
                    ping_waits: false,
                    level: Instant::ZERO,
                    cut_off: None
                };
                servers
            ],
            sessions: vec![Session::default(); clients.into()],
            owners: Vec::new(),
        }
    }

    fn line(&self, client: Number) -> SessionId {
        self.sessions[usize::from(client)].id.unwrap_or(SessionId(0))
    }

    fn connect(&mut self, now: Instant, client: Number, server: u8) -> Option<Vec<Notice>> {
        let member = self.member(server);
        let mut told = Vec::new();
        let known = self.session(client).id;
        let id = match known.map(|session| self.server.reattach(now, session, member)) {
            Some(Ok(())) => known?,
            Some(Err(fencepost_models::zookeeper::CannotAttach::SessionOver)) | None => {
                let fresh = self.server.open_session_at(now, member, TIMEOUT)?;
                told.extend(known.map(|session| state(SessionState::Expired, session)));
                // Some drivers make their sessions themselves, and say so.
                if client.is_multiple_of(2) {
                    told.push(state(SessionState::Connecting, SessionId(0)));
                }
                self.owners.retain(|(_, owner)| *owner != Owner::Client(client));
                self.owners.push((fresh, Owner::Client(client)));
                fresh
            }
            Some(Err(_)) => return None,
        };
        *self.session(client) = Session {
            id: Some(id),
            connected: true,
            heard: Some(now),
        };
        told.push(state(SessionState::Connected, id));
        Some(told)
    }

    fn disconnect(&mut self, _now: Instant, client: Number) -> Vec<Notice> {
        let session = self.session(client);
        session.connected = false;
        let id = session.id;
        if let Some(id) = id {
            self.server.detach(id);
        }
        id.map(|id| state(SessionState::Suspended, id))
            .into_iter()
            .collect()
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
                *owner = Owner::Nobody;
            }
        }
        // Its session lives on for a while, on the servers alone.
        *self.session(client) = Session::default();
    }

    // The Rust client resumes a session so: `last_zxid` is 0.
    fn forget_connection(&mut self, client: Number) {
        if let Some(id) = self.session(client).id {
            self.server.forget_watches(id);
            self.server.forget_seen(id);
        }
    }

    fn alive(&mut self, now: Instant, client: Number) {
        let session = self.session(client);
        let (Some(id), Some(heard)) = (session.id, session.heard) else {
            return;
        };
        // A library pings when it has been silent for a third of its timeout.
        if lease::renew_at(heard, TIMEOUT) <= now {
            session.heard = Some(now);
            self.server.heard(now, id);
        }
    }

    // A server answers a session in order: what it can do alone waits behind what it cannot.
    fn stalls(&self, line: SessionId, ask: &Ask) -> bool {
        let member = self
            .server
            .connected_to(line)
            .and_then(|member| self.members.get(member));
        let connected = self.server.connected_to(line);
        let deposed = connected.is_some_and(|member| self.server.is_deposed(member));
        let stalls = !(alone(ask) || deposed && is_sync(ask));
        stalls && member.is_some_and(|member| member.cut_off.is_some())
    }

    fn execute(
        &mut self,
        now: Instant,
        client: Number,
        line: SessionId,
        id: CommandId,
        ask: Ask,
    ) -> Option<Answered<Self>> {
        if self.session(client).id == Some(line) {
            self.session(client).heard = Some(now);
            self.server.heard(now, line);
        }
        let through_leader = !alone(&ask);
        let follower = self.server.connected_to(line);
        let follower = follower.filter(|member| through_leader && !self.server.is_deposed(*member));
        // What is passed on comes to the leader behind the follower's report, and what is answered behind the leader's ping.
        if let Some(member) = follower {
            self.server.take_report(now, member);
        }
        let answered = self.server.ask(line, id, ask)?;
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
        if let Some(id) = self.session(client).id {
            self.server.saw(id, mark);
        }
        false
    }

    fn crowded(&self, line: SessionId, _ask: &Ask) -> Option<Reply> {
        Some(Reply {
            session: line,
            answer: Answer::Error(code::THROTTLED),
        })
    }

    fn take_notices(&mut self, client: Number) -> Vec<Notice> {
        let session = self.session(client).id;
        let told = session.map(|session| self.server.take_told(session));
        told.into_iter().flatten().map(Notice::from).collect()
    }

    fn pass(&mut self, now: Instant) {
        for number in 0..self.members.len() {
            let member = &mut self.members[number];
            // What came in since the last ping is reported by the first one that is due.
            let due = member.pinged.plus(HALF_TICK);
            while member.pinged.plus(HALF_TICK) <= now {
                member.pinged = member.pinged.plus(HALF_TICK);
                member.ping_waits = true;
            }
            match member.cut_off {
                Some(since) if self.server.is_deposed(number) => {
                    if since.plus(MISSES) <= now {
                        self.members[number].cut_off = None;
                        self.server.rejoin(number);
                    }
                }
                Some(since) if since.plus(NOTICES) <= now => {
                    self.server.disconnect_all(number);
                }
                Some(_) => {}
                None => {
                    self.server.take_report(now, number);
                    if core::mem::take(&mut member.ping_waits) {
                        self.server.report(number);
                        self.server.take_report(due.min(now), number);
                    }
                    if self.members[number].level.plus(LAG) <= now {
                        self.members[number].level = now;
                        self.server.catch_up(number, usize::MAX);
                    }
                }
            }
        }
        self.server.expire_due(now);
    }

    fn outage(&mut self, now: Instant, outage: Outage) -> Option<Aftermath> {
        match outage {
            Outage::Expire(nth) => {
                // An operator does, or a leader whose clock was set.
                let (_, owner) = self.contenders().into_iter().nth(nth.into())?;
                let Owner::Client(client) = owner else {
                    return None;
                };
                let session = self.session(client).id?;
                self.server.end_session(session);
                self.level();
                return Some(Aftermath { two_may_hold: true });
            }
            Outage::Operator(nth) => {
                let (path, _) = self.contenders().into_iter().nth(nth.into())?;
                let path = path.to_owned();
                self.server.delete(&path);
                return Some(Aftermath { two_may_hold: true });
            }
            Outage::Forget => self.server.reap_containers(),
            Outage::FailOver => {
                let next = (0..self.members.len()).find(|member| {
                    *member != self.server.leader() && self.members[*member].cut_off.is_none()
                });
                let next = next.unwrap_or(self.server.leader());
                self.server.change_leader(now, next);
            }
            Outage::Depose => {
                let old = self.server.leader();
                let next = (0..self.members.len())
                    .find(|member| *member != old && self.members[*member].cut_off.is_none())?;
                self.server.depose(now, next);
                if !self.server.is_deposed(old) {
                    return None;
                }
                self.members[old].cut_off = Some(now);
            }
            Outage::Restart => {
                self.server.change_leader(now, self.server.leader());
            }
            Outage::CatchUp(server) => {
                let member = self.member(server);
                self.server.catch_up(member, 1);
            }
            Outage::CutOff(server) => {
                let number = self.member(server);
                if self.members[number].cut_off.take().is_some() {
                    self.server.rejoin(number);
                } else if number != self.server.leader() {
                    self.members[number].cut_off = Some(now);
                    self.server.cut_off(number);
                } else {
                    return None;
                }
            }
            Outage::Crowd(_)
            | Outage::Full
            | Outage::NoDisk
            | Outage::FewReplicas
            | Outage::NoChannels
            | Outage::Older => return None,
        }
        Some(Aftermath::default())
    }

    fn holds(&self, _now: Instant, client: Number, attempt: &AttemptId) -> bool {
        self.own(client, attempt).next().is_some()
    }

    // A transaction's number, which cannot but grow.
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
            // Who takes a permit stands at the head of the line still.
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

    // The server writes what its transaction has come to in the form of the request that it takes it for.
    fn instead(ask: &Ask, reply: &Reply, before: &Ask, theirs: Reply) -> Option<Reply> {
        swapped::answer(ask, reply, before, theirs).filter(|swapped| swapped.session == reply.session)
    }

    fn harms(ask: &Ask) -> bool {
        matches!(
            ask,
            Ask::Request(Request::Delete { .. } | Request::Set { .. }) | Ask::DeleteVersion { .. }
        )
    }

    fn shown(&self, client: Number) -> Vec<Shown> {
        self.shown_to(client)
    }

    fn node(&self, path: &str) -> Option<Placed> {
        let (data, stat) = self.server.node(path)?;
        Some(Placed {
            fence: u64::try_from(stat.czxid).unwrap_or_default(),
            session: SessionId(stat.ephemeral_owner),
            wanted: data == REVOKE,
        })
    }

    fn is_wanted(&self, client: Number, attempt: &AttemptId) -> bool {
        self.own(client, attempt)
            .any(|(directory, data)| data == REVOKE && !LINES.contains(&directory))
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

    fn say_ask(ask: &Ask) -> String {
        words::ask(ask)
    }

    fn say_reply(reply: &Reply) -> String {
        words::answer(&reply.answer)
    }

    fn say_notice(notice: &Notice) -> String {
        words::notice(notice)
    }
}

/// Where a node lies.
fn directory_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| directory)
}

/// Whether a server answers without asking the leader.
const fn alone(ask: &Ask) -> bool {
    matches!(ask, Ask::Request(Request::Children { .. } | Request::Get { .. }))
}

const fn is_sync(ask: &Ask) -> bool {
    matches!(ask, Ask::Request(Request::Sync { .. }))
}

/// Whether it only asks a quorum.
fn is_check(ask: &Ask) -> bool {
    let Ask::Request(Request::Multi { writes }) = ask else {
        return false;
    };
    writes.iter().all(|write| matches!(write, Write::Check { .. }))
}

const fn state(state: SessionState, session: SessionId) -> Notice {
    Notice::Session {
        state,
        session,
        timeout: TIMEOUT,
    }
}

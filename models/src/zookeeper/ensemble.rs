//! Several servers, of which one leads.

use alloc::{vec, vec::Vec};
use core::time::Duration;

use fencepost_core::{Instant, SessionId};

use super::{
    Member, Server, Session, SortedMap, SortedSet, Told, VecDeque,
    ask::{Event, Kind},
    member::{Change, Transaction},
    watches::Watch,
};

/// Why a session was not taken in by a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CannotAttach {
    /// The leader has ended the session.
    SessionOver,
    /// The client has seen transactions that the server has not applied.
    ServerBehind,
    /// The server cannot ask the leader: no answer.
    ServerCutOff,
}

impl Server {
    /// An empty ensemble; the server 0 leads.
    ///
    /// - The leader commits and applies at once; the others apply when they are told to ([`catch_up`](Self::catch_up)), and before they
    ///   answer a write or a sync of their own sessions. Reads are answered from what the session's server has applied, and watches fire
    ///   when it applies.
    /// - Sessions end by the leader's clock ([`expire_due`](Self::expire_due)). What a follower hears of a session, the leader learns when
    ///   the follower next tells it ([`report`](Self::report)).
    /// - A follower that is [`cut_off`](Self::cut_off) from the leader goes on answering reads.
    /// - A leader that is [`deposed`](Self::depose) goes on answering reads and `sync`.
    ///
    /// # Panics
    /// All methods that take a server panic if there is no such one.
    #[must_use]
    pub fn ensemble(servers: usize) -> Self {
        Self {
            members: vec![Member::default(); servers.max(1)],
            leader: 0,
            log: VecDeque::new(),
            zxid: 0,
            sessions: SortedMap::new(),
            last_session: 0,
            notified: SortedSet::new(),
        }
    }

    /// The server that leads.
    #[must_use]
    pub const fn leader(&self) -> usize {
        self.leader
    }

    /// The last transaction that a server has applied.
    #[must_use]
    pub fn applied(&self, server: usize) -> i64 {
        self.members[server].applied
    }

    /// How many transactions a server has yet to apply.
    #[must_use]
    pub fn lag(&self, server: usize) -> usize {
        self.log.len() - self.next(server)
    }

    /// Opens a session on a server, unless that is cut off.
    pub fn open_session_at(&mut self, now: Instant, server: usize, timeout: Duration) -> Option<SessionId> {
        let reachable = !self.members[server].cut_off;
        reachable.then(|| self.new_session(server, timeout, now))
    }

    /// The server that a session is connected to.
    #[must_use]
    pub fn connected_to(&self, session: SessionId) -> Option<usize> {
        self.sessions.get(&session)?.at
    }

    /// The connection of a session is gone. What it was told and has not taken will be found out when its watches are set again.
    pub fn detach(&mut self, session: SessionId) {
        self.notified.remove(&session);
        let Some(known) = self.sessions.get_mut(&session) else {
            return;
        };
        let Some(server) = known.at.take() else {
            return;
        };
        known.touched = false;
        known.reported = false;
        for told in known.told.drain(..) {
            let Told { id, kind, .. } = told;
            known.waiting.push((told.path, Watch { id, session, kind }));
        }
        known.waiting.extend(self.members[server].watches.take(session));
    }

    /// Connects a session again, to this server or another one; a connection it still has ends. The client sets its watches again, and
    /// those that have missed something fire. (Of a client library that loses them, see [`forget_watches`](Self::forget_watches).)
    ///
    /// # Errors
    /// [`CannotAttach`]; then the session is not connected.
    pub fn reattach(&mut self, now: Instant, session: SessionId, server: usize) -> Result<(), CannotAttach> {
        self.detach(session);
        let member = &mut self.members[server];
        let known = self.sessions.get_mut(&session);
        if member.cut_off {
            return Err(CannotAttach::ServerCutOff);
        }
        let Some(known) = known.filter(|known| known.ended.is_none()) else {
            return Err(CannotAttach::SessionOver);
        };
        if member.applied < known.seen {
            return Err(CannotAttach::ServerBehind);
        }
        known.at = Some(server);
        known.heard = now;
        for (path, watch) in core::mem::take(&mut known.waiting) {
            match missed(member, &path, watch.kind, known.seen) {
                Some(event) => known.told.push_back(Told {
                    id: watch.id,
                    session,
                    path,
                    event,
                    zxid: member.applied,
                    kind: watch.kind,
                }),
                None => member.watches.add(path, watch),
            }
        }
        if !known.told.is_empty() {
            self.notified.insert(session);
        }
        Ok(())
    }

    /// The client has lost its watches.
    pub fn forget_watches(&mut self, session: SessionId) {
        if let Some(known) = self.sessions.get_mut(&session) {
            known.waiting.clear();
            known.told.clear();
            if let Some(server) = known.at {
                self.members[server].watches.take(session);
            }
        }
        self.notified.remove(&session);
    }

    /// The client has lost what it had seen, as one that resumes a session by its number alone: any server takes it in, a lagging one too.
    pub fn forget_seen(&mut self, session: SessionId) {
        if let Some(known) = self.sessions.get_mut(&session) {
            known.seen = 0;
        }
    }

    /// An answer with this transaction has reached the client: it may no longer connect to a server that has not come so far.
    pub fn saw(&mut self, session: SessionId, zxid: i64) {
        if let Some(known) = self.sessions.get_mut(&session) {
            known.seen = known.seen.max(zxid);
        }
    }

    /// A request or a ping of the session has reached its server. Only the leader knows of it at once.
    pub fn heard(&mut self, now: Instant, session: SessionId) {
        let leader = self.leader;
        if let Some(known) = self.sessions.get_mut(&session) {
            if known.at == Some(leader) {
                known.heard = now;
            } else {
                known.touched = known.at.is_some();
            }
        }
    }

    /// A ping of the leader has reached a follower, which answers with the sessions it has heard since the last one. That is on its way
    /// now: see [`take_report`](Self::take_report).
    ///
    /// The leader pings every half tick. A ping that was sent to a follower that is cut off reaches it before the next answer of the leader.
    pub fn report(&mut self, server: usize) {
        for known in self.sessions.values_mut() {
            if known.at == Some(server) && core::mem::take(&mut known.touched) {
                known.reported = true;
            }
        }
    }

    /// What a follower has reported reaches the leader, unless that is cut off. To the leader, those sessions were heard now. A later
    /// request that the follower passes on comes behind it.
    pub fn take_report(&mut self, now: Instant, server: usize) {
        if self.members[server].cut_off {
            return;
        }
        for known in self.sessions.values_mut() {
            if known.at == Some(server) && core::mem::take(&mut known.reported) {
                known.heard = known.heard.max(now);
            }
        }
    }

    /// Ends the sessions of which the leader has heard nothing for longer than their timeouts; gives them. A real one takes up to a tick
    /// longer. The servers' connections with them end when those servers apply it.
    pub fn expire_due(&mut self, now: Instant) -> Vec<SessionId> {
        let due = |known: &Session| known.ended.is_none() && known.heard.plus(known.timeout) < now;
        let silent = self.sessions.iter().filter(|(_, known)| due(known));
        let silent: Vec<_> = silent.map(|(session, _)| *session).collect();
        for session in &silent {
            self.end_session(*session);
        }
        silent
    }

    /// A server applies the next so many transactions, if there are so many and it is not cut off.
    pub fn catch_up(&mut self, server: usize, transactions: usize) {
        if self.members[server].cut_off {
            return;
        }
        let next = self.next(server);
        let last = self.log.len().min(next.saturating_add(transactions));
        if next == last {
            return;
        }
        for number in next..last {
            let transaction = self.log[number].clone();
            self.apply(server, &transaction);
        }
        self.forget_what_is_everywhere();
    }

    /// A follower loses the leader. It goes on answering reads, and hearing its clients, until it notices
    /// ([`disconnect_all`](Self::disconnect_all)); what else they ask is not answered. The leader itself cannot be cut off: another one
    /// has to lead first.
    pub fn cut_off(&mut self, server: usize) {
        self.members[server].cut_off = server != self.leader;
    }

    /// A server finds the leader again, and catches up with it. One that led closes its connections first; those sessions are given.
    pub fn rejoin(&mut self, server: usize) -> Vec<SessionId> {
        let mut broken = Vec::new();
        if core::mem::take(&mut self.members[server].deposed) {
            broken = self.disconnect_all(server);
        }
        self.members[server].cut_off = false;
        self.catch_up_all(server);
        broken
    }

    /// The leader is cut off, and another server leads the others: see [`change_leader`](Self::change_leader). The one that led does not notice:
    /// it keeps its connections and answers reads and `sync`, until it is [disconnected](Self::disconnect_all) or [rejoins](Self::rejoin). It commits
    /// nothing, and nobody new gets through to it. Nothing happens unless a majority is left to the other one.
    pub fn depose(&mut self, now: Instant, server: usize) -> Vec<SessionId> {
        let old = self.leader;
        let left = self.members.iter().filter(|member| !member.cut_off).count();
        if server == old || self.members[server].cut_off || 2 * (left - 1) <= self.members.len() {
            return Vec::new();
        }
        let member = &mut self.members[old];
        (member.cut_off, member.deposed) = (true, true);
        self.change_leader(now, server)
    }

    /// Whether a server believes that it leads, and does not.
    #[must_use]
    pub fn is_deposed(&self, server: usize) -> bool {
        self.members[server].deposed
    }

    /// A server closes all its connections: it has noticed that it is cut off, or it restarts. Gives the sessions.
    pub fn disconnect_all(&mut self, server: usize) -> Vec<SessionId> {
        let here = self.sessions.iter().filter(|(_, known)| known.at == Some(server));
        let here: Vec<_> = here.map(|(session, _)| *session).collect();
        for session in &here {
            self.detach(*session);
        }
        here
    }

    /// Another server leads. All that can reach it catch up with everything committed and have closed their connections; those sessions
    /// are given. Every session has its full timeout again. A server that is cut off cannot lead: then nothing happens.
    ///
    /// What was answered is kept. What was not may be either: ask and throw the answer away, or do not ask.
    pub fn change_leader(&mut self, now: Instant, server: usize) -> Vec<SessionId> {
        if self.members[server].cut_off {
            return Vec::new();
        }
        let mut broken = Vec::new();
        for member in 0..self.members.len() {
            if !self.members[member].cut_off {
                self.catch_up_all(member);
                broken.extend(self.disconnect_all(member));
            }
        }
        self.leader = server;
        // The epoch is the upper half.
        self.zxid = ((self.zxid >> 32) + 1) << 32;
        for known in self.sessions.values_mut() {
            known.heard = now;
        }
        broken
    }

    pub(super) fn catch_up_all(&mut self, server: usize) {
        self.catch_up(server, usize::MAX);
    }

    pub(super) fn new_session(&mut self, server: usize, timeout: Duration, now: Instant) -> SessionId {
        self.last_session = self.last_session.saturating_add(1);
        let session = SessionId(self.last_session);
        self.sessions.insert(session, Session::new(server, timeout, now));
        session
    }

    /// Commits a change that has been checked; the leader applies it.
    pub(super) fn commit(&mut self, change: Change) -> i64 {
        self.zxid += 1;
        let zxid = self.zxid;
        let transaction = Transaction { zxid, change };
        self.apply(self.leader, &transaction);
        if self.members.len() > 1 {
            self.log.push_back(transaction);
        }
        zxid
    }

    fn apply(&mut self, server: usize, transaction: &Transaction) {
        if let Change::EndSession(session) = transaction.change
            && let Some(known) = self.sessions.get_mut(&session)
            && known.at == Some(server)
        {
            known.at = None;
            known.told.clear();
            self.notified.remove(&session);
        }
        for told in self.members[server].apply(transaction) {
            let session = told.session;
            if let Some(known) = self.sessions.get_mut(&session) {
                known.told.push_back(told);
                self.notified.insert(session);
            }
        }
    }

    /// Drops transactions that every server has applied, and sessions whose end is among them.
    pub(super) fn forget_what_is_everywhere(&mut self) {
        let everywhere = self.members.iter().map(|member| member.applied).min();
        let everywhere = everywhere.unwrap_or_default();
        while self.log.front().is_some_and(|first| first.zxid <= everywhere) {
            self.log.pop_front();
        }
        self.sessions.retain(|_, known| !known.is_over(everywhere));
    }

    /// Where in the log a server goes on.
    fn next(&self, server: usize) -> usize {
        let applied = self.applied(server);
        self.log
            .partition_point(|transaction| transaction.zxid <= applied)
    }
}

/// What a watch that is set again has missed, as a client that has seen so much finds out.
fn missed(member: &Member, path: &str, kind: Kind, seen: i64) -> Option<Event> {
    let changes = member.tree.changes(path);
    match (kind, changes) {
        (Kind::Absence, None) => None,
        (Kind::Absence, Some(_)) => Some(Event::Created),
        (Kind::Data | Kind::Children, None) => Some(Event::Deleted),
        (Kind::Data, Some((data, _))) => (data > seen).then_some(Event::Changed),
        (Kind::Children, Some((_, children))) => (children > seen).then_some(Event::Children),
    }
}

//! An ensemble: several servers with one leader.

use alloc::{vec, vec::Vec};
use core::time::Duration;

use fencepost_core::{Instant, SessionId};

use super::{
    FiredWatch, Member, Server, Session, SortedMap, SortedSet, VecDeque,
    ask::{Event, Kind},
    member::{Change, Transaction},
    tree::At,
    watches::Watch,
};

/// Why a server refused to connect a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CannotAttach {
    /// The leader has ended the session.
    SessionOver,
    /// The client has seen transactions that the server has not applied.
    ServerBehind,
    /// The server has no connection to the leader, so it does not answer.
    ServerCutOff,
}

impl Server {
    /// An empty ensemble. Server 0 leads.
    ///
    /// - The leader commits and applies transactions at once. A follower applies them when the test calls
    ///   [`catch_up`](Self::catch_up), and before it answers a write or a sync of its own sessions. A server answers
    ///   reads from the transactions that it has applied, and fires a watch when it applies the change.
    /// - Sessions expire by the leader's clock ([`expire_due`](Self::expire_due)). A follower's next report tells the
    ///   leader from which sessions the follower has received something ([`report`](Self::report)).
    /// - A follower that is [`cut_off`](Self::cut_off) from the leader still answers reads.
    /// - A leader that is [`deposed`](Self::depose) still answers reads and `sync`.
    ///
    /// # Panics
    /// All methods that take a server's number panic if there is no such server.
    #[must_use]
    pub fn ensemble(servers: usize) -> Self {
        Self {
            members: vec![Member::default(); servers.max(1)],
            leader: 0,
            log: VecDeque::new(),
            zxid: 0,
            time: 0,
            sessions: SortedMap::new(),
            last_session: 0,
            notified: SortedSet::new(),
        }
    }

    /// The number of the leading server.
    #[must_use]
    pub const fn leader(&self) -> usize {
        self.leader
    }

    /// The last transaction that a server has applied.
    #[must_use]
    pub fn applied(&self, server: usize) -> i64 {
        self.members[server].applied
    }

    /// How many committed transactions a server has not applied.
    #[must_use]
    pub fn lag(&self, server: usize) -> usize {
        self.log.len() - self.next(server)
    }

    /// Opens a session on a server. Returns `None` if the server is cut off.
    pub fn open_session_at(&mut self, now: Instant, server: usize, timeout: Duration) -> Option<SessionId> {
        let reachable = !self.members[server].cut_off;
        reachable.then(|| self.new_session(server, timeout, now))
    }

    /// The server that a session is connected to.
    #[must_use]
    pub fn connected_to(&self, session: SessionId) -> Option<usize> {
        self.sessions.get(&session)?.at
    }

    /// Closes the connection of a session. Notices that the client has not taken are lost. When the client sets its
    /// watches again, the server finds the changes that they have missed.
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
        for fired in known.fired.drain(..) {
            let FiredWatch { id, kind, .. } = fired;
            known.waiting.push((fired.path, Watch { id, session, kind }));
        }
        known.waiting.extend(self.members[server].watches.take(session));
    }

    /// Connects a session again, to the same server or another one, and closes the connection that the session still
    /// has. The client sets its watches again, and a watch that has missed a change fires. (For a client library that
    /// loses its watches, see [`forget_watches`](Self::forget_watches).)
    ///
    /// # Errors
    /// [`CannotAttach`]. The session is then not connected.
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
                Some(event) => known.fired.push_back(FiredWatch {
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
        if !known.fired.is_empty() {
            self.notified.insert(session);
        }
        Ok(())
    }

    /// The client has lost its watches.
    pub fn forget_watches(&mut self, session: SessionId) {
        if let Some(known) = self.sessions.get_mut(&session) {
            known.waiting.clear();
            known.fired.clear();
            if let Some(server) = known.at {
                self.members[server].watches.take(session);
            }
        }
        self.notified.remove(&session);
    }

    /// The client has lost the number of the last transaction that it has seen, like a client that resumes a session
    /// only by its id. Any server accepts the session, even a server that lags.
    pub fn forget_seen(&mut self, session: SessionId) {
        if let Some(known) = self.sessions.get_mut(&session) {
            known.seen = 0;
        }
    }

    /// A reply with this transaction has reached the client. From now on the client cannot connect to a server that has
    /// not applied the transaction.
    pub fn saw(&mut self, session: SessionId, zxid: i64) {
        if let Some(known) = self.sessions.get_mut(&session) {
            known.seen = known.seen.max(zxid);
        }
    }

    /// The last transaction that the client of the session has seen.
    #[must_use]
    pub fn seen(&self, session: SessionId) -> Option<i64> {
        self.sessions.get(&session).map(|known| known.seen)
    }

    /// A request or a ping of the session has reached its server. If this server is a follower, the leader gets the
    /// information only with the follower's next report.
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

    /// A ping of the leader has reached a follower. The follower sends a report of the sessions from which it has
    /// received something since the last ping. The report is then in flight: see [`take_report`](Self::take_report).
    ///
    /// The leader pings every half tick. A ping that was sent while the follower was cut off reaches the follower
    /// before the leader's next reply does.
    pub fn report(&mut self, server: usize) {
        for known in self.sessions.values_mut() {
            if known.at == Some(server) && core::mem::take(&mut known.touched) {
                known.reported = true;
            }
        }
    }

    /// A follower's report reaches the leader, unless the follower is cut off. The leader then counts the timeouts of
    /// these sessions from now. Requests that the follower forwards later arrive after the report.
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

    /// Ends the sessions of which the leader has received nothing for longer than their timeouts; returns them. A real
    /// leader takes up to a tick longer. A server closes the connection of such a session when it applies the end.
    pub fn expire_due(&mut self, now: Instant) -> Vec<SessionId> {
        let due = |known: &Session| known.ended.is_none() && known.heard.plus(known.timeout) < now;
        let silent = self.sessions.iter().filter(|(_, known)| due(known));
        let silent: Vec<_> = silent.map(|(session, _)| *session).collect();
        for session in &silent {
            self.end_session(*session);
        }
        silent
    }

    /// A server applies up to this number of further transactions, unless it is cut off.
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

    /// A follower loses its connection to the leader. It still answers reads and keeps its clients, until it detects
    /// the loss ([`disconnect_all`](Self::disconnect_all)). It answers no other requests. The leader cannot be cut off;
    /// first make another server the leader.
    pub fn cut_off(&mut self, server: usize) {
        self.members[server].cut_off = server != self.leader;
    }

    /// A server connects to the leader again, and catches up with it. A deposed leader first closes its connections;
    /// returns their sessions.
    pub fn rejoin(&mut self, server: usize) -> Vec<SessionId> {
        let mut broken = Vec::new();
        if core::mem::take(&mut self.members[server].deposed) {
            broken = self.disconnect_all(server);
        }
        self.members[server].cut_off = false;
        self.catch_up_all(server);
        broken
    }

    /// Cuts off the leader and makes another server lead the others: see [`change_leader`](Self::change_leader). The
    /// old leader does not detect this. It keeps its connections and answers reads and `sync`, until it
    /// [disconnects](Self::disconnect_all) or [rejoins](Self::rejoin). It commits nothing, and new sessions cannot
    /// connect to it. Nothing happens unless the new leader has a majority.
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

    /// Whether a server believes that it leads although another server leads.
    #[must_use]
    pub fn is_deposed(&self, server: usize) -> bool {
        self.members[server].deposed
    }

    /// A server closes all its connections, because it has detected that it is cut off, or because it restarts. Returns
    /// their sessions.
    pub fn disconnect_all(&mut self, server: usize) -> Vec<SessionId> {
        let here = self.sessions.iter().filter(|(_, known)| known.at == Some(server));
        let here: Vec<_> = here.map(|(session, _)| *session).collect();
        for session in &here {
            self.detach(*session);
        }
        here
    }

    /// Another server leads. All servers that can reach it catch up with every committed transaction and close their
    /// connections; returns their sessions. Every session gets its full timeout again: the timeout with which it was
    /// created. Nothing happens if the server is cut off, because then it cannot lead.
    ///
    /// The ensemble does not lose a request that it has answered. It may lose or keep a request that it has not
    /// answered. To model that it keeps the request, execute the request and discard the reply. To model that it loses
    /// the request, do not execute it.
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
        // The upper half of the number is the epoch.
        self.zxid = ((self.zxid >> 32) + 1) << 32;
        for known in self.sessions.values_mut() {
            (known.heard, known.timeout) = (now, known.created);
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

    /// Commits a change that has been checked. The leader applies it.
    pub(super) fn commit(&mut self, change: Change) -> i64 {
        self.zxid += 1;
        let zxid = self.zxid;
        let at = At {
            zxid,
            time: self.time,
        };
        let transaction = Transaction { at, change };
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
            known.fired.clear();
            self.notified.remove(&session);
        }
        for fired in self.members[server].apply(transaction) {
            let session = fired.session;
            if let Some(known) = self.sessions.get_mut(&session) {
                known.fired.push_back(fired);
                self.notified.insert(session);
            }
        }
    }

    /// Drops the transactions that every server has applied, and the sessions that these transactions ended.
    pub(super) fn forget_what_is_everywhere(&mut self) {
        let everywhere = self.members.iter().map(|member| member.applied).min();
        let everywhere = everywhere.unwrap_or_default();
        while self.log.front().is_some_and(|first| first.at.zxid <= everywhere) {
            self.log.pop_front();
        }
        self.sessions.retain(|_, known| !known.is_over(everywhere));
    }

    /// The index of the first transaction in the log that a server has not applied.
    fn next(&self, server: usize) -> usize {
        let applied = self.applied(server);
        self.log
            .partition_point(|transaction| transaction.at.zxid <= applied)
    }
}

/// The change that a watch has missed if its client sets it again and has last seen the transaction `seen`.
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

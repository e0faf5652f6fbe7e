//! ZooKeeper clients on the model server: sessions that outlive connections, and end on the server's clock.

use core::time::Duration;

use fencepost_core::{
    AttemptId, CommandId, Instant, SessionId, lease,
    zookeeper::{Answer, Notice, Reply, Request, SessionState, ZooKeeper, code},
};
use fencepost_models::zookeeper::Server;

use crate::{
    backend::{Aftermath, Backend, Belongings, Owner},
    step::{Number, Outage},
};

/// How long the server keeps a session that it hears nothing of.
pub const TIMEOUT: Duration = Duration::from_millis(900);

/// The lock's directory.
pub const DIRECTORY: &str = "/shop/stock";

/// The servers, and every client's session.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Servers {
    server: Server,
    sessions: Vec<Session>,
    /// Sessions with their clients, the latest last.
    owners: Vec<(SessionId, Owner)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Session {
    id: Option<SessionId>,
    connected: bool,
    heard: Instant,
    over: bool,
}

const NONE: Session = Session {
    id: None,
    connected: false,
    heard: Instant::ZERO,
    over: true,
};

impl Servers {
    fn session(&mut self, client: Number) -> &mut Session {
        &mut self.sessions[usize::from(client)]
    }

    fn owner(&self, session: SessionId) -> Owner {
        let known = self.owners.iter().find(|(id, _)| *id == session);
        known.map_or(Owner::Nobody, |(_, owner)| *owner)
    }

    /// Ends the sessions that have been silent for so long; gives whose connections that closes, if anything was ended.
    fn expire(&mut self, now: Instant, silence: Duration) -> Option<Vec<Number>> {
        let mut any = false;
        let mut broken = Vec::new();
        for number in 0..self.sessions.len() {
            let session = &mut self.sessions[number];
            if !session.over && session.heard.plus(silence) <= now {
                session.over = true;
                any = true;
                if session.connected {
                    broken.extend(Number::try_from(number));
                }
                if let Some(id) = session.id {
                    self.server.end_session(id);
                }
            }
        }
        let sessions = &self.sessions;
        // Sessions of processes that have ended.
        self.owners.retain(|(id, owner)| {
            let Owner::Nobody = owner else {
                return true;
            };
            let over = !sessions.iter().any(|session| session.id == Some(*id));
            if over {
                any = true;
                self.server.end_session(*id);
            }
            !over
        });
        any.then_some(broken)
    }

    fn contenders(&self) -> Vec<(String, Owner)> {
        let names = self.server.children(DIRECTORY).unwrap_or_default();
        let owned = |name: String| {
            let path = format!("{DIRECTORY}/{name}");
            let owner = self.server.owner(&path);
            (name, owner.map_or(Owner::Nobody, |session| self.owner(session)))
        };
        let mut all: Vec<_> = names.into_iter().map(owned).collect();
        all.sort_unstable_by(|(one, _), (other, _)| sequence(one).cmp(sequence(other)));
        all
    }
}

fn sequence(name: &str) -> &str {
    name.rsplit_once('-').map_or("", |(_, number)| number)
}

impl Backend for Servers {
    type Family = ZooKeeper;
    type Ask = Request;
    type Line = SessionId;

    const ORDERED: bool = true;

    fn new(clients: Number, _servers: u8) -> Self {
        Self {
            server: Server::new(),
            sessions: vec![NONE; clients.into()],
            owners: Vec::new(),
        }
    }

    fn line(&self, client: Number) -> SessionId {
        self.sessions[usize::from(client)].id.unwrap_or(SessionId(0))
    }

    fn connect(&mut self, now: Instant, client: Number, _server: u8) -> Option<Vec<Notice>> {
        let mut told = Vec::new();
        let session = *self.session(client);
        let mut id = session.id;
        if session.over {
            if let Some(session) = session.id {
                told.push(state(SessionState::Expired, session));
            }
            let fresh = self.server.open_session();
            self.owners.retain(|(_, owner)| *owner != Owner::Client(client));
            self.owners.push((fresh, Owner::Client(client)));
            id = Some(fresh);
        }
        *self.session(client) = Session {
            id,
            connected: true,
            heard: now,
            over: false,
        };
        told.extend(id.map(|id| state(SessionState::Connected, id)));
        Some(told)
    }

    fn disconnect(&mut self, _now: Instant, client: Number) -> Vec<Notice> {
        let session = self.session(client);
        session.connected = false;
        session
            .id
            .map(|id| state(SessionState::Suspended, id))
            .into_iter()
            .collect()
    }

    fn forget(&mut self, client: Number) {
        for (_, owner) in &mut self.owners {
            if *owner == Owner::Client(client) {
                *owner = Owner::Nobody;
            }
        }
        // Its session lives on for a while, on the server alone.
        *self.session(client) = NONE;
    }

    fn alive(&mut self, now: Instant, client: Number) {
        let session = self.session(client);
        // A library pings when it has been silent for a third of its timeout.
        if lease::renew_at(session.heard, TIMEOUT) <= now {
            session.heard = now;
        }
    }

    fn execute(
        &mut self,
        now: Instant,
        client: Number,
        line: SessionId,
        id: CommandId,
        ask: Request,
    ) -> Option<Reply> {
        let session = self.session(client);
        if session.id == Some(line) {
            session.heard = now;
        }
        Some(self.server.execute(line, id, ask))
    }

    fn crowded(&self, line: SessionId, ask: &Request) -> Option<Reply> {
        (!matches!(ask, Request::Sync { .. })).then_some(Reply {
            session: line,
            answer: Answer::Error(code::THROTTLED),
        })
    }

    fn take_notices(&mut self, client: Number) -> Vec<Notice> {
        let Some(session) = self.session(client).id else {
            return Vec::new();
        };
        self.server.take_notices(session).into()
    }

    fn pass(&mut self, now: Instant) -> Vec<Number> {
        self.expire(now, TIMEOUT.saturating_mul(3) / 2)
            .unwrap_or_default()
    }

    fn outage(&mut self, now: Instant, outage: Outage) -> Option<Aftermath> {
        match outage {
            Outage::Expire => self.expire(now, TIMEOUT).map(|broken| Aftermath {
                broken,
                ..Aftermath::default()
            }),
            Outage::Operator(nth) => {
                let (name, _) = self.contenders().into_iter().nth(nth.into())?;
                self.server.delete(&format!("{DIRECTORY}/{name}"));
                Some(Aftermath {
                    broken: Vec::new(),
                    two_may_hold: true,
                })
            }
            Outage::Forget => {
                self.server.reap_containers();
                Some(Aftermath::default())
            }
            Outage::FailOver | Outage::Restart => {
                // A new leader gives every session its whole time again.
                let connected = (0..).zip(&self.sessions).filter(|(_, session)| session.connected);
                let broken = connected.map(|(client, _)| client).collect();
                self.sessions.iter_mut().for_each(|session| session.heard = now);
                Some(Aftermath {
                    broken,
                    ..Aftermath::default()
                })
            }
            Outage::Crowd(_) | Outage::CatchUp(_) | Outage::CutOff(_) => None,
        }
    }

    fn holds(&self, _now: Instant, client: Number, attempt: &AttemptId) -> bool {
        let session = &self.sessions[usize::from(client)];
        let own = format!("_c_{}", attempt.uuid());
        let names = self.server.children(DIRECTORY).unwrap_or_default();
        !session.over && names.iter().any(|name| name.starts_with(&own))
    }

    // A transaction's number, which cannot but grow.
    fn last_fence(&self, _now: Instant) -> Option<u64> {
        None
    }

    fn belongings(&self, _now: Instant) -> Belongings {
        let contenders = self.contenders().into_iter();
        contenders.map(|(name, owner)| (name, owner, None)).collect()
    }

    fn queue(&self) -> Option<Vec<Number>> {
        let clients = self
            .contenders()
            .into_iter()
            .filter_map(|(_, owner)| match owner {
                Owner::Client(client) => Some(client),
                Owner::Nobody => None,
            });
        Some(clients.collect())
    }

    fn left_behind(&self, _now: Instant) -> Vec<String> {
        self.server.children(DIRECTORY).unwrap_or_default()
    }

    fn heal(&mut self, _now: Instant) {}

    fn is_routine(ask: &Request) -> bool {
        matches!(ask, Request::Sync { .. })
    }

    fn harms(ask: &Request) -> bool {
        matches!(ask, Request::Delete { .. })
    }

    fn say_ask(ask: &Request) -> String {
        match ask {
            Request::Create { path, mode, .. } => format!("create {} {mode:?}", short(path)),
            Request::Children { path } => format!("children {path}"),
            Request::Get { path, watch: true } => format!("get and watch {}", short(path)),
            Request::Get { path, .. } => format!("get {}", short(path)),
            Request::Delete { path } => format!("delete {}", short(path)),
            Request::Sync { .. } => "sync".into(),
            other => format!("{other:?}"),
        }
    }

    fn say_reply(reply: &Reply) -> String {
        match &reply.answer {
            Answer::Created { path, zxid } => format!("created {}, czxid {zxid}", short(path)),
            Answer::Children(names) => {
                let names: Vec<&str> = names.iter().map(|name| short(name)).collect();
                format!("children: {}", names.join(", "))
            }
            Answer::Data { stat, .. } => {
                format!("node of session {}, czxid {}", stat.ephemeral_owner, stat.czxid)
            }
            Answer::Done => "done".into(),
            Answer::Error(error) => format!("error {error}"),
            other => format!("{other:?}"),
        }
    }

    fn say_notice(notice: &Notice) -> String {
        match notice {
            Notice::Watch { id, event, .. } => format!("the watch of request {} has fired: {event:?}", id.0),
            Notice::Session { state, session, .. } => format!("session {} is {state:?}", session.0),
            other => format!("{other:?}"),
        }
    }
}

/// The end of a name: its number tells nodes apart.
fn short(path: &str) -> &str {
    path.rsplit_once("-lock-").map_or(
        path,
        |(_, number)| if number.is_empty() { "-lock-" } else { number },
    )
}

const fn state(state: SessionState, session: SessionId) -> Notice {
    Notice::Session {
        state,
        session,
        timeout: TIMEOUT,
    }
}

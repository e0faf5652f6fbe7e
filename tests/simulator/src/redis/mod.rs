//! Redis clients on the model server. Requests have no order, as with a pool of connections. Messages come on a separate connection, and are
//! lost with it.

mod faults;
mod holder;
mod words;

use core::time::Duration;
use std::cell::RefCell;

use fencepost_core::{
    AttemptId, CommandId, Instant,
    lowered::{self, Operation},
    redis::{Notice, Redis, Reply, Request, is_from_replica},
};
use fencepost_models::redis::{Condition, ConnectionId, Messages, Server};

use crate::{
    backend::{Aftermath, Answered, Backend, Belongings},
    checker::{ContenderNode, Shown},
    lua::RealLua,
    shared::Shared,
    step::{Number, ServerFault},
};

/// How long a lock lasts without a renewal.
pub const TTL: Duration = Duration::from_millis(300);

/// The lock's key.
pub const KEY: &str = "stock";

/// The key of the record of an operation.
pub const RECORD: &str = "fencepost:{shop/stock}";

/// The mark of an answer from a replica.
const FROM_REPLICA: i64 = 1;

/// The key of its fence.
pub const FENCE: &str = "{stock}:fence";

thread_local! {
    static LUA: RefCell<RealLua> = RefCell::new(RealLua::new());
}

/// The server, and every client's connections.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Servers {
    server: Shared<Server>,
    /// The former primary, while it still answers.
    demoted: Option<Shared<Server>>,
    clients: Vec<Connections>,
    /// When the server executed the last script of a claim.
    last_claim: Instant,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Connections {
    commands: Option<ConnectionId>,
    messages: Option<ConnectionId>,
    listening: Vec<(Vec<u8>, CommandId)>,
    /// The driver has received an answer of a replica.
    leaves: bool,
    crashes: u8,
}

/// A request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Ask {
    /// A command with its arguments.
    Call(Vec<Vec<u8>>),
    /// Subscribe to a channel.
    Subscribe(Vec<u8>),
    /// Unsubscribe.
    Unsubscribe(Vec<u8>),
}

impl From<Request> for Ask {
    fn from(request: Request) -> Self {
        let lowered::Request {
            operation,
            mut arguments,
            ..
        } = request.into();
        match operation {
            Operation::Call => Self::Call(arguments),
            Operation::Subscribe => Self::Subscribe(arguments.pop().unwrap_or_default()),
            _ => Self::Unsubscribe(arguments.pop().unwrap_or_default()),
        }
    }
}

impl Servers {
    fn client(&mut self, client: Number) -> &mut Connections {
        &mut self.clients[usize::from(client)]
    }

    fn call(&mut self, now: Instant, connection: ConnectionId, arguments: &[Vec<u8>]) -> Reply {
        let now = self.script_time(now, arguments);
        let demoted = self
            .demoted
            .as_mut()
            .filter(|demoted| demoted.is_connected(connection));
        let server = demoted.unwrap_or(&mut self.server);
        LUA.with_borrow_mut(|lua| server.call(now, connection, arguments, lua))
    }

    /// Scripts take no time here, but no two scripts of a real server begin in the same microsecond. Claims
    /// rely on it, because a released record leaves no fence behind. The time stays in its millisecond,
    /// because keys and leases end by milliseconds.
    fn script_time(&mut self, now: Instant, arguments: &[Vec<u8>]) -> Instant {
        if arguments.get(3).is_none_or(|key| key != RECORD.as_bytes()) {
            return now;
        }
        let next = self.last_claim.plus(Duration::from_micros(1));
        let is_near = next > now && next.as_micros() / 1000 == now.as_micros() / 1000;
        self.last_claim = if is_near { next } else { now.max(self.last_claim) };
        self.last_claim
    }

    fn is_connected(&self, connection: ConnectionId) -> bool {
        let servers = self.demoted.iter().chain([&self.server]);
        servers.into_iter().any(|server| server.is_connected(connection))
    }
}

impl Backend for Servers {
    type Family = Redis;
    type Ask = Ask;
    type Connection = Option<ConnectionId>;

    const ORDERED: bool = false;
    const CLEANUP_LIMIT: Duration = Duration::ZERO;
    const COMPARES: bool = true;

    fn new(clients: Number, _servers: u8) -> Self {
        Self {
            server: Shared::new(Server::new()),
            demoted: None,
            last_claim: Instant::ZERO,
            clients: vec![Connections::default(); clients.into()],
        }
    }

    fn connection(&self, client: Number) -> Self::Connection {
        self.clients[usize::from(client)].messages
    }

    fn connect(&mut self, _now: Instant, client: Number, _server: u8) -> Option<Vec<Notice>> {
        let (commands, messages) = (self.server.connect(), self.server.connect());
        let own = self.client(client);
        own.commands = Some(commands);
        own.messages = Some(messages);
        Some(Vec::new())
    }

    fn disconnect(&mut self, _now: Instant, client: Number) -> Vec<Notice> {
        let own = self.client(client);
        own.leaves = false;
        let connections = [own.commands.take(), own.messages.take()];
        let gone = core::mem::take(&mut own.listening);
        for connection in connections.into_iter().flatten() {
            self.server.disconnect(connection);
            if let Some(demoted) = &mut self.demoted {
                demoted.disconnect(connection);
            }
        }
        gone.into_iter().map(|(_, id)| Notice::Gone { id }).collect()
    }

    fn broken(&self) -> Vec<Number> {
        let closed = |own: &Connections| {
            let open = own.commands;
            own.leaves || open.is_some_and(|open| !self.is_connected(open))
        };
        let all = (0..).zip(&self.clients);
        all.filter(|(_, own)| closed(own))
            .map(|(client, _)| client)
            .collect()
    }

    fn forget_connection(&mut self, _client: Number) {}

    /// A driver that receives an answer of a replica drops its connection.
    fn delivered(&mut self, client: Number, mark: i64) -> bool {
        let leaves = mark == FROM_REPLICA;
        self.client(client).leaves |= leaves;
        leaves
    }

    fn forget(&mut self, client: Number) {
        let own = self.client(client);
        own.crashes = own.crashes.wrapping_add(1);
    }

    fn alive(&mut self, _now: Instant, _client: Number) {}

    fn stalls(&self, _line: Self::Connection, _ask: &Ask) -> bool {
        false
    }

    fn execute(
        &mut self,
        now: Instant,
        client: Number,
        from: Self::Connection,
        id: CommandId,
        ask: Ask,
    ) -> Option<Answered<Self>> {
        let own = self.client(client);
        let reply = match ask {
            Ask::Call(arguments) => {
                // The server still executes requests that were sent on a broken connection.
                let connection = own.commands.unwrap_or(ConnectionId(u64::MAX));
                self.call(now, connection, &arguments)
            }
            Ask::Subscribe(channel) => {
                let connection = own.messages.filter(|_| own.messages == from)?;
                own.listening.push((channel.clone(), id));
                self.call(now, connection, &[b"SUBSCRIBE".to_vec(), channel])
            }
            Ask::Unsubscribe(channel) => {
                let connection = own.messages.filter(|_| own.messages == from)?;
                own.listening.retain(|(known, _)| *known != channel);
                self.call(now, connection, &[b"UNSUBSCRIBE".to_vec(), channel])
            }
        };
        let replica = matches!(&reply, Reply::Error(error) if is_from_replica(error));
        let mark = if replica { FROM_REPLICA } else { 0 };
        Some(Answered { reply, mark })
    }

    fn throttled(&self, _line: Self::Connection, ask: &Ask) -> Option<Reply> {
        let loading = "LOADING Redis is loading the dataset in memory";
        matches!(ask, Ask::Call(_)).then(|| Reply::Error(loading.into()))
    }

    fn take_notices(&mut self, client: Number) -> Vec<Notice> {
        let Some(connection) = self.client(client).messages else {
            return Vec::new();
        };
        let mut messages = Messages::new();
        for server in [Some(&mut self.server), self.demoted.as_mut()]
            .into_iter()
            .flatten()
        {
            if server.notified().any(|notified| notified == connection) {
                messages.append(&mut server.take_messages(connection));
            }
        }
        let listening = &self.clients[usize::from(client)].listening;
        let listener = |channel: &[u8]| listening.iter().find(|(known, _)| known == channel);
        messages
            .into_iter()
            .filter_map(|(channel, _)| {
                Some(Notice::Message {
                    id: listener(&channel)?.1,
                })
            })
            .collect()
    }

    fn pass(&mut self, _now: Instant) {}

    fn server_fault(&mut self, _now: Instant, fault: ServerFault) -> Option<Aftermath> {
        self.apply_fault(fault)
    }

    fn holds(&self, now: Instant, _client: Number, attempt: &AttemptId) -> bool {
        let held = self.held(now);
        held.is_some_and(|(value, _)| value == attempt.to_string().as_bytes())
    }

    fn last_fence(&self, now: Instant) -> Option<u64> {
        let Some((fence, _)) = self.server.peek(now, FENCE.as_bytes()) else {
            return self.number(now, "fence");
        };
        str::from_utf8(fence).ok()?.parse().ok()
    }

    fn belongings(&self, now: Instant) -> Belongings {
        self.held(now)
            .map(|(value, end)| {
                (
                    String::from_utf8_lossy(value).into_owned(),
                    self.owner(value),
                    end,
                )
            })
            .into_iter()
            .collect()
    }

    fn queue(&self) -> Option<Vec<Number>> {
        None
    }

    fn left_behind(&self, now: Instant) -> Vec<String> {
        let names = self
            .server
            .keys(now)
            .map(|key| String::from_utf8_lossy(key).into_owned());
        // Fences stay on purpose. Tombstones stay as long as a late acquire may arrive.
        names
            .filter(|name| !name.ends_with(":fence") && !name.contains(":gone:"))
            .collect()
    }

    /// The demoted server still answers, so clients must leave it by themselves.
    fn heal(&mut self, _now: Instant) {
        for passing in [Condition::Full, Condition::NoDisk, Condition::FewReplicas] {
            self.server.set(passing, false);
        }
    }

    // The subscription is shared, and may continue for a while.
    fn is_routine(ask: &Ask) -> bool {
        !matches!(ask, Ask::Call(_))
    }

    fn reads(ask: &Ask) -> bool {
        !matches!(ask, Ask::Call(_))
    }

    fn harms(ask: &Ask) -> bool {
        matches!(ask, Ask::Call(_))
    }

    fn shown(&self, now: Instant, _client: Number) -> Vec<Shown> {
        self.holder(now).into_iter().collect()
    }

    fn node(&self, now: Instant, path: &str) -> Option<ContenderNode> {
        let holder = self.holder(now).filter(|holder| holder.node == path)?;
        Some(ContenderNode {
            fence: holder.fence,
            session: None,
            revocation_requested: false,
        })
    }

    fn refuses_writes(&self) -> bool {
        [Condition::Full, Condition::NoDisk]
            .iter()
            .any(|condition| self.server.has(*condition))
    }

    fn aims_at(ask: &Ask) -> Option<&str> {
        words::broken(ask)
    }

    fn deletes(ask: &Ask) -> bool {
        words::broken(ask).is_some()
    }

    fn describe_ask(ask: &Ask) -> String {
        words::ask(ask)
    }

    fn describe_reply(reply: &Reply) -> String {
        words::reply(reply)
    }

    fn describe_notice(notice: &Notice) -> String {
        words::notice(notice)
    }
}

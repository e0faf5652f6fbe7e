//! A model of one Redis server with a replica that lags: strings, hashes, expiry, scripts, channels.
//!
//! The rules are those of the real server (7.0), as far as they concern locks. The texts of errors are exactly the
//! same.
//!
//! - Time is in whole milliseconds. A key exists during the last millisecond of its time to live, and not in the next
//!   one.
//! - A script takes no time: no key expires while the script runs. (`TIME` does not advance in a script either; on real
//!   servers before 7.2 it does.)
//! - Connections use RESP3, so a connection with subscriptions may send any command. Scripts see RESP2, as by default
//!   on real servers.
//! - Scripts are not replicated: a failover and a restart delete them.
//! - A server can be in a [`Condition`]: it is a replica, its memory is full, it cannot save, it has too few replicas,
//!   its users have no right to channels, or it is an older version. A condition applies to all clients. A full server
//!   stays full, even if clients delete keys.
//! - A hash keeps its fields in the order of their creation, as a real server does up to 128 fields of 64 bytes.
//!
//! Scripts run in a real Lua that the caller provides: see [`Lua`].

mod channels;
mod commands;
mod conditions;
mod keyspace;
mod number;
mod scripts;
mod wire;

use alloc::{collections::VecDeque, vec::Vec};

use fencepost_core::{Instant, redis::Reply, sorted::SortedMap};

use channels::Channels;
use commands::{Effect, Run};
pub use conditions::Condition;
use conditions::Conditions;
use keyspace::{Keyspace, Moment};
use scripts::{Progress, Scripts};
pub use wire::{Answer, Fault, Lua, Resp, sha1_hex};

/// A connection to a [`Server`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(pub u64);

/// The messages that a connection has received: channels and payloads.
pub type Messages = VecDeque<(Vec<u8>, Vec<u8>)>;

/// A model of one server with a replica.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Server {
    keyspace: Keyspace,
    /// The data of the replica.
    replica: Keyspace,
    scripts: Scripts,
    channels: Channels,
    connections: SortedMap<ConnectionId, Messages>,
    last_connection: u64,
    conditions: Conditions,
}

impl Server {
    /// An empty server.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens a connection.
    pub fn connect(&mut self) -> ConnectionId {
        self.last_connection = self.last_connection.saturating_add(1);
        let connection = ConnectionId(self.last_connection);
        self.connections.insert(connection, Messages::new());
        connection
    }

    /// Closes a connection, with its subscriptions and the messages not taken yet.
    pub fn disconnect(&mut self, connection: ConnectionId) {
        self.connections.remove(&connection);
        self.channels.leave(connection);
    }

    /// Whether a connection is open.
    #[must_use]
    pub fn is_connected(&self, connection: ConnectionId) -> bool {
        self.connections.contains_key(&connection)
    }

    /// Executes one command: its name and its arguments. On a closed connection the server does not execute it. The
    /// reply is then the error `CLOSED`, which no real server returns.
    ///
    /// A real server confirms each channel of a `SUBSCRIBE` separately. The model returns these confirmations as one
    /// array of arrays.
    pub fn call(
        &mut self,
        now: Instant,
        connection: ConnectionId,
        arguments: &[Vec<u8>],
        lua: &mut dyn Lua,
    ) -> Reply {
        if !self.is_connected(connection) {
            return Reply::Error("CLOSED the connection is gone".into());
        }
        let now = Moment::new(now);
        self.keyspace.forget_ended(now);
        self.execute(now, connection, arguments, lua)
            .unwrap_or_else(Resp::from)
            .into()
    }

    /// The messages that a connection has received since the last call, in order.
    pub fn take_messages(&mut self, connection: ConnectionId) -> Messages {
        self.connections
            .get_mut(&connection)
            .map(core::mem::take)
            .unwrap_or_default()
    }

    /// The connections that have messages to take.
    pub fn notified(&self) -> impl Iterator<Item = ConnectionId> {
        let waiting = self
            .connections
            .iter()
            .filter(|(_, messages)| !messages.is_empty());
        waiting.map(|(connection, _)| *connection)
    }

    /// A string that has not expired, and the first moment at which it does not exist any more.
    #[must_use]
    pub fn peek(&self, now: Instant, key: &[u8]) -> Option<(&[u8], Option<Instant>)> {
        self.keyspace.peek(Moment::new(now), key)
    }

    /// A field of a hash that has not expired.
    #[must_use]
    pub fn peek_field(&self, now: Instant, key: &[u8], field: &[u8]) -> Option<&[u8]> {
        self.keyspace.peek_field(Moment::new(now), key, field)
    }

    /// The keys that have not expired, of any type.
    pub fn keys(&self, now: Instant) -> impl Iterator<Item = &[u8]> {
        self.keyspace.keys(Moment::new(now))
    }

    /// Deletes all scripts, as an operator's `SCRIPT FLUSH` does.
    pub fn flush_scripts(&mut self) {
        self.scripts.flush();
    }

    /// Deletes a key, as an operator does; returns whether it existed.
    pub fn delete(&mut self, key: &[u8]) -> bool {
        self.keyspace.remove(key)
    }

    /// The replica catches up with all writes so far.
    pub fn replicate(&mut self) {
        self.replica.clone_from(&self.keyspace);
    }

    /// The replica takes over. All writes since [`replicate`](Self::replicate) are lost, and so are all connections and
    /// scripts, because scripts are not replicated. The next replica starts as a copy of the new primary.
    pub fn fail_over(&mut self) {
        self.keyspace.clone_from(&self.replica);
        self.drop_what_a_process_has();
    }

    /// The replica catches up with all writes and takes over, so no data are lost. Returns the old primary. The old
    /// primary keeps its connections and answers on them as a replica, from data that become out of date.
    #[must_use]
    pub fn hand_over(&mut self) -> Self {
        let mut old = self.clone();
        old.set(Condition::Replica, true);
        self.replicate();
        self.drop_what_a_process_has();
        old
    }

    /// This server, a replica, catches up with its primary.
    pub fn follow(&mut self, primary: &Self) {
        self.keyspace.clone_from(&primary.keyspace);
    }

    /// Sets or clears a condition.
    pub fn set(&mut self, condition: Condition, on: bool) {
        self.conditions.set(condition, on);
    }

    /// Whether the server is in a condition.
    #[must_use]
    pub const fn has(&self, condition: Condition) -> bool {
        self.conditions.has(condition)
    }

    /// The server restarts without its data, and so does its replica.
    pub fn restart_empty(&mut self) {
        self.keyspace = Keyspace::default();
        self.replica = Keyspace::default();
        self.drop_what_a_process_has();
    }

    fn drop_what_a_process_has(&mut self) {
        self.scripts.flush();
        self.channels = Channels::default();
        self.connections = SortedMap::new();
    }

    fn execute(
        &mut self,
        now: Moment,
        connection: ConnectionId,
        arguments: &[Vec<u8>],
        lua: &mut dyn Lua,
    ) -> Answer {
        let (effect, run) = commands::find(arguments)?;
        self.conditions.check(effect, run, &arguments[0])?;
        match run {
            Run::Keys(run) => run(&mut self.keyspace, now, arguments),
            Run::Publish => Ok(self.publish(arguments)),
            Run::Subscribe => Ok(self.subscribe(connection, arguments)),
            Run::Unsubscribe => Ok(self.unsubscribe(connection, arguments)),
            Run::Eval => self.eval(now, arguments, lua),
            Run::EvalSha => self.eval_sha(now, arguments, lua),
            Run::Script => self.script(arguments, lua),
        }
    }

    /// Executes a command of a script.
    fn execute_in_script(&mut self, now: Moment, arguments: &[Vec<u8>], progress: &mut Progress) -> Answer {
        progress.refused = true;
        let (effect, run) = commands::find_in_script(arguments)?;
        self.conditions
            .check_in_script(effect, run, progress.has_written)?;
        progress.refused = false;
        progress.has_written |= effect != Effect::Reads;
        match run {
            Run::Keys(run) => run(&mut self.keyspace, now, arguments),
            Run::Publish => Ok(self.publish(arguments)),
            _ => Err(Fault::NOT_IN_SCRIPTS),
        }
    }
}

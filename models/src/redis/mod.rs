//! A model of one Redis server with a replica that lags: strings, hashes, ends of keys, scripts, channels.
//!
//! The rules are the real server's (7.0), as far as locks can see them, errors to the byte:
//!
//! - Time is whole milliseconds. A key lives through the last millisecond of its time and is gone in the next one.
//! - A script runs in one moment: nothing ends under it. (`TIME` stands still in it too; the real one's moves on until 7.2.)
//! - Connections speak RESP3, so one that has subscriptions may send anything. A script sees RESP2, as real ones do by default.
//! - Scripts are not replicated: a failover and a restart forget them.
//! - [`Condition`]s: a replica, a full server, one that cannot save or whose replicas are away, users without channels, an older
//!   server. They count for every client alike. A server that is full has room for no more, whatever is deleted from it.
//! - A hash keeps the order in which its fields came, as the real one does up to 128 fields of 64 bytes.
//!
//! Scripts run in a real Lua that the caller brings: see [`Lua`].

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

/// What a connection has been sent unasked: channels and payloads.
pub type Messages = VecDeque<(Vec<u8>, Vec<u8>)>;

/// One server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Server {
    keyspace: Keyspace,
    /// What the replica knows.
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

    /// Ends a connection: its subscriptions go, and what it has not taken.
    pub fn disconnect(&mut self, connection: ConnectionId) {
        self.connections.remove(&connection);
        self.channels.leave(connection);
    }

    /// Whether a connection is open.
    #[must_use]
    pub fn is_connected(&self, connection: ConnectionId) -> bool {
        self.connections.contains_key(&connection)
    }

    /// Carries out one command: its name and its arguments. On a connection that is gone it is not carried out, and the answer is an
    /// error that no server gives: `CLOSED`.
    ///
    /// A subscription to several channels is confirmed once for each; here those confirmations are one array of arrays.
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

    /// What a connection has been sent since it was last asked, in order.
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

    /// A string that lives, and the first moment at which it will not.
    #[must_use]
    pub fn peek(&self, now: Instant, key: &[u8]) -> Option<(&[u8], Option<Instant>)> {
        self.keyspace.peek(Moment::new(now), key)
    }

    /// The keys that live, whatever their type.
    pub fn keys(&self, now: Instant) -> impl Iterator<Item = &[u8]> {
        self.keyspace.keys(Moment::new(now))
    }

    /// Forgets all scripts, as an operator's `SCRIPT FLUSH` does.
    pub fn flush_scripts(&mut self) {
        self.scripts.flush();
    }

    /// Deletes a key, as an operator would; says whether it was there.
    pub fn delete(&mut self, key: &[u8]) -> bool {
        self.keyspace.remove(key)
    }

    /// The replica catches up with everything so far.
    pub fn replicate(&mut self) {
        self.replica.clone_from(&self.keyspace);
    }

    /// The replica takes over: what was written since [`replicate`](Self::replicate) is lost; so are all connections, and the scripts,
    /// which are not replicated. What comes after it starts as a copy of the new server.
    pub fn fail_over(&mut self) {
        self.keyspace.clone_from(&self.replica);
        self.drop_what_a_process_has();
    }

    /// The replica, which has caught up with everything, takes over: nothing is lost. What is given back is the server that was the
    /// primary. It keeps its connections, and answers on them as a replica, from data that grow old.
    #[must_use]
    pub fn hand_over(&mut self) -> Self {
        let mut old = self.clone();
        old.set(Condition::Replica, true);
        self.replicate();
        self.drop_what_a_process_has();
        old
    }

    /// As a replica, this server catches up with its primary.
    pub fn follow(&mut self, primary: &Self) {
        self.keyspace.clone_from(&primary.keyspace);
    }

    /// From now on a condition holds, or does not.
    pub fn set(&mut self, condition: Condition, on: bool) {
        self.conditions.set(condition, on);
    }

    /// Whether a condition holds.
    #[must_use]
    pub const fn has(&self, condition: Condition) -> bool {
        self.conditions.has(condition)
    }

    /// The server restarts without its data, and its replica follows it.
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

    /// A command of a script.
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

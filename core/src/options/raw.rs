//! Settings before the check: a map of names and values.

use alloc::{string::String, vec::Vec};

use crate::{
    ConfigError, Fence, Settings,
    text::{decimal, quoted},
};

use super::{Draft, Kind, Server, Value, ValueType, find, unknown};

/// Settings before the check, as a map.
///
/// A client passes the server (`zookeeper`, `redis` or `memory`), the [kind](Kind::name), the name, and any of the
/// options in [`OPTIONS`](super::OPTIONS). Durations are whole microseconds:
///
/// ```json
/// {"server": "zookeeper", "kind": "lock", "name": "stock/42", "prefix": "/shop", "layout": "kazoo", "max_hold": 60000000}
/// {"server": "zookeeper", "kind": "semaphore", "name": "presses", "permits": 3}
/// {"server": "memory", "kind": "multi-lock", "names": ["stock/42", "stock/43"]}
/// {"server": "redis", "kind": "lock", "name": "stock/42", "ttl": 10000000, "renew": true, "owner": "request-17"}
/// ```
///
/// With an `action` the same map inspects that lock; see [`inspecting`](Self::inspecting).
///
/// A program that drives a hub itself may pass the machine as the kind instead, and leave out the server:
/// `redis-string`, `zookeeper-mutex`, `zookeeper-single`, `zookeeper-reader` and so on, or `zookeeper-inspection` with
/// the kind of lock in `of` (`mutex`, `read-write`, `election`, `semaphore` or `single`).
///
/// Only the kind and the name are required (`names` for a multi-lock). An unknown name is an error.
///
/// The settings of a [`Scope`](super::Scope) of idempotent operations are also a map:
///
/// ```json
/// {"server": "redis", "kind": "claim", "scope": "payments", "lease": 30000000, "on_lease_end": "block"}
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RawSettings {
    fields: Vec<(String, Value)>,
}

impl RawSettings {
    /// The settings of a client's lock.
    #[must_use]
    pub fn on(server: Server, kind: Kind) -> Self {
        Self::default()
            .with("server", server.name())
            .with("kind", kind.name())
    }

    /// The settings of a machine.
    #[must_use]
    pub fn machine(kind: &str) -> Self {
        Self::default().with("kind", kind)
    }

    /// These settings with one more value.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.set(name, value);
        self
    }

    /// Sets a value. It replaces an earlier value of this name.
    pub fn set(&mut self, name: &str, value: impl Into<Value>) {
        let value = value.into();
        match self.fields.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => *known = value,
            None => self.fields.push((name.into(), value)),
        }
    }

    /// The settings of an inspection of this lock. `action` is `list`; or `break` or `revoke`, with the contender: its
    /// [node](crate::Found::node), and its fence.
    #[must_use]
    pub fn inspecting(self, action: &str, contender: Option<(&str, Fence)>) -> Self {
        let inspecting = self.with("action", action);
        match contender {
            None => inspecting,
            Some((node, Fence(fence))) => inspecting.with("node", node).with("fence", decimal(fence)),
        }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// The value with this name, if there is one.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        let (_, value) = self.fields.iter().find(|(known, _)| known == name)?;
        Some(value)
    }

    fn text(&self, name: &'static str) -> Result<Option<&str>, ConfigError> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::Text(text)) => Ok(Some(text)),
            Some(_) => Err(unreadable(&[name, ValueType::Text.expected()])),
        }
    }

    /// The server and the kind. An unfair lock is a separate kind.
    pub(super) fn kind(&self) -> Result<(Server, Kind), ConfigError> {
        let name = self.text("kind")?.unwrap_or_default();
        let Some(server) = self.text("server")? else {
            return Kind::of_machine(name).ok_or_else(|| {
                unreadable(&[
                    "kind is ",
                    &quoted(name),
                    ": the kinds of machines are ",
                    &machines(),
                ])
            });
        };
        let server = Server::named(server).ok_or_else(|| {
            unreadable(&[
                "server is ",
                &quoted(server),
                ": it is zookeeper, redis or memory",
            ])
        })?;
        let kind = Kind::named(name)
            .ok_or_else(|| unreadable(&["kind is ", &quoted(name), ": the kinds of locks are ", &kinds()]))?;
        let is_unfair = kind == Kind::Mutex && self.get("fair") == Some(&Value::Flag(false));
        // Redis does not have this kind. The later error is that Redis does not have the option `fair`.
        let kind = if is_unfair && server.has(Kind::Single) {
            Kind::Single
        } else {
            kind
        };
        if server.has(kind) {
            Ok((server, kind))
        } else {
            Err(unknown::kind(kind))
        }
    }
}

impl RawSettings {
    /// A draft with all values, if locks or operations of this kind have these options on this server.
    pub(super) fn draft(self, server: Server, kind: Kind) -> Result<Draft, ConfigError> {
        let is_machine = !self.has("server");
        let mut draft = Draft::default();
        for (name, value) in self.fields {
            match find(&name) {
                _ if name == "kind" || name == "server" => {}
                // The kind of a machine already determines this option.
                Some(_) if is_machine && name == "fair" => return Err(unknown::option(&name, server, kind)),
                Some(spec) if spec.is_for(server, kind) => spec.slot.set(&mut draft, &name, value)?,
                _ => return Err(unknown::option(&name, server, kind)),
            }
        }
        Ok(draft)
    }
}

impl RawSettings {
    /// The settings for Redis of this kind.
    fn redis(self, kind: Kind) -> Result<Settings, ConfigError> {
        let draft = self.draft(Server::Redis, kind)?;
        if Kind::OPERATIONS.contains(&kind) {
            return draft.operation(kind, &draft.scope_on_redis()?);
        }
        draft.redis_lock().map(Settings::Redis)
    }

    /// The settings for ZooKeeper, or for `memory:`, of this kind.
    fn zookeeper(self, server: Server, kind: Kind) -> Result<Settings, ConfigError> {
        let inspects = kind != Kind::Inspection && self.has("action");
        if inspects && kind == Kind::MultiLock {
            return Err(unknown::inspection());
        }
        let draft = self.draft(server, kind)?;
        if Kind::OPERATIONS.contains(&kind) {
            return draft.operation(kind, &draft.scope_on_zookeeper()?);
        }
        if draft.has_lease() {
            // Only `memory:` accepts Redis's options together with ZooKeeper's. It checks them as Redis does, and then
            // ignores them.
            draft.redis("memory")?;
        }
        draft.zookeeper(kind, inspects).map(Settings::ZooKeeper)
    }
}

impl TryFrom<RawSettings> for Settings {
    type Error = ConfigError;

    fn try_from(raw: RawSettings) -> Result<Self, ConfigError> {
        match raw.kind()? {
            (Server::Redis, kind) => raw.redis(kind),
            (server, kind) => raw.zookeeper(server, kind),
        }
    }
}

impl RawSettings {
    /// The settings of a machine for Redis. A program that uses only this function does not contain the checks of
    /// ZooKeeper's settings.
    ///
    /// # Errors
    /// The same as for [`Settings`]; also an error for settings of another server.
    pub fn for_redis(self) -> Result<Settings, ConfigError> {
        match self.kind()? {
            (Server::Redis, kind) => self.redis(kind),
            _ => Err(elsewhere(Server::Redis)),
        }
    }

    /// The settings of a machine for ZooKeeper or `memory:`, for a program that has only such machines.
    ///
    /// # Errors
    /// The same as for [`Settings`]; also an error for settings of Redis.
    pub fn for_zookeeper(self) -> Result<Settings, ConfigError> {
        match self.kind()? {
            (Server::Redis, _) => Err(elsewhere(Server::ZooKeeper)),
            (server, kind) => self.zookeeper(server, kind),
        }
    }
}

pub(super) fn elsewhere(expected: Server) -> ConfigError {
    unreadable(&["these settings are not for ", expected.shown()])
}

/// The names of all kinds of locks, in a sentence.
fn kinds() -> String {
    let mut names: Vec<&str> = Kind::LOCKS.iter().map(|kind| kind.name()).collect();
    names.dedup();
    enumerated(&names)
}

/// The names of all machines, in a sentence.
fn machines() -> String {
    let names: Vec<String> = Kind::on_zookeeper()
        .map(|kind| ["zookeeper-", kind.machine()].concat())
        .collect();
    let names: Vec<&str> = ["redis-string", "redis-claim", "redis-single-step"]
        .into_iter()
        .chain(names.iter().map(String::as_str))
        .collect();
    enumerated(&names)
}

fn enumerated(names: &[&str]) -> String {
    match names {
        [first @ .., last] => [&first.join(", "), " and ", last].concat(),
        [] => String::new(),
    }
}

fn unreadable(why: &[&str]) -> ConfigError {
    ConfigError::Unreadable { why: why.concat() }
}

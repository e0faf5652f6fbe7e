//! Checks the changes of one request: whether the request was allowed to make them.

use std::collections::BTreeMap;

use fencepost_core::{
    SessionId,
    claim::{Record, State, form},
    zookeeper::{Request, Stat},
};
use fencepost_models::zookeeper::Server;

const SCOPE: &str = "/fencepost/s/";

/// A node below the scope, with its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    bytes: Vec<u8>,
    stat: Stat,
    owner: Option<SessionId>,
}

pub(crate) type Nodes = BTreeMap<String, Node>;

/// The records and their children.
pub(crate) fn records(server: &Server) -> Nodes {
    let below = server.nodes().filter(|(path, ..)| {
        path.strip_prefix(SCOPE)
            .is_some_and(|below| below.matches('/').count() > 0)
    });
    below
        .map(|(path, stat, owner)| {
            let (bytes, _) = server.node(path).unwrap();
            let bytes = bytes.to_vec();
            (path.to_owned(), Node { bytes, stat, owner })
        })
        .collect()
}

fn is_record(path: &str) -> bool {
    path[SCOPE.len()..].matches('/').count() == 1
}

impl Node {
    /// The record as a client reads it: `None` if the record was freed, or if its token was claimed too late.
    fn record(&self) -> Option<Record> {
        let record = form::decode(&self.bytes).unwrap()?;
        let claimed = matches!(record.state, State::Running | State::Done);
        let modified = u64::try_from(self.stat.modified).unwrap();
        (!claimed || record.kept_until == 0 || modified <= record.kept_until).then_some(record)
    }

    /// Whether the record must be kept at this time, even without a lease.
    fn is_kept(&self, record: &Record, millis: u64) -> bool {
        let modified = u64::try_from(self.stat.modified).unwrap();
        match (record.state, &record.token) {
            (State::Value, _) => true,
            (State::Issued, Some(token)) => millis <= modified + token.life,
            _ => millis <= modified + record.retention,
        }
    }
}

/// The sender of a request: whether it sweeps, whether it acts for an operator, and its session.
pub(crate) type By = (bool, bool, SessionId);

/// Watches the records.
#[derive(Debug, Default)]
pub(crate) struct Audit {
    /// The first violation of a rule.
    pub(crate) broken: Option<String>,
    /// When each lease was last seen.
    leases: BTreeMap<String, u64>,
}

impl Audit {
    pub(crate) fn compare(&mut self, before: &Nodes, after: &Nodes, by: By, millis: u64, request: &Request) {
        let leases = before
            .iter()
            .chain(after)
            .filter(|(_, node)| node.owner.is_some());
        self.leases.extend(leases.map(|(path, _)| (path.clone(), millis)));
        let nodes = before.iter().filter(|(path, node)| {
            let is_lease = node.owner.is_some() || path.ends_with("/value");
            !is_lease && after.get(*path) != Some(node)
        });
        for (path, node) in nodes {
            let Some(record) = node.record() else {
                continue;
            };
            let leased = self.leases.get(&lease_of(path, &record));
            let outlived = leased.is_some_and(|leased| millis <= leased + record.retention);
            let deleted = by.0 && record.state == State::Running && !after.contains_key(path);
            let too_early = "a sweep has deleted a record whose lease was there within its retention";
            let early = (deleted && outlived).then_some(too_early);
            if let Some(why) = early.or_else(|| why_not(before, after, path, &record, by, millis)) {
                let now = after.get(path).map(|node| String::from_utf8_lossy(&node.bytes));
                let bytes = String::from_utf8_lossy(&node.bytes);
                let what =
                    format!("{path}: {why}\n{bytes}became {now:?}\nby {by:?}, at {millis}: {request:?}");
                self.broken.get_or_insert(what);
            }
        }
    }

    /// Checks the nodes after the last sweep.
    pub(crate) fn only_values_are_left(&mut self, nodes: &Nodes) {
        for (path, node) in nodes.iter().filter(|(path, _)| !path.ends_with("/value")) {
            let is_value = node.record().is_some_and(|record| record.state == State::Value);
            if !is_value {
                self.broken.get_or_insert(format!("{path} is left: {node:?}"));
            }
        }
    }
}

fn lease_of(path: &str, record: &Record) -> String {
    format!("{path}/{}", record.attempt.text())
}

/// The reason why a change of this record was not allowed, if it was not.
fn why_not(
    before: &Nodes,
    after: &Nodes,
    path: &str,
    record: &Record,
    (sweeps, operates, session): By,
    millis: u64,
) -> Option<&'static str> {
    let node = &before[path];
    let lease = before.get(&lease_of(path, record));
    let is_running = record.state == State::Running;
    if sweeps {
        if is_running && lease.is_some() {
            return Some("a sweep has changed a record with a lease");
        }
        let kept = node.is_kept(record, millis);
        return kept.then_some("a sweep has changed a record that is kept");
    }
    if operates {
        return None;
    }
    let becomes = after.get(path).and_then(Node::record);
    match (record.state, becomes) {
        (State::Done, _) => Some("a result has gone"),
        (State::Value, Some(value)) if value.state == State::Value && value.version == record.version + 1 => {
            None
        }
        (State::Value, _) => Some("a value has gone"),
        (State::Running, _) if lease.is_some_and(|lease| lease.owner != Some(session)) => {
            Some("a claim of another client has gone")
        }
        _ if !after.contains_key(path) && is_record(path) => Some("a record that was not freed has gone"),
        _ => None,
    }
}

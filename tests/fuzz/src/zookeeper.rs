//! A directory of a ZooKeeper server, as far as a story needs one.

use std::collections::BTreeSet;

use fencepost_core::{
    lowered::{Operation, Request, flags},
    zookeeper::{Answer, Stat, code},
};

use crate::records::Records;

/// The names in the lock's directory: one for all locks, so that contenders of different locks may meet.
#[derive(Debug)]
pub(crate) struct Directory {
    names: Vec<String>,
    next: i32,
    zxid: i64,
    /// All names that a contender may consider its own and delete.
    pub(crate) ever: BTreeSet<String>,
    records: Records,
}

impl Directory {
    pub(crate) fn new() -> Self {
        Self {
            names: vec!["lock-0000000001".into(), "notes".into()],
            next: 2,
            zxid: 1,
            ever: BTreeSet::new(),
            records: Records::default(),
        }
    }

    /// An answer in the request's shape; variant 0 is the answer of a healthy server.
    pub(crate) fn answer(&mut self, request: &Request, variant: u8, session: i64) -> (Answer, &'static str) {
        if variant >= 232 {
            return error(variant);
        }
        self.zxid += 1;
        if Records::has(request) {
            return self.records.answer(request, variant, self.zxid, session);
        }
        match request.operation {
            Operation::Create => self.create(request, variant),
            Operation::Children => self.list(variant),
            // A node that belongs to no contender may also exist.
            Operation::Get if !self.has(request) && variant % 8 != 3 || variant % 8 == 1 => {
                (Answer::Error(code::NO_NODE), "no node")
            }
            Operation::Get => {
                let stranger = variant % 8 == 2;
                let stat = Stat {
                    czxid: self.zxid,
                    mzxid: self.zxid,
                    ephemeral_owner: if stranger { 99 } else { session },
                    version: 0,
                    created: 0,
                    modified: 0,
                };
                let data = match variant % 8 {
                    3 => b"7".to_vec(),
                    4 => b"__REVOKE__".to_vec(),
                    _ => Vec::new(),
                };
                let what = if stranger { "stranger's" } else { "data" };
                (Answer::Data { data, stat }, what)
            }
            Operation::Multi => {
                let creates = |part: &&Request| part.operation == Operation::Create;
                let names = request.parts.iter().filter(creates).map(|part| {
                    let (answer, _) = self.create(part, variant);
                    match answer {
                        Answer::Created { path, .. } => last(&path).to_owned(),
                        _ => String::new(),
                    }
                });
                (Answer::Children(names.collect()), "names")
            }
            Operation::Delete if !self.has(request) => (Answer::Error(code::NO_NODE), "no node"),
            Operation::Delete => {
                let gone = last(&request.path);
                self.names.retain(|name| name != gone);
                (Answer::Done, "done")
            }
            _ => (Answer::Done, "done"),
        }
    }

    fn create(&mut self, request: &Request, variant: u8) -> (Answer, &'static str) {
        let mut path = request.path.clone();
        if request.flags == flags::EPHEMERAL {
            self.names.push(last(&path).to_owned());
        }
        if request.flags == flags::EPHEMERAL_SEQUENTIAL {
            let at_the_end = variant % 32 == 31;
            let number = if at_the_end { i32::MAX } else { self.next };
            self.next += 1;
            path += &format!("{number:010}");
            let name = last(&path).to_owned();
            self.ever.insert(name.clone());
            self.names.push(name);
        }
        let zxid = self.zxid;
        match variant % 32 {
            30 => (
                Answer::Created {
                    path: "elsewhere".into(),
                    zxid,
                },
                "created elsewhere",
            ),
            31 => (Answer::Created { path, zxid }, "created at the end"),
            _ => (Answer::Created { path, zxid }, "created"),
        }
    }

    fn list(&self, variant: u8) -> (Answer, &'static str) {
        let mut names = self.names.clone();
        match variant % 16 {
            0..10 => (Answer::Children(names), "all"),
            10 | 11 => {
                names.pop();
                (Answer::Children(names), "all but the last")
            }
            12 => (Answer::Children(Vec::new()), "nothing"),
            13 => {
                names.push("x__lock__0000000000".into());
                (Answer::Children(names), "a stranger")
            }
            14 => {
                names.reverse();
                (Answer::Children(names), "backwards")
            }
            _ => {
                names.retain(|name| name.starts_with("_c_"));
                (Answer::Children(names), "contenders of ours")
            }
        }
    }

    /// Deletes a lease or the first contender, and returns its name.
    pub(crate) fn remove_first(&mut self) -> Option<String> {
        if let Some(lease) = self.records.remove_lease() {
            return Some(lease);
        }
        let number = |name: &&String| name.rsplit_once("lock-")?.1.parse::<i32>().ok();
        let first = self
            .names
            .iter()
            .filter(|name| number(name).is_some())
            .min_by_key(number)?
            .clone();
        self.names.retain(|name| *name != first);
        Some(first)
    }

    /// A session has ended: deletes its nodes.
    pub(crate) fn end_session(&mut self) {
        self.names.retain(|name| !name.starts_with("_c_"));
        self.records.end_session();
    }

    fn has(&self, request: &Request) -> bool {
        self.names.iter().any(|name| name == last(&request.path))
    }
}

fn last(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

fn error(variant: u8) -> (Answer, &'static str) {
    let (code, name) = [
        (code::CONNECTION_LOSS, "connection loss"),
        (code::OPERATION_TIMEOUT, "operation timeout"),
        (code::SESSION_EXPIRED, "session expired"),
        (code::SESSION_MOVED, "session moved"),
        (code::THROTTLED, "throttled"),
        (code::UNIMPLEMENTED, "unimplemented"),
        (code::NO_NODE, "no node"),
        (code::NO_AUTH, "no auth"),
        (code::NO_CHILDREN_FOR_EPHEMERALS, "no children for ephemerals"),
        (code::NODE_EXISTS, "node exists"),
        (code::BAD_VERSION, "bad version"),
        (code::NOT_EMPTY, "not empty"),
        (code::AUTH_FAILED, "auth failed"),
        (0, "code 0"),
        (i32::MAX, "a positive code"),
        (i32::MIN, "a strange code"),
    ][usize::from(variant) % 16];
    (Answer::Error(code), name)
}

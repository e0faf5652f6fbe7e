//! The nodes of operations on a ZooKeeper server, as far as a story needs them.

use std::collections::BTreeMap;

use fencepost_core::{
    AttemptId, ContenderId, Fence,
    claim::{Policy, Record, State, Token, form},
    lowered::{ANY_VERSION, Operation, Request, flags},
    zookeeper::{Answer, Stat, code},
};

/// The nodes below the directory of the operations. Directories always exist.
#[derive(Debug, Default)]
pub(crate) struct Records(BTreeMap<String, Node>);

#[derive(Clone, Debug)]
struct Node {
    data: Vec<u8>,
    stat: Stat,
}

impl Records {
    /// Whether a request is about an operation.
    pub(crate) fn has(request: &Request) -> bool {
        let first = request.parts.first().unwrap_or(request);
        first.path.contains("fencepost/")
    }

    /// An answer in the request's shape; variant 0 is the answer of a healthy server.
    pub(crate) fn answer(
        &mut self,
        request: &Request,
        variant: u8,
        zxid: i64,
        session: i64,
    ) -> (Answer, &'static str) {
        match request.operation {
            Operation::Create => {
                let path = request.path.clone();
                (Answer::Created { path, zxid }, "created")
            }
            Operation::Children => self.list(&request.path, variant),
            Operation::Get => self.read(&request.path, variant, zxid),
            Operation::Multi => self.write(&request.parts, variant, zxid, session),
            _ => (Answer::Done, "done"),
        }
    }

    /// Deletes a lease, and returns its path.
    pub(crate) fn remove_lease(&mut self) -> Option<String> {
        let is_lease = |node: &Node| node.stat.ephemeral_owner != 0;
        let (path, _) = self.0.iter().find(|(_, node)| is_lease(node))?;
        let path = path.clone();
        self.0.remove(&path);
        Some(path)
    }

    pub(crate) fn end_session(&mut self) {
        self.0.retain(|_, node| node.stat.ephemeral_owner == 0);
    }

    fn list(&self, path: &str, variant: u8) -> (Answer, &'static str) {
        let name = |child: &String| {
            let (above, name) = child.rsplit_once('/')?;
            (above == path).then(|| name.to_owned())
        };
        let mut names: Vec<_> = self.0.keys().filter_map(name).collect();
        let what = match variant % 8 {
            1 => {
                names.clear();
                "no lease"
            }
            2 => {
                names.push(other().text());
                "another lease"
            }
            3 => {
                names.push("value".into());
                "a value"
            }
            _ => "leases",
        };
        (Answer::Children(names), what)
    }

    fn read(&self, path: &str, variant: u8, zxid: i64) -> (Answer, &'static str) {
        let is_bucket = path.rsplit('/').next().is_some_and(|name| name.len() == 2);
        let stat = Stat {
            czxid: zxid,
            mzxid: zxid,
            ephemeral_owner: 0,
            version: i32::from(variant % 3),
            created: 5,
            modified: i64::from(variant),
        };
        match (self.0.get(path), variant) {
            (Some(node), 0..40) => {
                let (data, stat) = (node.data.clone(), node.stat);
                (Answer::Data { data, stat }, "stored")
            }
            (None, 0..40) if is_bucket => (
                Answer::Data {
                    data: Vec::new(),
                    stat: Stat { version: 0, ..stat },
                },
                "bucket",
            ),
            (None, 0..40) => (Answer::Error(code::NO_NODE), "no node"),
            (Some(node), 40..50) if node.stat.ephemeral_owner != 0 => {
                let stat = Stat {
                    ephemeral_owner: 99,
                    ..node.stat
                };
                let data = Vec::new();
                (Answer::Data { data, stat }, "stranger's")
            }
            (node, _) => {
                let stored = node.and_then(|node| form::decode(&node.data).ok()?);
                let (data, what) = any_record(variant, stored);
                (Answer::Data { data, stat }, what)
            }
        }
    }

    fn write(&mut self, parts: &[Request], variant: u8, zxid: i64, session: i64) -> (Answer, &'static str) {
        match variant % 16 {
            9 => return (Answer::Error(code::NODE_EXISTS), "exists"),
            10 => return (Answer::Error(code::BAD_VERSION), "bad version"),
            11 => return (Answer::Error(code::NO_NODE), "no node"),
            12 => return (Answer::Error(code::NOT_EMPTY), "not empty"),
            _ => {}
        }
        let mut nodes = self.0.clone();
        for part in parts {
            if let Err(error) = carry_out(&mut nodes, part, zxid, session) {
                return (Answer::Error(error), "conflict");
            }
        }
        self.0 = nodes;
        match variant % 16 {
            13 => (Answer::Error(code::NODE_EXISTS), "written, and exists"),
            14 => (Answer::Error(code::NO_NODE), "written, and no node"),
            15 => (Answer::Done, "done"),
            _ => {
                let creates = parts.iter().filter(|part| part.operation == Operation::Create);
                let names = creates.map(|part| part.path.rsplit('/').next().unwrap_or_default().into());
                (Answer::Children(names.collect()), "written")
            }
        }
    }
}

/// Executes one part of a transaction. An unchanged bucket has version 0.
fn carry_out(nodes: &mut BTreeMap<String, Node>, part: &Request, zxid: i64, session: i64) -> Result<(), i32> {
    let is_bucket = part.path.rsplit('/').next().is_some_and(|name| name.len() == 2);
    let stat = Stat {
        czxid: zxid,
        mzxid: zxid,
        ephemeral_owner: if part.flags == flags::EPHEMERAL {
            session
        } else {
            0
        },
        version: 0,
        created: zxid,
        modified: zxid,
    };
    if is_bucket {
        let data = Vec::new();
        nodes.entry(part.path.clone()).or_insert(Node { data, stat });
    }
    if part.operation == Operation::Create {
        let data = part.data.clone();
        return match nodes.insert(part.path.clone(), Node { data, stat }) {
            None => Ok(()),
            Some(_) => Err(code::NODE_EXISTS),
        };
    }
    let node = nodes.get_mut(&part.path).ok_or(code::NO_NODE)?;
    if part.version != ANY_VERSION && part.version != node.stat.version {
        return Err(code::BAD_VERSION);
    }
    match part.operation {
        Operation::Set => {
            node.data.clone_from(&part.data);
            node.stat.version = node.stat.version.wrapping_add(1);
            node.stat.mzxid = zxid;
            node.stat.modified = zxid;
        }
        Operation::Delete => {
            nodes.remove(&part.path);
        }
        _ => {}
    }
    Ok(())
}

/// A record in any state, of the stored attempt or of another one; or bytes that are no record.
fn any_record(variant: u8, stored: Option<Record>) -> (Vec<u8>, &'static str) {
    let attempt = match stored {
        Some(stored) if variant.is_multiple_of(2) => stored.attempt,
        _ => other(),
    };
    let (state, what) = match variant % 9 {
        0 | 1 => (State::Running, "running"),
        2 | 3 => (State::Done, "done"),
        4 | 5 => (State::Issued, "issued"),
        6 => (State::Value, "value"),
        7 => return (form::encode(None), "freed"),
        _ => return (b"state:4:done".to_vec(), "corrupt"),
    };
    let mut record = Record::new(state, attempt);
    record.policy = Policy::ALL[usize::from(variant / 9) % Policy::ALL.len()];
    record.retention = 1000;
    record.takeovers = u64::from(variant % 2);
    record.fence = Fence(u64::from(variant % 4));
    record.version = u64::from(variant % 3);
    // An expired token, or one that was claimed too late.
    if state == State::Issued || variant.is_multiple_of(5) {
        record.kept_until = u64::from(variant % 5);
        record.token = Some(Token {
            binding: b"form".to_vec(),
            life: 1000 * u64::from(variant % 5),
        });
    }
    (form::encode(Some(&record)), what)
}

const fn other() -> AttemptId {
    AttemptId {
        contender: ContenderId(*b"other one is her"),
        number: 1,
    }
}

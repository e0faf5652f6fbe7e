//! Requests as plain values.

use alloc::{string::String, vec::Vec};

use crate::{redis, text::decimal, zookeeper};

/// What a driver has to do. The numbers are the same in every language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum Operation {
    /// ZooKeeper: create `path` with `data`, `flags` say how. Answer: created (path, czxid).
    Create = 1,
    /// ZooKeeper: list the children of `path`, with a watch if `flags` has [`flags::WATCH`]. Answer: children (names).
    Children = 2,
    /// ZooKeeper: read `path`, with a watch if `flags` has [`flags::WATCH`]. Answer: data (data, stat).
    Get = 3,
    /// ZooKeeper: delete `path`, any version. Answer: done.
    Delete = 4,
    /// ZooKeeper: sync `path`. Answer: done.
    Sync = 5,
    /// Redis: send `arguments` as one command. Answer: the server's reply.
    Call = 6,
    /// Redis: subscribe to the channel `arguments[0]`. Answer: any reply, once the server has confirmed it.
    Subscribe = 7,
    /// Redis: unsubscribe from the channel `arguments[0]`. Answer: any reply, or none.
    Unsubscribe = 8,
    /// ZooKeeper: give `path` the data `data`, any version. Answer: done.
    Set = 9,
    /// ZooKeeper: `parts` (of [`Create`](Self::Create), [`Delete`](Self::Delete) and [`Check`](Self::Check)), all or none. Answer: children, with the names of the nodes created (the last
    /// parts of their paths) in the order of the parts; or the error of the first part that cannot be.
    Multi = 10,
    /// ZooKeeper: check that `path` exists, any version. It is only ever a part of a [`Multi`](Self::Multi).
    Check = 11,
}

impl Operation {
    /// The name, the same in every language and in transcripts.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Children => "children",
            Self::Get => "get",
            Self::Delete => "delete",
            Self::Sync => "sync",
            Self::Call => "call",
            Self::Subscribe => "subscribe",
            Self::Unsubscribe => "unsubscribe",
            Self::Set => "set",
            Self::Multi => "multi",
            Self::Check => "check",
        }
    }
}

/// What [`Request::flags`] is made of.
pub mod flags {
    /// Create: the node goes with its session, and its name is numbered.
    pub const EPHEMERAL_SEQUENTIAL: u32 = 1;
    /// Create: the node goes some time after its last child.
    pub const CONTAINER: u32 = 2;
    /// Get: tell once of the node's deletion or change. Children: tell once when there are others.
    pub const WATCH: u32 = 4;
    /// Create: the node goes with its session.
    pub const EPHEMERAL: u32 = 8;
}

/// One request as plain values. What an operation does not use is empty.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Request {
    /// What to do.
    pub operation: Operation,
    /// ZooKeeper: the path.
    pub path: String,
    /// ZooKeeper: a node's new data.
    pub data: Vec<u8>,
    /// ZooKeeper: see [`flags`].
    pub flags: u32,
    /// Redis: the command with its arguments, or the channel.
    pub arguments: Vec<Vec<u8>>,
    /// ZooKeeper: the writes of a multi.
    pub parts: Vec<Self>,
}

impl Request {
    const fn zookeeper(operation: Operation, path: String) -> Self {
        Self {
            operation,
            path,
            data: Vec::new(),
            flags: 0,
            arguments: Vec::new(),
            parts: Vec::new(),
        }
    }

    const fn redis(operation: Operation, arguments: Vec<Vec<u8>>) -> Self {
        Self {
            operation,
            path: String::new(),
            data: Vec::new(),
            flags: 0,
            arguments,
            parts: Vec::new(),
        }
    }

    fn create(path: String, data: Vec<u8>, mode: zookeeper::CreateMode) -> Self {
        use zookeeper::CreateMode;
        let flags = match mode {
            CreateMode::Persistent => 0,
            CreateMode::Ephemeral => flags::EPHEMERAL,
            CreateMode::EphemeralSequential => flags::EPHEMERAL_SEQUENTIAL,
            CreateMode::Container => flags::CONTAINER,
        };
        Self {
            data,
            flags,
            ..Self::zookeeper(Operation::Create, path)
        }
    }
}

const fn watch(watch: bool) -> u32 {
    if watch { flags::WATCH } else { 0 }
}

impl From<zookeeper::Request> for Request {
    fn from(request: zookeeper::Request) -> Self {
        use zookeeper::{Request as From, Write};
        match request {
            From::Create { path, data, mode } => Self::create(path, data, mode),
            From::Children { path, watch: told } => Self {
                flags: watch(told),
                ..Self::zookeeper(Operation::Children, path)
            },
            From::Get { path, watch: told } => Self {
                flags: watch(told),
                ..Self::zookeeper(Operation::Get, path)
            },
            From::Set { path, data } => Self {
                data,
                ..Self::zookeeper(Operation::Set, path)
            },
            From::Multi { writes } => Self {
                parts: writes
                    .into_iter()
                    .map(|write| match write {
                        Write::Create { path, data, mode } => Self::create(path, data, mode),
                        Write::Delete { path } => Self::zookeeper(Operation::Delete, path),
                        Write::Check { path } => Self::zookeeper(Operation::Check, path),
                    })
                    .collect(),
                ..Self::zookeeper(Operation::Multi, String::new())
            },
            From::Delete { path } => Self::zookeeper(Operation::Delete, path),
            From::Sync { path } => Self::zookeeper(Operation::Sync, path),
        }
    }
}

impl From<redis::Request> for Request {
    fn from(request: redis::Request) -> Self {
        use redis::Request as From;
        match request {
            From::Script {
                script,
                with_text,
                keys,
                mut arguments,
            } => {
                let (command, source) = if with_text {
                    ("EVAL", script.text())
                } else {
                    ("EVALSHA", script.sha())
                };
                // One by one from the last: there is room, and splicing would add most of a kilobyte to the WebAssembly module.
                for word in [decimal(keys).into_bytes(), source.into(), command.into()] {
                    arguments.insert(0, word);
                }
                Self::redis(Operation::Call, arguments)
            }
            From::Subscribe { channel } => Self::redis(Operation::Subscribe, Vec::from([channel])),
            From::Unsubscribe { channel } => Self::redis(Operation::Unsubscribe, Vec::from([channel])),
        }
    }
}

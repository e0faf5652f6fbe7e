//! Requests as plain values.

use alloc::{string::String, vec::Vec};

use crate::{redis, text::decimal, zookeeper};

/// An operation that a driver carries out. The numbers are the same in every language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum Operation {
    /// ZooKeeper: create `path` with `data`; `flags` has the mode. Answer: created (path, czxid).
    Create = 1,
    /// ZooKeeper: list the children of `path`, with a watch if `flags` has [`flags::WATCH`]. Answer: children (names).
    Children = 2,
    /// ZooKeeper: read `path`, with a watch if `flags` has [`flags::WATCH`]. Answer: data (data, stat).
    Get = 3,
    /// ZooKeeper: delete `path`; as a part of a multi, if it has the version `version`. Answer: done.
    Delete = 4,
    /// ZooKeeper: sync `path`. Answer: done.
    Sync = 5,
    /// Redis: send `arguments` as one command. Answer: the server's reply.
    Call = 6,
    /// Redis: subscribe to the channel `arguments[0]`. Answer: any reply, when the server has confirmed the
    /// subscription.
    Subscribe = 7,
    /// Redis: unsubscribe from the channel `arguments[0]`. Answer: any reply, or none.
    Unsubscribe = 8,
    /// ZooKeeper: replace the data of `path` with `data`; as a part of a multi, if it has the version `version`.
    /// Answer: done.
    Set = 9,
    /// ZooKeeper: carry out all `parts` or none. Parts are [`Create`](Self::Create), [`Set`](Self::Set),
    /// [`Delete`](Self::Delete) and [`Check`](Self::Check). Answer: children, with the names of the created nodes (the
    /// last parts of their paths) in the order of the parts; or the error of the first part that fails.
    Multi = 10,
    /// ZooKeeper: check that `path` exists and has the version `version`. It occurs only as a part of a
    /// [`Multi`](Self::Multi).
    Check = 11,
    /// ZooKeeper: close the connection and connect to another server in the same session. Answer: any, or none. On a
    /// connection that the application made, the driver does nothing.
    Reconnect = 12,
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
            Self::Reconnect => "reconnect",
        }
    }
}

/// The bits of [`Request::flags`].
pub mod flags {
    /// Create: the server deletes the node at the end of its session, and appends a sequence number to its name.
    pub const EPHEMERAL_SEQUENTIAL: u32 = 1;
    /// Create: the server deletes the node some time after the deletion of its last child.
    pub const CONTAINER: u32 = 2;
    /// Get: the server sends one notice when the node is deleted or changed. Children: the server sends one notice when
    /// the children change.
    pub const WATCH: u32 = 4;
    /// Create: the server deletes the node at the end of its session.
    pub const EPHEMERAL: u32 = 8;
}

/// The version of a request that accepts any version of the node. The number is from ZooKeeper's protocol.
pub const ANY_VERSION: i32 = -1;

/// One request as plain values. Fields that the operation does not use are empty.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Request {
    /// The operation.
    pub operation: Operation,
    /// ZooKeeper: the path.
    pub path: String,
    /// ZooKeeper: a node's new data.
    pub data: Vec<u8>,
    /// ZooKeeper: see [`flags`].
    pub flags: u32,
    /// ZooKeeper: the version that the node must have; [`ANY_VERSION`] for any. Only the parts of a multi can have
    /// another value.
    pub version: i32,
    /// Redis: the command with its arguments, or the channel.
    pub arguments: Vec<Vec<u8>>,
    /// ZooKeeper: the parts of a multi.
    pub parts: Vec<Self>,
}

impl Request {
    const fn zookeeper(operation: Operation, path: String) -> Self {
        Self {
            operation,
            path,
            data: Vec::new(),
            flags: 0,
            version: ANY_VERSION,
            arguments: Vec::new(),
            parts: Vec::new(),
        }
    }

    fn versioned(operation: Operation, path: String, version: Option<i32>) -> Self {
        Self {
            version: version.unwrap_or(ANY_VERSION),
            ..Self::zookeeper(operation, path)
        }
    }

    const fn redis(operation: Operation, arguments: Vec<Vec<u8>>) -> Self {
        Self {
            operation,
            path: String::new(),
            data: Vec::new(),
            flags: 0,
            version: ANY_VERSION,
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
            From::Children { path, watch: set } => Self {
                flags: watch(set),
                ..Self::zookeeper(Operation::Children, path)
            },
            From::Get { path, watch: set } => Self {
                flags: watch(set),
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
                        Write::Set { path, data, version } => Self {
                            data,
                            ..Self::versioned(Operation::Set, path, version)
                        },
                        Write::Delete { path, version } => Self::versioned(Operation::Delete, path, version),
                        Write::Check { path, version } => Self::versioned(Operation::Check, path, version),
                    })
                    .collect(),
                ..Self::zookeeper(Operation::Multi, String::new())
            },
            From::Delete { path } => Self::zookeeper(Operation::Delete, path),
            From::Sync { path } => Self::zookeeper(Operation::Sync, path),
            From::Reconnect => Self::zookeeper(Operation::Reconnect, String::new()),
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
                    ("EVALSHA", script.sha().into())
                };
                // Each insert reuses the spare capacity. `splice` would add most of a kilobyte to the WebAssembly
                // module.
                for word in [decimal(keys).into_bytes(), source.into_bytes(), command.into()] {
                    arguments.insert(0, word);
                }
                Self::redis(Operation::Call, arguments)
            }
            From::Subscribe { channel } => Self::redis(Operation::Subscribe, Vec::from([channel])),
            From::Unsubscribe { channel } => Self::redis(Operation::Unsubscribe, Vec::from([channel])),
        }
    }
}

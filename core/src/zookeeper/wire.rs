//! What crosses the boundary to a ZooKeeper client library: requests, replies, notices.

use alloc::{string::String, vec::Vec};
use core::time::Duration;

use crate::{CommandId, Instant, SessionId};

/// One request. All requests of a client are sent in the order in which they were polled, on one session:
/// a server answers a session's requests in order, and the machines rely on it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Request {
    /// Create a node. Answered by [`Answer::Created`].
    Create {
        /// The path; for a sequential node, the server adds ten digits.
        path: String,
        /// The node's data.
        data: Vec<u8>,
        /// Which kind of node.
        mode: CreateMode,
    },
    /// List the names of a node's children and, with `watch`, be told once when there are others. Answered by [`Answer::Children`].
    Children {
        /// The parent's path.
        path: String,
        /// Whether to set a watch. If the node does not exist, none is set.
        watch: bool,
    },
    /// Read a node and, with `watch`, be told once of its deletion or change. Answered by [`Answer::Data`].
    Get {
        /// The node's path.
        path: String,
        /// Whether to set a watch. If the node does not exist, none is set (`exists` would leave one behind, CURATOR-107).
        watch: bool,
    },
    /// Give a node other data, whatever its version. Answered by [`Answer::Done`].
    Set {
        /// The node's path.
        path: String,
        /// The new data.
        data: Vec<u8>,
    },
    /// Delete a node, whatever its version. Answered by [`Answer::Done`].
    Delete {
        /// The node's path.
        path: String,
    },
    /// Ask the leader. Answered by [`Answer::Done`] once this session's server has caught up with it.
    Sync {
        /// Any path.
        path: String,
    },
    /// Several writes, all of them or none. Answered by [`Answer::Children`] with the names of the nodes created, in the order of the writes;
    /// or by the error of the first write that cannot be.
    Multi {
        /// What to do.
        writes: Vec<Write>,
    },
}

/// One part of a [`Request::Multi`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Write {
    /// See [`Request::Create`].
    Create {
        /// The path; for a sequential node, the server adds ten digits.
        path: String,
        /// The node's data.
        data: Vec<u8>,
        /// Which kind of node.
        mode: CreateMode,
    },
    /// See [`Request::Delete`].
    Delete {
        /// The node's path.
        path: String,
    },
    /// Check that a node exists. It changes nothing and fires no watch, and the transaction goes through a quorum all the same.
    Check {
        /// The node's path.
        path: String,
    },
}

/// Kinds of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CreateMode {
    /// Stays until it is deleted.
    Persistent,
    /// Goes with its session.
    Ephemeral,
    /// Goes with its session; its name ends in a number that the parent counts up.
    EphemeralSequential,
    /// Goes some time after its last child has gone (3.5.3 and later).
    Container,
}

/// What the server answered, and in which session the request was sent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reply {
    /// The session. An answer of another session than the present one counts as [`Failure::Unknown`](crate::Failure).
    pub session: SessionId,
    /// The answer.
    pub answer: Answer,
}

impl Reply {
    /// Whether it is a code that client libraries make up when nobody knows what the server has done.
    pub(super) const fn is_made_up(&self) -> bool {
        matches!(
            self.answer,
            Answer::Error(code::CONNECTION_LOSS | code::OPERATION_TIMEOUT | code::SESSION_EXPIRED)
        )
    }
}

/// The server's answers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Answer {
    /// A node was created.
    Created {
        /// Its path, number included.
        path: String,
        /// The transaction that created it (`czxid`; the reply header has the same number).
        zxid: i64,
    },
    /// The names of the children, in any order; to a [`Request::Multi`], the names of the nodes created (the last parts of their paths), in the order of its writes.
    Children(Vec<String>),
    /// A node's data and what is known of it.
    Data {
        /// The data.
        data: Vec<u8>,
        /// What is known of the node.
        stat: Stat,
    },
    /// Done, with nothing to tell.
    Done,
    /// An error code of the protocol, negative: see [`code`].
    Error(i32),
}

/// What a server knows of a node, as far as locks need it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stat {
    /// The transaction that created the node.
    pub czxid: i64,
    /// The session that it goes with; 0 for a node that stays.
    pub ephemeral_owner: i64,
    /// How often its data were changed.
    pub version: i32,
    /// When it was created, by the server's clock: milliseconds since 1970. For people; nothing is decided by it.
    pub created: i64,
}

/// What a ZooKeeper connection says unasked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Notice {
    /// A watch has something to say.
    Watch {
        /// The [`Request::Get`] that set it.
        id: CommandId,
        /// The session it was set in.
        session: SessionId,
        /// What has happened.
        event: WatchEvent,
    },
    /// The session's state has changed. Given to a hub before its first request, and from then on at every change.
    Session {
        /// The state.
        state: SessionState,
        /// The session. With [`SessionState::Connected`] a new number means: the old session is over.
        session: SessionId,
        /// The timeout that the server has agreed to, not the one that was asked for.
        timeout: Duration,
    },
    /// From the hub to its machines: the session is confirmed until then.
    Confirmed {
        /// The session.
        session: SessionId,
        /// Until when a grant in it is valid.
        valid_until: Instant,
    },
}

/// What a watch has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WatchEvent {
    /// The node was deleted.
    Deleted,
    /// The node's data were changed or, if its children were listed, its children. The watch is spent.
    Changed,
    /// The watch was lost on the way, with its connection for example: it will not fire.
    Gone,
}

/// What a client library says of its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SessionState {
    /// The driver begins to make a new session: no attempt to connect was made before this. It is told before each first attempt (and the session's
    /// number and timeout, not known yet, are not looked at). A driver that cannot know leaves it out; then grants in a new session
    /// begin a quarter of its timeout later.
    Connecting,
    /// Connected: a new session, or the same one again.
    Connected,
    /// The connection is gone; the session perhaps not.
    Suspended,
    /// The server has ended the session, and all its ephemeral nodes.
    Expired,
    /// The server has refused the credentials. Nothing will come after this.
    AuthFailed,
    /// The client was closed. Nothing will come after this.
    Closed,
}

/// The protocol's error codes that locks tell apart (`KeeperException.Code`).
pub mod code {
    /// Another client has taken over the session's connection: not executed.
    pub const SESSION_MOVED: i32 = -118;
    /// The client library has lost the connection: no answer at all.
    pub const CONNECTION_LOSS: i32 = -4;
    /// The client library has waited for too long: no answer at all.
    pub const OPERATION_TIMEOUT: i32 = -7;
    /// The server is shedding load: not executed.
    pub const THROTTLED: i32 = -127;
    /// The server does not know the request.
    pub const UNIMPLEMENTED: i32 = -6;
    /// No such node.
    pub const NO_NODE: i32 = -101;
    /// No permission.
    pub const NO_AUTH: i32 = -102;
    /// An ephemeral node has no children.
    pub const NO_CHILDREN_FOR_EPHEMERALS: i32 = -108;
    /// The node exists.
    pub const NODE_EXISTS: i32 = -110;
    /// The server has ended the session; whether before or after the request, nobody knows.
    pub const SESSION_EXPIRED: i32 = -112;
    /// The credentials were refused.
    pub const AUTH_FAILED: i32 = -115;
}

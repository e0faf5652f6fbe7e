//! The interface to a ZooKeeper client library: requests, replies, notices.

use alloc::{string::String, vec::Vec};
use core::time::Duration;

use crate::{CommandId, Fence, Instant, SessionId};

/// One request. The driver sends all requests of a client on one session, in the order in which they were polled. A
/// server answers a session's requests in order, and the machines rely on that.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Request {
    /// Create a node. Answered by [`Answer::Created`].
    Create {
        /// The path. For a sequential node, the server adds ten digits.
        path: String,
        /// The node's data.
        data: Vec<u8>,
        /// The kind of node.
        mode: CreateMode,
    },
    /// List the names of a node's children. With `watch`, the driver reports the next change of the children, once.
    /// Answered by [`Answer::Children`].
    Children {
        /// The parent's path.
        path: String,
        /// Whether to set a watch. If the node does not exist, the server sets no watch.
        watch: bool,
    },
    /// Read a node. With `watch`, the driver reports the node's next change or its deletion, once. Answered by
    /// [`Answer::Data`].
    Get {
        /// The node's path.
        path: String,
        /// Whether to set a watch. If the node does not exist, the server sets no watch (`exists` would set one,
        /// CURATOR-107).
        watch: bool,
    },
    /// Replace a node's data, at any version. Answered by [`Answer::Done`].
    Set {
        /// The node's path.
        path: String,
        /// The new data.
        data: Vec<u8>,
    },
    /// Delete a node, at any version. Answered by [`Answer::Done`].
    Delete {
        /// The node's path.
        path: String,
    },
    /// Make this session's server catch up with the leader. The server then answers [`Answer::Done`].
    Sync {
        /// Any path.
        path: String,
    },
    /// End the connection, because its server does not answer, and connect to another server in the same session. The
    /// driver need not report an outcome. It does nothing if the program made the connection.
    Reconnect,
    /// Several writes, all of them or none. Answered by [`Answer::Children`] with the names of the created nodes, in
    /// the order of the writes, or by the error of the first write that fails.
    Multi {
        /// The writes.
        writes: Vec<Write>,
    },
}

/// One write of a [`Request::Multi`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Write {
    /// See [`Request::Create`].
    Create {
        /// The path. For a sequential node, the server adds ten digits.
        path: String,
        /// The node's data.
        data: Vec<u8>,
        /// The kind of node.
        mode: CreateMode,
    },
    /// Replace a node's data.
    Set {
        /// The node's path.
        path: String,
        /// The new data.
        data: Vec<u8>,
        /// The version that the node must have; `None` for any.
        version: Option<i32>,
    },
    /// See [`Request::Delete`].
    Delete {
        /// The node's path.
        path: String,
        /// The version that the node must have; `None` for any.
        version: Option<i32>,
    },
    /// Check that a node exists. A check changes nothing and fires no watch, but its transaction still needs a quorum.
    Check {
        /// The node's path.
        path: String,
        /// The version that the node must have; `None` for any.
        version: Option<i32>,
    },
}

/// Kinds of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CreateMode {
    /// The node stays until a client deletes it.
    Persistent,
    /// The server deletes the node when its session ends.
    Ephemeral,
    /// As `Ephemeral`. The server adds a number to the node's name, which grows with each such node of the parent.
    EphemeralSequential,
    /// The server deletes the node some time after the deletion of its last child (3.5.3 and later).
    Container,
}

/// The server's reply, and the session in which the driver sent the request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reply {
    /// The session. A reply from another session than the present one counts as [`Failure::Unknown`](crate::Failure).
    pub session: SessionId,
    /// The answer.
    pub answer: Answer,
}

impl Reply {
    /// Whether the answer is a code from the client library itself, which does not know whether the server has executed
    /// the request.
    pub(super) const fn is_made_up(&self) -> bool {
        matches!(
            self.answer,
            Answer::Error(code::CONNECTION_LOSS | code::OPERATION_TIMEOUT | code::SESSION_EXPIRED)
        )
    }
}

/// The contents of the server's replies.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Answer {
    /// A node was created.
    Created {
        /// The node's path, number included.
        path: String,
        /// The transaction that created the node (`czxid`; the reply header has the same number).
        zxid: i64,
    },
    /// The names of the children, in any order. For a [`Request::Multi`]: the names of the created nodes (the last
    /// parts of their paths), in the order of the writes.
    Children(Vec<String>),
    /// A node's data and its metadata.
    Data {
        /// The data.
        data: Vec<u8>,
        /// The node's metadata.
        stat: Stat,
    },
    /// The server has executed the request, and the reply has no content.
    Done,
    /// A negative error code of the protocol: see [`code`].
    Error(i32),
}

/// The part of a node's metadata that locks need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stat {
    /// The transaction that created the node.
    pub czxid: i64,
    /// The transaction that last changed the node's data.
    pub mzxid: i64,
    /// The session that the node belongs to; 0 for a node that is not ephemeral.
    pub ephemeral_owner: i64,
    /// The number of changes of the node's data.
    pub version: i32,
    /// When the node was created, by the server's clock: milliseconds since 1970. Locks only display it. The claim of a
    /// token compares it with the end of the token's life.
    pub created: i64,
    /// When the node's data were last changed, as for [`created`](Self::created).
    pub modified: i64,
}

impl Stat {
    /// The fence of this node's grant: the transaction that created the node.
    pub(super) fn fence(&self) -> Fence {
        Fence(u64::try_from(self.czxid).unwrap_or_default())
    }
}

/// A report of the ZooKeeper connection without a request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Notice {
    /// A watch has fired, or was lost.
    Watch {
        /// The request that set the watch.
        id: CommandId,
        /// The session in which the watch was set.
        session: SessionId,
        /// The event.
        event: WatchEvent,
    },
    /// The session's state has changed. The driver passes this notice to a hub before the hub's first request, and then
    /// at every change.
    Session {
        /// The state.
        state: SessionState,
        /// The session. A new number with [`SessionState::Connected`] means that the old session has ended.
        session: SessionId,
        /// The timeout that the server has agreed to, not the requested one.
        timeout: Duration,
    },
    /// From the hub to its machines: the session is confirmed until `valid_until`.
    Confirmed {
        /// The session.
        session: SessionId,
        /// Until when a grant in the session is valid.
        valid_until: Instant,
    },
}

/// The event of a watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WatchEvent {
    /// The node was deleted.
    Deleted,
    /// The node's data were changed; or its children, if the watch is that of a list. The watch will not fire again.
    Changed,
    /// The watch was lost, for example with its connection. It will not fire.
    Gone,
}

impl WatchEvent {
    /// The kebab-case name, the same in every language.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Deleted => "deleted",
            Self::Changed => "changed",
            Self::Gone => "gone",
        }
    }

    /// The event with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Deleted, Self::Changed, Self::Gone]
            .into_iter()
            .find(|event| event.name() == name)
    }
}

/// The state of a session, as the client library reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SessionState {
    /// The driver begins to make a new session, and has not tried to connect yet. The driver reports this before the
    /// first attempt to connect for each new session. The hub ignores the notice's session and timeout, which are not
    /// known yet. A driver that cannot detect this moment does not report it. Then the first grant in a new session
    /// comes a quarter of the session's timeout later.
    Connecting,
    /// Connected, in a new session or again in the same one.
    Connected,
    /// The connection is lost. The session may still be alive.
    Suspended,
    /// The server has ended the session and deleted all its ephemeral nodes.
    Expired,
    /// The server has refused the credentials. No notice follows.
    AuthFailed,
    /// The client was closed. No notice follows.
    Closed,
}

impl SessionState {
    /// The kebab-case name, the same in every language.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Connecting => "connecting",
            Self::Connected => "connected",
            Self::Suspended => "suspended",
            Self::Expired => "expired",
            Self::AuthFailed => "auth-failed",
            Self::Closed => "closed",
        }
    }

    /// The state with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [
            Self::Connecting,
            Self::Connected,
            Self::Suspended,
            Self::Expired,
            Self::AuthFailed,
            Self::Closed,
        ]
        .into_iter()
        .find(|state| state.name() == name)
    }
}

/// The protocol's error codes that locks distinguish (`KeeperException.Code`).
pub mod code {
    /// The session has moved to another connection. The server did not execute the request.
    pub const SESSION_MOVED: i32 = -118;
    /// The client library has lost the connection before a reply arrived.
    pub const CONNECTION_LOSS: i32 = -4;
    /// The client library's own timeout has expired before a reply arrived.
    pub const OPERATION_TIMEOUT: i32 = -7;
    /// The server has too much load. It did not execute the request.
    pub const THROTTLED: i32 = -127;
    /// The server does not know the request.
    pub const UNIMPLEMENTED: i32 = -6;
    /// No such node.
    pub const NO_NODE: i32 = -101;
    /// No permission.
    pub const NO_AUTH: i32 = -102;
    /// The node does not have the version that the request requires.
    pub const BAD_VERSION: i32 = -103;
    /// An ephemeral node cannot have children.
    pub const NO_CHILDREN_FOR_EPHEMERALS: i32 = -108;
    /// The node exists.
    pub const NODE_EXISTS: i32 = -110;
    /// The node has children, so the server does not delete it.
    pub const NOT_EMPTY: i32 = -111;
    /// The server has ended the session. It is unknown whether it executed the request before that.
    pub const SESSION_EXPIRED: i32 = -112;
    /// The server has refused the credentials.
    pub const AUTH_FAILED: i32 = -115;
}

#[cfg(test)]
mod tests {
    use super::code::*;

    #[test]
    fn codes_are_the_protocols() {
        let made_up = [CONNECTION_LOSS, OPERATION_TIMEOUT, SESSION_EXPIRED];
        assert_eq!(made_up, [-4, -7, -112]);
        assert_eq!([SESSION_MOVED, THROTTLED], [-118, -127]);
        assert_eq!(
            [NO_NODE, NO_CHILDREN_FOR_EPHEMERALS, NODE_EXISTS],
            [-101, -108, -110]
        );
        assert_eq!([BAD_VERSION, NOT_EMPTY], [-103, -111]);
        assert_eq!([NO_AUTH, AUTH_FAILED, UNIMPLEMENTED], [-102, -115, -6]);
    }
}

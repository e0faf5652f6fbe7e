//! Requests and replies of the model. They include more than the core's requests, for locks of other libraries.

use alloc::{string::String, vec::Vec};

use fencepost_core::{
    CommandId, SessionId,
    zookeeper::{Notice, Reply, Request, WatchEvent},
};

/// A request: one of the core's, or one that only self-written locks use.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Ask {
    /// A request of the core.
    Request(Request),
    /// Read whether a node exists. With `watch`, set a watch: it fires when the node is created or, if the node exists,
    /// when it is changed or deleted. The answer is `Data` without data.
    Exists {
        /// The path.
        path: String,
        /// Whether to set a watch.
        watch: bool,
    },
    /// Replace a node's data if the node has this version. The answer is `Data` without data.
    Set {
        /// The path.
        path: String,
        /// The new data.
        data: Vec<u8>,
        /// The version; `None` for any.
        version: Option<i32>,
    },
    /// Delete a node if it has this version.
    DeleteVersion {
        /// The path.
        path: String,
        /// The version.
        version: i32,
    },
}

impl From<Request> for Ask {
    fn from(request: Request) -> Self {
        Self::Request(request)
    }
}

/// A reply, and the last transaction that its server had applied.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Answered {
    /// The reply.
    pub reply: Reply,
    /// The last transaction that the server had applied. Pass it to [`Server::saw`](super::Server::saw) when the reply
    /// has arrived.
    pub zxid: i64,
}

/// The change of a watched node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Event {
    /// The node was created.
    Created,
    /// The node was deleted.
    Deleted,
    /// The node's data were changed.
    Changed,
    /// A child of the node was created or deleted.
    Children,
}

impl Event {
    /// The kebab-case name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Deleted => "deleted",
            Self::Changed => "changed",
            Self::Children => "children",
        }
    }
}

/// A watch that fired.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FiredWatch {
    /// The request that set the watch.
    pub id: CommandId,
    /// The session that set the watch.
    pub session: SessionId,
    /// The node's path.
    pub path: String,
    /// The change.
    pub event: Event,
    /// The transaction that made the change. If the session was not connected at that time, the last transaction that
    /// the server had applied.
    pub zxid: i64,
    pub(super) kind: Kind,
}

impl From<FiredWatch> for Notice {
    /// The core's [`WatchEvent::Changed`] also covers a new node and other children.
    fn from(fired: FiredWatch) -> Self {
        Self::Watch {
            id: fired.id,
            session: fired.session,
            event: match fired.event {
                Event::Deleted => WatchEvent::Deleted,
                Event::Created | Event::Changed | Event::Children => WatchEvent::Changed,
            },
        }
    }
}

/// The kind of change for which a watch waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// A change of an existing node's data, or its deletion.
    Data,
    /// The creation of a node that did not exist.
    Absence,
    Children,
}

//! What the model is asked and what it says, where locks that are not ours want more than the core's words.

use alloc::{string::String, vec::Vec};

use fencepost_core::{
    CommandId, SessionId,
    zookeeper::{Notice, Reply, Request, WatchEvent},
};

/// A request: one of the core's or, for the locks that people write themselves, one of the others that they use.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Ask {
    /// One of the core's.
    Request(Request),
    /// Ask whether a node is there, and leave a watch that waits for it to come or, if it is there, to change or to go. Answered by
    /// `Data` without data.
    Exists {
        /// The path.
        path: String,
        /// Whether to leave a watch.
        watch: bool,
    },
    /// Change a node's data, if it has this version. Answered by `Data` without data.
    Set {
        /// The path.
        path: String,
        /// The new data.
        data: Vec<u8>,
        /// The version, or any.
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

/// An answer, and how far its server had come.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Answered {
    /// The answer.
    pub reply: Reply,
    /// The last transaction that the server had applied: for [`Server::saw`](super::Server::saw), when the answer has arrived.
    pub zxid: i64,
}

/// What has happened to a watched node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Event {
    /// It has come.
    Created,
    /// It has gone.
    Deleted,
    /// It has other data.
    Changed,
    /// It has other children.
    Children,
}

/// A watch has fired.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Told {
    /// The request that has set it.
    pub id: CommandId,
    /// The session it was set in.
    pub session: SessionId,
    /// The node.
    pub path: String,
    /// What has happened.
    pub event: Event,
    /// The transaction that has done it; if it happened while nobody was connected, the last one that the server had applied.
    pub zxid: i64,
    pub(super) kind: Kind,
}

impl From<Told> for Notice {
    /// In the core's words a node that has come, or that has other children, has changed.
    fn from(told: Told) -> Self {
        Self::Watch {
            id: told.id,
            session: told.session,
            event: match told.event {
                Event::Deleted => WatchEvent::Deleted,
                Event::Created | Event::Changed | Event::Children => WatchEvent::Changed,
            },
        }
    }
}

/// What a watch waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// A node that is there.
    Data,
    /// A node that was not there.
    Absence,
    Children,
}

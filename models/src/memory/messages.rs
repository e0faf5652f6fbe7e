//! What hubs and the server have sent each other, as plain values.

use alloc::{string::String, vec::Vec};

use fencepost_core::{
    CommandId, Instant, SessionId,
    lowered::Operation,
    zookeeper::{Answer, Notice, Request, Write},
};

use crate::zookeeper::{Told, words};

/// What a hub and the server have sent each other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Message {
    /// Its number in the list, from 1.
    pub number: u64,
    /// When it was sent, by the hub's clock. An event has the time at which the hub got it.
    pub time: Instant,
    /// The hub that sent or got it.
    pub hub: u64,
    /// The session in which it was sent.
    pub session: SessionId,
    /// What it is.
    pub kind: Kind,
    /// The hub's command: of a request, of the request that a reply answers, or of the request that set a watch. 0 for
    /// a change of the session.
    pub command: CommandId,
    /// A request's operation, as in [`Operation::name`]. A reply's form: `created`, `children`, `data`, `done` or
    /// `error`. An event: what has happened to the watched node (`created`, `deleted`, `changed`, or `children` if its
    /// children have changed), or the new state of the session (`connecting`, `connected`, `suspended`,
    /// `expired` or `closed`).
    pub name: &'static str,
    /// The node; of a `multi`, that of each part; of the reply `children`, the names in it.
    pub paths: Vec<String>,
    /// The error code of the reply `error`; otherwise 0.
    pub error: i32,
    /// The same in words, for people. They may change.
    pub text: String,
}

/// The kinds of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// From a hub to the server.
    Request,
    /// From the server to a hub, for a request.
    Reply,
    /// What a hub hears without a request: a watch has fired, or its session has changed.
    Event,
}

impl Kind {
    /// The name, the same in every language.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Reply => "reply",
            Self::Event => "event",
        }
    }
}

/// The list of messages.
#[derive(Clone, Debug, Default)]
pub(super) struct Messages {
    is_on: bool,
    list: Vec<Message>,
}

/// Who sends or gets a message, and when.
#[derive(Clone, Copy)]
pub(super) struct At {
    pub(super) time: Instant,
    pub(super) hub: u64,
    pub(super) session: SessionId,
}

/// The content of a message.
struct Content {
    kind: Kind,
    command: CommandId,
    name: &'static str,
    paths: Vec<String>,
    error: i32,
    text: String,
}

impl Messages {
    /// Begins with an empty list, or stops and keeps the list.
    pub(super) fn turn(&mut self, on: bool) {
        self.is_on = on;
        if on {
            self.list.clear();
        }
    }

    pub(super) fn list(&self) -> &[Message] {
        &self.list
    }

    pub(super) fn request(&mut self, at: At, command: CommandId, request: &Request) {
        self.add(at, || {
            let (operation, paths) = asked(request);
            Content {
                kind: Kind::Request,
                command,
                name: operation.name(),
                paths,
                error: 0,
                text: words::request(request, whole),
            }
        });
    }

    pub(super) fn reply(&mut self, at: At, command: CommandId, answer: &Answer) {
        self.add(at, || {
            let (name, paths, error) = match answer {
                Answer::Created { path, .. } => ("created", Vec::from([path.clone()]), 0),
                Answer::Children(names) => ("children", names.clone(), 0),
                Answer::Data { .. } => ("data", Vec::new(), 0),
                Answer::Error(code) => ("error", Vec::new(), *code),
                _ => ("done", Vec::new(), 0),
            };
            Content {
                kind: Kind::Reply,
                command,
                name,
                paths,
                error,
                text: words::answer(answer, whole),
            }
        });
    }

    pub(super) fn watch(&mut self, at: At, told: &Told) {
        self.add(at, || Content {
            kind: Kind::Event,
            command: told.id,
            name: told.event.name(),
            paths: Vec::from([told.path.clone()]),
            error: 0,
            text: words::told(told),
        });
    }

    pub(super) fn session(&mut self, at: At, notice: &Notice) {
        let Notice::Session { state, session, .. } = notice else {
            return;
        };
        let at = At {
            session: *session,
            ..at
        };
        self.add(at, || Content {
            kind: Kind::Event,
            command: CommandId(0),
            name: state.name(),
            paths: Vec::new(),
            error: 0,
            text: words::notice(notice),
        });
    }

    fn add(&mut self, At { time, hub, session }: At, content: impl FnOnce() -> Content) {
        if !self.is_on {
            return;
        }
        let number = self.list.last().map_or(1, |last| last.number.saturating_add(1));
        let Content {
            kind,
            command,
            name,
            paths,
            error,
            text,
        } = content();
        self.list.push(Message {
            number,
            time,
            hub,
            session,
            kind,
            command,
            name,
            paths,
            error,
            text,
        });
    }
}

const fn whole(path: &str) -> &str {
    path
}

/// What a request asks for, and of which nodes.
fn asked(request: &Request) -> (Operation, Vec<String>) {
    let (operation, path) = match request {
        Request::Create { path, .. } => (Operation::Create, path),
        Request::Children { path, .. } => (Operation::Children, path),
        Request::Get { path, .. } => (Operation::Get, path),
        Request::Set { path, .. } => (Operation::Set, path),
        Request::Delete { path } => (Operation::Delete, path),
        Request::Sync { path } => (Operation::Sync, path),
        Request::Multi { writes } => {
            let paths = writes.iter().filter_map(|write| match write {
                Write::Create { path, .. }
                | Write::Set { path, .. }
                | Write::Delete { path, .. }
                | Write::Check { path, .. } => Some(path.clone()),
                _ => None,
            });
            return (Operation::Multi, paths.collect());
        }
        _ => return (Operation::Reconnect, Vec::new()),
    };
    (operation, Vec::from([path.clone()]))
}

//! The messages between hubs and the server, as plain values.

use alloc::{string::String, vec::Vec};

use fencepost_core::{
    CommandId, Instant, SessionId,
    lowered::Operation,
    zookeeper::{Answer, Notice, Request, Write},
};

use crate::zookeeper::{FiredWatch, words};

/// A message between a hub and the server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Message {
    /// The message's number in the list, from 1.
    pub number: u64,
    /// When the message was sent, by the hub's clock. For an event: when the hub received it.
    pub time: Instant,
    /// The hub that sent or received the message.
    pub hub: u64,
    /// The session in which the message was sent.
    pub session: SessionId,
    /// The kind of the message.
    pub kind: Kind,
    /// The hub's command. For a reply: the command of its request. For an event: the command that set the watch, or 0
    /// for a change of the session.
    pub command: CommandId,
    /// For a request: its operation, as in [`Operation::name`]. For a reply: its form, `created`, `children`, `data`,
    /// `done` or `error`. For an event: the change of the watched node (`created`, `deleted`, `changed`, or `children`
    /// if its children have changed), or the new state of the session (`connecting`, `connected`, `suspended`,
    /// `expired` or `closed`).
    pub name: &'static str,
    /// The path of the node. For a `multi`: the path of each part. For the reply `children`: the names in it.
    pub paths: Vec<String>,
    /// The error code of the reply `error`; otherwise 0.
    pub error: i32,
    /// The message as a text for people. The texts may change.
    pub text: String,
}

/// The kinds of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// From a hub to the server.
    Request,
    /// From the server to a hub, for a request.
    Reply,
    /// From the server to a hub without a request: a watch has fired, or the session has changed.
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

/// The hub that sends or receives a message, and the time.
#[derive(Clone, Copy)]
pub(super) struct At {
    pub(super) time: Instant,
    pub(super) hub: u64,
    pub(super) session: SessionId,
}

impl At {
    /// A message without an error. The list numbers it.
    const fn message(
        self,
        kind: Kind,
        command: CommandId,
        name: &'static str,
        paths: Vec<String>,
        text: String,
    ) -> Message {
        Message {
            number: 0,
            time: self.time,
            hub: self.hub,
            session: self.session,
            kind,
            command,
            name,
            paths,
            error: 0,
            text,
        }
    }
}

impl Messages {
    /// Starts with an empty list, or stops and keeps the list.
    pub(super) fn turn(&mut self, on: bool) {
        self.is_on = on;
        if on {
            self.list.clear();
        }
    }

    /// The messages with a number above `number`.
    pub(super) fn after(&self, number: u64) -> &[Message] {
        let seen = usize::try_from(number).unwrap_or(usize::MAX);
        self.list.get(seen..).unwrap_or_default()
    }

    pub(super) fn request(&mut self, at: At, command: CommandId, request: &Request) {
        self.add(|| {
            let (operation, paths) = asked(request);
            let text = words::request(request, whole);
            at.message(Kind::Request, command, operation.name(), paths, text)
        });
    }

    pub(super) fn reply(&mut self, at: At, command: CommandId, answer: &Answer) {
        self.add(|| {
            let (name, paths, error) = match answer {
                Answer::Created { path, .. } => ("created", Vec::from([path.clone()]), 0),
                Answer::Children(names) => ("children", names.clone(), 0),
                Answer::Data { .. } => ("data", Vec::new(), 0),
                Answer::Error(code) => ("error", Vec::new(), *code),
                _ => ("done", Vec::new(), 0),
            };
            let text = words::answer(answer, whole);
            Message {
                error,
                ..at.message(Kind::Reply, command, name, paths, text)
            }
        });
    }

    pub(super) fn watch(&mut self, at: At, fired: &FiredWatch) {
        self.add(|| {
            let paths = Vec::from([fired.path.clone()]);
            at.message(
                Kind::Event,
                fired.id,
                fired.event.name(),
                paths,
                words::fired_watch(fired),
            )
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
        self.add(|| {
            let text = words::notice(notice);
            at.message(Kind::Event, CommandId(0), state.name(), Vec::new(), text)
        });
    }

    /// Adds a message, if recording is on. Otherwise does not even make the message.
    fn add(&mut self, message: impl FnOnce() -> Message) {
        if self.is_on {
            let mut message = message();
            message.number = self.list.len() as u64 + 1;
            self.list.push(message);
        }
    }
}

const fn whole(path: &str) -> &str {
    path
}

/// The operation of a request, and its nodes.
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

//! What crosses the boundary to a Redis client library: requests, replies, notices.

use alloc::{string::String, vec::Vec};

use crate::CommandId;

use super::scripts::Script;

/// One request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Request {
    /// Run a script. It goes out as `EVALSHA`, and with its text as `EVAL` to a server that has said `NOSCRIPT`.
    Script {
        /// Which one.
        script: Script,
        /// Whether to send the text along.
        with_text: bool,
        /// How many of the arguments are keys, all in one slot.
        keys: usize,
        /// The keys, then the rest. There is room for what a driver sends before them.
        arguments: Vec<Vec<u8>>,
    },
    /// Subscribe to a channel; answered, with anything but an error, when the server has confirmed it. Its messages are
    /// [`Notice::Message`] with this command's id until [`Notice::Gone`].
    Subscribe {
        /// The channel.
        channel: Vec<u8>,
    },
    /// Give the subscription to a channel back.
    Unsubscribe {
        /// The channel.
        channel: Vec<u8>,
    },
}

/// What the server answered.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reply {
    /// Nothing.
    Nil,
    /// A number.
    Int(i64),
    /// A string, or a status.
    Bytes(Vec<u8>),
    /// Several.
    Array(Vec<Self>),
    /// An error, with its code: `NOSCRIPT No matching script.`
    Error(String),
}

/// What a subscription says unasked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Notice {
    /// A message has arrived.
    Message {
        /// The [`Request::Subscribe`] it belongs to.
        id: CommandId,
    },
    /// The subscription is gone, with its connection for example. Messages may have been missed.
    Gone {
        /// The [`Request::Subscribe`] it belonged to.
        id: CommandId,
    },
}

//! The types that a driver exchanges with a Redis client library: requests, replies, notices.

use alloc::{string::String, vec::Vec};

use crate::CommandId;

use super::scripts::{Call, Script};

/// A request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Request {
    /// Run a script. The driver sends `EVALSHA`; with `with_text` it sends `EVAL` and the text, after the server
    /// answered `NOSCRIPT`.
    Script {
        /// The script.
        script: Script,
        /// Whether to send the script's text.
        with_text: bool,
        /// How many of the arguments are keys. All keys are in one slot.
        keys: usize,
        /// The keys, then the other arguments. The vector has spare capacity for the words that the driver adds before
        /// them.
        arguments: Vec<Vec<u8>>,
    },
    /// Subscribe to a channel. When the server has confirmed the subscription, the driver reports any reply that is not
    /// an error. The channel's messages are then [`Notice::Message`] with this command's id, until [`Notice::Gone`].
    Subscribe {
        /// The channel.
        channel: Vec<u8>,
    },
    /// Unsubscribe from a channel.
    Unsubscribe {
        /// The channel.
        channel: Vec<u8>,
    },
}

impl Request {
    pub(super) fn script(call: Call, with_text: bool) -> Self {
        let Call {
            script,
            keys,
            arguments,
        } = call;
        Self::Script {
            script,
            with_text,
            keys,
            arguments,
        }
    }
}

/// A reply of the server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reply {
    /// Nil.
    Nil,
    /// An integer.
    Int(i64),
    /// A string or a status.
    Bytes(Vec<u8>),
    /// An array.
    Array(Vec<Self>),
    /// An error, with its code: `NOSCRIPT No matching script.`
    Error(String),
}

/// A notice of a subscription.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Notice {
    /// A message has arrived.
    Message {
        /// The id of the subscription's [`Request::Subscribe`].
        id: CommandId,
    },
    /// The subscription has ended, for example with its connection. Messages may be lost.
    Gone {
        /// The id of the subscription's [`Request::Subscribe`].
        id: CommandId,
    },
}

//! The lines of a transcript.

use fencepost_core::zookeeper::Stat;
use serde::{Deserialize, Serialize};

/// The first line: the hub, and the reason for the case.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// `zookeeper` or `redis`.
    pub family: String,
    /// The hub's seed.
    pub seed: u64,
    /// Why the case exists.
    pub why: String,
    /// The bug report, recipe or paper that it comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The promises that are broken when the hub returns another output: see [`promise`](super::promise()).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guards: Vec<String>,
}

/// An input line: the time, the input, and the misuse that the call must return, if any.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Step {
    /// The time, in microseconds.
    pub at: u64,
    /// The input.
    #[serde(flatten)]
    pub input: Input,
    /// The name of the misuse that the call must return.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub misuse: Option<String>,
}

/// An input of a hub.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub enum Input {
    /// Open a machine.
    Open {
        /// See the core's `Settings`.
        settings: serde_json::Value,
        /// 32 hexadecimal digits.
        contender: String,
        /// The machine's seed.
        seed: u64,
    },
    /// Acquire. Without an acquire timeout, the machine waits for ever.
    Acquire {
        /// The machine.
        key: u64,
        /// Microseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        acquire_timeout: Option<u64>,
    },
    /// Acquire without waiting for the lock.
    Try {
        /// The machine.
        key: u64,
    },
    /// Extend the grant.
    Extend {
        /// The machine.
        key: u64,
    },
    /// Release the grant.
    Release {
        /// The machine.
        key: u64,
    },
    /// Downgrade the writer to a reader.
    Downgrade {
        /// The machine.
        key: u64,
    },
    /// Complete the claim.
    Complete {
        /// The machine.
        key: u64,
        /// The type of the result.
        tag: String,
        /// The result, as text.
        result: String,
    },
    /// Leave the claim.
    Leave {
        /// The machine.
        key: u64,
    },
    /// Cancel the acquire.
    Cancel {
        /// The machine.
        key: u64,
    },
    /// Close the machine.
    Close {
        /// The machine.
        key: u64,
    },
    /// Close everything.
    Shutdown,
    /// Time has passed.
    Timeout,
    /// The server has answered.
    Reply {
        /// The command.
        id: u64,
        /// The answer.
        #[serde(flatten)]
        reply: Reply,
    },
    /// There is no answer.
    Fail {
        /// The command.
        id: u64,
        /// `not-sent`, `unknown` or `closed`.
        failure: String,
    },
    /// ZooKeeper: the session's state has changed.
    Session {
        /// `connecting`, `connected`, `suspended`, `expired`, `auth-failed` or `closed`.
        state: String,
        /// The session, a decimal string.
        session: String,
        /// The negotiated timeout in microseconds.
        timeout: u64,
    },
    /// ZooKeeper: a watch has fired, or is lost.
    Watch {
        /// The command that set it.
        id: u64,
        /// The session, a decimal string.
        session: String,
        /// `deleted`, `changed` or `gone`.
        event: String,
    },
    /// Redis: a message has arrived.
    Message {
        /// The subscription.
        id: u64,
    },
    /// Redis: a subscription is gone.
    Gone {
        /// The subscription.
        id: u64,
    },
}

/// A server's answer.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(tag = "reply", rename_all = "kebab-case")]
pub enum Reply {
    /// ZooKeeper: a node was created.
    Created {
        /// The session, a decimal string.
        session: String,
        /// Its path.
        path: String,
        /// The transaction, a decimal string.
        czxid: String,
    },
    /// ZooKeeper: the names of children.
    Children {
        /// The session, a decimal string.
        session: String,
        /// The names.
        names: Vec<String>,
    },
    /// ZooKeeper: a node.
    Data {
        /// The session, a decimal string.
        session: String,
        /// Its data, as text.
        data: String,
        /// The transaction that created it, a decimal string.
        czxid: String,
        /// The transaction that last changed it, a decimal string. Without it, the node was never changed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mzxid: Option<String>,
        /// The session that owns it, a decimal string.
        owner: String,
        /// How often it was changed.
        version: i32,
        /// When it was created: milliseconds since 1970. Without it, 0.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        created: Option<i64>,
        /// When it was last changed. Without it, when it was created.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        modified: Option<i64>,
    },
    /// ZooKeeper: done.
    Done {
        /// The session, a decimal string.
        session: String,
    },
    /// ZooKeeper: an error.
    Error {
        /// The session, a decimal string.
        session: String,
        /// The protocol's code.
        code: i32,
    },
    /// Redis: a value (nil, a number, a text, or an array).
    Value {
        /// `null`, a number, a string, an array of these.
        #[serde(default)]
        value: serde_json::Value,
    },
    /// Redis: an error.
    RedisError {
        /// Code and text.
        error: String,
    },
}

impl Reply {
    /// The reply with a node. Omits fields with their default.
    #[must_use]
    pub fn data(session: String, data: String, stat: &Stat) -> Self {
        let unless = |known: bool, number: i64| (!known).then_some(number);
        Self::Data {
            session,
            data,
            czxid: stat.czxid.to_string(),
            mzxid: unless(stat.mzxid == stat.czxid, stat.mzxid).map(|mzxid| mzxid.to_string()),
            owner: stat.ephemeral_owner.to_string(),
            version: stat.version,
            created: unless(stat.created == 0, stat.created),
            modified: unless(stat.modified == stat.created, stat.modified),
        }
    }
}

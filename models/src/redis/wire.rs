//! The model's replies, and the interface to the Lua interpreter that it needs.

use alloc::{borrow::Cow, format, string::String, vec::Vec};

use fencepost_core::redis::Reply;
use sha1::{Digest, Sha1};

/// A reply in the form of the protocol. Unlike [`Reply`], it distinguishes a status from a string, because scripts see
/// the difference.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Resp {
    /// Nil.
    Nil,
    /// An integer.
    Int(i64),
    /// A status: `OK`.
    Status(Vec<u8>),
    /// A string.
    Bulk(Vec<u8>),
    /// An array.
    Array(Vec<Self>),
    /// An error, with its code.
    Error(Vec<u8>),
}

impl Resp {
    /// The status of success.
    #[must_use]
    pub fn ok() -> Self {
        Self::Status(b"OK".into())
    }

    pub(super) fn bulk(bytes: &[u8]) -> Self {
        Self::Bulk(bytes.into())
    }
}

impl From<Resp> for Reply {
    fn from(resp: Resp) -> Self {
        match resp {
            Resp::Nil => Self::Nil,
            Resp::Int(number) => Self::Int(number),
            Resp::Status(bytes) | Resp::Bulk(bytes) => Self::Bytes(bytes),
            Resp::Array(items) => Self::Array(items.into_iter().map(Self::from).collect()),
            Resp::Error(text) => Self::Error(String::from_utf8_lossy(&text).into_owned()),
        }
    }
}

impl From<Fault> for Resp {
    fn from(fault: Fault) -> Self {
        Self::Error(fault.0.into_owned().into())
    }
}

/// A reply or an error's text.
pub type Answer = Result<Resp, Fault>;

/// An error's text, with its code.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fault(pub Cow<'static, str>);

impl Fault {
    pub(super) const WRONG_TYPE: Self =
        Self::of("WRONGTYPE Operation against a key holding the wrong kind of value");
    pub(super) const SYNTAX: Self = Self::of("ERR syntax error");
    pub(super) const NO_INTEGER: Self = Self::of("ERR value is not an integer or out of range");
    pub(super) const OVERFLOW: Self = Self::of("ERR increment or decrement would overflow");
    pub(super) const NO_SCRIPT: Self = Self::of("NOSCRIPT No matching script. Please use EVAL.");
    pub(super) const NOT_IN_SCRIPTS: Self = Self::of("ERR This Redis command is not allowed from script");
    pub(super) const REPLICA: Self = Self::of("READONLY You can't write against a read only replica.");
    pub(super) const FULL: Self = Self::of("OOM command not allowed when used memory > 'maxmemory'.");
    pub(super) const NO_DISK: Self = Self::of(
        "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk. Commands that may modify the data set are disabled, because this instance is configured to report errors during writes if RDB snapshotting fails (stop-writes-on-bgsave-error option). Please check the Redis logs for details about the RDB error.",
    );
    pub(super) const NO_DISK_BEFORE_7: Self = Self::of(
        "MISCONF Redis is configured to save RDB snapshots, but it is currently not able to persist on disk. Commands that may modify the data set are disabled, because this instance is configured to report errors during writes if RDB snapshotting fails (stop-writes-on-bgsave-error option). Please check the Redis logs for details about the RDB error.",
    );
    pub(super) const FEW_REPLICAS: Self = Self::of("NOREPLICAS Not enough good replicas to write.");
    pub(super) const NO_CHANNEL: Self =
        Self::of("NOPERM this user has no permissions to access one of the channels used as arguments");
    pub(super) const NO_CHANNEL_IN_SCRIPTS: Self =
        Self::of("ERR The user executing the script can't publish to the channel mentioned in the command");

    pub(super) const fn of(text: &'static str) -> Self {
        Self(Cow::Borrowed(text))
    }

    pub(super) fn arity(command: &str) -> Self {
        Self(format!("ERR wrong number of arguments for '{command}' command").into())
    }

    pub(super) fn expire_time(command: &str) -> Self {
        Self(format!("ERR invalid expire time in '{command}' command").into())
    }
}

/// Runs scripts for the model. The simulator provides a real Lua 5.1.
pub trait Lua {
    /// Checks that the script compiles.
    ///
    /// # Errors
    /// The compiler's message, without an error code.
    fn check(&mut self, text: &[u8]) -> Result<(), String>;

    /// Runs a script that has been checked. `call` executes the script's commands.
    fn eval(
        &mut self,
        text: &[u8],
        keys: &[Vec<u8>],
        arguments: &[Vec<u8>],
        call: &mut dyn FnMut(&[Vec<u8>]) -> Resp,
    ) -> Resp;
}

/// The SHA-1 of a text in hexadecimal, which identifies a script.
#[must_use]
pub fn sha1_hex(text: &[u8]) -> [u8; 40] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut hex = [0; 40];
    for (pair, byte) in hex.chunks_exact_mut(2).zip(Sha1::digest(text)) {
        pair[0] = DIGITS[usize::from(byte >> 4)];
        pair[1] = DIGITS[usize::from(byte & 15)];
    }
    hex
}

//! The rules of [`claim::table`](crate::claim::table) as scripts: each step is one script, which the server executes
//! atomically. No machine uses them yet.
//!
//! A record is a hash: its [fields](crate::claim::form::NAMES) without `kept`, which is the time to live of the key,
//! and `format`. `tests/simulator/tests/claims` runs the scripts beside the table and demands equal answers and equal
//! records.
//!
//! - KEYS: the record, the tombstone of this attempt; for an update also the record of its id. All are in one slot.
//! - ARGV: the attempt, how long to keep the tombstone in ms; then what the step needs, in the order of
//!   [`ClaimCall::new`]. The last argument of a step that can end a claim is the channel for the waiters.
//! - Answers `{word}` or `{word, detail…}`: see [`read_answer`]. With a record come the last moment at which it counts,
//!   and all fields.
//!
//! As in the scripts of locks, a script's first command is a write: a replica refuses it, and a full server still
//! serves claims. The tombstone's time to live is what it writes, whether or not there is a tombstone. Every script
//! contains `record.lua`, which reads, checks and writes a record; those that claim also contain `claiming.lua`.

use alloc::{boxed::Box, vec::Vec};

use super::wire::Reply;
use crate::{
    ConfigError, Fence,
    claim::{
        Answer, Claim, Content, Corrupt, Lost, Name, Record, Request, Step,
        form::{self, FORMAT},
    },
    text::{decimal, whole},
};

/// How long a tombstone is kept, in ms.
const TOMBSTONE: u64 = 10_000;

macro_rules! scripts {
    ($($(#[$doc:meta])* $name:ident = $($part:literal),+;)*) => {
        /// A script that takes one step of a claim or an update.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum ClaimScript {
            $($(#[$doc])* $name,)*
        }

        impl ClaimScript {
            /// All scripts.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The script's text.
            #[must_use]
            pub const fn text(self) -> &'static str {
                match self {
                    $(Self::$name => concat!(
                        include_str!("scripts/claim/record.lua"),
                        $(include_str!(concat!("scripts/claim/", $part, ".lua"))),+
                    ),)*
                }
            }
        }
    };
}

scripts! {
    /// Asks to run the operation.
    Claim = "claiming", "claim";
    /// Extends the lease.
    Renew = "renew";
    /// Stores the result.
    Complete = "complete";
    /// Ends the claim: nothing has happened.
    Release = "release";
    /// Ends the claim: the outcome is unknown.
    Leave = "leave";
    /// Makes a token.
    Issue = "issue";
    /// Claims and completes.
    Register = "claiming", "register";
    /// Replaces a value.
    Update = "update";
    /// Reads the record.
    Look = "look";
    /// An operator stores a result.
    Settle = "settle";
    /// An operator deletes the record.
    Forget = "forget";
}

/// A script with its keys and arguments.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ClaimCall {
    /// The script.
    pub script: ClaimScript,
    /// How many of the words are keys.
    pub keys: usize,
    /// The keys, then the arguments.
    pub words: Vec<Vec<u8>>,
}

impl ClaimCall {
    /// The call that makes a request about the operation of this name.
    ///
    /// # Errors
    /// [`ConfigError::InvalidOption`] for an update whose id is no name.
    pub fn new(name: &Name, request: &Request) -> Result<Self, ConfigError> {
        let attempt = request.attempt.text();
        let mut keys = Vec::from([name.redis_key(), name.redis_tombstone(&attempt)]);
        let mut call = Words(Vec::from([attempt.into_bytes(), decimal(TOMBSTONE).into_bytes()]));
        let script = match &request.step {
            Step::Claim(claim) => {
                call.claim(claim);
                ClaimScript::Claim
            }
            Step::Renew { lease } => {
                call.number(*lease);
                ClaimScript::Renew
            }
            Step::Complete(content) => {
                call.content(content);
                call.channel(name);
                ClaimScript::Complete
            }
            Step::Release => {
                call.channel(name);
                ClaimScript::Release
            }
            Step::Leave => {
                call.channel(name);
                ClaimScript::Leave
            }
            Step::Issue(issue) => {
                call.bytes(&issue.binding);
                call.number(issue.life);
                call.number(issue.retention);
                ClaimScript::Issue
            }
            Step::Register(claim, content) => {
                call.claim(claim);
                call.content(content);
                call.channel(name);
                ClaimScript::Register
            }
            Step::Update(update) => {
                keys.push(name.redis_operation(&update.id)?);
                call.number(update.expected);
                call.bytes(&update.fingerprint);
                call.number(update.retention);
                call.content(&update.content);
                ClaimScript::Update
            }
            Step::Look => ClaimScript::Look,
            Step::Settle { guard, content } => {
                call.number(*guard);
                call.content(content);
                call.channel(name);
                ClaimScript::Settle
            }
            Step::Forget { guard } => {
                call.number(*guard);
                call.channel(name);
                ClaimScript::Forget
            }
        };
        let words = keys.iter().map(|key| key.as_bytes().to_vec());
        Ok(Self {
            script,
            keys: keys.len(),
            words: words.chain(call.0).collect(),
        })
    }
}

/// The arguments of a script.
struct Words(Vec<Vec<u8>>);

impl Words {
    fn bytes(&mut self, bytes: &[u8]) {
        self.0.push(bytes.to_vec());
    }

    fn number(&mut self, number: u64) {
        self.bytes(decimal(number).as_bytes());
    }

    fn channel(&mut self, name: &Name) {
        self.bytes(name.redis_channel().as_bytes());
    }

    fn claim(&mut self, claim: &Claim) {
        self.number(claim.token.is_some().into());
        self.bytes(claim.token.as_deref().unwrap_or_default());
        self.bytes(&claim.fingerprint);
        self.bytes(form::policy_name(claim.policy).as_bytes());
        self.number(claim.lease);
        self.number(claim.retention);
    }

    fn content(&mut self, content: &Content) {
        self.bytes(content.tag().as_bytes());
        self.bytes(content.bytes());
    }
}

/// The answer of a script; `None` if the reply is of another shape. An error of the server is of another shape.
#[must_use]
pub fn read_answer(reply: &Reply) -> Option<Answer> {
    let Reply::Array(items) = reply else { return None };
    let (word, details) = items.split_first()?;
    let detail = |at: usize| details.get(at).and_then(number);
    let record = || {
        let (kept_until, hash) = details.split_first()?;
        Some(read_record(number(kept_until)?, hash))
    };
    Some(match bytes(word)? {
        b"claimed" => Answer::Claimed {
            fence: Fence(detail(0)?),
            takeovers: detail(1)?,
        },
        b"extended" => Answer::Extended,
        b"completed" => Answer::Completed,
        b"released" => Answer::Released,
        b"in-progress" => match details {
            [Reply::Int(left)] => Answer::InProgress {
                left: u64::try_from(*left).ok(),
            },
            _ => return None,
        },
        b"mismatch" => Answer::Mismatch,
        b"indeterminate" => Answer::Indeterminate,
        b"unknown-token" => Answer::UnknownToken,
        b"given-up" => Answer::GivenUp,
        b"issued" => Answer::Issued,
        b"applied" => Answer::Applied { version: detail(0)? },
        b"forgotten" => Answer::Forgotten,
        b"corrupt-record" => Answer::CorruptRecord,
        b"lost" => Answer::Lost(match bytes(details.first()?)? {
            b"gone" => Lost::Gone,
            b"superseded" => Lost::Superseded,
            b"done" => Lost::Done,
            _ => return None,
        }),
        b"replayed" => match record()? {
            Ok(record) => Answer::Replayed(record?),
            Err(Corrupt) => Answer::CorruptRecord,
        },
        b"conflict" => match record()? {
            Ok(present) => Answer::Conflict { present },
            Err(Corrupt) => Answer::CorruptRecord,
        },
        b"looked" => match record()? {
            Ok(record) => Answer::Looked(record),
            Err(Corrupt) => Answer::CorruptRecord,
        },
        _ => return None,
    })
}

/// A record from the answer to `HGETALL`, and the last moment at which it counts (0: it has no end).
///
/// # Errors
/// [`Corrupt`] if the hash is no record.
pub fn read_record(kept_until: u64, hash: &[Reply]) -> Result<Option<Box<Record>>, Corrupt> {
    let (pairs, []) = hash.as_chunks::<2>() else {
        return Err(Corrupt);
    };
    if pairs.is_empty() {
        return Ok(None);
    }
    let field = |name: &str| {
        let pair = pairs
            .iter()
            .find(|[known, _]| bytes(known) == Some(name.as_bytes()));
        pair.and_then(|[_, value]| bytes(value))
    };
    if field("format") != Some(FORMAT.as_bytes()) {
        return Err(Corrupt);
    }
    // The time to live says it.
    let mut record = form::from_fields(|name| field(name).filter(|_| name != "kept"))?;
    record.kept_until = kept_until;
    Ok(Some(Box::new(record)))
}

fn bytes(reply: &Reply) -> Option<&[u8]> {
    match reply {
        Reply::Bytes(bytes) => Some(bytes),
        _ => None,
    }
}

fn number(reply: &Reply) -> Option<u64> {
    whole(core::str::from_utf8(bytes(reply)?).ok()?)?.try_into().ok()
}

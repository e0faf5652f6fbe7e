//! Claims: scripts that implement the rules of [`claim::table`](crate::claim::table). Each step is one script, which
//! the server executes atomically.
//!
//! A record is a hash: its [fields](crate::claim::form::NAMES) without `kept`, which is the time to live of the key,
//! and `format`. `tests/simulator/tests/claims` runs the scripts and the table, and requires that their answers and
//! records are equal.
//!
//! - KEYS: the record, the tombstone of this attempt; for an update also the record of its id. All keys are in one
//!   slot.
//! - ARGV: the attempt, how long to keep the tombstone in ms; then the step's arguments, in the order of [`call`]. The
//!   last argument of a step that can end a claim is the channel for the waiters.
//! - Replies one text: a word, then its details after a space: see [`read_answer`]. A record is a detail, in its form
//!   as [bytes](form::encode). The server and the client libraries take as long for each item of an array as for a
//!   whole record.
//!
//! As in the scripts of locks, a script's first command is a write, so a replica refuses the script. The write sets the
//! time to live of the tombstone, whether or not the tombstone exists. It needs no memory, so a server whose memory is
//! full still serves claims.
//!
//! For each request, the server executes the whole text of a script, also the definitions of functions. So the scripts
//! are put together from parts, and each script has only the parts that it needs: see [`Script`]. One part is there for
//! speed: `new.lua` claims a key without a record, as `claiming.lua` would, in half of the time.

use alloc::{boxed::Box, string::String, vec::Vec};
use core::time::Duration;

use crate::{
    Fence, Refusal,
    claim::{Answer, Claim, Content, Corrupt, Lost, Name, Request, Step, form, outcome},
    text::{decimal, split, whole},
    time::millis_up,
};

use super::{
    ask::{Acquired, Ask, End, Ended},
    reply::{Trouble, classify_error},
    scripts::{Call, Script},
    settings::ClaimSettings,
    wire::Reply,
};

/// The call that makes a request about the operation with this name. The server keeps a tombstone for `tombstone`.
#[must_use]
pub fn call(name: &Name, request: &Request, tombstone: Duration) -> Call {
    let mut words = Words::new(name, &request.attempt.text(), tombstone);
    let script = match &request.step {
        Step::Claim(claim) => words.claim(claim),
        Step::Renew { lease } => words.renew(*lease),
        Step::Complete(content) => words.complete(content),
        Step::Release => words.end(Script::ReleaseClaim),
        Step::Leave => words.end(Script::Leave),
        Step::Issue(issue) => {
            words.bytes(&issue.binding);
            words.number(issue.life);
            words.number(issue.retention);
            Script::Issue
        }
        Step::Register(claim, content) => {
            words.claim(claim);
            words.content(content);
            words.end(Script::Register)
        }
        Step::Update(update) => {
            words.keys.push(name.redis_operation(&update.id).into_bytes());
            words.number(update.expected);
            words.bytes(&update.fingerprint);
            words.number(update.retention);
            words.content(&update.content);
            Script::Update
        }
        Step::Look => Script::Look,
        Step::Settle { guard, content } => {
            words.number(*guard);
            words.content(content);
            words.end(Script::Settle)
        }
        Step::Forget { guard } => {
            words.number(*guard);
            words.end(Script::Forget)
        }
    };
    words.call(script)
}

/// The call of a claimant.
pub(super) fn call_of_claim(
    settings: &ClaimSettings,
    attempt: &str,
    ask: Ask<'_>,
    tombstone: Duration,
) -> Call {
    let mut words = Words::new(&settings.name, attempt, tombstone);
    let script = match ask {
        Ask::Acquire => words.claim(&settings.claim),
        Ask::Renew => words.renew(settings.claim.lease),
        Ask::End(End::Release) => words.end(Script::ReleaseClaim),
        Ask::End(End::Leave) => words.end(Script::Leave),
        Ask::End(End::Complete(content)) => words.complete(content),
    };
    words.call(script)
}

/// The keys and the arguments of a script.
struct Words<'a> {
    name: &'a Name,
    keys: Vec<Vec<u8>>,
    arguments: Vec<Vec<u8>>,
}

impl<'a> Words<'a> {
    fn new(name: &'a Name, attempt: &str, tombstone: Duration) -> Self {
        let keys = [name.redis_key(), name.redis_tombstone(attempt)];
        let arguments = [attempt.into(), decimal(millis_up(tombstone))];
        Self {
            name,
            keys: keys.map(String::into_bytes).into(),
            arguments: arguments.map(String::into_bytes).into(),
        }
    }

    fn call(mut self, script: Script) -> Call {
        let keys = self.keys.len();
        // The driver adds three words before them.
        self.keys.reserve(self.arguments.len().saturating_add(3));
        self.keys.append(&mut self.arguments);
        Call {
            script,
            keys,
            arguments: self.keys,
        }
    }

    fn claim(&mut self, claim: &Claim) -> Script {
        self.number(claim.token.is_some().into());
        self.bytes(claim.token.as_deref().unwrap_or_default());
        self.bytes(&claim.fingerprint);
        self.bytes(form::policy_name(claim.policy).as_bytes());
        self.number(claim.lease);
        self.number(claim.retention);
        Script::Claim
    }

    fn renew(&mut self, lease: u64) -> Script {
        self.number(lease);
        Script::RenewClaim
    }

    fn complete(&mut self, content: &Content) -> Script {
        self.content(content);
        self.end(Script::Complete)
    }

    /// A script that can end a claim notifies the waiters.
    fn end(&mut self, script: Script) -> Script {
        self.bytes(self.name.redis_channel().as_bytes());
        script
    }

    fn content(&mut self, content: &Content) {
        self.bytes(content.tag().as_bytes());
        self.bytes(content.bytes());
    }

    fn number(&mut self, number: u64) {
        self.bytes(decimal(number).as_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.arguments.push(bytes.to_vec());
    }
}

/// The server's reply to a claim.
pub(super) fn acquired(reply: &Reply) -> Result<Acquired, Trouble> {
    Ok(match answer(reply)? {
        Answer::Claimed { fence, takeovers } => Acquired::Yes {
            fence: fence.0,
            takeovers,
        },
        Answer::InProgress { left } => Acquired::Held {
            left: left.map(Duration::from_millis),
            foreign: None,
        },
        Answer::Replayed(record) => Acquired::Replayed(record),
        Answer::GivenUp => Acquired::GivenUp,
        answer => Acquired::No(outcome::refusal(&answer).ok_or(Trouble::Shape)?, None),
    })
}

/// The server's reply to a renewal or to the end of a claim.
pub(super) fn ended(reply: &Reply) -> Result<Ended, Trouble> {
    Ok(match answer(reply)? {
        Answer::Extended | Answer::Completed | Answer::Released => Ended::Own,
        Answer::Replayed(record) => Ended::Replayed(record),
        Answer::Mismatch => Ended::No(Refusal::Mismatch),
        Answer::CorruptRecord => Ended::No(Refusal::CorruptRecord),
        Answer::Lost(lost) => Ended::Lost(outcome::loss(lost)),
        _ => return Err(Trouble::Shape),
    })
}

/// The answer in a script's reply.
pub(super) fn answer(reply: &Reply) -> Result<Answer, Trouble> {
    match reply {
        Reply::Error(error) => Err(classify_error(error)),
        reply => read_answer(reply).ok_or(Trouble::Shape),
    }
}

/// The answer in a script's reply; `None` if the reply has another shape, as an error of the server has.
#[must_use]
pub fn read_answer(reply: &Reply) -> Option<Answer> {
    let Reply::Bytes(reply) = reply else { return None };
    let (word, detail) = match reply.iter().position(|byte| *byte == b' ') {
        Some(at) => (reply.get(..at)?, reply.get(at.saturating_add(1)..)),
        None => (reply.as_slice(), None),
    };
    let record = || Some(form::decode(detail?).map(|record| record.map(Box::new)));
    let numbers = || core::str::from_utf8(detail?).ok();
    Some(match word {
        b"claimed" => {
            let (fence, takeovers) = split(numbers()?, b' ')?;
            Answer::Claimed {
                fence: Fence(number(fence)?),
                takeovers: number(takeovers)?,
            }
        }
        b"in-progress" => Answer::InProgress {
            left: match detail {
                Some(_) => Some(number(numbers()?)?),
                None => None,
            },
        },
        b"applied" => Answer::Applied {
            version: number(numbers()?)?,
        },
        b"lost" => Answer::Lost(match detail? {
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
        _ if detail.is_some() => return None,
        b"extended" => Answer::Extended,
        b"completed" => Answer::Completed,
        b"released" => Answer::Released,
        b"mismatch" => Answer::Mismatch,
        b"indeterminate" => Answer::Indeterminate,
        b"unknown-token" => Answer::UnknownToken,
        b"given-up" => Answer::GivenUp,
        b"issued" => Answer::Issued,
        b"forgotten" => Answer::Forgotten,
        b"corrupt-record" => Answer::CorruptRecord,
        _ => return None,
    })
}

fn number(digits: &str) -> Option<u64> {
    whole(digits)?.try_into().ok()
}

//! The rules: how a request changes a record.
//!
//! | | none | issued | running | lease over | done |
//! |---|---|---|---|---|---|
//! | claim | key: claimed; token: unknown-token | claimed | in-progress, time left | retake: claimed, takeovers + 1; block: in-progress; indeterminate: indeterminate | replayed |
//! | claim, other fingerprint or binding | as above | mismatch | mismatch | mismatch | mismatch |
//! | renew | lost | lost | extended | extended | lost |
//! | complete | lost | lost | done | done | own: done; else replayed |
//! | release (*no effect*) | released | released | none or issued; after a takeover: lease over | same | lost |
//! | leave (*outcome unknown*) | released | released | lease over | same | lost |
//!
//! - **A repeated request gets the same answer again.** A claim finds that its own attempt runs the operation, a
//!   completion finds that the attempt has stored the result, and a release finds that the claim has ended.
//! - **A release after a takeover does not free the operation.** This attempt had no effect, but the outcome of the
//!   earlier attempt is still unknown. So the record stays as after a leave, and the next claim counts one more
//!   takeover.
//! - **Renew, complete, release and leave do not change the record of another attempt**: their answer is lost
//!   (superseded).
//! - **The policy of the first claim applies.** The policies of later claims are ignored.
//! - **If several answers are possible, a mismatch comes before a replay, and a replay before in-progress.** So a
//!   different operation never runs with this key, and no claim gets the result of another operation.
//! - **A lease and a retention are independent.** A record whose retention has ended counts as none.
//! - **An ended claim does not begin again.** Release and leave write a tombstone for the attempt. If a claim of the
//!   attempt arrives later, its answer is given-up. If a renewal arrives later, its answer is lost. (On Redis, requests
//!   may arrive in another order. A family that keeps the order of requests needs no tombstones.)
//! - **A record that cannot be parsed is not changed**, and the operation does not run.
//!
//! Single steps are not in the table. Each is one request: *issue* (none becomes issued), *register* (a claim and its
//! completion), *update* (of a value, if it has the expected version), and for operators *look*, *settle* and *forget*.

mod decision;
mod single_step;
#[cfg(test)]
mod tests;

use alloc::boxed::Box;

use super::{
    content::Content,
    record::{Corrupt, Policy, Record, ServerTime, State, Token, following},
    request::{Answer, Claim, Lost, Request, Step},
};
use crate::AttemptId;
pub use decision::{Change, Decision, Known, Tombstone};
use decision::{delete, put, unchanged, with_tombstone};
use single_step::forget;

/// Decides one request.
#[must_use]
pub fn decide(known: Known, request: &Request, now: ServerTime) -> Decision {
    match (&request.step, known.tombstone) {
        (Step::Claim(_) | Step::Register(..), Some(_)) => return unchanged(Answer::GivenUp),
        (Step::Renew { .. }, Some(_)) => return unchanged(Answer::Lost(Lost::Gone)),
        (Step::Release | Step::Leave, Some(Tombstone::Released)) => return unchanged(Answer::Released),
        _ => {}
    }
    let (Ok(record), Ok(operation)) = (known.record, known.operation) else {
        return unchanged(Answer::CorruptRecord);
    };
    let counts = |record: &Record| !record.is_past_retention(now);
    let record = record.filter(counts);
    let asked = Asked {
        attempt: request.attempt,
        now,
    };
    match &request.step {
        Step::Claim(claim) => asked.claim(record, claim),
        Step::Renew { lease } => asked.renew(record, *lease),
        Step::Complete(content) => asked.complete(record, content),
        Step::Release => with_tombstone(asked.release(record)),
        Step::Leave => with_tombstone(asked.leave(record)),
        Step::Issue(issue) => asked.issue(record, issue),
        Step::Register(claim, content) => asked.register(record, claim, content),
        Step::Update(update) => asked.update(record, operation.filter(counts), update),
        Step::Look => unchanged(Answer::Looked(record.map(Box::new))),
        Step::Settle { guard, content } => asked.settle(record, *guard, content),
        Step::Forget { guard } => forget(record.as_ref(), *guard),
    }
}

/// Whether a sweep may delete a record without a change for any request: it may if the record was freed or is past its
/// retention. A record that cannot be parsed stays.
#[must_use]
pub fn may_delete(stored: &Result<Option<Record>, Corrupt>, now: ServerTime) -> bool {
    match stored {
        Ok(Some(record)) => record.is_past_retention(now),
        Ok(None) => true,
        Err(Corrupt) => false,
    }
}

/// The attempt that sends the request, and the server's time.
#[derive(Clone, Copy)]
struct Asked {
    attempt: AttemptId,
    now: ServerTime,
}

/// The rows of the table.
impl Asked {
    fn claim(self, record: Option<Record>, claim: &Claim) -> Decision {
        let Some(record) = record else {
            return match claim.token {
                None => self.first_claim(Record::new(State::Running, self.attempt), claim),
                Some(_) => unchanged(Answer::UnknownToken),
            };
        };
        if !is_for(claim, &record) {
            return unchanged(Answer::Mismatch);
        }
        match record.state {
            State::Issued => self.first_claim(record, claim),
            State::Done => unchanged(Answer::Replayed(Box::new(record))),
            State::Running if self.owns(&record) => self.claim_again(record, claim),
            State::Running => match record.lease_left(self.now) {
                Some(left) => unchanged(Answer::InProgress { left: Some(left) }),
                None => self.claim_after_lease(record, claim),
            },
            State::Value => unchanged(Answer::Mismatch),
        }
    }

    fn first_claim(self, mut record: Record, claim: &Claim) -> Decision {
        record.policy = claim.policy;
        record.fingerprint.clone_from(&claim.fingerprint);
        self.run(record, claim)
    }

    fn claim_again(self, mut record: Record, claim: &Claim) -> Decision {
        self.extend(&mut record, claim.lease);
        put(claimed(&record), record)
    }

    fn claim_after_lease(self, mut record: Record, claim: &Claim) -> Decision {
        match record.policy {
            Policy::Retake => {
                record.takeovers = following(record.takeovers);
                self.run(record, claim)
            }
            Policy::Block => unchanged(Answer::InProgress { left: None }),
            Policy::Indeterminate => unchanged(Answer::Indeterminate),
        }
    }

    fn renew(self, record: Option<Record>, lease: u64) -> Decision {
        match self.own_claim(record) {
            Ok(mut record) => {
                self.extend(&mut record, lease);
                put(Answer::Extended, record)
            }
            Err((why, _)) => unchanged(Answer::Lost(why)),
        }
    }

    fn complete(self, record: Option<Record>, content: &Content) -> Decision {
        match self.own_claim(record) {
            Ok(record) => self.store(record, content),
            Err((_, Some(record))) if record.state == State::Done => self.complete_again(*record, content),
            Err((why, _)) => unchanged(Answer::Lost(why)),
        }
    }

    fn complete_again(self, record: Record, content: &Content) -> Decision {
        unchanged(if !self.owns(&record) {
            Answer::Replayed(Box::new(record))
        } else if record.has_content(content) {
            Answer::Completed
        } else {
            Answer::Mismatch
        })
    }

    fn release(self, record: Option<Record>) -> Decision {
        match self.own_claim(record) {
            Ok(record) if record.takeovers > 0 => self.lapse(record),
            Ok(record) => match record.token {
                None => delete(Answer::Released),
                Some(ref token) => put(Answer::Released, self.issued(token.clone(), &record)),
            },
            Err((Lost::Gone, _)) => unchanged(Answer::Released),
            Err((why, _)) => unchanged(Answer::Lost(why)),
        }
    }

    fn leave(self, record: Option<Record>) -> Decision {
        match self.own_claim(record) {
            Ok(record) => self.lapse(record),
            Err((Lost::Gone, _)) => unchanged(Answer::Released),
            Err((why, _)) => unchanged(Answer::Lost(why)),
        }
    }
}

/// Actions that several rows have in common.
impl Asked {
    fn owns(self, record: &Record) -> bool {
        record.attempt == self.attempt
    }

    /// The record, if this attempt runs the operation. Its lease may have ended.
    fn own_claim(self, record: Option<Record>) -> Result<Record, (Lost, Option<Box<Record>>)> {
        let Some(record) = record else {
            return Err((Lost::Gone, None));
        };
        let why = match record.state {
            State::Running if self.owns(&record) => return Ok(record),
            State::Issued => Lost::Gone,
            State::Done if self.owns(&record) => Lost::Done,
            State::Running | State::Done | State::Value => Lost::Superseded,
        };
        Err((why, Some(Box::new(record))))
    }

    /// Sets this attempt as the one that runs the operation.
    fn run(self, mut record: Record, claim: &Claim) -> Decision {
        record.state = State::Running;
        record.attempt = self.attempt;
        record.fence = record.next_fence(self.now);
        record.lease_end = 0;
        record.retention = claim.retention;
        self.extend(&mut record, claim.lease);
        put(claimed(&record), record)
    }

    /// Stores the operation's result.
    fn store(self, mut record: Record, content: &Content) -> Decision {
        record.state = State::Done;
        record.attempt = self.attempt;
        record.lease_end = 0;
        record.set_content(content.clone());
        self.keep(&mut record);
        put(Answer::Completed, record)
    }

    /// Ends the lease. The outcome of the operation is unknown.
    fn lapse(self, mut record: Record) -> Decision {
        record.lease_end = record.lease_end.min(self.now.millis());
        self.keep(&mut record);
        put(Answer::Released, record)
    }

    /// A record of a token that can be claimed. It keeps the earlier fence, so that the next claim gets a greater one.
    fn issued(self, token: Token, before: &Record) -> Record {
        let mut record = Record::new(State::Issued, self.attempt);
        record.kept_until = self.now.millis().saturating_add(token.life);
        record.token = Some(token);
        record.fence = before.fence;
        record.retention = before.retention;
        record
    }

    /// Extends the lease; never shortens it.
    fn extend(self, record: &mut Record, lease: u64) {
        let end = self.now.millis().saturating_add(lease);
        record.lease_end = record.lease_end.max(end);
        self.keep(record);
    }

    /// Starts the retention again. It does not end before the lease.
    fn keep(self, record: &mut Record) {
        let end = self.now.millis().saturating_add(record.retention);
        record.kept_until = end.max(record.lease_end);
    }
}

/// Whether a claim and a record belong to the same operation. A token gets its fingerprint from its first claim.
fn is_for(claim: &Claim, record: &Record) -> bool {
    let binding = record.token.as_ref().map(|token| &token.binding);
    binding == claim.token.as_ref()
        && (record.state == State::Issued || record.fingerprint == claim.fingerprint)
}

const fn claimed(record: &Record) -> Answer {
    Answer::Claimed {
        fence: record.fence,
        takeovers: record.takeovers,
    }
}

//! The rules: how a request changes a record.
//!
//! | | none | issued | running | lease over | done |
//! |---|---|---|---|---|---|
//! | claim | key: claimed; token: unknown-token | claimed | in-progress, time left | retake: claimed, takeovers + 1; block: in-progress; indeterminate: indeterminate | replayed |
//! | claim, other fingerprint or binding | as above | mismatch | mismatch | mismatch | mismatch |
//! | renew | lost | lost | extended | extended | lost |
//! | complete | lost | lost | done | done | own: done; else replayed |
//! | release (*nothing happened*) | released | released | none or issued; after a takeover: lease over | same | lost |
//! | leave (*outcome unknown*) | released | released | lease over | same | lost |
//!
//! - **A repeated request gets its answer again.** A claim finds its own attempt running, a completion finds it done,
//!   and a release finds that the claim has ended.
//! - **A release after a takeover frees nothing.** Nothing has happened in this attempt, but the outcome of the earlier
//!   one is still unknown. So the record stays as after a leave, and the next claim counts one takeover more.
//! - **Renew, complete, release and leave change nothing of another attempt**: they are lost, as superseded.
//! - **The first claim's policy rules**, whatever later claims ask for.
//! - **A mismatch precedes a replay, and a replay precedes in-progress.** An operation that differs never runs, and
//!   no claim gets the result of another operation.
//! - **The lease is not the retention.** A record whose retention is over counts as none.
//! - **A claim that has ended stays ended.** Release and leave put up a tombstone for the attempt. A claim that arrives
//!   later is given up, and a renewal is lost. (On Redis requests may overtake each other. A family that keeps their
//!   order needs no tombstones.)
//! - **A record that cannot be read stays as it is**, and nothing runs.
//!
//! Single steps that are not in the table, in one request each: *issue* (none becomes issued), *register* (a claim, and
//! at once its completion), *update* (of a value, whose version is compared), and for operators *look*, *settle* and
//! *forget*.

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

/// Whether a sweep may delete what is stored, so that nothing changes for any request: a record that was freed or is
/// past its retention. What cannot be read stays.
#[must_use]
pub fn may_delete(stored: &Result<Option<Record>, Corrupt>, now: ServerTime) -> bool {
    match stored {
        Ok(Some(record)) => record.is_past_retention(now),
        Ok(None) => true,
        Err(Corrupt) => false,
    }
}

/// The attempt that asks, and when.
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

/// What several rows do.
impl Asked {
    fn owns(self, record: &Record) -> bool {
        record.attempt == self.attempt
    }

    /// The record, if this attempt runs the operation, whether or not its lease is over.
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

    /// This attempt runs the operation from now on.
    fn run(self, mut record: Record, claim: &Claim) -> Decision {
        record.state = State::Running;
        record.attempt = self.attempt;
        record.fence = record.next_fence(self.now);
        record.lease_end = 0;
        record.retention = claim.retention;
        self.extend(&mut record, claim.lease);
        put(claimed(&record), record)
    }

    /// The operation has a result.
    fn store(self, mut record: Record, content: &Content) -> Decision {
        record.state = State::Done;
        record.attempt = self.attempt;
        record.lease_end = 0;
        record.set_content(content.clone());
        self.keep(&mut record);
        put(Answer::Completed, record)
    }

    /// The lease is over, and the outcome of the operation unknown.
    fn lapse(self, mut record: Record) -> Decision {
        record.lease_end = record.lease_end.min(self.now.millis());
        self.keep(&mut record);
        put(Answer::Released, record)
    }

    /// A token that can be claimed. The fence of the claim before goes on counting.
    fn issued(self, token: Token, before: &Record) -> Record {
        let mut record = Record::new(State::Issued, self.attempt);
        record.kept_until = self.now.millis().saturating_add(token.life);
        record.token = Some(token);
        record.fence = before.fence;
        record.retention = before.retention;
        record
    }

    /// A lease is never shortened.
    fn extend(self, record: &mut Record, lease: u64) {
        let end = self.now.millis().saturating_add(lease);
        record.lease_end = record.lease_end.max(end);
        self.keep(record);
    }

    /// The retention begins anew, and ends after the lease.
    fn keep(self, record: &mut Record) {
        let end = self.now.millis().saturating_add(record.retention);
        record.kept_until = end.max(record.lease_end);
    }
}

/// Whether a claim is for the operation that the record is of. A token gets its fingerprint from its first claim.
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

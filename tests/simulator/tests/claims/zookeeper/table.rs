//! The record of the table, with ZooKeeper's additions.

use std::collections::BTreeMap;

use fencepost_core::{
    AttemptId, Event, Fence, Loss, Refusal,
    claim::{
        Answer, Change, Corrupt, Known, Lost, Record, Request, ServerTime, State, Step, UpdateId, decide,
    },
};

/// The result of a request, as far as the machines and the table both have it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answered {
    Claimed { fence: Fence, takeovers: u64 },
    Stored { state: State, version: u64 },
    Replayed(Box<Record>),
    Looked(Option<Box<Record>>),
    Released,
    Lost(Loss),
    Refused(Refusal),
    Conflict(Option<Box<Record>>),
}

impl Answered {
    pub(super) fn of(event: Event) -> Self {
        match event {
            Event::Acquired { grant } => Self::Claimed {
                fence: grant.fence.unwrap(),
                takeovers: grant.takeovers,
            },
            Event::Completed { record } => Self::Stored {
                state: record.state,
                version: record.version,
            },
            Event::Replayed { record } => Self::Replayed(shown(&record)),
            Event::Looked { record } => Self::Looked(record.as_deref().map(shown)),
            Event::Released => Self::Released,
            Event::Lost { reason, .. } => Self::Lost(reason),
            Event::Refused {
                reason: Refusal::Conflict,
                cause,
            } => Self::Conflict(cause.record.as_deref().map(shown)),
            Event::Refused { reason, .. } => Self::Refused(reason),
            other => panic!("{other:?}"),
        }
    }

    pub(super) fn word(&self) -> String {
        match self {
            Self::Refused(reason) => reason.name().into(),
            Self::Lost(reason) => reason.name().into(),
            Self::Stored { state, .. } => format!("stored as {}", state.name()),
            other => format!("{other:?}").split([' ', '(']).next().unwrap().into(),
        }
    }
}

/// A record without the times of a server: only whether there is a lease.
fn shown(record: &Record) -> Box<Record> {
    let mut record = record.clone();
    record.lease_end = u64::from(record.lease_end > 0);
    record.kept_until = 0;
    Box::new(record)
}

#[derive(Debug)]
pub(super) struct Table {
    record: Result<Option<Record>, Corrupt>,
    updates: BTreeMap<UpdateId, Record>,
    /// When the record was last changed.
    changed: u64,
}

impl Default for Table {
    fn default() -> Self {
        Self {
            record: Ok(None),
            updates: BTreeMap::new(),
            changed: 0,
        }
    }
}

impl Table {
    pub(super) const fn record(&self) -> &Result<Option<Record>, Corrupt> {
        &self.record
    }

    fn present(&self) -> Option<&Record> {
        self.record.as_ref().ok()?.as_ref()
    }

    pub(super) fn is_value(&self) -> bool {
        self.present().is_some_and(|record| record.state == State::Value)
    }

    pub(super) fn end_lease(&mut self, attempt: AttemptId) {
        if let Ok(Some(record)) = &mut self.record
            && record.attempt == attempt
            && record.state == State::Running
        {
            record.lease_end = 0;
        }
    }

    pub(super) fn forget(&mut self) {
        self.record = Ok(None);
        self.updates.clear();
    }

    pub(super) fn damage(&mut self) {
        self.record = Err(Corrupt);
    }

    /// Whether a sweep may delete the record.
    pub(super) fn may_delete(&self, now: u64) -> bool {
        match &self.record {
            Err(Corrupt) => false,
            Ok(None) => true,
            Ok(Some(record)) => {
                let kept = match &record.token {
                    Some(token) if record.state == State::Issued => token.life,
                    _ => record.retention,
                };
                record.state != State::Value && record.lease_end == 0 && now > self.changed + kept
            }
        }
    }

    pub(super) fn look(&self) -> Answered {
        match &self.record {
            Err(Corrupt) => Answered::Refused(Refusal::CorruptRecord),
            Ok(record) => Answered::Looked(record.as_ref().map(shown)),
        }
    }

    /// The decision of the table for a request, at a time. `number` is the transaction that last changed the
    /// record.
    pub(super) fn ask(&mut self, attempt: AttemptId, step: &Step, now: u64, number: u64) -> Answered {
        let token = self.present().and_then(|record| match &record.token {
            Some(token) if record.state == State::Issued => Some(token.life),
            _ => None,
        });
        let update = match step {
            Step::Update(update) => self.updates.get(&update.id).cloned(),
            _ => None,
        };
        // The latest time that the client knows is that of the last change.
        let time = ServerTime(self.changed * 1000);
        let known = Known {
            record: self.record.clone(),
            tombstone: None,
            operation: Ok(update),
        };
        let request = Request {
            attempt,
            step: step.clone(),
        };
        let decision = decide(known, &request, time);
        let claims = matches!(step, Step::Claim(_) | Step::Register(..));
        if claims && decision.record != Change::Nothing && token.is_some_and(|life| now > self.changed + life)
        {
            // The token has expired, so the record does not count.
            self.record = Ok(None);
            self.changed = now;
            return Answered::Refused(Refusal::UnknownToken);
        }
        let fence = Fence(number);
        match decision.record {
            Change::Nothing => {}
            Change::Delete => self.forget(),
            Change::Put(mut record) => {
                record.kept_until = 0;
                record.lease_end = u64::from(matches!(step, Step::Claim(_))) * u64::MAX;
                let has_run = matches!(record.state, State::Running | State::Done);
                if claims || has_run && record.fence == Fence(0) {
                    record.fence = fence;
                }
                self.changed = now;
                if let (Step::Update(update), Some(mut operation)) = (step, decision.operation) {
                    operation.kept_until = now + operation.retention;
                    operation.fence = fence;
                    self.updates.insert(update.id.clone(), operation);
                }
                if record.state != State::Value {
                    self.updates.clear();
                }
                self.record = Ok(Some(*record));
            }
        }
        Self::answer(decision.answer, step, fence)
    }

    /// The reason for the loss of a claim whose lease was deleted: the same that its renewal would get on
    /// Redis.
    pub(super) fn loss_of(&self, attempt: AttemptId) -> Loss {
        let known = Known {
            record: self.record.clone(),
            tombstone: None,
            operation: Ok(None),
        };
        let step = Step::Renew { lease: 0 };
        match decide(known, &Request { attempt, step }, ServerTime(self.changed * 1000)).answer {
            Answer::Lost(lost) => loss(lost),
            _ => Loss::Deleted,
        }
    }

    fn answer(answer: Answer, step: &Step, fence: Fence) -> Answered {
        let stored = |state, version| Answered::Stored { state, version };
        match answer {
            Answer::Claimed { takeovers, .. } => Answered::Claimed { fence, takeovers },
            Answer::Completed => stored(State::Done, 0),
            Answer::Issued => stored(State::Issued, 0),
            Answer::Applied { version } => stored(State::Value, version),
            Answer::Released => Answered::Released,
            Answer::Replayed(record) => Answered::Replayed(shown(&record)),
            Answer::Looked(record) => Answered::Looked(record.as_deref().map(shown)),
            Answer::Forgotten => Answered::Looked(None),
            Answer::Conflict { present } => Answered::Conflict(present.as_deref().map(shown)),
            Answer::InProgress { .. } => Answered::Refused(Refusal::InProgress),
            Answer::Mismatch => Answered::Refused(Refusal::Mismatch),
            Answer::Indeterminate => Answered::Refused(Refusal::Indeterminate),
            Answer::UnknownToken => Answered::Refused(Refusal::UnknownToken),
            Answer::CorruptRecord => Answered::Refused(Refusal::CorruptRecord),
            Answer::Lost(lost) if matches!(step, Step::Complete(_) | Step::Release | Step::Leave) => {
                Answered::Lost(loss(lost))
            }
            Answer::Lost(_) => Answered::Refused(Refusal::RecordChanged),
            other => panic!("{other:?}"),
        }
    }
}

const fn loss(lost: Lost) -> Loss {
    match lost {
        Lost::Gone => Loss::Deleted,
        Lost::Superseded => Loss::Superseded,
        Lost::Done => Loss::Completed,
    }
}

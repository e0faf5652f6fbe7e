//! The single steps, which are not rows of the table.

use alloc::boxed::Box;

use super::{
    super::{
        content::Content,
        record::{Record, State, Token, following},
        request::{Answer, Claim, Issue, Lost, Update},
    },
    Asked,
    decision::{Change, Decision, delete, put, unchanged},
};

impl Asked {
    pub(super) fn issue(self, record: Option<Record>, issue: &Issue) -> Decision {
        let token = Token {
            binding: issue.binding.clone(),
            life: issue.life,
        };
        match record {
            None => {
                let mut record = Record::new(State::Issued, self.attempt);
                record.retention = issue.retention;
                put(Answer::Issued, self.issued(token, &record))
            }
            Some(record) if self.owns(&record) && record.state == State::Issued => unchanged(Answer::Issued),
            Some(_) => unchanged(Answer::Mismatch),
        }
    }

    pub(super) fn register(self, record: Option<Record>, claim: &Claim, content: &Content) -> Decision {
        let decision = self.claim(record, claim);
        match (decision.answer, decision.record) {
            (Answer::Claimed { .. }, Change::Put(record)) => self.store(*record, content),
            (Answer::Replayed(record), _) => self.complete_again(*record, content),
            (answer, _) => unchanged(answer),
        }
    }

    pub(super) fn update(
        self,
        value: Option<Record>,
        operation: Option<Record>,
        update: &Update,
    ) -> Decision {
        if let Some(operation) = operation {
            return self.update_again(operation, update);
        }
        let version = match &value {
            None => 0,
            Some(value) if value.state == State::Value => value.version,
            Some(_) => return unchanged(Answer::Mismatch),
        };
        if version != update.expected {
            let present = value.map(Box::new);
            return unchanged(Answer::Conflict { present });
        }
        let mut value = Record::new(State::Value, self.attempt);
        value.version = following(version);
        value.set_content(update.content.clone());
        let mut operation = Record::new(State::Done, self.attempt);
        operation.version = value.version;
        operation.fingerprint.clone_from(&update.fingerprint);
        operation.retention = update.retention;
        self.keep(&mut operation);
        let answer = Answer::Applied {
            version: value.version,
        };
        Decision {
            operation: Some(operation),
            ..put(answer, value)
        }
    }

    fn update_again(self, operation: Record, update: &Update) -> Decision {
        let version = operation.version;
        unchanged(if operation.fingerprint != update.fingerprint {
            Answer::Mismatch
        } else if self.owns(&operation) {
            Answer::Applied { version }
        } else {
            Answer::Replayed(Box::new(operation))
        })
    }

    pub(super) fn settle(self, record: Option<Record>, guard: u64, content: &Content) -> Decision {
        match record {
            None => unchanged(Answer::Lost(Lost::Gone)),
            Some(record) if record.state == State::Value => unchanged(Answer::Mismatch),
            // No request replaces a result.
            Some(record) if record.state == State::Done => self.complete_again(record, content),
            Some(record) if record.guard() != guard => unchanged(Answer::Lost(Lost::Superseded)),
            Some(record) => self.store(record, content),
        }
    }
}

pub(super) fn forget(record: Option<&Record>, guard: u64) -> Decision {
    match record {
        None => unchanged(Answer::Forgotten),
        Some(record) if record.guard() == guard => delete(Answer::Forgotten),
        Some(_) => unchanged(Answer::Lost(Lost::Superseded)),
    }
}

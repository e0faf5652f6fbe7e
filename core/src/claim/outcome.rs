//! Converts answers to events and refusals for the application, for all families.

use alloc::boxed::Box;
use core::time::Duration;

use super::{
    content::Content,
    record::{Record, State},
    request::{Answer, Lost, Step},
};
use crate::{AttemptId, Cause, Event, Loss, Refusal};

/// The refusal for an answer to any request; `None` if the answer is not a refusal.
pub(crate) const fn refusal(answer: &Answer) -> Option<Refusal> {
    Some(match answer {
        Answer::InProgress { .. } => Refusal::InProgress,
        Answer::Mismatch => Refusal::Mismatch,
        Answer::Indeterminate => Refusal::Indeterminate,
        Answer::UnknownToken => Refusal::UnknownToken,
        Answer::Conflict { .. } => Refusal::Conflict,
        Answer::CorruptRecord => Refusal::CorruptRecord,
        Answer::GivenUp => Refusal::GivenUp,
        _ => return None,
    })
}

/// The loss to report for a claim whose grant has ended.
pub(crate) const fn loss(lost: Lost) -> Loss {
    match lost {
        Lost::Gone => Loss::Deleted,
        Lost::Superseded => Loss::Superseded,
        Lost::Done => Loss::Completed,
    }
}

/// The event or the refusal for the answer to a single step. If the step succeeded, its attempt has stored the step's
/// contents.
pub(crate) fn of_step(answer: Answer, step: &Step, attempt: AttemptId) -> Result<Event, (Refusal, Cause)> {
    let stored = |state, content: Option<&Content>, version| {
        let mut record = Box::new(Record::new(state, attempt));
        record.version = version;
        if let Some(content) = content {
            record.set_content(content.clone());
        }
        Ok(Event::Completed { record })
    };
    match (answer, step) {
        (Answer::Looked(record), _) => Ok(Event::Looked { record }),
        (Answer::Forgotten, _) => Ok(Event::Looked { record: None }),
        (Answer::Replayed(record), _) => Ok(Event::Replayed { record }),
        (Answer::Issued, _) => stored(State::Issued, None, 0),
        (Answer::Completed, Step::Register(_, content) | Step::Settle { content, .. }) => {
            stored(State::Done, Some(content), 0)
        }
        (Answer::Completed, _) => stored(State::Done, None, 0),
        (Answer::Applied { version }, Step::Update(update)) => {
            stored(State::Value, Some(&update.content), version)
        }
        (Answer::Applied { version }, _) => stored(State::Value, None, version),
        (Answer::Lost(_), _) => Err((Refusal::RecordChanged, Cause::none())),
        (answer, _) => {
            let reason = refusal(&answer).unwrap_or(Refusal::GivenUp);
            let mut cause = Cause::none();
            match answer {
                Answer::InProgress { left } => cause.retry_after = left.map(Duration::from_millis),
                Answer::Conflict { present } => cause.record = present,
                _ => {}
            }
            Err((reason, cause))
        }
    }
}

/// The event for a completed claim, with the stored record.
pub(crate) fn completed(attempt: AttemptId, fence: crate::Fence, takeovers: u64, content: Content) -> Event {
    let mut record = Box::new(Record::new(State::Done, attempt));
    record.fence = fence;
    record.takeovers = takeovers;
    record.set_content(content);
    Event::Completed { record }
}

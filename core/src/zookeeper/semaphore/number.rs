//! The number of permits. All contenders of a semaphore have to use the same number. The first contender writes it, as
//! in Kazoo.
//!
//! The client reads the number in the round trip in which it enters the queue, so an acquire with another number fails
//! at once. If the number was not written yet, or the client got no reply, the client reads it again when it is first
//! in the queue. Only the first contender of the queue writes the number.

use alloc::string::String;

use crate::{
    Cause, CommandId, Instant, Misuse, Outcome, Refusal,
    text::{decimal, shown, signed, whole},
};

use super::{
    super::{
        Verdict, classify_error,
        wire::{Answer, Reply, Request, code},
    },
    Phase, Semaphore,
};

/// This contender's number of permits, and the client's knowledge of the number on the server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Number {
    permits: u32,
    /// The path of the node that contains the number.
    path: String,
    known: Known,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Known {
    Nothing,
    /// The client is reading the number.
    Asked(CommandId),
    /// No contender has written the number, and no other contender can do so now. This contender writes it as soon as
    /// the node exists.
    Unwritten,
    /// The number is the same as this contender's. Or the data are not a number, so they do not belong to a semaphore.
    Ours,
}

impl Number {
    pub(super) const fn new(path: String, permits: u32) -> Self {
        Self {
            permits,
            path,
            known: Known::Nothing,
        }
    }

    pub(super) const fn of_permits(&self) -> u32 {
        self.permits
    }

    pub(super) const fn forget(&mut self) {
        self.known = Known::Nothing;
    }

    pub(super) fn is_asked_by(&self, id: CommandId) -> bool {
        self.known == Known::Asked(id)
    }

    /// Whether the client knows that the server has no other number.
    pub(super) const fn is_ours(&self) -> bool {
        matches!(self.known, Known::Unwritten | Known::Ours)
    }
}

impl Semaphore {
    /// Reads the number, unless the client knows it or reads it already. The client sends the read after the create of
    /// the node in the queue, so the server's data are at least as new as that create. It sends the read before the
    /// create of the permit.
    pub(super) fn ask_number(&mut self) {
        let asks = self.wait_queue.is_connected() && matches!(self.phase, Phase::Queueing | Phase::Taking);
        if asks && self.number.known == Known::Nothing {
            let (path, watch) = (self.number.path.clone(), false);
            let request = Request::Get { path, watch };
            let id = if self.phase == Phase::Queueing {
                self.wait_queue(|wait_queue| wait_queue.outbox().command(request, None))
            } else {
                self.out.command(request, None)
            };
            self.number.known = Known::Asked(id);
        }
    }

    /// Writes the number, if no contender has written it.
    pub(super) fn write_number(&mut self) {
        if self.number.known == Known::Unwritten {
            self.number.known = Known::Ours;
            let (path, data) = (self.number.path.clone(), decimal(self.number.permits).into());
            // A failure does no harm, because a later contender writes the number.
            self.out.command(Request::Set { path, data }, None);
        }
    }

    /// Compares the number on the server with this contender's number. Data that are not a number belong to another
    /// program.
    pub(super) fn compare(
        &mut self,
        now: Instant,
        id: CommandId,
        outcome: Outcome<Reply>,
    ) -> Result<(), Misuse> {
        self.number.forget();
        let answer = match outcome {
            Outcome::Reply(reply) if !reply.is_made_up() => reply.answer,
            // The client reads the number again.
            _ => return Ok(()),
        };
        let written = match &answer {
            // The directory does not exist yet. The create of the permit's node creates it, too.
            Answer::Error(code::NO_NODE) => &[][..],
            Answer::Data { data, .. } => data,
            Answer::Error(error) => {
                if let Verdict::Final(reason, cause) = classify_error(*error, id, "looking at the lock") {
                    self.refuse(now, reason, cause);
                }
                return Ok(());
            }
            Answer::Created { .. } | Answer::Children(_) | Answer::Done => {
                let expected = "data";
                return Err(Misuse::WrongReply { id: id.0, expected });
            }
        };
        if written.is_empty() {
            // If this contender is not first in the queue, an earlier one may write the number soon. If this contender
            // is first when the reply arrives, it was also first when the server read the number, because a server
            // sends all replies and events in order.
            if self.phase == Phase::Taking {
                self.number.known = Known::Unwritten;
            }
            return Ok(());
        }
        self.number.known = Known::Ours;
        let number = core::str::from_utf8(written).ok().and_then(whole);
        let (ours, path) = (self.number.permits, &self.number.path);
        if let Some(number) = number.filter(|number| *number != i64::from(ours)) {
            let detail = [
                &*shown(path),
                " has ",
                &signed(number),
                " permits, not ",
                &decimal(ours),
            ]
            .concat();
            self.refuse(now, Refusal::InconsistentPermits, Cause::answer(id, detail));
        }
        Ok(())
    }
}

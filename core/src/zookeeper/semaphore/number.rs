//! The number of permits, which all contenders of a semaphore have to agree on: the first one writes it, as in Kazoo.
//!
//! It is read in the flight that joins the line, so that who has another one is told at once, and read again at the head of the line if nobody had
//! written it, or no answer came: only there is nobody else who writes.

use alloc::string::String;

use crate::{
    Cause, CommandId, Instant, Misuse, Outcome, Refusal,
    text::{decimal, shown, signed, whole},
};

use super::{
    super::{
        Verdict, judge,
        wire::{Answer, Reply, Request, code},
    },
    Phase, Semaphore,
};

/// How many permits there are, and what is known of what the others say.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Number {
    permits: u32,
    /// Where it is written.
    path: String,
    known: Known,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Known {
    Nothing,
    /// It is being read.
    Asked(CommandId),
    /// Nobody has written it, and now nobody else will: to be written as soon as there is a node to write it into.
    Unwritten,
    /// It is ours; or no number at all, and so not for us.
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

    /// Whether nobody has another one.
    pub(super) const fn is_ours(&self) -> bool {
        matches!(self.known, Known::Unwritten | Known::Ours)
    }
}

impl Semaphore {
    /// Has the number read, unless it is known or about to be: behind the node in the line, on a server that knows of it, and before a permit.
    pub(super) fn ask_number(&mut self) {
        let asks = self.line.is_connected() && matches!(self.phase, Phase::Lining | Phase::Taking);
        if asks && self.number.known == Known::Nothing {
            let (path, watch) = (self.number.path.clone(), false);
            let request = Request::Get { path, watch };
            let id = if self.phase == Phase::Lining {
                self.line(|line| line.outbox().command(request, None))
            } else {
                self.out.command(request, None)
            };
            self.number.known = Known::Asked(id);
        }
    }

    /// Writes the number, if nobody has.
    pub(super) fn write_number(&mut self) {
        if self.number.known == Known::Unwritten {
            self.number.known = Known::Ours;
            let (path, data) = (self.number.path.clone(), decimal(self.number.permits).into());
            // Nobody is the worse off if it fails.
            self.out.command(Request::Set { path, data }, None);
        }
    }

    /// What is written there. What is no number is somebody else's.
    pub(super) fn compare(
        &mut self,
        now: Instant,
        id: CommandId,
        outcome: Outcome<Reply>,
    ) -> Result<(), Misuse> {
        self.number.forget();
        let answer = match outcome {
            Outcome::Reply(reply) if !reply.is_made_up() => reply.answer,
            // It is asked again.
            _ => return Ok(()),
        };
        let written = match &answer {
            // Nobody has ever been here: the permit's own node brings the directory with it.
            Answer::Error(code::NO_NODE) => &[][..],
            Answer::Data { data, .. } => data,
            Answer::Error(error) => {
                if let Verdict::Final(reason, cause) = judge(*error, id, "looking at the lock") {
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
            // Who is not first in the line comes behind somebody who may be about to write it. Who was first when the answer came was so when it
            // was asked for: servers tell everything in order.
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

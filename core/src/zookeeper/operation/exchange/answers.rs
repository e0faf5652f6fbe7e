//! Handles the replies to a group of requests of an exchange.

use alloc::boxed::Box;

use crate::{
    Cause, CommandId, Failure, Refusal,
    claim::{Answer, Record, Step},
    text::shown,
};

use super::{
    super::{
        super::{
            session::Session,
            setback::Setback,
            wire::{Answer as Reply, Request, code},
        },
        flight::{Answers, Written},
        snapshot::{Node, Own, Snapshot},
        stored, writes,
    },
    Exchange, Progress, Wire,
};

/// How often the client creates the missing directories before it reports a refusal: the chroot does not exist.
const MOST_PARENT_FLIGHTS: u32 = 4;

/// After this number of conflicts in a row, the client pauses, because many clients write at the same time.
const MOST_CONFLICTS: u32 = 3;

impl Exchange {
    pub(in super::super) fn answered(
        &mut self,
        id: CommandId,
        result: Result<Reply, Failure>,
        wire: &mut Wire<'_>,
    ) -> Progress {
        let Some(mut answers) = self
            .flight
            .as_mut()
            .and_then(|flight| flight.answered(id, result))
        else {
            return Progress::Pending;
        };
        self.flight = None;
        match answers.written.take() {
            Some(written) => self.written(id, written, &answers, wire),
            None => self.was_read(id, answers, wire),
        }
    }

    fn written(
        &mut self,
        id: CommandId,
        written: Written,
        answers: &Answers,
        wire: &mut Wire<'_>,
    ) -> Progress {
        // The reply may belong to a request from before the move: see the session lease.
        if wire.session.moved && matches!(written, Written::Yes | Written::Conflict { .. }) {
            self.doubt();
            return self.go(wire);
        }
        match written {
            Written::Yes => self.done(id, answers, wire),
            Written::Conflict { error } => {
                let missing = error == code::NO_NODE && self.known == Some(Snapshot::Absent);
                self.barrier = false;
                if missing {
                    return self.without_directory(answers, wire);
                }
                self.known = None;
                self.conflicts = self.conflicts.saturating_add(1);
                if self.conflicts > MOST_CONFLICTS {
                    return Progress::Retry(Cause::command(id));
                }
                self.go(wire)
            }
            Written::Unknown => {
                self.doubt();
                Progress::Retry(Cause::command(id))
            }
            Written::No(Setback::Final(reason, cause)) => self.refused(reason, cause, wire),
            Written::No(_) => Progress::Retry(Cause::command(id)),
        }
    }

    /// The server refuses the write: a right is missing, or a quota is full. A leave can still end its lease, as the end
    /// of the session would.
    fn refused(&mut self, reason: Refusal, cause: Cause, wire: &mut Wire<'_>) -> Progress {
        if self.unwritable || self.request.step != Step::Leave {
            return Progress::Refused(reason, cause);
        }
        self.unwritable = true;
        self.go(wire)
    }

    /// The directories of the record do not exist.
    fn without_directory(&mut self, answers: &Answers, wire: &mut Wire<'_>) -> Progress {
        if let Setback::Final(reason, cause) = &answers.setback {
            return Progress::Refused(*reason, cause.clone());
        }
        if self.parents_made >= MOST_PARENT_FLIGHTS {
            let (reason, cause) = answers.parents.refusal(&shown(&wire.paths.bucket()));
            return Progress::Refused(reason, cause);
        }
        self.parents = true;
        if answers.parents.postponed {
            return Progress::Retry(Cause::none());
        }
        self.go(wire)
    }

    /// The write was executed.
    fn done(&mut self, id: CommandId, answers: &Answers, wire: &mut Wire<'_>) -> Progress {
        let Some((answer, record)) = self.decided.take() else {
            // The write has deleted some children. The next write deletes the others.
            return self.go(wire);
        };
        let claimed_by = match &self.known {
            Some(Snapshot::Node(node)) => writes::claimed_by(node, &self.request),
            _ => None,
        };
        let version = self.version().map_or(0, |version| version.saturating_add(1));
        match (&self.request.step, record, &answers.lease) {
            (Step::Claim(_), Some(mut record), Some(lease)) => {
                if claimed_by.is_some_and(|until| u64::try_from(lease.created).is_ok_and(|at| at > until)) {
                    return self.too_late(version, wire);
                }
                record.fence = lease.fence();
                let record = *record;
                Progress::Claimed(Box::new(Own { record, version }))
            }
            // The lease was already deleted, or its read has failed.
            (Step::Claim(_), ..) => {
                self.doubt();
                Progress::Retry(Cause::command(id))
            }
            // Only the record shows whether the token was still valid.
            (Step::Register(..), ..) if claimed_by.is_some() => {
                self.doubt();
                self.go(wire)
            }
            _ => Progress::Answered(answer),
        }
    }

    /// The token had expired before it was claimed, so every reader treats the record as absent. The client deletes the
    /// lease, and does not need the reply.
    fn too_late(&self, version: i32, wire: &mut Wire<'_>) -> Progress {
        let writes = writes::undo_claim(wire.paths, &self.request.attempt, version);
        wire.out.command(Request::Multi { writes }, None);
        Progress::Answered(Answer::UnknownToken)
    }

    fn was_read(&mut self, id: CommandId, answers: Answers, wire: &mut Wire<'_>) -> Progress {
        match answers.setback {
            Setback::None => {}
            Setback::Final(reason, cause) => return Progress::Refused(reason, cause),
            Setback::Retry | Setback::NoDirectory => {
                self.known = None;
                return Progress::Retry(Cause::command(id));
            }
        }
        if let Some(Snapshot::Node(node)) = &self.known {
            return match answers.lease {
                Some(lease) if wire.session.owns(&lease) => {
                    let Some(mut record) = node.record().cloned() else {
                        return Progress::Pending;
                    };
                    record.fence = lease.fence();
                    let version = node.version;
                    Progress::Claimed(Box::new(Own { record, version }))
                }
                // The lease belongs to an earlier session, which the server has not ended yet. Or the lease was deleted
                // after the first read.
                _ => {
                    self.known = None;
                    Progress::Retry(Cause::command(id))
                }
            };
        }
        self.watch = answers.watch;
        self.parents = answers.bucket.is_none();
        self.known = Some(self.snapshot(answers, wire.session));
        self.decide(wire)
    }

    fn snapshot(&self, answers: Answers, session: &Session) -> Snapshot {
        let Some((bytes, stat)) = answers.record else {
            return Snapshot::Absent;
        };
        let timeout = u64::try_from(session.timeout.as_millis()).unwrap_or(u64::MAX);
        let children = answers.children;
        let lives = |record: &Record| children.contains(&record.attempt.text());
        let record = stored::read(&bytes, &stat, lives, timeout);
        let operation = match &answers.operation {
            Some((bytes, stat)) => stored::read(bytes, stat, |_| false, timeout),
            None => Ok(None),
        };
        Snapshot::Node(Box::new(Node {
            record,
            version: stat.version,
            mzxid: stat.mzxid,
            changed: stored::changed(&stat),
            children,
            bucket: answers.bucket,
            operation,
        }))
    }
}

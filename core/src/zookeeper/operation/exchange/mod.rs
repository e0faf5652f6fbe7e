//! One request about an operation, until the server has answered it: read, decide by the table, write; again, if
//! something has changed in between.
//!
//! ```text
//!             nothing assumed                 nothing to write
//!   begin ─────────────────────▶ read ──────────────────────────▶ answered
//!     │                          ▲  │ decided
//!     │ assumed: no record,      │  ▼
//!     └─ the own claim ────────▶ write ─────────────────────────▶ answered
//!                                     conflict, no answer: read
//! ```

mod answers;

use alloc::boxed::Box;

use crate::{
    Cause, CommandId, Refusal,
    claim::{Answer, Change, Record, Request as Asked, State, Step, decide},
    outbox::Outbox,
};

use super::super::{session::Session, wire::Request};
use super::{
    flight::Flight,
    paths::Paths,
    snapshot::{Node, Own, Snapshot},
    writes,
};

/// The nodes that a request is about, and the connection.
pub(super) struct Wire<'a> {
    pub(super) paths: &'a Paths,
    pub(super) session: &'a Session,
    pub(super) out: &'a mut Outbox<Request>,
}

/// One request about an operation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Exchange {
    request: Asked,
    /// What the server has, as far as the client knows or assumes; `None`: it has to read.
    known: Option<Snapshot>,
    flight: Option<Flight>,
    /// The answer if the write in flight is executed, and the record that it makes.
    decided: Option<(Answer, Option<Box<Record>>)>,
    /// Whether a write of this request may have been executed without an answer.
    in_doubt: bool,
    /// Whether the next read has to see everything that was written before: no write has shown that the server is not
    /// behind.
    barrier: bool,
    /// The record that a read has found without its lease: the transaction that has last changed it.
    lapsed: Option<i64>,
    /// Whether the reads set a watch on the leases.
    watches: bool,
    /// The list that has set this watch.
    watch: Option<CommandId>,
    /// Whether the directories are missing, and how often the client has created them.
    parents: bool,
    parents_made: u32,
    conflicts: u32,
}

/// How far a request has come.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// An answer is awaited.
    Pending,
    /// A request was not executed, or not answered: call [`Exchange::go`] later.
    Retry(Cause),
    /// The table's answer.
    Answered(Answer),
    /// The claim succeeded.
    Claimed(Box<Own>),
    /// The server refuses the request.
    Refused(Refusal, Cause),
}

impl Exchange {
    /// A request. `known` is what the server has, or may be assumed to have: a wrong assumption costs a round trip.
    pub(super) fn new(request: Asked, known: Option<Snapshot>, watches: bool) -> Self {
        Self {
            request,
            known,
            flight: None,
            decided: None,
            in_doubt: false,
            barrier: true,
            lapsed: None,
            watches,
            watch: None,
            parents: false,
            parents_made: 0,
            conflicts: 0,
        }
    }

    /// What a request may assume before it has read anything.
    pub(super) fn assumed(request: &Asked) -> Option<Snapshot> {
        match &request.step {
            Step::Claim(claim) | Step::Register(claim, _) if claim.token.is_none() => Some(Snapshot::Absent),
            Step::Issue(_) => Some(Snapshot::Absent),
            Step::Update(update) if update.expected == 0 => Some(Snapshot::Absent),
            Step::Update(update) => Some(Snapshot::of_value(update.expected, request.attempt)),
            _ => None,
        }
    }

    /// The first read needs no barrier: what it shows is only waited for.
    pub(super) const fn without_barrier(mut self) -> Self {
        self.barrier = false;
        self
    }

    /// An earlier request of the same attempt may have been executed.
    pub(super) const fn after_a_write(mut self) -> Self {
        self.in_doubt = true;
        self
    }

    /// Whether the server may have executed a write of this request, or may still execute it.
    pub(super) fn may_have_written(&self) -> bool {
        self.in_doubt || self.flight.as_ref().is_some_and(Flight::may_have_written)
    }

    /// The list of leases that has set a watch, once.
    pub(super) const fn take_watch(&mut self) -> Option<CommandId> {
        self.watch.take()
    }

    /// The version of the record from which the last answer was decided.
    pub(super) fn version(&self) -> Option<i32> {
        match &self.known {
            Some(Snapshot::Node(node)) => Some(node.version),
            _ => None,
        }
    }

    pub(super) fn expects(&self, id: CommandId) -> Option<&'static str> {
        self.flight.as_ref()?.expects(id)
    }

    /// Sends what comes next, if nothing is in flight.
    pub(super) fn go(&mut self, wire: &mut Wire<'_>) -> Progress {
        if self.flight.is_some() || !wire.session.connected {
            return Progress::Pending;
        }
        if self.known.is_some() {
            return self.decide(wire);
        }
        self.read(wire);
        Progress::Pending
    }

    /// The connection is lost. What was read must be read again. A write may still be answered.
    pub(super) fn suspended(&mut self) {
        self.watch = None;
        self.lapsed = None;
        if !self.flight.as_ref().is_some_and(Flight::may_have_written) {
            self.flight = None;
        }
    }

    /// The session is over, and with it everything in flight.
    pub(super) fn session_over(&mut self) {
        if self.flight.take().is_some_and(|flight| flight.may_have_written()) {
            self.doubt();
        }
        self.watch = None;
        self.lapsed = None;
    }

    fn read(&mut self, wire: &mut Wire<'_>) {
        let operation = match &self.request.step {
            Step::Update(update) => Some(wire.paths.operation(&update.id)),
            _ => None,
        };
        self.flight = Some(Flight::read(
            wire.paths,
            self.barrier,
            operation,
            self.watches,
            wire.out,
        ));
    }

    /// A write may have been executed: only a read behind a barrier shows it.
    fn doubt(&mut self) {
        self.in_doubt = true;
        self.known = None;
        self.barrier = true;
    }

    /// Decides by the table, and writes the decision.
    fn decide(&mut self, wire: &mut Wire<'_>) -> Progress {
        let Some(snapshot) = &mut self.known else {
            return Progress::Pending;
        };
        if let Snapshot::Node(node) = snapshot {
            let leased = node.is_leased_to(&self.request.attempt);
            match &self.request.step {
                // An earlier write of this request has claimed it. The lease shows in which session.
                Step::Claim(_) if leased => {
                    let lease = wire.paths.lease(&self.request.attempt);
                    self.flight = Some(Flight::lease(lease, wire.out));
                    return Progress::Pending;
                }
                // The lease is over, as it would be after the request.
                Step::Leave | Step::Release if !leased && may_have_run(node, &self.request) => {
                    return Progress::Answered(Answer::Released);
                }
                _ => {}
            }
        }
        let (known, now) = snapshot.known();
        let decision = decide(known, &self.request, now);
        if let (Snapshot::Node(node), Change::Delete) = (&mut *snapshot, &decision.record)
            && let Some(writes) = writes::first_children(wire.paths, node)
        {
            self.flight = Some(Flight::write(wire.paths, writes, false, None, wire.out));
            return Progress::Pending;
        }
        let Some(writes) = writes::of(wire.paths, snapshot, &self.request, &decision) else {
            self.known = None;
            self.read(wire);
            return Progress::Pending;
        };
        if writes.is_empty() {
            return self.answer(decision.answer, wire);
        }
        let record = match decision.record {
            Change::Put(record) => Some(record),
            Change::Nothing | Change::Delete => None,
        };
        let claims = matches!(self.request.step, Step::Claim(_));
        let lease = claims.then(|| wire.paths.lease(&self.request.attempt));
        self.decided = Some((decision.answer, record));
        let parents = self.parents;
        if parents {
            self.parents_made = self.parents_made.saturating_add(1);
        }
        self.flight = Some(Flight::write(wire.paths, writes, parents, lease, wire.out));
        Progress::Pending
    }

    /// The decision changes nothing. That an operation runs without a lease is only certain if the record is still the
    /// same after the list: the operation may have ended between the two reads.
    fn answer(&mut self, answer: Answer, wire: &mut Wire<'_>) -> Progress {
        let about_lease = matches!(
            answer,
            Answer::Indeterminate | Answer::InProgress { left: None } | Answer::Looked(_)
        );
        if let Some(Snapshot::Node(node)) = &self.known
            && about_lease
            && node.has_lapsed()
            && self.lapsed != Some(node.mzxid)
        {
            self.lapsed = Some(node.mzxid);
            self.known = None;
            self.barrier = false;
            self.read(wire);
            return Progress::Pending;
        }
        self.finish(answer)
    }

    /// The answer, corrected by what the client has done before without an answer: it may have ended the claim itself.
    fn finish(&self, answer: Answer) -> Progress {
        let ends = matches!(self.request.step, Step::Release | Step::Leave);
        let answer = match answer {
            Answer::Lost(_) if ends && self.in_doubt => Answer::Released,
            answer => answer,
        };
        Progress::Answered(answer)
    }
}

/// Whether the attempt of the request runs the operation, and does not say that nothing has happened.
fn may_have_run(node: &Node, request: &Asked) -> bool {
    node.record().is_some_and(|record| {
        record.state == State::Running
            && record.attempt == request.attempt
            && (request.step == Step::Leave || record.takeovers > 0)
    })
}

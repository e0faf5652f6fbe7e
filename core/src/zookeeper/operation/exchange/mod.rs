//! One request about an operation, until the server has answered it: the client reads the nodes, decides by the table
//! and writes. If another client has changed the nodes in between, it starts again.
//!
//! ```text
//!             nothing assumed                 nothing to write
//!   begin ─────────────────────▶ read ──────────────────────────▶ answered
//!     │                          ▲  │ decided
//!     │ assumed: no record,      │  ▼
//!     └─ its own claim ────────▶ write ─────────────────────────▶ answered
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

/// The paths of the request's nodes, and the connection.
pub(super) struct Wire<'a> {
    pub(super) paths: &'a Paths,
    pub(super) session: &'a Session,
    pub(super) out: &'a mut Outbox<Request>,
}

/// One request about an operation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Exchange {
    request: Asked,
    /// The nodes on the server, as far as the client knows or assumes; `None`: the client has to read them.
    known: Option<Snapshot>,
    flight: Option<Flight>,
    /// The answer to report if the server executes the write in flight, and the record that this write stores.
    decided: Option<(Answer, Option<Box<Record>>)>,
    /// Whether the server may have executed a write of this request to which the client got no reply.
    in_doubt: bool,
    /// Whether the next read has to see all earlier writes, and so needs a barrier. After a conflict it needs none,
    /// because the reply to the write has shown that the server has current data.
    barrier: bool,
    /// The last transaction of a record that a read has found without its lease.
    lapsed: Option<i64>,
    /// Whether the reads set a watch on the leases.
    watches: bool,
    /// The list request that has set this watch.
    watch: Option<CommandId>,
    /// Whether the directories are missing, and how many times the client has created them.
    parents: bool,
    parents_made: u32,
    conflicts: u32,
    /// Whether the server does not write the record. A leave then only deletes its lease.
    unwritable: bool,
}

/// The progress of a request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// The client waits for a reply.
    Pending,
    /// A request was not executed, or got no reply: call [`Exchange::go`] later.
    Retry(Cause),
    /// The table's answer.
    Answered(Answer),
    /// The claim succeeded.
    Claimed(Box<Own>),
    /// The server refuses the request.
    Refused(Refusal, Cause),
}

impl Exchange {
    /// A new exchange. `known`: the nodes on the server, known or assumed. A wrong assumption costs a round trip.
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
            unwritable: false,
        }
    }

    /// The nodes that a request may assume before the first read.
    pub(super) fn assumed(request: &Asked) -> Option<Snapshot> {
        match &request.step {
            Step::Claim(claim) | Step::Register(claim, _) if claim.token.is_none() => Some(Snapshot::Absent),
            Step::Issue(_) => Some(Snapshot::Absent),
            Step::Update(update) if update.expected == 0 => Some(Snapshot::Absent),
            Step::Update(update) => Some(Snapshot::of_value(update.expected, request.attempt)),
            _ => None,
        }
    }

    /// The first read needs no barrier, because the client only waits for a change of the nodes that it shows.
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

    /// The list of leases that has set a watch. Returned once.
    pub(super) const fn take_watch(&mut self) -> Option<CommandId> {
        self.watch.take()
    }

    /// The version of the record on which the last answer is based.
    pub(super) fn version(&self) -> Option<i32> {
        match &self.known {
            Some(Snapshot::Node(node)) => Some(node.version),
            _ => None,
        }
    }

    pub(super) fn expects(&self, id: CommandId) -> Option<&'static str> {
        self.flight.as_ref()?.expects(id)
    }

    /// Sends the next requests, if none are in flight.
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

    /// The connection is lost. The client must read again. The reply to a write may still arrive.
    pub(super) fn suspended(&mut self) {
        self.watch = None;
        self.lapsed = None;
        if !self.flight.as_ref().is_some_and(Flight::may_have_written) {
            self.flight = None;
        }
    }

    /// The session has ended, so no reply to requests in flight can arrive any more.
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

    /// The server may have executed a write. Only a read after a barrier shows whether it has.
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
                // An earlier write of this request has claimed the operation. The lease shows in which session.
                Step::Claim(_) if leased => {
                    let lease = wire.paths.lease(&self.request.attempt);
                    self.flight = Some(Flight::lease(lease, wire.out));
                    return Progress::Pending;
                }
                // The lease has already ended, so the request has nothing to change.
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
        let Some(mut writes) = writes::of(wire.paths, snapshot, &self.request, &decision) else {
            self.known = None;
            self.read(wire);
            return Progress::Pending;
        };
        if writes.is_empty() {
            return self.answer(decision.answer, wire);
        }
        if self.unwritable {
            writes = writes::end_lease(wire.paths, &self.request.attempt);
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

    /// The decision changes nothing. If the record was running and had no lease, the operation may have ended between
    /// the two reads. So the client reads again, and reports the answer only if the record is still the same.
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

    /// The answer to report. If an earlier write of this request got no reply, that write may have ended the claim, so
    /// a loss then counts as released.
    fn finish(&self, answer: Answer) -> Progress {
        let ends = matches!(self.request.step, Step::Release | Step::Leave);
        let answer = match answer {
            Answer::Lost(_) if ends && self.in_doubt => Answer::Released,
            answer => answer,
        };
        Progress::Answered(answer)
    }
}

/// Whether the attempt of the request runs the operation, and the request is not a release that frees the record.
fn may_have_run(node: &Node, request: &Asked) -> bool {
    node.record().is_some_and(|record| {
        record.state == State::Running
            && record.attempt == request.attempt
            && (request.step == Step::Leave || record.takeovers > 0)
    })
}

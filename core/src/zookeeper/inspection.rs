//! Inspection of a lock: lists holders and waiters, requests the lock from a contender (revocation), or deletes a
//! contender's node (break).
//!
//! The first round trip lists the contenders; the second one reads all of them (Kazoo reads one after the other). The
//! result was true on the client's server at some moment during the round trips. It is for people and tools: a client
//! must not use it instead of acquiring the lock.
//!
//! `states.rs` has the table of its states and transitions, which is the specification.
//!
//! The caller names the contender to break by its node *and* its fence. So the inspection does not break another
//! contender whose node got the same path before the read. ZooKeeper deletes by path and version, not by fence. Some
//! paths can be used again: the path of a single node, and a path in the layout `plain` after the server has deleted
//! the empty directory. Such a path can get another contender's node between the read and the delete. In other layouts,
//! only the same attempt can have created the node again, with another fence. In `plain`, a name in a list can also be
//! another contender's when the client reads the node. Then the inspection reports that contender with the earlier
//! contender's position, and so possibly with the wrong `holds`.

mod inputs;
mod places;
#[cfg(feature = "states")]
mod states;

use alloc::{collections::VecDeque, string::String, vec::Vec};

use crate::{
    Cause, CommandId, Event, Failure, Fence, Found, Instant, Intent, Misuse, Refusal, SessionId, Timer,
    jitter::Jitter, outbox::Outbox, states::Trail, text::decimal,
};

use super::{
    Verdict, classify_error,
    contender::REVOKE,
    path,
    settings::{Action, InspectionSettings},
    wire::{Answer, Request, Stat, code},
};

use places::{Contender, Holds};

/// One inspection of a lock. [`Intent::Acquire`] begins it. [`Event::Found`] or [`Event::Refused`] ends it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Inspection {
    settings: InspectionSettings,
    out: Outbox<Request>,
    jitter: Jitter,
    session: Option<SessionId>,
    ended: Option<Refusal>,
    phase: Phase,
    trail: Trail<Phase>,
    /// The contender whose delete got no reply.
    in_doubt: Option<Found>,
    failures: u32,
}

/// The state, with the data that the inspection stores only in that state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Phase {
    Idle,
    Wanted,
    Listing {
        id: CommandId,
        directory: String,
        rest: VecDeque<String>,
        places: Vec<Contender>,
    },
    Reading(Vec<(CommandId, Contender, Option<Found>)>),
    Looking(CommandId),
    Acting(CommandId, Found),
}

impl Inspection {
    /// An inspection that has not begun.
    #[must_use]
    pub const fn new(settings: InspectionSettings, seed: u64) -> Self {
        Self {
            settings,
            out: Outbox::new(),
            jitter: Jitter::new(seed),
            session: None,
            ended: None,
            phase: Phase::Idle,
            trail: Trail::NEW,
            in_doubt: None,
            failures: 0,
        }
    }

    /// Handles an intent of the application: `Acquire` begins the inspection, `Cancel` ends it.
    ///
    /// # Errors
    /// [`Misuse`] for an intent that the present state does not allow. It changes nothing.
    pub fn intent(&mut self, now: Instant, intent: Intent) -> Result<(), Misuse> {
        match (intent, self.is_idle()) {
            (Intent::Acquire(acquire_timeout), true) => {
                self.failures = 0;
                self.in_doubt = None;
                self.out
                    .set_acquire_timeout(now, acquire_timeout, self.settings.answer_within);
                self.go_to(Phase::Wanted);
                match self.ended {
                    Some(reason) => self.refuse(reason, Cause::none()),
                    None => self.begin(),
                }
                Ok(())
            }
            (Intent::Acquire(_), false) => Err(Misuse::Busy),
            (Intent::Cancel, false) => {
                self.refuse(Refusal::Cancelled, Cause::none());
                Ok(())
            }
            (Intent::Cancel, true) => Err(Misuse::NotWaiting),
            (Intent::Extend | Intent::Release | Intent::Downgrade, _) => Err(Misuse::NotHeld),
            (Intent::Complete(_) | Intent::Leave, _) => Err(Misuse::NotAClaim),
        }
    }

    /// Whether no inspection is in progress.
    #[must_use]
    pub const fn is_idle(&self) -> bool {
        matches!(self.phase, Phase::Idle)
    }

    pub(crate) const fn outbox(&mut self) -> &mut Outbox<Request> {
        &mut self.out
    }

    /// Every change of the phase is one of the transitions in `states.rs`.
    fn go_to(&mut self, phase: Phase) {
        self.trail.follow(&phase);
        self.phase = phase;
    }

    fn begin(&mut self) {
        if self.session.is_none() {
            return;
        }
        match &self.settings.action {
            Action::List => {
                if let Some(path) = self.settings.single() {
                    let (shared, holds) = (false, Holds::Yes);
                    self.read(Vec::from([Contender { path, shared, holds }]));
                } else {
                    let directories = self.settings.directories();
                    self.list(directories, Vec::new());
                }
            }
            Action::Break { node, .. } | Action::Revoke { node, .. } => {
                let (path, watch) = (node.clone(), false);
                let id = self.out.command(Request::Get { path, watch }, None);
                self.go_to(Phase::Looking(id));
            }
        }
    }

    fn list(&mut self, mut rest: VecDeque<String>, places: Vec<Contender>) {
        let Some(directory) = rest.pop_front() else {
            return self.read(places);
        };
        let (path, watch) = (directory.clone(), false);
        let id = self.out.command(Request::Children { path, watch }, None);
        self.go_to(Phase::Listing {
            id,
            directory,
            rest,
            places,
        });
    }

    fn read(&mut self, places: Vec<Contender>) {
        if places.is_empty() {
            return self.found(Vec::new());
        }
        let read = places.into_iter().map(|contender| {
            let (path, watch) = (contender.path.clone(), false);
            (
                self.out.command(Request::Get { path, watch }, None),
                contender,
                None,
            )
        });
        let read = read.collect();
        self.go_to(Phase::Reading(read));
    }

    fn found(&mut self, contenders: Vec<Found>) {
        self.out.stop_all();
        self.go_to(Phase::Idle);
        self.out.event(Event::Found { contenders });
    }

    fn refuse(&mut self, reason: Refusal, cause: Cause) {
        self.out.stop_all();
        self.go_to(Phase::Idle);
        self.out.event(Event::Refused { reason, cause });
    }

    /// Starts again: after a pause or, if the connection is lost, after the reconnect.
    fn again(&mut self, now: Instant) {
        self.go_to(Phase::Wanted);
        if self.session.is_some() {
            let wait = self.jitter.backoff(self.failures);
            self.out.set_after(Timer::Retry, now, wait);
        }
        self.failures = self.failures.saturating_add(1);
    }

    fn failed(&mut self, now: Instant, id: CommandId, error: i32, deed: &str) {
        match classify_error(error, id, deed) {
            Verdict::Transient => self.again(now),
            Verdict::Final(reason, cause) => self.refuse(reason, cause),
        }
    }

    fn settle(&mut self, now: Instant, id: CommandId, result: Result<Answer, Failure>) -> Result<(), Misuse> {
        let answer = match result {
            Ok(answer) => answer,
            Err(Failure::Closed) => {
                self.refuse(Refusal::ConnectionClosed, Cause::command(id));
                return Ok(());
            }
            Err(failure @ (Failure::NotSent | Failure::Unknown)) => {
                if failure == Failure::Unknown {
                    self.doubt();
                }
                self.again(now);
                return Ok(());
            }
        };
        match (core::mem::replace(&mut self.phase, Phase::Wanted), answer) {
            (
                Phase::Listing {
                    directory,
                    rest,
                    mut places,
                    ..
                },
                Answer::Children(names),
            ) => {
                places.extend(self.settings.places(&directory, &names));
                self.list(rest, places);
            }
            // No contender has created the directory yet.
            (Phase::Listing { rest, places, .. }, Answer::Error(code::NO_NODE)) => self.list(rest, places),
            (Phase::Reading(mut read), answer @ (Answer::Data { .. } | Answer::Error(code::NO_NODE))) => {
                if let Some(index) = read.iter().position(|(get, ..)| *get == id) {
                    self.one_read(read.get_mut(index), answer);
                }
                read.retain(|(get, _, found)| *get != id || found.is_some());
                self.all_read(read);
            }
            (Phase::Looking(_), Answer::Data { data, stat }) => self.act(&data, stat),
            (Phase::Looking(_), Answer::Error(code::NO_NODE)) => self.gone("it has gone"),
            (Phase::Acting(_, found), Answer::Done) => self.found(Vec::from([found])),
            // After a move, this may be the reply to an earlier request. So the client reads the node again.
            (phase @ Phase::Acting(..), Answer::Error(code::NO_NODE)) => {
                self.phase = phase;
                self.doubt();
                self.again(now);
            }
            (_, Answer::Error(error)) => self.failed(now, id, error, "looking at the lock"),
            (phase, _) => {
                let expected = match phase {
                    Phase::Listing { .. } => "children",
                    Phase::Acting(..) => "done",
                    _ => "data",
                };
                self.again(now);
                return Err(Misuse::WrongReply { id: id.0, expected });
            }
        }
        Ok(())
    }

    fn one_read(&self, read: Option<&mut (CommandId, Contender, Option<Found>)>, answer: Answer) {
        if let (Some((_, contender, found)), Answer::Data { data, stat }) = (read, answer) {
            *found = Some(self.settings.describe(contender, &data, stat));
        }
    }

    fn all_read(&mut self, read: Vec<(CommandId, Contender, Option<Found>)>) {
        if read.iter().any(|(.., found)| found.is_none()) {
            self.go_to(Phase::Reading(read));
            return;
        }
        let mut all: Vec<_> = read
            .into_iter()
            .filter_map(|(_, contender, found)| Some((contender.holds, found?)))
            .collect();
        // The oldest permits are held. A younger one belongs to the first waiter, whose node in the queue is already in
        // the result. The code counts the older permits, because permits are few, and a sort would make the WebAssembly
        // module a fiftieth larger.
        let permits: Vec<Fence> = all
            .iter()
            .filter(|(holds, _)| matches!(holds, Holds::Among(_)))
            .map(|(_, found)| found.fence)
            .collect();
        for (holds, found) in &mut all {
            found.holds = match *holds {
                Holds::Yes => true,
                Holds::No | Holds::Next => false,
                Holds::Among(count) => {
                    let older = permits.iter().filter(|fence| **fence < found.fence).count();
                    u32::try_from(older).is_ok_and(|older| older < count)
                }
            };
        }
        let next = all.iter().find(|(holds, _)| *holds == Holds::Next);
        let next = next.map(|(_, found)| found.session);
        all.retain(|(holds, found)| {
            found.holds || !matches!(holds, Holds::Among(_)) || Some(found.session) != next
        });
        self.found(all.into_iter().map(|(_, found)| found).collect());
    }

    /// The node exists. If it has the expected fence, the client deletes it or writes to it.
    fn act(&mut self, data: &[u8], stat: Stat) {
        let (path, fence) = match &self.settings.action {
            Action::Break { node, fence } | Action::Revoke { node, fence } => (node.clone(), *fence),
            Action::List => return,
        };
        let contender = Contender {
            shared: self.settings.is_shared(path::last_part(&path)),
            path,
            holds: Holds::No,
        };
        let found = self.settings.describe(&contender, data, stat);
        if found.fence != fence {
            return self.gone("another one is there now");
        }
        let path = contender.path;
        let request = match self.settings.action {
            Action::Break { .. } => Request::Delete { path },
            _ => Request::Set {
                path,
                data: REVOKE.into(),
            },
        };
        let id = self.out.command(request, None);
        self.go_to(Phase::Acting(id, found));
    }

    /// The connection is lost, or the client got no reply. The server may have deleted the contender's node.
    fn doubt(&mut self) {
        if let (Action::Break { .. }, Phase::Acting(_, found)) = (&self.settings.action, &self.phase) {
            self.in_doubt = Some(found.clone());
        }
    }

    /// The contender's node does not exist. If an earlier delete of this inspection got no reply, that delete counts as
    /// the reason.
    fn gone(&mut self, why: &str) {
        match self.in_doubt.take() {
            Some(found) => self.found(Vec::from([found])),
            None => self.no_contender(why),
        }
    }

    fn no_contender(&mut self, why: &str) {
        if let Action::Break { node, fence } | Action::Revoke { node, fence } = &self.settings.action {
            let detail = [node, " with fence ", &decimal(fence.0), ": ", why].concat();
            self.refuse(Refusal::NoContender, Cause::detail(detail));
        }
    }

    fn waits_for(&self, id: CommandId) -> bool {
        match &self.phase {
            Phase::Idle | Phase::Wanted => false,
            Phase::Listing { id: waiting, .. } | Phase::Looking(waiting) | Phase::Acting(waiting, _) => {
                *waiting == id
            }
            Phase::Reading(read) => read.iter().any(|(waiting, ..)| *waiting == id),
        }
    }
}

#[cfg(test)]
mod tests;

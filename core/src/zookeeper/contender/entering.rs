//! Getting into the line: create and list in one flight, in any weather.

use alloc::{string::String, vec::Vec};

use crate::{Cause, CommandId, Event, Failure, Instant, Refusal, text::shown};

use super::super::{
    MAKING_A_DIRECTORY, is_transient,
    layout::{Child, Role, SEQUENCE_END},
    line::{self, Place},
    no_directory, path,
    wire::{Answer, CreateMode, Request, code},
};
use super::{
    Contender, Node, Phase, Purpose,
    queued::Queued,
    seat::UNKNOWN,
    setback::{Setback, closed, setback},
    single::Holder,
};

/// A flight that makes the own node and lists the directory, or only lists it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Entering {
    children: Option<(CommandId, Vec<String>)>,
    /// Where a single node is the lock: who has it.
    pub(super) holder: Option<(CommandId, Holder)>,
    pub(super) setback: Setback,
    /// How many flights have found no directory in spite of making it.
    parents_made: u32,
    /// Whether the server has not let us make one of the directories.
    forbidden: bool,
    /// Whether one of the directories was not made for a reason that passes, or nobody knows whether it was.
    postponed: bool,
}

impl Entering {
    /// A list of before a pause proves nothing after it.
    pub(super) fn forget_list(&mut self) {
        self.children = None;
        self.holder = None;
    }
}

/// A directory that vanishes as often as this while it is being made is missing for good: there is no chroot.
const MOST_PARENT_FLIGHTS: u32 = 4;

impl Contender {
    /// Enters the line anew: a new attempt, unless an earlier create of this one may still show.
    pub(super) fn enter(&mut self) {
        self.enter_with(Entering::default());
    }

    fn enter_with(&mut self, entering: Entering) {
        if self.seated {
            return self.lose_seat();
        }
        let parents = entering.parents_made > 0;
        self.phase = Phase::Entering(entering);
        self.own_watch = None;
        if !self.session.connected {
            return;
        }
        // Where names do not say whose a node is, the doubtful one is searched for and deleted, and a new one made behind it.
        if self.doubt && !self.settings.layout.recovers(self.settings.role) {
            self.doubt = false;
            self.disposal.search(self.attempt);
            self.advance_disposal();
        }
        if !self.doubt {
            self.attempt.number = self.attempt.number.saturating_add(1);
        }
        if parents {
            for (path, mode) in self.parents().collect::<Vec<_>>() {
                let data = Vec::new();
                self.send(Purpose::Parent(mode), Request::Create { path, data, mode });
            }
        }
        let (path, data, mode) = self.node_of(&self.attempt);
        self.send(Purpose::Create, Request::Create { path, data, mode });
        self.send_list();
    }

    /// Lists again, because a connection has come back or a neighbour has gone. With a barrier if the server may be another one: a client library
    /// that says what it has seen meets no server that is behind, but one that resumes a session by its number may.
    ///
    /// A deposed leader answers the barrier alone, and its list may be old. That costs time and no more: a state that has our node has all
    /// nodes before it, a node that has gone is waited for, a missing one of ours is made again by a write, and a grant waits for the keeper's proof.
    pub(super) fn list_again(&mut self, barrier: bool) {
        self.phase = Phase::Entering(Entering::default());
        if barrier {
            self.send(
                Purpose::Barrier,
                Request::Sync {
                    path: self.settings.lock_path(),
                },
            );
        }
        self.send_list();
    }

    pub(super) fn send_list(&mut self) -> CommandId {
        let request = if self.is_single() {
            Request::Get {
                path: self.settings.lock_path(),
                // A try waits for nobody: somebody who tries often would leave many watches.
                watch: !self.trying,
            }
        } else {
            Request::Children {
                path: self.settings.directory.clone(),
                // Who waits for permits hears of every one that comes back.
                watch: matches!(self.settings.role, Role::Permit { .. }),
            }
        };
        self.send(self.looking(), request)
    }

    /// Goes on with an entry whose retry is due, or whose connection is back.
    pub(super) fn continue_entering(&mut self) {
        let Phase::Entering(entering) = &self.phase else {
            return;
        };
        let parents_made = entering.parents_made;
        if self.flight_is_out() {
            return;
        }
        if self.node.is_some() {
            self.list_again(true);
        } else {
            self.enter_with(Entering {
                parents_made,
                ..Entering::default()
            });
        }
    }

    pub(super) fn created(&mut self, now: Instant, id: CommandId, result: Result<Answer, Failure>) {
        let moved = self.session.moved;
        // A server matches answers by the session and the request's number: the error may be that of a request of before the move.
        self.doubt |= moved && matches!(result, Ok(Answer::Error(_)));
        let setback = match result {
            Ok(Answer::Created { path, zxid }) => {
                // Where the name does not say whose it is, a look at the node has to.
                let doubtful = moved && self.is_doubtful_name();
                self.node = Some(Node {
                    name: self.name_in(&path).unwrap_or_default().into(),
                    czxid: if doubtful { UNKNOWN } else { zxid },
                });
                Setback::None
            }
            Ok(Answer::Error(code::NO_NODE)) => Setback::NoDirectory,
            // The look behind it says whose it is: ours, perhaps.
            Ok(Answer::Error(code::NODE_EXISTS)) if self.is_single() => Setback::None,
            Ok(Answer::Error(code::NODE_EXISTS)) if moved && !self.is_doubtful_name() => Setback::Retry,
            // Our name has a number of its own, unless the sequence sticks at its end (in the plain layout nothing else in it differs).
            Ok(Answer::Error(code::NODE_EXISTS)) => Setback::Final(
                Refusal::SequenceExhausted,
                Cause::answer(id, "somebody has our number".into()),
            ),
            Ok(Answer::Error(error)) => setback(error, id, "creating our node"),
            Ok(_) | Err(Failure::Unknown) => {
                self.doubt = true;
                Setback::Retry
            }
            Err(Failure::NotSent) => Setback::Retry,
            Err(Failure::Closed) => closed(id),
        };
        match &mut self.phase {
            Phase::Entering(entering) => {
                entering.setback.worsen(setback);
                self.settle(now);
            }
            Phase::Leaving => {
                // It was made some time ago, and nobody has watched it since.
                if let Some(node) = self.take_node() {
                    self.bury_if_there(node);
                }
                if self.doubt {
                    self.disposal.search(self.attempt);
                }
                self.advance_leaving();
            }
            Phase::Idle | Phase::Queued(_) | Phase::First | Phase::Held { .. } => {}
        }
    }

    /// A directory above was made, or was there (`NodeExists`), or is not ours to make (`NoAuth`): the create behind it tells.
    pub(super) fn parent_made(
        &mut self,
        now: Instant,
        id: CommandId,
        mode: CreateMode,
        result: &Result<Answer, Failure>,
    ) {
        match (result, &mut self.phase) {
            (Ok(Answer::Error(code::UNIMPLEMENTED)), _) if mode == CreateMode::Container => {
                self.containers = false;
            }
            (Ok(Answer::Error(error @ code::UNIMPLEMENTED)), Phase::Entering(entering)) => {
                entering.setback.worsen(setback(*error, id, MAKING_A_DIRECTORY));
            }
            (Ok(Answer::Error(code::NO_AUTH)), Phase::Entering(entering)) => entering.forbidden = true,
            (Ok(Answer::Error(error)), Phase::Entering(entering)) if is_transient(*error) => {
                entering.postponed = true;
            }
            (Err(Failure::NotSent | Failure::Unknown), Phase::Entering(entering)) => {
                entering.postponed = true
            }
            _ => {}
        }
        self.settle(now);
    }

    /// The server has caught up, or could not say so.
    pub(super) fn barrier_passed(&mut self, now: Instant, result: &Result<Answer, Failure>) {
        // A list behind a barrier that failed proves nothing: it is not looked at, even if it has come already.
        if !matches!(result, Ok(Answer::Done)) {
            let looking = self.looking();
            self.pending.retain(|(_, purpose)| *purpose != looking);
            if let Phase::Entering(entering) = &mut self.phase {
                entering.setback.worsen(Setback::Retry);
            }
        }
        self.settle(now);
    }

    pub(super) fn listed(&mut self, now: Instant, id: CommandId, result: Result<Answer, Failure>) {
        let outcome = match result {
            Ok(Answer::Children(children)) => Ok(children),
            Ok(Answer::Error(code::NO_NODE)) => Err(Setback::NoDirectory),
            Ok(Answer::Error(error)) => Err(setback(error, id, "listing the lock's directory")),
            Ok(_) | Err(Failure::NotSent | Failure::Unknown) => Err(Setback::Retry),
            Err(Failure::Closed) => Err(closed(id)),
        };
        match &mut self.phase {
            Phase::Entering(entering) => {
                match outcome {
                    Ok(children) => entering.children = Some((id, children)),
                    Err(setback) => entering.setback.worsen(setback),
                }
                self.settle(now);
            }
            Phase::Queued(_) => match outcome {
                Ok(children) => self.find_place(now, id, &children),
                Err(Setback::Final(reason, cause)) => self.refuse(now, reason, cause),
                Err(_) => {
                    self.phase = Phase::Entering(Entering::default());
                    self.retry_later(now);
                }
            },
            Phase::Idle | Phase::First | Phase::Held { .. } | Phase::Leaving => {}
        }
    }

    fn flight_is_out(&self) -> bool {
        self.pending.iter().any(|(_, purpose)| {
            matches!(
                purpose,
                Purpose::Parent(_)
                    | Purpose::Create
                    | Purpose::Barrier
                    | Purpose::List
                    | Purpose::Look
                    | Purpose::Adopt
            )
        })
    }

    /// Draws the conclusion when everything in the flight has been answered.
    pub(super) fn settle(&mut self, now: Instant) {
        if self.flight_is_out() {
            return;
        }
        let Phase::Entering(entering) = &mut self.phase else {
            return;
        };
        let (parents_made, forbidden) = (entering.parents_made, entering.forbidden);
        let postponed = core::mem::take(&mut entering.postponed);
        match core::mem::take(&mut entering.setback) {
            Setback::Final(reason, cause) => self.refuse(now, reason, cause),
            // The node is there, or was: the list's answer is older, or somebody has removed the directory with it.
            Setback::NoDirectory if self.node.is_some() => {
                self.node = None;
                self.retry_later(now);
            }
            // That the directory is missing still says nothing of whether it can be made.
            Setback::NoDirectory if postponed => self.retry_later(now),
            Setback::NoDirectory if parents_made >= MOST_PARENT_FLIGHTS => {
                let detail = [&*shown(self.settings.directory()), " cannot be made"].concat();
                self.refuse(now, no_directory(forbidden), Cause::detail(detail));
            }
            Setback::NoDirectory => {
                let parents_made = parents_made.saturating_add(1);
                self.enter_with(Entering {
                    parents_made,
                    ..Entering::default()
                });
            }
            Setback::Retry => self.retry_later(now),
            Setback::None => {
                if let Some((list, children)) = entering.children.take() {
                    self.failures = 0;
                    self.find_place(now, list, &children);
                } else if let Some((look, holder)) = entering.holder.take() {
                    self.failures = 0;
                    self.find_holder(now, look, holder);
                } else {
                    self.retry_later(now);
                }
            }
        }
    }

    /// Reads the own place from a list.
    pub(super) fn find_place(&mut self, now: Instant, list: CommandId, children: &[String]) {
        let Some(node) = &self.node else {
            return self.retry_later(now);
        };
        let layout = &self.settings.layout;
        if self.doubt
            && let Some(stem) = layout.stem(&self.attempt)
        {
            match line::earliest_twin(children, layout, &stem) {
                Some(twin) if *twin != node.name => return self.look_at_twin(twin),
                _ => self.bury_later_twins(children, &stem),
            }
        }
        let Some(node) = &self.node else { return };
        let (layout, role) = (&self.settings.layout, self.settings.role);
        let own = layout.read(&node.name);
        if let Child::Contender(contender) = own
            && !(0..SEQUENCE_END).contains(&contender.sequence)
        {
            let detail = Cause::detail(node.name.clone());
            return self.refuse(now, Refusal::SequenceExhausted, detail);
        }
        let reading = line::read(children, (&node.name, own), layout, role);
        if let Some(node) = reading.stranger
            && !core::mem::replace(&mut self.mixed, true)
        {
            self.out.event(Event::MixedLayouts { node });
        }
        match reading.place {
            Place::First => self.first(now),
            Place::Behind(behind) if self.trying => {
                self.refuse(now, Refusal::NotAvailable, Cause::detail(behind.neighbour));
            }
            Place::Full(_) if self.trying => self.refuse(now, Refusal::NotAvailable, Cause::none()),
            Place::Behind(behind) => self.stand_behind(now, behind),
            Place::Full(over) => self.wait_for_room(now, list, over),
            Place::Missing => {
                // Perhaps the create was answered with another one's node, and ours has another number.
                self.doubt |= self.session.moved && self.is_doubtful_name();
                self.own_node_missed(list);
            }
        }
    }

    /// Behind somebody: watches the neighbour, and the own node beside it.
    fn stand_behind(&mut self, now: Instant, behind: line::Behind) {
        let known = match &mut self.phase {
            Phase::Queued(queued) => queued.update(&behind),
            _ => false,
        };
        self.placed = true;
        if !known {
            let path = path::child_of(&self.settings.directory, &behind.neighbour);
            let watch = self.send(Purpose::WatchNeighbour, Request::Get { path, watch: true });
            self.phase = Phase::Queued(Queued::behind(behind, watch));
        }
        self.await_turn(now);
        self.watch_own();
    }

    /// All permits are taken: the list is watched. Only the head of the semaphore's line gets here, so a permit that comes back wakes one.
    fn wait_for_room(&mut self, now: Instant, list: CommandId, over: u32) {
        self.placed = true;
        match &mut self.phase {
            Phase::Queued(queued) => queued.watch_room(list, over),
            _ => self.phase = Phase::Queued(Queued::full(list, over)),
        }
        self.await_turn(now);
        self.watch_own();
        if self.stale == Some(list) {
            self.watch_fired_for_room();
        }
    }
}

//! Getting into the line: create and list in one flight, in any weather.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};

use crate::{Cause, CommandId, Failure, Instant, Refusal};

use super::super::{
    Verdict, judge,
    line::{self, Place},
    name::{self, Child},
    wire::{Answer, CreateMode, Request, code},
};
use super::{Mutex, Node, Phase, Purpose, queued::Queued};

/// A flight that makes the own node and lists the directory, or only lists it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Entering {
    children: Option<Vec<String>>,
    pub(super) setback: Setback,
    /// How many flights have found no directory in spite of making it.
    parents_made: u32,
}

impl Entering {
    /// A list of before a pause proves nothing after it.
    pub(super) fn forget_list(&mut self) {
        self.children = None;
    }
}

/// The worst that has happened to a flight.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum Setback {
    #[default]
    None,
    /// Something was not executed, or not answered.
    Retry,
    /// The directory does not exist.
    NoDirectory,
    /// It will not work.
    Final(Refusal, Cause),
}

impl Setback {
    pub(super) fn worsen(&mut self, other: Self) {
        let keep = match (&*self, &other) {
            (Self::Final(..), _) => true,
            (Self::NoDirectory, other) => !matches!(other, Self::Final(..)),
            (Self::Retry, other) => matches!(other, Self::None),
            (Self::None, _) => false,
        };
        if !keep {
            *self = other;
        }
    }
}

/// A directory that vanishes as often as this while it is being made is missing for good: there is no chroot.
const MOST_PARENT_FLIGHTS: u32 = 4;

impl Mutex {
    /// Enters the line anew: a new attempt, unless an earlier create of this one may still show.
    pub(super) fn enter(&mut self) {
        self.enter_with(Entering::default());
    }

    fn enter_with(&mut self, entering: Entering) {
        let parents = entering.parents_made > 0;
        self.phase = Phase::Entering(entering);
        self.own_watch = None;
        if !self.session.connected {
            return;
        }
        if !self.doubt {
            self.attempt.number = self.attempt.number.saturating_add(1);
        }
        if parents {
            let mode = if self.containers {
                CreateMode::Container
            } else {
                CreateMode::Persistent
            };
            for path in name::ancestors(self.settings.directory()) {
                self.send(
                    Purpose::Parent,
                    Request::Create {
                        path,
                        data: Vec::new(),
                        mode,
                    },
                );
            }
        }
        let path = name::child_of(self.settings.directory(), &self.own_prefix());
        let data = self.attempt.to_string().into_bytes();
        self.send(
            Purpose::Create,
            Request::Create {
                path,
                data,
                mode: CreateMode::EphemeralSequential,
            },
        );
        self.send_list();
    }

    /// Lists again, because a connection has come back or a neighbour has gone. With a barrier if the server may be another one.
    pub(super) fn list_again(&mut self, barrier: bool) {
        self.phase = Phase::Entering(Entering::default());
        if barrier {
            self.send(
                Purpose::Barrier,
                Request::Sync {
                    path: self.settings.directory().into(),
                },
            );
        }
        self.send_list();
    }

    pub(super) fn send_list(&mut self) {
        self.send(
            Purpose::List,
            Request::Children {
                path: self.settings.directory().into(),
                watch: false,
            },
        );
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
        let setback = match result {
            Ok(Answer::Created { path, zxid }) => {
                self.node = Some(Node {
                    name: name::last_part(&path).into(),
                    czxid: zxid,
                });
                Setback::None
            }
            Ok(Answer::Error(code::NO_NODE)) => Setback::NoDirectory,
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
            Phase::Leaving { .. } => {
                if let Some(node) = self.node.take() {
                    self.disposal.bury(node.name);
                } else if self.doubt {
                    self.disposal.search();
                }
                self.advance_leaving();
            }
            Phase::Idle | Phase::Queued(_) | Phase::First | Phase::Held { .. } => {}
        }
    }

    /// A directory above was made, or was there (`NodeExists`), or is not ours to make (`NoAuth`): the create behind it tells.
    pub(super) fn parent_made(&mut self, now: Instant, result: &Result<Answer, Failure>) {
        if matches!(result, Ok(Answer::Error(code::UNIMPLEMENTED))) {
            self.containers = false;
        }
        self.settle(now);
    }

    /// The server has caught up, or could not say so.
    pub(super) fn barrier_passed(&mut self, now: Instant, result: &Result<Answer, Failure>) {
        // A list behind a barrier that failed proves nothing: it is not looked at, even if it has come already.
        if !matches!(result, Ok(Answer::Done)) {
            self.pending.retain(|(_, purpose)| *purpose != Purpose::List);
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
                    Ok(children) => entering.children = Some(children),
                    Err(setback) => entering.setback.worsen(setback),
                }
                self.settle(now);
            }
            Phase::Queued(_) => match outcome {
                Ok(children) => self.find_place(now, &children),
                Err(Setback::Final(reason, cause)) => self.refuse(reason, cause),
                Err(_) => {
                    self.phase = Phase::Entering(Entering::default());
                    self.retry_later(now);
                }
            },
            Phase::Idle | Phase::First | Phase::Held { .. } | Phase::Leaving { .. } => {}
        }
    }

    fn flight_is_out(&self) -> bool {
        self.pending.iter().any(|(_, purpose)| {
            matches!(
                purpose,
                Purpose::Parent | Purpose::Create | Purpose::Barrier | Purpose::List | Purpose::Adopt
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
        let parents_made = entering.parents_made;
        match core::mem::take(&mut entering.setback) {
            Setback::Final(reason, cause) => self.refuse(reason, cause),
            // The node is there, or was: the list's answer is older, or somebody has removed the directory with it.
            Setback::NoDirectory if self.node.is_some() => {
                self.node = None;
                self.retry_later(now);
            }
            Setback::NoDirectory if parents_made >= MOST_PARENT_FLIGHTS => {
                let detail = alloc::format!("{} cannot be made", self.settings.directory());
                self.refuse(Refusal::NoParent, Cause::detail(detail));
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
                if let Some(children) = entering.children.take() {
                    self.failures = 0;
                    self.find_place(now, &children);
                } else {
                    self.retry_later(now);
                }
            }
        }
    }

    /// Reads the own place from a list.
    pub(super) fn find_place(&mut self, now: Instant, children: &[String]) {
        let Some(node) = &self.node else {
            return self.retry_later(now);
        };
        if self.doubt {
            match line::earliest_twin(children, &self.own_prefix()) {
                Some(twin) if *twin != node.name => return self.look_at_twin(twin),
                _ => self.bury_later_twins(children),
            }
        }
        let Some(node) = &self.node else { return };
        if let Child::Contender(sequence) = name::read(&node.name)
            && !(0..name::SEQUENCE_END).contains(&sequence)
        {
            let detail = Cause::detail(node.name.clone());
            return self.refuse(Refusal::SequenceExhausted, detail);
        }
        match line::place(children, &node.name) {
            Place::First => self.first(now),
            Place::Behind(behind) if self.trying => {
                self.refuse(Refusal::NotAvailable, Cause::detail(behind.neighbour));
            }
            Place::Behind(behind) => self.stand_behind(behind),
            Place::Mixed(child) => self.refuse(Refusal::MixedLayouts, Cause::detail(child)),
            Place::Missing => self.own_node_gone(None),
        }
    }

    /// Behind somebody: watches the neighbour, and the own node beside it.
    fn stand_behind(&mut self, behind: line::Behind) {
        let known = match &mut self.phase {
            Phase::Queued(queued) => queued.update(&behind),
            _ => false,
        };
        self.placed = true;
        if !known {
            let path = name::child_of(self.settings.directory(), &behind.neighbour);
            let watch = self.send(Purpose::WatchNeighbour, Request::Get { path, watch: true });
            self.phase = Phase::Queued(Queued::new(behind, watch));
        }
        self.announce_place();
        self.watch_own();
    }
}

pub(super) fn setback(error: i32, id: CommandId, deed: &str) -> Setback {
    match judge(error, id, deed) {
        Verdict::Transient => Setback::Retry,
        Verdict::Final(refusal, cause) => Setback::Final(refusal, cause),
    }
}

pub(super) fn closed(id: CommandId) -> Setback {
    Setback::Final(Refusal::ConnectionClosed, Cause::command(id))
}

//! Entering the queue: the client creates its node and lists the directory in one round trip, and recovers from every
//! fault.

use alloc::{string::String, vec::Vec};

use crate::{Cause, CommandId, Event, Failure, Instant, Refusal, text::shown};

use super::super::{
    MAKING_A_DIRECTORY,
    layout::{Child, Role, SEQUENCE_END},
    parents::Parents,
    setback::{Setback, closed, setback},
    wait_queue::{self, Place},
    wire::{Answer, CreateMode, Request, code},
};
use super::{Contender, Node, Phase, Purpose, single::Holder};

/// A group of requests that creates the contender's node and lists the directory, or only lists it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Entering {
    children: Option<(CommandId, Vec<String>)>,
    /// The holder of a single node.
    pub(super) holder: Option<(CommandId, Holder)>,
    pub(super) setback: Setback,
    /// How often the directory was missing although the client had created it.
    parents_made: u32,
    parents: Parents,
}

impl Entering {
    /// A list from before a pause proves nothing after it.
    pub(super) fn forget_list(&mut self) {
        self.children = None;
        self.holder = None;
    }
}

/// If the directory is still missing after this number of creations, the acquire fails: the chroot does not exist.
const MOST_PARENT_FLIGHTS: u32 = 4;

impl Contender {
    /// Enters the queue: with a new attempt, unless a node of this attempt may still appear.
    pub(super) fn enter(&mut self) {
        self.enter_with(Entering::default());
    }

    fn enter_with(&mut self, entering: Entering) {
        if self.acquire.pre_enqueued {
            return self.lose_place();
        }
        let parents = entering.parents_made > 0;
        self.go_to(Phase::Entering(entering));
        self.own.watch = None;
        if !self.session.connected {
            return;
        }
        // In this layout, the client cannot keep the node of a create that got no reply. So it searches for that node
        // and deletes it, and creates a new one.
        if self.own.in_doubt && !self.settings.layout.recovers(self.settings.role) {
            self.own.in_doubt = false;
            self.cleanup.search(self.attempt);
            self.advance_cleanup();
        }
        if !self.own.in_doubt {
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

    /// Lists again, after a reconnect or after the predecessor's deletion. The barrier is needed if the client may be
    /// connected to another server, which may have older data. Some client libraries send the last transaction that
    /// they have seen, and a server with older data refuses their connection. A library that resumes a session only by
    /// its number can be connected to such a server.
    ///
    /// A deposed leader answers this barrier (a `sync` alone), and its list may be old. That costs time but is safe. A
    /// list that contains the contender's node contains all nodes before it. If one of them has already been deleted,
    /// the contender only waits longer. If the list does not contain the contender's node, a write creates the node
    /// again. A grant waits for the session's proof.
    pub(super) fn list_again(&mut self, barrier: bool) {
        self.go_to(Phase::Entering(Entering::default()));
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

    /// Lists again after a pause.
    pub(super) fn list_later(&mut self, now: Instant) {
        self.go_to(Phase::Entering(Entering::default()));
        self.retry_later(now);
    }

    pub(super) fn send_list(&mut self) -> CommandId {
        let request = if self.is_single() {
            Request::Get {
                path: self.settings.lock_path(),
                // A try does not wait, so it sets no watch: frequent tries would leave many watches.
                watch: !self.acquire.nonblocking,
            }
        } else {
            Request::Children {
                path: self.settings.directory.clone(),
                // A contender that waits for permits needs a notice of each released permit.
                watch: matches!(self.settings.role, Role::Permit { .. }),
            }
        };
        self.send(self.reading(), request)
    }

    /// Continues an entry when its retry is due or the connection is back.
    pub(super) fn continue_entering(&mut self) {
        let Phase::Entering(entering) = &self.phase else {
            return;
        };
        let parents_made = entering.parents_made;
        if self.flight_is_out() {
            return;
        }
        if self.own.node.is_some() {
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
        // A server assigns replies to requests by the session and the request's number. So the error may be the reply
        // to a request from before the move.
        self.own.in_doubt |= moved && matches!(result, Ok(Answer::Error(_)));
        let setback = match result {
            Ok(Answer::Created { path, zxid }) => {
                // If the name does not show the attempt, the client has to read the node.
                let doubtful = moved && self.is_doubtful_name();
                self.own.in_doubt |= moved && self.is_single();
                self.own.node = Some(Node {
                    name: self.name_in(&path).unwrap_or_default().into(),
                    czxid: if doubtful { Node::UNKNOWN } else { zxid },
                });
                Setback::None
            }
            Ok(Answer::Error(code::NO_NODE)) => Setback::NoDirectory,
            // The node may be this contender's own. The read after the create shows its owner.
            Ok(Answer::Error(code::NODE_EXISTS)) if self.is_single() => Setback::None,
            Ok(Answer::Error(code::NODE_EXISTS)) if moved && !self.is_doubtful_name() => Setback::Retry,
            // The server gives each node a different number, unless the sequence has reached its end. (In the layout
            // `plain`, names differ only in the number.)
            Ok(Answer::Error(code::NODE_EXISTS)) => Setback::Final(
                Refusal::SequenceExhausted,
                Cause::answer(id, "another node has this number".into()),
            ),
            Ok(Answer::Error(error)) => setback(error, id, "creating our node"),
            Ok(_) | Err(Failure::Unknown) => {
                self.own.in_doubt = true;
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
                // The node was created some time ago, and the client has not watched it since.
                self.abandon_node();
                if self.own.in_doubt {
                    self.cleanup.search(self.attempt);
                }
                self.advance_leaving();
            }
            Phase::Idle | Phase::Queued(_) | Phase::First | Phase::Held(_) => {}
        }
    }

    /// The client has created a directory, or the directory existed already (`NodeExists`), or the client may not
    /// create it (`NoAuth`). The reply to the create of the node, which follows, decides.
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
            (_, Phase::Entering(entering)) => entering.parents.made(result),
            _ => {}
        }
        self.settle(now);
    }

    /// Handles the reply to the barrier.
    pub(super) fn barrier_passed(&mut self, now: Instant, result: &Result<Answer, Failure>) {
        // A list after a failed barrier proves nothing. The client ignores it, even if it has already arrived.
        if !matches!(result, Ok(Answer::Done)) {
            let reading = self.reading();
            self.pending.retain(|(_, purpose)| *purpose != reading);
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
                    self.go_to(Phase::Entering(Entering::default()));
                    self.retry_later(now);
                }
            },
            Phase::Idle | Phase::First | Phase::Held(_) | Phase::Leaving => {}
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

    /// Decides on the next step, when the server has answered all requests of the group.
    pub(super) fn settle(&mut self, now: Instant) {
        if self.flight_is_out() {
            return;
        }
        let Phase::Entering(entering) = &mut self.phase else {
            return;
        };
        let parents_made = entering.parents_made;
        let parents = core::mem::take(&mut entering.parents);
        match core::mem::take(&mut entering.setback) {
            Setback::Final(reason, cause) => self.refuse(now, reason, cause),
            // The list is older than the node, or another client has removed the directory with the node.
            Setback::NoDirectory if self.own.node.is_some() => {
                self.abandon_node();
                self.advance_cleanup();
                self.retry_later(now);
            }
            // A temporary fault has prevented the create of the directory. A retry may succeed.
            Setback::NoDirectory if parents.postponed => self.retry_later(now),
            Setback::NoDirectory if parents_made >= MOST_PARENT_FLIGHTS => {
                let (reason, cause) = parents.refusal(&shown(self.settings.directory()));
                self.refuse(now, reason, cause);
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
                    self.acquire.failures = 0;
                    self.find_place(now, list, &children);
                } else if let Some((look, holder)) = entering.holder.take() {
                    self.acquire.failures = 0;
                    self.find_holder(now, look, holder);
                } else {
                    self.retry_later(now);
                }
            }
        }
    }

    /// Finds the contender's place in a list.
    pub(super) fn find_place(&mut self, now: Instant, list: CommandId, children: &[String]) {
        let Some(node) = &self.own.node else {
            return self.retry_later(now);
        };
        let layout = &self.settings.layout;
        if self.own.in_doubt
            && let Some(stem) = layout.stem(&self.attempt)
        {
            match wait_queue::earliest_of_attempt(children, layout, &stem) {
                Some(duplicate) if *duplicate != node.name => return self.look_at_duplicate(duplicate),
                Some(_) => self.delete_later_duplicates(children, &stem),
                None => {} // A list without the contender's node may be older than its duplicates, too.
            }
        }
        let Some(node) = &self.own.node else { return };
        let (layout, role) = (&self.settings.layout, self.settings.role);
        let own = layout.read(&node.name);
        if let Child::Contender(contender) = own
            && !(0..SEQUENCE_END).contains(&contender.sequence)
        {
            let detail = Cause::detail(node.name.clone());
            return self.refuse(now, Refusal::SequenceExhausted, detail);
        }
        let reading = wait_queue::read(children, (&node.name, own), layout, role);
        if let Some(node) = reading.foreign
            && !core::mem::replace(&mut self.acquire.mixed, true)
        {
            self.out.event(Event::MixedLayouts { node });
        }
        match reading.place {
            Place::First => self.first(now),
            Place::Behind(behind) if self.acquire.nonblocking => {
                self.refuse(now, Refusal::NotAvailable, Cause::detail(behind.predecessor));
            }
            Place::Full(_) if self.acquire.nonblocking => {
                self.refuse(now, Refusal::NotAvailable, Cause::none())
            }
            Place::Behind(behind) => self.stand_behind(now, behind),
            Place::Full(over) => self.wait_for_permit(now, list, over),
            Place::Missing => {
                // Perhaps the create was answered with another one's node, and ours has another number.
                self.own.in_doubt |= self.session.moved && self.is_doubtful_name();
                self.own_node_missed(list);
            }
        }
    }
}

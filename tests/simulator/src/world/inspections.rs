//! Inspections together with contenders: the data that they read, their allowed changes, and their answers.

use fencepost_core::{CommandId, Event, Refusal, SessionId};

use crate::{
    backend::{Backend, Belongings, Owner, Subject},
    checker::{Aim, Belief, ContenderNode, Mode, Property, Task, Views, name},
    step::Number,
    trace::Trace,
};

use super::World;

/// Within this many session timeouts, every holder has rechecked its node.
const RECHECKED: u32 = 5;

/// The inspections of one client.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Inspections {
    /// The contenders at the requests of the present inspection.
    views: Views,
    /// The tasks of all inspections: a request of a cancelled one may still be pending.
    issued: Vec<Issued>,
    /// The requests of earlier inspections that were still pending when the present one began.
    late: Vec<CommandId>,
    /// Whether a request of the present inspection has broken its target.
    has_broken: bool,
    /// Whether a request of the present inspection has reached a server that cannot write.
    unwritable: bool,
}

impl Inspections {
    /// The inspections after the end of their process, whose requests may still arrive.
    pub(super) fn orphaned(self) -> Self {
        Self {
            issued: self.issued,
            ..Self::default()
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Issued {
    task: Task,
    /// The session of the target, once the target was shown.
    of: Option<SessionId>,
    /// Whether the task is done.
    done: bool,
}

/// The change that a request of an inspection is about to make.
pub(super) struct Doing {
    id: CommandId,
    task: Task,
    there: ContenderNode,
}

impl Doing {
    /// The node to delete, if there is one.
    pub(super) fn to_break(&self) -> Option<&str> {
        match &self.task {
            Task::Break(aim) => Some(&aim.node),
            _ => None,
        }
    }
}

impl<B: Backend, S: Subject<B>> World<B, S> {
    fn task(&self, client: Number) -> Option<&Task> {
        self.clients[usize::from(client)].subject.inspects()
    }

    /// A client has begun its task.
    pub(super) fn begins(&mut self, client: Number) {
        let Some(task) = self.task(client).cloned() else {
            return;
        };
        let one = self.client(client);
        let late = one.requests.iter().map(|sent| sent.id).collect();
        let all = &mut one.inspections;
        all.views = Views::default();
        (all.late, all.has_broken, all.unwritable) = (late, false, false);
        match all.issued.iter_mut().find(|issued| issued.task == task) {
            // The client begins the task again, so it is not done yet.
            Some(issued) => issued.done = false,
            None => all.issued.push(Issued {
                task,
                of: None,
                done: false,
            }),
        }
    }

    /// The change that a client's request is about to make. S5: the inspection has this task, and its target was shown and still exists. The
    /// fence identifies the target. If the target has left, and the same attempt has created its node again under the same name, the session
    /// identifies it. (A reaped directory counts from the start again, and a permit of Kazoo's has no number.) A server that compares decides
    /// itself: `was_shown` checks what it has done.
    pub(super) fn about_to(&mut self, client: Number, id: CommandId, ask: &B::Ask) -> Option<Doing> {
        self.task(client)?;
        let path = B::aims_at(ask)?;
        if B::COMPARES {
            // A node that the request deletes is not shown after it.
            self.look_on(client);
        }
        let there = self.backend.node(self.now, path);
        let all = &self.clients[usize::from(client)].inspections;
        let may = |issued: &&Issued| {
            let right = |there: ContenderNode, aim: &Aim| {
                B::COMPARES || there.fence == aim.fence || there.session == issued.of
            };
            let seen = |aim: &Aim| aim.node == path && (B::COMPARES || issued.of.is_some());
            let at = |aim: &Aim| seen(aim) && there.is_none_or(|there| right(there, aim));
            matches!(issued.task, Task::Break(_)) == B::deletes(ask) && issued.task.aim().is_some_and(at)
        };
        // The client may have inspected one attempt twice, with different fences.
        let exact = |issued: &&&Issued| {
            let aim = issued.task.aim();
            aim.is_some_and(|aim| there.is_some_and(|there| there.fence == aim.fence))
        };
        let fitting: Vec<_> = all.issued.iter().filter(may).collect();
        let Some(&issued) = fitting.iter().find(exact).or(fitting.first()) else {
            self.checker.violated(Property::S5, || {
                let what = B::describe_ask(ask);
                format!(
                    "an inspection of client {} has no task to {what}: {there:?}",
                    name(client)
                )
            });
            return None;
        };
        let task = issued.task.clone();
        there.map(|there| Doing { id, task, there })
    }

    /// A request was executed: records what it has shown, and whether it has made its change.
    pub(super) fn was_shown(&mut self, client: Number, doing: Option<Doing>, before: &Belongings) {
        if self.task(client).is_none() {
            return;
        }
        self.look_on(client);
        let Some(Doing { id, task, there }) = doing else {
            return;
        };
        let now = task.aim().and_then(|aim| self.backend.node(self.now, &aim.node));
        let done = match &task {
            Task::Revoke(_) => now.is_some_and(|now| now.revocation_requested),
            _ => now.is_none(),
        };
        if let (true, Task::Break(aim)) = (done, &task) {
            let (node, fence) = (aim.node.clone(), there.fence);
            // The same attempt may hold with a later fence: it had lost the lock before it received its
            // grant, and acquired again.
            if B::COMPARES && fence != aim.fence {
                self.checker.violated(Property::S5, || {
                    format!(
                        "an inspection of client {} broke {node} with the fence {fence}, and not {aim:?}",
                        name(client)
                    )
                });
            }
            self.broke(&Aim { node, fence }, before);
            let all = &mut self.client(client).inspections;
            all.has_broken |= !all.late.contains(&id);
        }
        let issued = self.client(client).inspections.issued.iter_mut();
        issued
            .filter(|issued| issued.task == task)
            .for_each(|issued| issued.done |= done);
    }

    /// Shows an inspection the contenders on the server.
    fn look_on(&mut self, client: Number) {
        let view = self.backend.shown(self.now, client);
        let unwritable = self.backend.refuses_writes();
        let all = &mut self.client(client).inspections;
        all.unwritable |= unwritable;
        all.views.add(view);
        for issued in &mut all.issued {
            let seen = issued.task.aim().and_then(|aim| all.views.session(aim));
            issued.of = issued.of.or(seen);
        }
    }

    fn broke(&mut self, aim: &Aim, before: &Belongings) {
        self.checker.broke(aim.clone());
        let whose = before.iter().find(|(thing, ..)| *thing == aim.node);
        // A writer that has become a reader has another node, and the same fence.
        if let Some((_, Owner::Client(owner), _)) = whose
            && let Belief::Holds(hold) = self.checker.belief(*owner)
            && let (Mode::Shared, Some(held)) = (hold.mode, hold.fence.filter(|held| *held != aim.fence))
        {
            self.checker.broke(Aim {
                fence: held,
                ..aim.clone()
            });
        }
    }

    /// S9, L3: a client is about to receive the result of its inspection.
    pub(super) fn has_found(&mut self, client: Number, event: &Event) {
        let Some(task) = self.task(client) else {
            return;
        };
        let all = &self.clients[usize::from(client)].inspections;
        let wrong = match (event, task) {
            (Event::Found { contenders }, Task::List) => all.views.error_in_list(contenders),
            (Event::Found { contenders }, Task::Break(aim) | Task::Revoke(aim)) => {
                all.views.error_in_found(aim, contenders)
            }
            (
                Event::Refused {
                    reason: Refusal::NoContender,
                    ..
                },
                Task::Break(aim) | Task::Revoke(aim),
            ) => {
                // A server that compares knows its own changes, unless it has lost data.
                let itself = B::COMPARES && all.has_broken && !self.checker.two_may_hold;
                let itself = itself.then(|| format!("it has broken {aim:?} itself"));
                itself.or_else(|| all.views.error_in_gone(aim))
            }
            (
                Event::Refused {
                    reason: Refusal::ServerError,
                    ..
                },
                _,
            ) if all.unwritable => None,
            (Event::Refused { reason, .. }, _)
                if !matches!(reason, Refusal::Cancelled | Refusal::Unreachable) =>
            {
                Some("nothing refuses it here".into())
            }
            _ => None,
        };
        let is_there = |aim: &Aim| {
            let there = self.backend.node(self.now, &aim.node);
            there.is_some_and(|there| there.fence == aim.fence)
        };
        let written = || {
            all.issued
                .iter()
                .any(|issued| issued.task == *task && issued.done)
        };
        let undone = match (event, task) {
            (Event::Found { .. }, Task::Break(aim)) if is_there(aim) => Some(Property::S9),
            (Event::Found { .. }, Task::Revoke(_)) if !written() => Some(Property::L3),
            _ => None,
        };
        let received = format_args!("client {} received {event:?}", name(client)).to_string();
        if let Some(wrong) = wrong {
            self.checker
                .violated(Property::S9, || format!("{received}: {wrong}"));
        }
        if let Some(property) = undone {
            self.checker
                .violated(property, || format!("{received}, and it has not been done"));
        }
    }

    /// A change of a holder's node that the holder has not received: a revocation request (L3), or a break
    /// (S3).
    fn unreceived(&self, client: Number) -> Option<Property> {
        let Belief::Holds(hold) = self.checker.belief(client) else {
            return None;
        };
        // A server that has lost data may have lost the break. Then the holder still has its lock.
        let returned = self.checker.two_may_hold && self.backend.holds(self.now, client, &hold.attempt);
        if self.checker.is_broken(hold.fence) && !returned {
            return Some(Property::S3);
        }
        let unreceived =
            !hold.revocation_requested && self.backend.is_revocation_requested(client, &hold.attempt);
        unreceived.then_some(Property::L3)
    }

    /// In the recovery phase, holders receive the changes of their nodes within their session timeouts; if a
    /// notice was lost, by a recheck.
    pub(super) fn holders_receive(&mut self, trace: &mut impl Trace<B>) {
        let begin = self.now;
        let receives_by = |world: &Self, client: Number| {
            let lost = world.clients[usize::from(client)].notice_lost;
            let sessions = if lost { RECHECKED } else { 1 };
            begin.plus(world.setup.longest.saturating_mul(sessions))
        };
        let unreceived = |world: &Self| {
            let mut all = world.numbers();
            all.find_map(|client| Some((client, world.unreceived(client)?)))
        };
        while let Some((client, property)) = unreceived(self) {
            if self.now < receives_by(self, client) {
                self.let_time_pass(trace);
                self.let_arrive(trace);
                continue;
            }
            self.checker.violated(property, || {
                format!(
                    "client {} does not receive what was done to its node",
                    name(client)
                )
            });
            return;
        }
    }
}

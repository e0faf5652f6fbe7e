//! Inspections beside contenders: what they see, what they may touch, and what they say of it.

use fencepost_core::{Event, Refusal, SessionId};

use crate::{
    backend::{Backend, Belongings, Owner, Subject},
    checker::{Aim, Belief, Deed, Mode, Placed, Property, Views, name},
    step::Number,
    tape::Tape,
};

use super::World;

/// Within so many times of a session everybody has looked again.
const LOOKED_AGAIN: u32 = 5;

/// What one client's inspections are about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Inspections {
    /// What the present one was shown.
    views: Views,
    /// What all have been told to do: a request of one that was given up may still be on its way.
    told: Vec<Told>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Told {
    deed: Deed,
    /// The session of the contender that is meant, once that was to be seen.
    of: Option<SessionId>,
    /// Whether it has happened.
    done: bool,
}

/// What a request is about to do in the name of an inspection.
pub(super) struct Doing {
    deed: Deed,
    there: Placed,
}

impl Doing {
    /// The node that is to be deleted, if one is.
    pub(super) fn to_break(&self) -> Option<&str> {
        match &self.deed {
            Deed::Break(aim) => Some(&aim.node),
            _ => None,
        }
    }
}

impl<B: Backend, S: Subject<B>> World<B, S> {
    fn deed(&self, client: Number) -> Option<&Deed> {
        self.clients[usize::from(client)].subject.inspects()
    }

    /// A client has begun what it was asked for.
    pub(super) fn begins(&mut self, client: Number) {
        let Some(deed) = self.deed(client).cloned() else {
            return;
        };
        let all = &mut self.client(client).inspections;
        all.views = Views::default();
        match all.told.iter_mut().find(|told| told.deed == deed) {
            // Once more: it has not happened yet.
            Some(told) => told.done = false,
            None => all.told.push(Told {
                deed,
                of: None,
                done: false,
            }),
        }
    }

    /// What a client's request is about to do. S5: it was told to, whom it was told of was to be seen, and is there still: by its fence; or by
    /// its session, if it has left, and the same attempt has made its node anew under the name that it had (a directory that was reaped counts
    /// from the beginning, and a permit of Kazoo's has no number).
    pub(super) fn about_to(&mut self, client: Number, ask: &B::Ask) -> Option<Doing> {
        self.deed(client)?;
        let path = B::aims_at(ask)?;
        let there = self.backend.node(path);
        let all = &self.clients[usize::from(client)].inspections;
        let may = |told: &&Told| {
            let right = |there: Placed, aim: &Aim| there.fence == aim.fence || Some(there.session) == told.of;
            let seen = |aim: &Aim| aim.node == path && told.of.is_some();
            let at = |aim: &Aim| seen(aim) && there.is_none_or(|there| right(there, aim));
            matches!(told.deed, Deed::Break(_)) == B::deletes(ask) && told.deed.aim().is_some_and(at)
        };
        let Some(told) = all.told.iter().find(may) else {
            self.checker.violated(Property::S5, || {
                let what = B::say_ask(ask);
                format!(
                    "an inspection of client {} was not told to {what}: {there:?}",
                    name(client)
                )
            });
            return None;
        };
        let deed = told.deed.clone();
        there.map(|there| Doing { deed, there })
    }

    /// A request was executed: what was to be seen by it, and what has become of what it was about to do.
    pub(super) fn was_shown(&mut self, client: Number, doing: Option<Doing>, before: &Belongings) {
        if self.deed(client).is_none() {
            return;
        }
        let view = self.backend.shown(client);
        let all = &mut self.clients[usize::from(client)].inspections;
        all.views.add(view);
        for told in &mut all.told {
            let seen = told.deed.aim().and_then(|aim| all.views.session(aim));
            told.of = told.of.or(seen);
        }
        let Some(Doing { deed, there }) = doing else {
            return;
        };
        let now = deed.aim().and_then(|aim| self.backend.node(&aim.node));
        let done = match &deed {
            Deed::Revoke(_) => now.is_some_and(|now| now.wanted),
            _ => now.is_none(),
        };
        if let (true, Deed::Break(aim)) = (done, &deed) {
            self.broke(&aim.node, there.fence, before);
        }
        let told = self.client(client).inspections.told.iter_mut();
        told.filter(|told| told.deed == deed)
            .for_each(|told| told.done |= done);
    }

    fn broke(&mut self, node: &str, fence: u64, before: &Belongings) {
        self.checker.broke(fence);
        let whose = before.iter().find(|(thing, ..)| thing == node);
        // A writer that goes on as a reader has another node, and the fence it had.
        if let Some((_, Owner::Client(owner), _)) = whose
            && let Belief::Holds(hold) = self.checker.belief(*owner)
            && let (Mode::Shared, Some(held)) = (hold.mode, hold.fence.filter(|held| *held != fence))
        {
            self.checker.broke(held);
        }
    }

    /// S9, L3: a client is about to hear what its inspection has come to.
    pub(super) fn has_found(&mut self, client: Number, event: &Event) {
        let Some(deed) = self.deed(client) else {
            return;
        };
        let all = &self.clients[usize::from(client)].inspections;
        let wrong = match (event, deed) {
            (Event::Found { contenders }, Deed::List) => all.views.belie(contenders),
            (Event::Found { contenders }, Deed::Break(aim) | Deed::Revoke(aim)) => {
                all.views.belie_found(aim, contenders)
            }
            (
                Event::Refused {
                    reason: Refusal::NoContender,
                    ..
                },
                Deed::Break(aim) | Deed::Revoke(aim),
            ) => all.views.belie_gone(aim),
            (Event::Refused { reason, .. }, _)
                if !matches!(reason, Refusal::Cancelled | Refusal::Unreachable) =>
            {
                Some("nothing refuses it here".into())
            }
            _ => None,
        };
        let is_there = |aim: &Aim| {
            let there = self.backend.node(&aim.node);
            there.is_some_and(|there| there.fence == aim.fence)
        };
        let written = || all.told.iter().any(|told| told.deed == *deed && told.done);
        let undone = match (event, deed) {
            (Event::Found { .. }, Deed::Break(aim)) if is_there(aim) => Some(Property::S9),
            (Event::Found { .. }, Deed::Revoke(_)) if !written() => Some(Property::L3),
            _ => None,
        };
        let said = format_args!("client {} was told {event:?}", name(client)).to_string();
        if let Some(wrong) = wrong {
            self.checker.violated(Property::S9, || format!("{said}: {wrong}"));
        }
        if let Some(property) = undone {
            self.checker
                .violated(property, || format!("{said}, and it has not been done"));
        }
    }

    /// What a holder has not heard yet of its node: a wish for it (L3), or that it was broken (S3).
    fn unheard(&self, client: Number) -> Option<Property> {
        let Belief::Holds(hold) = self.checker.belief(client) else {
            return None;
        };
        if self.checker.is_broken(hold.fence) {
            return Some(Property::S3);
        }
        let unheard = !hold.wanted && self.backend.is_wanted(client, &hold.attempt);
        unheard.then_some(Property::L3)
    }

    /// In the calm, holders hear what was done to their nodes, before their sessions would be over; or they see it when they look again, if a notice
    /// was lost.
    pub(super) fn holders_hear(&mut self, tape: &mut impl Tape<B>) {
        let begin = self.now;
        let hears_by = |world: &Self, client: Number| {
            let lost = world.clients[usize::from(client)].untold;
            let sessions = if lost { LOOKED_AGAIN } else { 1 };
            begin.plus(world.setup.longest.saturating_mul(sessions))
        };
        let unheard = |world: &Self| {
            let mut all = world.numbers();
            all.find_map(|client| Some((client, world.unheard(client)?)))
        };
        while let Some((client, property)) = unheard(self) {
            if self.now < hears_by(self, client) {
                self.let_time_pass(tape);
                self.let_arrive(tape);
                continue;
            }
            self.checker.violated(property, || {
                format!("client {} does not hear what was done to its node", name(client))
            });
            return;
        }
    }
}

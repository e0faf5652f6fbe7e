//! A multi-lock: acquires all of several locks or none, and takes its places in all queues at once.
//!
//! ```text
//!            acquire                 one node in every queue         all are first
//!   Idle ──────────────▶ Enqueuing ─────────────────────▶ Waiting ───────────────▶ Held
//!    ▲                    ▲    ▲                             │                       │ release,
//!    │  outcome not known │    └───────── Restarting ◀───────┤ a place was lost      │ loss
//!    │                    └─────────────────────┘            ▼                       ▼
//!    └──────────────────────────────────────────────────── Leaving ◀─────────────────┘
//! ```
//!
//! The diagram has the usual transitions. `states.rs` has the table of all states and transitions, which is the
//! specification.
//!
//! One transaction creates all nodes. So two multi-locks that share two queues have the same order in both, even if
//! they list the names in different orders: they cannot wait for each other. (A contender that takes one lock after the
//! other, as Curator's `InterProcessMultiLock` does, can still wait for a multi-lock that waits for it.) Each place is
//! a contender like any other. If one place is lost, the client gives up all places and takes new ones. With a new
//! place in only one queue, this multi-lock could wait there for contenders that wait for it in other queues.

mod enqueuing;
mod inputs;
#[cfg(feature = "states")]
mod states;

use alloc::vec::Vec;
use core::mem;

use crate::{
    AcquireTimeout, AttemptId, Cause, CommandId, ContenderId, Event, Fence, Grant, Instant, Intent, Misuse,
    Refusal, SessionId, Timer, jitter::Jitter, outbox::Outbox, states::Trail,
};

use super::{
    Contender, ContenderSettings,
    deferred::Deferred,
    grace::Grace,
    parents::Parents,
    wire::{CreateMode, Request},
};

/// One contender for several locks.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MultiLock {
    out: Outbox<Request>,
    jitter: Jitter,
    attempt: AttemptId,
    /// One place for each name, in the order of the names.
    places: Vec<Place>,
    phase: Phase,
    trail: Trail<Phase>,
    session: Option<SessionId>,
    /// The session, also while it is not connected.
    known: Option<SessionId>,
    ended: Option<Refusal>,
    /// Whether the session has moved to another connection. Then a reply may belong to a request from before the move.
    moved: bool,
    /// The transaction in flight. The next field has the creates of directories that the client sent before it.
    enqueuing: Option<CommandId>,
    parents: Vec<(CommandId, CreateMode)>,
    parent_answers: Parents,
    /// How often a directory was missing although the client had created it.
    parents_made: u32,
    failures: u32,
    nonblocking: bool,
    /// The last event of an acquire or a grant, which the multi-lock reports when the cleanup of all places is done.
    deferred: Deferred,
    reported: Option<u32>,
    /// Whether the multi-lock has reported a revocation request for one of its locks.
    revocation_requested: bool,
    grace: Grace,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Place {
    contender: Contender,
    grant: Option<Grant>,
    suspended: bool,
    ahead: u32,
}

/// The state: `states.rs` describes each state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Phase {
    Idle,
    Enqueuing,
    Waiting,
    Restarting,
    Held { suspended: bool },
    Leaving,
}

impl MultiLock {
    /// A multi-lock without an acquire.
    #[must_use]
    pub fn new(settings: Vec<ContenderSettings>, contender: ContenderId, seed: u64) -> Self {
        let places = settings.into_iter().map(|settings| Place {
            contender: Contender::component(settings, contender, seed),
            grant: None,
            suspended: false,
            ahead: 0,
        });
        Self {
            out: Outbox::new(),
            jitter: Jitter::new(seed),
            attempt: AttemptId { contender, number: 0 },
            places: places.collect(),
            phase: Phase::Idle,
            trail: Trail::NEW,
            session: None,
            ended: None,
            known: None,
            moved: false,
            enqueuing: None,
            parents: Vec::new(),
            parent_answers: Parents::default(),
            parents_made: 0,
            failures: 0,
            nonblocking: false,
            deferred: Deferred::NOTHING,
            reported: None,
            revocation_requested: false,
            grace: Grace::UNUSED,
        }
    }

    /// Handles an intent of the application.
    ///
    /// # Errors
    /// [`Misuse`] for an intent that the present state does not allow. It changes nothing.
    pub fn intent(&mut self, now: Instant, intent: Intent) -> Result<(), Misuse> {
        match (intent, self.phase) {
            (Intent::Acquire(acquire_timeout), Phase::Idle) => self.acquire(now, acquire_timeout),
            (Intent::Acquire(_), _) => return Err(Misuse::Busy),
            // The hub has requested a probe. Its confirmation extends all grants.
            (Intent::Extend, Phase::Held { .. }) => {}
            (Intent::Release, Phase::Held { .. }) => {
                self.go_to(Phase::Leaving);
                self.deferred.release();
                self.withdraw(now);
            }
            (Intent::Downgrade, Phase::Held { .. }) => return Err(Misuse::NotAWriter),
            (Intent::Extend | Intent::Release | Intent::Downgrade, _) => return Err(Misuse::NotHeld),
            (Intent::Complete(_) | Intent::Leave, _) => return Err(Misuse::NotAClaim),
            (Intent::Cancel, Phase::Enqueuing | Phase::Waiting | Phase::Restarting) => {
                self.refuse(now, Refusal::Cancelled, Cause::none());
            }
            (Intent::Cancel, Phase::Leaving) if self.deferred.flush(&mut self.out) => {}
            (Intent::Cancel, _) => return Err(Misuse::NotWaiting),
        }
        self.drain_events(now);
        Ok(())
    }

    /// Whether the multi-lock holds no lock, waits for nothing, and has nothing to clean up.
    #[must_use]
    pub const fn is_idle(&self) -> bool {
        matches!(self.phase, Phase::Idle)
    }

    pub(crate) const fn outbox(&mut self) -> &mut Outbox<Request> {
        &mut self.out
    }

    fn acquire(&mut self, now: Instant, acquire_timeout: AcquireTimeout) {
        self.nonblocking = acquire_timeout == AcquireTimeout::Try;
        self.failures = 0;
        self.reported = None;
        self.revocation_requested = false;
        self.grace = Grace::UNUSED;
        if let Some(place) = self.places.first() {
            let answer_within = place.contender.answer_within();
            self.out.set_acquire_timeout(now, acquire_timeout, answer_within);
        }
        self.go_to(Phase::Enqueuing);
        self.parents_made = 0;
        match self.ended {
            Some(reason) => self.refuse(now, reason, Cause::none()),
            None => self.enqueue(false),
        }
    }

    /// Every change of the phase is one of the transitions in `states.rs`.
    fn go_to(&mut self, phase: Phase) {
        self.trail.follow(&phase);
        self.phase = phase;
    }

    /// Ends an acquire that has failed. The multi-lock reports the refusal after the cleanup, or at once if it cannot
    /// expect the server to answer soon.
    fn refuse(&mut self, now: Instant, reason: Refusal, cause: Cause) {
        self.deferred.refuse(now, reason, cause, &mut self.out);
        self.leave(now);
        if self.session.is_none() || self.enqueuing.is_some() {
            self.deferred.flush(&mut self.out);
        }
    }

    fn leave(&mut self, now: Instant) {
        self.out.stop_all_but_acquire_timeout();
        self.go_to(Phase::Leaving);
        self.withdraw(now);
    }

    /// Gives up every place: releases it or cancels its acquire.
    fn withdraw(&mut self, now: Instant) {
        for place in &mut self.places {
            place.grant = None;
            place.suspended = false;
            place
                .contender
                .with_command_ids(&mut self.out, |contender| contender.give_up(now));
        }
    }

    /// Handles the events of all places until none is left.
    fn drain_events(&mut self, now: Instant) {
        loop {
            let mut events = self.places.iter_mut().enumerate().filter_map(|(index, place)| {
                let event = place.contender.outbox().take_event()?;
                Some((index, event))
            });
            let Some((index, event)) = events.next() else {
                break;
            };
            self.on_place_event(now, index, event);
        }
        // This comes after the loop, because an input that grants one place may also extend the grant of another place.
        if self.phase == Phase::Waiting && self.grant_if_all(now) {
            return self.drain_events(now);
        }
        let at_rest = self.enqueuing.is_none() && self.places.iter().all(|place| place.contender.is_idle());
        match self.phase {
            Phase::Restarting if at_rest && self.out.at(Timer::Retry).is_none() => match self.complaint() {
                None => {
                    self.go_to(Phase::Enqueuing);
                    self.enqueue(self.parents_made > 0);
                }
                // The server refuses to delete a node. It would stay ahead of every new place of this multi-lock, and
                // block it without end.
                Some((reason, cause)) => {
                    self.refuse(now, reason, cause);
                    self.drain_events(now);
                }
            },
            Phase::Leaving if at_rest => {
                self.go_to(Phase::Idle);
                self.out.stop_all();
                let complaint = self.complaint();
                self.deferred.report(complaint, &mut self.out);
            }
            _ => {}
        }
    }

    fn complaint(&mut self) -> Option<(Refusal, Cause)> {
        let mut first = None;
        // The loop takes the complaints of all places, because the next acquire would report a remaining one.
        for place in &mut self.places {
            let complaint = place.contender.complaint();
            if first.is_none() {
                first = complaint;
            }
        }
        first
    }

    fn on_place_event(&mut self, now: Instant, index: usize, event: Event) {
        let Some(place) = self.places.get_mut(index) else {
            return;
        };
        match (self.phase, event) {
            (Phase::Waiting, Event::Acquired { grant }) => place.grant = Some(grant),
            (Phase::Waiting, Event::Queued { ahead }) => {
                place.ahead = ahead.unwrap_or_default();
                let most = self.places.iter().map(|place| place.ahead).max();
                if self.reported != most {
                    self.reported = most;
                    self.out.event(Event::Queued { ahead: most });
                }
            }
            (Phase::Waiting, Event::Refused { reason, cause }) => self.refuse(now, reason, cause),
            (Phase::Waiting, Event::Extended { valid_until }) => {
                if let Some(grant) = &mut place.grant {
                    grant.valid_until = valid_until;
                }
            }
            (Phase::Waiting, Event::Suspended) => place.suspended = true,
            (Phase::Waiting, Event::Resumed { valid_until }) => {
                place.suspended = false;
                if let Some(grant) = &mut place.grant {
                    grant.valid_until = valid_until;
                }
            }
            (Phase::Waiting, Event::Lost { .. }) => {
                self.go_to(Phase::Restarting);
                self.withdraw(now);
            }
            (Phase::Held { .. }, event @ Event::Lost { .. }) => {
                self.out.event(event);
                self.leave(now);
            }
            (Phase::Leaving, Event::Lost { reason, cause }) => {
                self.deferred.lose(reason, cause, &mut self.out);
            }
            (Phase::Held { suspended }, Event::Suspended) => {
                place.suspended = true;
                if !suspended {
                    self.go_to(Phase::Held { suspended: true });
                    self.out.event(Event::Suspended);
                }
            }
            (Phase::Held { .. }, Event::Resumed { valid_until }) => {
                place.suspended = false;
                if self.places.iter().all(|place| !place.suspended) {
                    self.go_to(Phase::Held { suspended: false });
                    self.out.event(Event::Resumed { valid_until });
                }
            }
            // One session confirms all places, so the event of the first place is enough.
            (Phase::Held { suspended: false }, event @ Event::Extended { .. }) if index == 0 => {
                self.out.event(event);
            }
            (Phase::Held { .. }, Event::RevokeRequested)
                if mem::replace(&mut self.revocation_requested, true) => {}
            (Phase::Waiting, event @ Event::MixedLayouts { .. })
            | (Phase::Held { .. }, event @ Event::RevokeRequested) => self.out.event(event),
            _ => {}
        }
    }

    /// Grants the multi-lock if all its places are granted. The number of the transaction is the fence of all locks.
    fn grant_if_all(&mut self, now: Instant) -> bool {
        let grants: Option<Vec<Grant>> = self
            .places
            .iter()
            .map(|place| place.grant.filter(|_| !place.suspended))
            .collect();
        let Some(grants) = grants else { return false };
        let fence: Option<Fence> = grants.iter().filter_map(|grant| grant.fence).max();
        let mut valid_until = grants.iter().filter_map(|grant| grant.valid_until).min();
        for place in &mut self.places {
            let longest = place
                .contender
                .with_command_ids(&mut self.out, |contender| contender.begin_hold(now));
            valid_until = valid_until.into_iter().chain(longest).min();
        }
        self.go_to(Phase::Held { suspended: false });
        self.out.stop_all();
        let attempt = self.attempt;
        let grant = Grant {
            attempt,
            fence,
            takeovers: 0,
            valid_until,
        };
        self.out.event(Event::Acquired { grant });
        true
    }
}

#[cfg(test)]
mod tests;

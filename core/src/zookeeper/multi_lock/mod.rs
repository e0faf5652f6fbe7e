//! Many locks or none: a place in every line at once.
//!
//! ```text
//!            acquire                 one node in every line         all are first
//!   Idle ──────────────▶ Enqueuing ─────────────────────▶ Waiting ───────────────▶ Held
//!    ▲                    ▲    ▲                             │                       │ release,
//!    │  outcome not known │    └───────── Restarting ◀───────┤ a place was lost      │ loss
//!    │                    └─────────────────────┘            ▼                       ▼
//!    └──────────────────────────────────────────────────── Leaving ◀─────────────────┘
//! ```
//!
//! The nodes are made in one transaction, so every line has the same order of those who share two of them: nobody who takes many at once can
//! wait for somebody who waits for it, whatever the order of the names. (Who takes one lock after the other, as Curator's `InterProcessMultiLock` does,
//! can still wait for one of ours that waits for it.) Each place is then a contender's like any other. If one is lost, all are given up and taken
//! anew, because a place of its own could have fallen behind in one line only.

mod enqueuing;
mod inputs;

use alloc::vec::Vec;
use core::mem;

use crate::{
    AttemptId, Cause, CommandId, Event, Fence, Grant, Instant, Intent, Misuse, OwnerId, Patience, Refusal,
    SessionId, Timer, jitter::Jitter, outbox::Outbox,
};

use super::grace::Grace;
use super::{
    Contender, ContenderSettings,
    farewell::Farewell,
    wire::{CreateMode, Request},
};

/// One contender for many locks.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MultiLock {
    out: Outbox<Request>,
    jitter: Jitter,
    attempt: AttemptId,
    /// In the order of the names.
    places: Vec<Place>,
    phase: Phase,
    session: Option<SessionId>,
    /// The session, connected or not.
    known: Option<SessionId>,
    ended: Option<Refusal>,
    /// Whether the session has moved to another connection: an answer may be that of a request of before then.
    moved: bool,
    /// The transaction under way, and the parents that are made before it.
    enqueuing: Option<CommandId>,
    parents: Vec<(CommandId, CreateMode)>,
    /// Whether one of them was not ours to make.
    forbidden: bool,
    /// Whether one of them was not made for a reason that passes, or nobody knows whether it was.
    postponed: bool,
    /// How many flights have found no directory in spite of making it.
    parents_made: u32,
    failures: u32,
    trying: bool,
    /// What is said when all places are clear.
    farewell: Farewell,
    told: Option<u32>,
    /// Whether it has been told that somebody wants one of the locks back.
    wanted: bool,
    grace: Grace,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Place {
    contender: Contender,
    grant: Option<Grant>,
    suspended: bool,
    ahead: u32,
}

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
    /// A contender that has not asked for anything yet.
    #[must_use]
    pub fn new(settings: Vec<ContenderSettings>, owner: OwnerId, seed: u64) -> Self {
        let places = settings.into_iter().map(|settings| Place {
            contender: Contender::part(settings, owner, seed),
            grant: None,
            suspended: false,
            ahead: 0,
        });
        Self {
            out: Outbox::new(),
            jitter: Jitter::new(seed),
            attempt: AttemptId { owner, number: 0 },
            places: places.collect(),
            phase: Phase::Idle,
            session: None,
            ended: None,
            known: None,
            moved: false,
            enqueuing: None,
            parents: Vec::new(),
            forbidden: false,
            postponed: false,
            parents_made: 0,
            failures: 0,
            trying: false,
            farewell: Farewell::NOTHING,
            told: None,
            wanted: false,
            grace: Grace::UNUSED,
        }
    }

    /// The application's intents.
    ///
    /// # Errors
    /// [`Misuse`] for one that makes no sense now; nothing has changed then.
    pub fn intent(&mut self, now: Instant, intent: Intent) -> Result<(), Misuse> {
        match (intent, self.phase) {
            (Intent::Acquire(patience), Phase::Idle) => self.acquire(now, patience),
            (Intent::Acquire(_), _) => return Err(Misuse::Busy),
            // The hub has asked the keeper: its confirmation extends all.
            (Intent::Extend, Phase::Held { .. }) => {}
            (Intent::Release, Phase::Held { .. }) => {
                self.phase = Phase::Leaving;
                self.farewell.release();
                self.withdraw(now);
            }
            (Intent::Downgrade, Phase::Held { .. }) => return Err(Misuse::NotAWriter),
            (Intent::Extend | Intent::Release | Intent::Downgrade, _) => return Err(Misuse::NotHeld),
            (Intent::Cancel, Phase::Enqueuing | Phase::Waiting | Phase::Restarting) => {
                self.refuse(now, Refusal::Cancelled, Cause::none());
            }
            (Intent::Cancel, Phase::Leaving) if self.farewell.hurry(&mut self.out) => {}
            (Intent::Cancel, _) => return Err(Misuse::NotWaiting),
        }
        self.heed(now);
        Ok(())
    }

    /// Whether nothing is held, wanted or left to clean up.
    #[must_use]
    pub const fn is_idle(&self) -> bool {
        matches!(self.phase, Phase::Idle)
    }

    pub(crate) const fn outbox(&mut self) -> &mut Outbox<Request> {
        &mut self.out
    }

    fn acquire(&mut self, now: Instant, patience: Patience) {
        self.trying = patience == Patience::Try;
        self.failures = 0;
        self.told = None;
        self.wanted = false;
        self.grace = Grace::UNUSED;
        if let Some(place) = self.places.first() {
            let answer_within = place.contender.answer_within();
            self.out.set_patience(now, patience, answer_within);
        }
        self.phase = Phase::Enqueuing;
        self.parents_made = 0;
        match self.ended {
            Some(reason) => self.refuse(now, reason, Cause::none()),
            None => self.enqueue(false),
        }
    }

    /// The end of an acquire that has come to nothing: told when all is cleaned up, if an answer to that is to be expected.
    fn refuse(&mut self, now: Instant, reason: Refusal, cause: Cause) {
        self.farewell.refuse(now, reason, cause, &mut self.out);
        self.leave(now);
        if self.session.is_none() || self.enqueuing.is_some() {
            self.farewell.hurry(&mut self.out);
        }
    }

    fn leave(&mut self, now: Instant) {
        self.out.stop_all_but_patience();
        self.phase = Phase::Leaving;
        self.withdraw(now);
    }

    /// Gives back every place, held or waited in.
    fn withdraw(&mut self, now: Instant) {
        for place in &mut self.places {
            place.grant = None;
            place.suspended = false;
            place
                .contender
                .lent(&mut self.out, |contender| contender.give_up(now));
        }
    }

    /// Hears what the places have to say, until they have said all.
    fn heed(&mut self, now: Instant) {
        loop {
            let mut said = self.places.iter_mut().enumerate().filter_map(|(index, place)| {
                let event = place.contender.outbox().take_event()?;
                Some((index, event))
            });
            let Some((index, event)) = said.next() else { break };
            self.place_says(now, index, event);
        }
        // Only now: what grants one place may make another's last longer.
        if self.phase == Phase::Waiting && self.grant_if_all(now) {
            return self.heed(now);
        }
        let at_rest = self.enqueuing.is_none() && self.places.iter().all(|place| place.contender.is_idle());
        match self.phase {
            Phase::Restarting if at_rest && self.out.at(Timer::Retry).is_none() => match self.complaint() {
                None => {
                    self.phase = Phase::Enqueuing;
                    self.enqueue(self.parents_made > 0);
                }
                // It stays before us: nobody would ever make way.
                Some((reason, cause)) => {
                    self.refuse(now, reason, cause);
                    self.heed(now);
                }
            },
            Phase::Leaving if at_rest => {
                self.phase = Phase::Idle;
                self.out.stop_all();
                let complaint = self.complaint();
                self.farewell.say(complaint, &mut self.out);
            }
            _ => {}
        }
    }

    fn complaint(&mut self) -> Option<(Refusal, Cause)> {
        let mut first = None;
        // All are heard: what is left would be told of the next acquire.
        for place in &mut self.places {
            let complaint = place.contender.complaint();
            if first.is_none() {
                first = complaint;
            }
        }
        first
    }

    fn place_says(&mut self, now: Instant, index: usize, event: Event) {
        let Some(place) = self.places.get_mut(index) else {
            return;
        };
        match (self.phase, event) {
            (Phase::Waiting, Event::Acquired { grant }) => place.grant = Some(grant),
            (Phase::Waiting, Event::Queued { ahead }) => {
                place.ahead = ahead.unwrap_or_default();
                let most = self.places.iter().map(|place| place.ahead).max();
                if self.told != most {
                    self.told = most;
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
                self.phase = Phase::Restarting;
                self.withdraw(now);
            }
            (Phase::Held { .. }, event @ Event::Lost { .. }) => {
                self.out.event(event);
                self.leave(now);
            }
            (Phase::Leaving, Event::Lost { reason, cause }) => {
                self.farewell.lose(reason, cause, &mut self.out);
            }
            (Phase::Held { suspended }, Event::Suspended) => {
                place.suspended = true;
                if !suspended {
                    self.phase = Phase::Held { suspended: true };
                    self.out.event(Event::Suspended);
                }
            }
            (Phase::Held { .. }, Event::Resumed { valid_until }) => {
                place.suspended = false;
                if self.places.iter().all(|place| !place.suspended) {
                    self.phase = Phase::Held { suspended: false };
                    self.out.event(Event::Resumed { valid_until });
                }
            }
            // One session confirms all.
            (Phase::Held { suspended: false }, event @ Event::Extended { .. }) if index == 0 => {
                self.out.event(event);
            }
            (Phase::Held { .. }, Event::RevokeRequested) if mem::replace(&mut self.wanted, true) => {}
            (Phase::Waiting, event @ Event::MixedLayouts { .. })
            | (Phase::Held { .. }, event @ Event::RevokeRequested) => self.out.event(event),
            _ => {}
        }
    }

    /// All or none: the transaction's number is the fence of all.
    fn grant_if_all(&mut self, now: Instant) -> bool {
        let grants: Option<Vec<Grant>> = self
            .places
            .iter()
            .map(|place| place.grant.filter(|_| !place.suspended))
            .collect();
        let Some(grants) = grants else { return false };
        let fence: Option<Fence> = grants.iter().filter_map(|grant| grant.fence).max();
        let valid_until = grants.iter().filter_map(|grant| grant.valid_until).min();
        self.phase = Phase::Held { suspended: false };
        self.out.stop_all();
        let attempt = self.attempt;
        let grant = Grant {
            attempt,
            fence,
            valid_until,
        };
        self.out.event(Event::Acquired { grant });
        for place in &mut self.places {
            place
                .contender
                .lent(&mut self.out, |contender| contender.hold(now));
        }
        true
    }
}

//! One grant of an owner, and its holds.

use alloc::{collections::VecDeque, string::String, vec::Vec};
use core::mem;

use crate::{Event, Grant, Instant, Intent, Key, Misuse, states::Trail};

use super::{Mode, Ownership, Plan, Reentry};

/// A grant that an owner waits for or holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct SharedGrant {
    pub(super) ownership: Ownership,
    pub(super) phase: Phase,
    pub(super) trail: Trail<Phase>,
    pub(super) holds: Vec<Hold>,
    /// Whether other owners may read: the grant is a reader's grant, or is becoming one.
    pub(super) shared: bool,
    /// The hold whose caller waits for the machine's downgrade.
    downgrade: Option<Downgrade>,
    /// Whether the application has closed the machine's key.
    pub(super) closed: bool,
}

/// One acquire of the owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Hold {
    pub(super) key: Key,
    pub(super) mode: Mode,
}

/// The state, with the data that the grant stores only in that state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Phase {
    Waiting {
        /// See [`Event::MixedLayouts`].
        foreign: Option<String>,
    },
    Held(Present),
    Leaving,
}

/// The present condition of a grant. Every new hold gets events that report it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Present {
    grant: Grant,
    suspended: bool,
    revoke_requested: bool,
    foreign: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Downgrade {
    /// The hold, unless the application has closed it.
    key: Option<Key>,
    /// Whether the hold ends with the downgrade.
    releases: bool,
}

impl SharedGrant {
    /// The grant of a machine that begins to contend for an owner.
    pub(super) fn new(machine: Key, reentry: &Reentry) -> Self {
        let mode = reentry.mode;
        Self {
            ownership: reentry.ownership.clone(),
            phase: Phase::Waiting { foreign: None },
            trail: Trail::NEW,
            holds: Vec::from([Hold { key: machine, mode }]),
            shared: mode == Mode::Reader,
            downgrade: None,
            closed: false,
        }
    }

    /// Every change of the phase is one of the transitions in `states.rs`.
    fn go_to(&mut self, phase: Phase) {
        self.trail.follow(&phase);
        self.phase = phase;
    }

    pub(super) const fn is_waiting(&self) -> bool {
        matches!(self.phase, Phase::Waiting { .. })
    }

    /// Whether another hold may join: the lock is held and the grant is still valid. A grant can be invalid although
    /// the machine has not reported its end yet.
    pub(super) fn is_joinable(&self, now: Instant) -> bool {
        match &self.phase {
            Phase::Held(present) => present.grant.is_valid(now),
            Phase::Waiting { .. } | Phase::Leaving => false,
        }
    }

    /// What the hub does for an intent of a hold. `None` if the key is not a hold of this grant.
    pub(super) fn plan(
        &self,
        now: Instant,
        key: Key,
        machine: Key,
        intent: &Intent,
    ) -> Option<Result<Plan, Misuse>> {
        let hold = self.holds.iter().find(|hold| hold.key == key)?;
        let waiting = self.is_waiting();
        Some(Ok(match (intent, &self.phase) {
            (Intent::Acquire(_), _) => return Some(Err(Misuse::Busy)),
            (Intent::Cancel, _) if waiting => Plan::End(machine),
            (Intent::Release, Phase::Held(present)) if !present.grant.is_valid(now) => Plan::End(machine),
            (Intent::Release, Phase::Held(_)) => self.plan_release(hold, machine),
            (Intent::Downgrade, Phase::Held(_)) if hold.mode != Mode::Writer => {
                return Some(Err(Misuse::NotAWriter));
            }
            (Intent::Downgrade, Phase::Held(_)) if self.others(hold, Mode::Writer) > 0 => Plan::Read(machine),
            (Intent::Downgrade, Phase::Held(_)) => Plan::Downgrade(machine),
            (Intent::Extend | Intent::Release | Intent::Downgrade | Intent::Cancel, _) => Plan::Pass(machine),
            // Claims have no owners, so this is a lock, and its machine rejects the intent.
            (Intent::Complete(_) | Intent::Leave, _) => Plan::Pass(machine),
        }))
    }

    fn plan_release(&self, hold: &Hold, machine: Key) -> Plan {
        if self.holds.len() == 1 {
            Plan::End(machine)
        } else if self.ends_writing(hold) {
            Plan::ReleaseWriter(machine)
        } else {
            Plan::Leave(machine)
        }
    }

    /// Whether the grant becomes a reader's grant when this hold ends.
    pub(super) fn ends_writing(&self, hold: &Hold) -> bool {
        !self.shared
            && hold.mode == Mode::Writer
            && self.others(hold, Mode::Writer) == 0
            && self.others(hold, Mode::Reader) > 0
    }

    fn others(&self, hold: &Hold, mode: Mode) -> usize {
        let others = self.holds.iter().filter(|other| other.key != hold.key);
        others.filter(|other| other.mode == mode).count()
    }

    /// The events that bring a new hold up to date.
    pub(super) fn present(&self) -> impl Iterator<Item = Event> {
        let present = match &self.phase {
            Phase::Held(present) => Some(present),
            Phase::Waiting { .. } | Phase::Leaving => None,
        };
        present
            .into_iter()
            .flat_map(|present| {
                let foreign = present.foreign.clone().map(|node| Event::MixedLayouts { node });
                [
                    foreign,
                    Some(Event::Acquired { grant: present.grant }),
                    present.suspended.then_some(Event::Suspended),
                    present.revoke_requested.then_some(Event::RevokeRequested),
                ]
            })
            .flatten()
    }

    /// The machine has accepted to cancel its acquire, or to release the grant.
    pub(super) fn begin_leaving(&mut self) {
        self.go_to(Phase::Leaving);
    }

    /// The machine has accepted to downgrade the grant. Then the hold ends (`releases`) or becomes a reader's hold.
    pub(super) fn begin_downgrade(&mut self, key: Option<Key>, releases: bool) {
        self.shared = true;
        self.downgrade = Some(Downgrade { key, releases });
    }

    pub(super) fn set_mode(&mut self, key: Key, mode: Mode) {
        if let Some(hold) = self.holds.iter_mut().find(|hold| hold.key == key) {
            hold.mode = mode;
        }
    }

    /// The application has closed the key of a hold whose downgrade is in progress.
    pub(super) fn forget(&mut self, key: Key) {
        if let Some(downgrade) = &mut self.downgrade
            && downgrade.key == Some(key)
        {
            downgrade.key = None;
        }
    }

    /// Queues an event of the machine for the holds that it concerns. Returns whether the grant has ended.
    pub(super) fn on_event(&mut self, event: Event, events: &mut VecDeque<(Key, Event)>) -> bool {
        let over = self.ends_with(&event);
        match (&mut self.phase, &event) {
            (Phase::Waiting { foreign }, Event::Acquired { grant }) => {
                let present = Present {
                    grant: *grant,
                    suspended: false,
                    revoke_requested: false,
                    foreign: mem::take(foreign),
                };
                self.go_to(Phase::Held(present));
            }
            (Phase::Waiting { foreign }, Event::MixedLayouts { node }) => *foreign = Some(node.clone()),
            (Phase::Held(present), event) => {
                present.on_event(event);
                if matches!(event, Event::Downgraded | Event::Refused { .. }) {
                    self.downgraded(&event.clone(), events);
                    return false;
                }
            }
            _ => {}
        }
        if over {
            // A hold that waits for a downgrade in order to end now ends with the grant.
            let releasing = self.downgrade.take().filter(|downgrade| downgrade.releases);
            let releasing = releasing.and_then(|downgrade| downgrade.key);
            events.extend(releasing.map(|key| (key, event.clone())));
        }
        for hold in &self.holds {
            events.push_back((hold.key, event.clone()));
        }
        over
    }

    /// Whether this is the last event of this grant.
    const fn ends_with(&self, event: &Event) -> bool {
        match event {
            Event::Released | Event::Lost { .. } => true,
            // The server has refused a downgrade: the lock is still held.
            Event::Refused { .. } => !matches!(self.phase, Phase::Held(_)),
            _ => false,
        }
    }

    /// The server has carried out or refused the machine's downgrade.
    fn downgraded(&mut self, event: &Event, events: &mut VecDeque<(Key, Event)>) {
        let Some(Downgrade { key, releases }) = self.downgrade.take() else {
            return;
        };
        let done = *event == Event::Downgraded;
        self.shared = done;
        let Some(key) = key else { return };
        if !done && !releases {
            self.set_mode(key, Mode::Writer);
        }
        let event = if done && releases { &Event::Released } else { event };
        events.push_back((key, event.clone()));
    }
}

impl Present {
    const fn on_event(&mut self, event: &Event) {
        match event {
            Event::Extended { valid_until } => self.grant.valid_until = *valid_until,
            Event::Resumed { valid_until } => {
                self.grant.valid_until = *valid_until;
                self.suspended = false;
            }
            Event::Suspended => self.suspended = true,
            Event::RevokeRequested => self.revoke_requested = true,
            _ => {}
        }
    }
}

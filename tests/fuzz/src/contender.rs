//! The events that one machine may report, by the calls that it got.

use fencepost_core::{
    Event, Intent, Settings,
    hub::Family,
    redis::{self, Redis},
    zookeeper::{self, ZooKeeper},
};

use crate::claimant::Claimant;

/// The account of one machine.
#[derive(Debug)]
pub(crate) enum Account {
    /// The account of a contender for a lock, an inspection or a single step.
    Lock(Contender),
    /// The account of a claim.
    Claim(Claimant),
}

impl Account {
    pub(crate) fn of(settings: &Settings) -> Self {
        match settings {
            Settings::Redis(redis::LockSettings::Claim(_))
            | Settings::ZooKeeper(zookeeper::LockSettings::Claim(_)) => Self::Claim(Claimant::default()),
            _ => Self::Lock(Contender {
                has_owner: has_owner(settings),
                ..Contender::default()
            }),
        }
    }

    pub(crate) fn accepted(&mut self, intent: &Intent) {
        match self {
            Self::Lock(contender) => contender.accepted(intent),
            Self::Claim(claimant) => claimant.accepted(intent),
        }
    }

    pub(crate) fn told(&mut self, event: &Event) {
        match self {
            Self::Lock(contender) => contender.told(event),
            Self::Claim(claimant) => claimant.told(event),
        }
    }

    pub(crate) const fn close(&mut self) {
        match self {
            Self::Lock(contender) => contender.closed = true,
            Self::Claim(claimant) => claimant.closed = true,
        }
    }

    /// Whether the hub may also return its events under another key, because it is an acquire of an owner.
    pub(crate) const fn has_owner(&self) -> bool {
        matches!(self, Self::Lock(Contender { has_owner: true, .. }))
    }

    /// Whether every call has its result.
    pub(crate) const fn is_at_rest(&self) -> bool {
        match self {
            Self::Lock(contender) => contender.is_at_rest(),
            Self::Claim(claimant) => claimant.is_at_rest(),
        }
    }
}

/// The account of one contender. Intents count when they are accepted, events when they are polled, so events lag behind.
#[derive(Debug, Default)]
pub(crate) struct Contender {
    has_owner: bool,
    acquires: u32,
    /// Acquires with a result: granted or refused.
    answered: u32,
    releases: u32,
    /// Releases that were executed or refused.
    given_back: u32,
    downgrades: u32,
    /// Downgrades that were executed or refused.
    downgraded: u32,
    held: bool,
    /// Whether the hub has reported a refusal that may belong to a downgrade or to the release after it.
    perhaps_over: bool,
    suspended: bool,
    closed: bool,
}

impl Contender {
    fn accepted(&mut self, intent: &Intent) {
        assert!(!self.closed, "{intent:?} was accepted after the close");
        match intent {
            Intent::Acquire(_) => self.acquires += 1,
            Intent::Release => self.releases += 1,
            Intent::Downgrade => self.downgrades += 1,
            _ => {}
        }
    }

    fn told(&mut self, event: &Event) {
        assert!(!self.closed, "{event:?} came after the close");
        match event {
            Event::Queued { .. } => self.assert(self.waits() && (!self.held || self.perhaps_over), event),
            Event::Acquired { .. } => {
                self.assert(self.waits() && (!self.held || self.perhaps_over), event);
                self.answered += 1;
                self.held = true;
                self.suspended = false;
                self.perhaps_over = false;
            }
            Event::Extended { .. } => self.assert(self.held, event),
            Event::Suspended => {
                self.assert(self.held && !self.suspended, event);
                self.suspended = true;
            }
            Event::Resumed { .. } => {
                self.assert(self.held && self.suspended, event);
                self.suspended = false;
            }
            // A refused downgrade: the grant does not change.
            Event::Refused { .. } if self.held && self.downgraded < self.downgrades => {
                self.downgraded += 1;
                self.perhaps_over |= self.given_back < self.releases;
            }
            // A refused release or acquire.
            Event::Refused { .. } if self.held => {
                self.assert(self.given_back < self.releases, event);
                self.given_back += 1;
                self.end();
            }
            Event::Refused { .. } => {
                self.assert(self.waits(), event);
                self.answered += 1;
            }
            Event::Released => {
                self.assert(self.held && self.given_back < self.releases, event);
                self.given_back += 1;
                self.end();
            }
            Event::Lost { .. } => {
                self.assert(self.held, event);
                self.end();
            }
            // These events end an inspection or a single step, which hold nothing.
            Event::Found { .. }
            | Event::Completed { .. }
            | Event::Replayed { .. }
            | Event::Looked { .. }
            | Event::Swept { .. } => {
                self.assert(self.waits(), event);
                self.answered += 1;
            }
            Event::RevokeRequested => self.assert(self.held, event),
            Event::Downgraded => {
                self.assert(self.held && self.downgraded < self.downgrades, event);
                self.downgraded += 1;
            }
            Event::MixedLayouts { .. } => self.assert(self.waits(), event),
            other => panic!("an unknown event: {other:?}"),
        }
    }

    /// Whether every acquire and every grant has ended.
    const fn is_at_rest(&self) -> bool {
        self.closed || self.answered == self.acquires && (!self.held || self.perhaps_over)
    }

    fn waits(&self) -> bool {
        self.answered < self.acquires
    }

    const fn end(&mut self) {
        self.held = false;
        self.suspended = false;
        self.perhaps_over = false;
        // A pending downgrade ends with the grant.
        self.downgraded = self.downgrades;
    }

    fn assert(&self, holds: bool, event: &Event) {
        assert!(holds, "{event:?} makes no sense to {self:?}");
    }
}

fn has_owner(settings: &Settings) -> bool {
    match settings {
        Settings::Redis(settings) => Redis::reentry(settings).is_some(),
        Settings::ZooKeeper(settings) => ZooKeeper::reentry(settings).is_some(),
        _ => false,
    }
}

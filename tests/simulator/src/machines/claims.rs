//! Claims as locks: an operation that is never completed, only left and taken over.

use fencepost_core::{
    CommandId, Event, Instant, Intent, Misuse, Outcome, Output, Settings,
    redis::{Notice, Redis, Reply},
    states::Observer,
};

use super::REDIS_STRING;
use crate::{
    backend::Subject,
    redis::{Ask, Servers},
    run::Machine,
    subject::{Fencepost, owner},
    world::BEGINNING,
};

/// A claim on an operation of Redis: it excludes as a lock does.
pub static REDIS_CLAIM: Machine<Servers, Claimant> = Machine {
    name: "redis-claim",
    make: |client, crashes, seed| {
        let Ok(Settings::Redis(machine)) = serde_json::from_str(SETTINGS) else {
            panic!("good settings of Redis")
        };
        Claimant {
            claim: Fencepost::new(BEGINNING, machine, owner(client, crashes), seed),
            valid_until: None,
            now: BEGINNING,
            leaves: false,
        }
    },
    settings: None,
    fair: false,
    longest: REDIS_STRING.longest,
    profile: REDIS_STRING.profile,
    on: core::marker::PhantomData,
};

const SETTINGS: &str = r#"{"kind": "redis-claim", "scope": "shop", "key": "stock", "lease": 300000, "retention": 300000, "margin": 2000, "answer_within": 90000, "poll": 100000}"#;

/// A claim, and an application that treats it as a lock: it leaves a claim that is lost.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Claimant {
    claim: Fencepost<Redis>,
    valid_until: Option<Instant>,
    now: Instant,
    /// Whether it leaves a lost claim.
    leaves: bool,
}

impl Claimant {
    fn inner(&mut self) -> &mut impl Subject<Servers> {
        &mut self.claim
    }

    fn at(&mut self, now: Instant) -> &mut impl Subject<Servers> {
        self.now = now;
        &mut self.claim
    }

    /// Whether the application reports this event.
    fn takes(&mut self, event: &Event) -> bool {
        match event {
            Event::Released | Event::Lost { .. } | Event::Refused { .. } if self.leaves => {
                self.leaves = false;
                return false;
            }
            Event::Acquired { grant } => self.valid_until = grant.valid_until,
            Event::Extended { valid_until } => self.valid_until = *valid_until,
            Event::Lost { .. } => {
                let now = self.now;
                // A claim that was lost by its own end cannot be left.
                self.leaves = self.inner().intent(now, Intent::Leave).is_ok();
            }
            _ => {}
        }
        true
    }
}

impl Subject<Servers> for Claimant {
    /// A claim may be ended after its lease, unlike a lock. This application takes it for lost then. And it leaves what a
    /// lock's holder releases: a release deletes the record, and the fences of two claims in one microsecond, in which no
    /// real server can execute three scripts, would be equal.
    fn intent(&mut self, now: Instant, intent: Intent) -> Result<(), Misuse> {
        if intent == Intent::Release && self.valid_until.is_some_and(|until| until <= now) {
            self.at(now).handle_timeout(now);
            return Ok(());
        }
        let leaves = intent == Intent::Release;
        self.at(now)
            .intent(now, if leaves { Intent::Leave } else { intent })
    }

    fn handle_outcome(&mut self, now: Instant, id: CommandId, outcome: Outcome<Reply>) -> Result<(), Misuse> {
        self.at(now).handle_outcome(now, id, outcome)
    }

    fn handle_notice(&mut self, now: Instant, notice: Notice) -> Result<(), Misuse> {
        self.at(now).handle_notice(now, notice)
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.at(now).handle_timeout(now);
    }

    fn poll_output(&mut self) -> Output<Ask, Event> {
        loop {
            match self.inner().poll_output() {
                Output::Event(event) if !self.takes(&event) => {}
                output => return output,
            }
        }
    }

    fn shutdown(&mut self, now: Instant) {
        self.at(now).shutdown(now);
    }

    fn pending(&self) -> usize {
        Subject::<Servers>::pending(&self.claim)
    }

    fn observe(&self, observer: &mut impl Observer) {
        Subject::<Servers>::observe(&self.claim, observer);
    }
}

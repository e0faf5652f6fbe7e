//! Claims as locks: the operation is never completed, only left and taken over.

use core::marker::PhantomData;

use fencepost_core::{
    CommandId, Event, Instant, Intent, Misuse, Outcome, Output, Settings, redis::Redis, states::Observer,
    zookeeper::ZooKeeper,
};

use super::{REDIS_STRING, ZOOKEEPER_MUTEX, zookeeper};
use crate::{
    backend::{Backend, NoticeOf, ReplyOf, Subject},
    redis,
    run::Machine,
    subject::{Fencepost, owner},
    world::BEGINNING,
    zookeeper::Servers as ZooKeeperServers,
};

/// A claim on an operation of Redis, which excludes others like a lock.
pub static REDIS_CLAIM: Machine<redis::Servers, Claimant<Redis>> = Machine {
    name: "redis-claim",
    make: |client, crashes, seed| {
        let Ok(Settings::Redis(machine)) = serde_json::from_str(ON_REDIS) else {
            panic!("good settings of Redis")
        };
        Claimant::new(Fencepost::new(BEGINNING, machine, owner(client, crashes), seed))
    },
    settings: None,
    fair: false,
    longest: REDIS_STRING.longest,
    profile: REDIS_STRING.profile,
    on: PhantomData,
};

/// A claim on an operation of ZooKeeper.
pub static ZOOKEEPER_CLAIM: Machine<ZooKeeperServers, Claimant<ZooKeeper>> = Machine {
    name: "zookeeper-claim",
    make: |client, crashes, seed| Claimant::new(zookeeper(ON_ZOOKEEPER, client, crashes, seed)),
    settings: None,
    fair: false,
    longest: ZOOKEEPER_MUTEX.longest,
    profile: ZOOKEEPER_MUTEX.profile,
    on: PhantomData,
};

const ON_REDIS: &str = r#"{"kind": "redis-claim", "scope": "shop", "key": "stock", "lease": 300000, "retention": 300000, "margin": 2000, "answer_within": 90000, "poll": 100000}"#;
const ON_ZOOKEEPER: &str = r#"{"kind": "zookeeper-claim", "scope": "stock", "key": "stock", "prefix": "shop", "answer_within": 500000}"#;

/// A claim, and an application that uses it as a lock: it leaves a lost claim.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Claimant<F: fencepost_core::hub::Family> {
    claim: Fencepost<F>,
    valid_until: Option<Instant>,
    now: Instant,
    /// Whether it leaves a lost claim.
    leaves: bool,
}

impl<F: fencepost_core::hub::Family> Claimant<F> {
    const fn new(claim: Fencepost<F>) -> Self {
        Self {
            claim,
            valid_until: None,
            now: BEGINNING,
            leaves: false,
        }
    }

    fn inner<B: Backend<Family = F>>(&mut self) -> &mut impl Subject<B> {
        &mut self.claim
    }

    fn at<B: Backend<Family = F>>(&mut self, now: Instant) -> &mut impl Subject<B> {
        self.now = now;
        &mut self.claim
    }

    /// Whether the application passes this event on.
    fn takes<B: Backend<Family = F>>(&mut self, event: &Event) -> bool {
        match event {
            Event::Released | Event::Lost { .. } | Event::Refused { .. } if self.leaves => {
                self.leaves = false;
                return false;
            }
            Event::Acquired { grant } => self.valid_until = grant.valid_until,
            Event::Extended { valid_until } | Event::Resumed { valid_until } => {
                self.valid_until = *valid_until
            }
            Event::Lost { .. } => {
                let now = self.now;
                // If the loss is the answer to the end of the claim, the claim cannot be left any more.
                self.leaves = self.inner::<B>().intent(now, Intent::Leave).is_ok();
            }
            _ => {}
        }
        true
    }
}

impl<B: Backend> Subject<B> for Claimant<B::Family> {
    /// Unlike a lock, a claim may be ended after its lease. This application then treats it as lost. Instead
    /// of a release, it leaves the claim: a release deletes the record, and two claims in one microsecond
    /// would then have the same fence. No real server can execute three scripts in one microsecond.
    fn intent(&mut self, now: Instant, intent: Intent) -> Result<(), Misuse> {
        if intent == Intent::Release && self.valid_until.is_some_and(|until| until <= now) {
            self.at::<B>(now).handle_timeout(now);
            return Ok(());
        }
        let leaves = intent == Intent::Release;
        self.at::<B>(now)
            .intent(now, if leaves { Intent::Leave } else { intent })
    }

    fn handle_outcome(
        &mut self,
        now: Instant,
        id: CommandId,
        outcome: Outcome<ReplyOf<B>>,
    ) -> Result<(), Misuse> {
        self.at::<B>(now).handle_outcome(now, id, outcome)
    }

    fn handle_notice(&mut self, now: Instant, notice: NoticeOf<B>) -> Result<(), Misuse> {
        self.at::<B>(now).handle_notice(now, notice)
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.at::<B>(now).handle_timeout(now);
    }

    fn poll_output(&mut self) -> Output<B::Ask, Event> {
        loop {
            match self.inner::<B>().poll_output() {
                Output::Event(event) if !self.takes::<B>(&event) => {}
                output => return output,
            }
        }
    }

    fn shutdown(&mut self, now: Instant) {
        self.at::<B>(now).shutdown(now);
    }

    fn pending(&self) -> usize {
        Subject::<B>::pending(&self.claim)
    }

    fn observe(&self, observer: &mut impl Observer) {
        Subject::<B>::observe(&self.claim, observer);
    }
}

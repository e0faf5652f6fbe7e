//! A server in memory, and its hubs with their events.

use core::time::Duration;

use fencepost_core::{
    AcquireTimeout, ContenderId, Event, Grant, Instant, Intent, Key, Loss, Output, RawSettings, Settings,
};
use fencepost_models::memory::{Connected, Hub, SESSION_TIMEOUT, Server, State};

pub(crate) const LOCK: &str = "/shop/stock";

pub(crate) struct World {
    pub(crate) server: Server,
    pub(crate) now: Instant,
    contenders: u8,
}

impl World {
    pub(crate) fn new() -> Self {
        Self {
            server: Server::new(),
            now: Instant::from_micros(1_000_000),
            contenders: 0,
        }
    }

    pub(crate) fn client(&mut self) -> Hub {
        Hub::connect(&mut self.server, self.now, 1, SESSION_TIMEOUT)
    }

    pub(crate) fn acquire(&mut self, hub: &mut Hub, acquire_timeout: AcquireTimeout) -> Key {
        self.contenders += 1;
        let raw = RawSettings::machine("zookeeper-mutex").with("name", "shop/stock");
        let settings = Settings::try_from(raw).unwrap();
        let contender = ContenderId([self.contenders; 16]);
        let key = hub.open(&mut self.server, self.now, &settings, contender, 3);
        self.intend(hub, key.unwrap(), Intent::Acquire(acquire_timeout));
        key.unwrap()
    }

    pub(crate) fn intend(&mut self, hub: &mut Hub, key: Key, intent: Intent) {
        hub.intent(&mut self.server, self.now, key, intent).unwrap();
    }

    /// The events of a client, after a notice or when its timer is due.
    pub(crate) fn events(&mut self, hub: &mut Hub) -> Vec<Event> {
        hub.handle_timeout(&mut self.server, self.now);
        let mut events = Vec::new();
        while let (_, Output::Event(event)) = hub.poll_output(&mut self.server, self.now, None) {
            events.push(event);
        }
        events
    }

    pub(crate) fn grant(&mut self, hub: &mut Hub) -> Grant {
        self.acquire(hub, AcquireTimeout::Forever);
        granted(&self.events(hub))
    }

    /// A hub that holds the lock, and another hub that waits for it.
    pub(crate) fn holder_and_waiter(&mut self) -> (Hub, Hub) {
        let (mut holder, mut waiter) = (self.client(), self.client());
        self.grant(&mut holder);
        self.acquire(&mut waiter, AcquireTimeout::Forever);
        let queued = self.events(&mut waiter);
        assert_eq!(queued, [Event::Queued { ahead: Some(1) }]);
        (holder, waiter)
    }

    fn known(&self, hub: &Hub) -> Connected {
        let mut known = self.server.sessions();
        known.find(|known| known.hub == hub.id()).unwrap()
    }

    pub(crate) fn state(&self, hub: &Hub) -> (State, bool) {
        let known = self.known(hub);
        (known.state, known.paused)
    }

    pub(crate) fn session(&self, hub: &Hub) -> i64 {
        self.known(hub).session.0
    }

    pub(crate) fn pass(&mut self, millis: u64) {
        self.now = self.now.plus(Duration::from_millis(millis));
    }
}

pub(crate) fn granted(events: &[Event]) -> Grant {
    match events {
        [.., Event::Acquired { grant }] => *grant,
        other => panic!("not granted: {other:?}"),
    }
}

pub(crate) fn lost(events: &[Event]) -> Loss {
    match events {
        [.., Event::Lost { reason, .. }] => *reason,
        other => panic!("not lost: {other:?}"),
    }
}

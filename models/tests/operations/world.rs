//! A server, its clients, and the events that they get.

use core::time::Duration;

use fencepost_core::{
    AcquireTimeout, ContenderId, Event, Grant, Instant, Intent, Key, Output, RawSettings, Refusal, Settings,
    claim::Content,
    options::{Kind, Scope, Server as Place},
};
use fencepost_models::memory::{Hub, SESSION_TIMEOUT, Server};

/// Checks an event, or a list of events, against a pattern.
macro_rules! assert_is {
    ($found:expr, $($pattern:tt)+) => {
        match &$found {
            $($pattern)+ => {}
            other => panic!("{other:?}"),
        }
    };
}
pub(crate) use assert_is;

pub(crate) struct World {
    pub(crate) server: Server,
    pub(crate) now: Instant,
    owners: u8,
    pub(crate) policy: &'static str,
}

impl World {
    pub(crate) fn new() -> Self {
        Self {
            server: Server::new(),
            now: Instant::from_micros(1_000_000),
            owners: 0,
            policy: "retake",
        }
    }

    pub(crate) fn client(&mut self) -> Hub {
        Hub::connect(&mut self.server, self.now, 1, SESSION_TIMEOUT)
    }

    pub(crate) fn scope(&self) -> Scope {
        let raw = RawSettings::on(Place::Memory, Kind::Claim)
            .with("scope", "payments")
            .with("on_lease_end", self.policy);
        Scope::try_from(raw).unwrap()
    }

    pub(crate) fn ask(&mut self, hub: &mut Hub, settings: &Settings, acquire_timeout: AcquireTimeout) -> Key {
        self.owners += 1;
        let owner = ContenderId([self.owners; 16]);
        let key = hub.open(&mut self.server, self.now, settings, owner, 3).unwrap();
        hub.intent(&mut self.server, self.now, key, Intent::Acquire(acquire_timeout))
            .unwrap();
        key
    }

    /// A claim that does not wait.
    pub(crate) fn claim(&mut self, hub: &mut Hub, fingerprint: &[u8]) -> (Key, Vec<Event>) {
        let settings = self.scope().claim("order-17", fingerprint).unwrap();
        let key = self.ask(hub, &settings, AcquireTimeout::Try);
        (key, self.events(hub))
    }

    pub(crate) fn step(&mut self, hub: &mut Hub, settings: &Settings) -> Event {
        self.ask(hub, settings, AcquireTimeout::Try);
        let mut events = self.events(hub);
        assert_eq!(events.len(), 1, "{events:?}");
        events.remove(0)
    }

    pub(crate) fn intent(&mut self, hub: &mut Hub, key: Key, intent: Intent) -> Vec<Event> {
        hub.intent(&mut self.server, self.now, key, intent).unwrap();
        self.events(hub)
    }

    pub(crate) fn events(&mut self, hub: &mut Hub) -> Vec<Event> {
        let mut events = Vec::new();
        while let (_, Output::Event(event)) = hub.poll_output(&mut self.server, self.now, None) {
            events.push(event);
        }
        events
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

pub(crate) fn refused(events: &[Event]) -> Refusal {
    match events {
        [.., Event::Refused { reason, .. }] => *reason,
        other => panic!("not refused: {other:?}"),
    }
}

pub(crate) fn text(bytes: &str) -> Content {
    Content::new("text", bytes.into()).unwrap()
}

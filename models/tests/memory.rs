//! The mutex on the model, through the hub, as with `memory:`.

use core::time::Duration;

use fencepost_core::{
    AcquireTimeout, ContenderId, Event, Grant, Instant, Intent, Key, Loss, Output, RawSettings, Refusal,
    Settings,
};
use fencepost_models::memory::{Hub, SESSION_TIMEOUT, Server};

struct World {
    server: Server,
    now: Instant,
    owners: u8,
}

impl World {
    fn new() -> Self {
        Self {
            server: Server::new(),
            now: Instant::from_micros(1_000_000),
            owners: 0,
        }
    }

    fn client(&mut self) -> Hub {
        Hub::connect(&mut self.server, self.now, 1, SESSION_TIMEOUT)
    }

    fn open(&mut self, hub: &mut Hub, acquire_timeout: AcquireTimeout) -> Key {
        self.owners += 1;
        let raw = RawSettings::machine("zookeeper-mutex").with("name", "shop/stock");
        let settings = Settings::try_from(raw).unwrap();
        let key = hub
            .open(
                &mut self.server,
                self.now,
                &settings,
                ContenderId([self.owners; 16]),
                3,
            )
            .unwrap();
        hub.intent(&mut self.server, self.now, key, Intent::Acquire(acquire_timeout))
            .unwrap();
        key
    }

    fn events(&mut self, hub: &mut Hub) -> Vec<Event> {
        let mut events = Vec::new();
        while let (_, Output::Event(event)) = hub.poll_output(&mut self.server, self.now, None) {
            events.push(event);
        }
        events
    }

    fn left(&mut self) -> usize {
        self.server
            .model()
            .children("/shop/stock")
            .unwrap_or_default()
            .len()
    }
}

fn granted(events: &[Event]) -> Grant {
    match events {
        [.., Event::Acquired { grant }] => *grant,
        other => panic!("not granted: {other:?}"),
    }
}

#[test]
fn a_release_grants_the_next_waiter_and_wakes_no_other() {
    let mut world = World::new();
    let mut hubs: Vec<Hub> = (0..4).map(|_| world.client()).collect();
    let keys: Vec<Key> = hubs
        .iter_mut()
        .map(|hub| world.open(hub, AcquireTimeout::Forever))
        .collect();
    let first = granted(&world.events(&mut hubs[0]));
    let mut last = first.fence.unwrap();
    for (ahead, hub) in hubs.iter_mut().enumerate().skip(1) {
        assert_eq!(
            world.events(hub),
            [Event::Queued {
                ahead: Some(ahead as u32)
            }]
        );
    }
    for turn in 0..3 {
        hubs[turn]
            .intent(&mut world.server, world.now, keys[turn], Intent::Release)
            .unwrap();
        assert_eq!(world.events(&mut hubs[turn]), [Event::Released]);
        assert_eq!(world.server.take_woken(), [hubs[turn + 1].id()]);
        let grant = granted(&world.events(&mut hubs[turn + 1]));
        assert!(grant.fence.unwrap() > last, "fences grow in grant order");
        last = grant.fence.unwrap();
    }
}

#[test]
fn a_leaver_in_the_middle_passes_nothing_on() {
    let mut world = World::new();
    let mut hub = world.client();
    let keys: Vec<Key> = (0..3)
        .map(|_| world.open(&mut hub, AcquireTimeout::Forever))
        .collect();
    world.events(&mut hub);
    hub.intent(&mut world.server, world.now, keys[1], Intent::Cancel)
        .unwrap();
    let events = world.events(&mut hub);
    assert!(
        matches!(
            events[0],
            Event::Refused {
                reason: Refusal::Cancelled,
                ..
            }
        ),
        "{events:?}"
    );
    assert!(
        !events.iter().any(|event| matches!(event, Event::Acquired { .. })),
        "{events:?}"
    );
    hub.intent(&mut world.server, world.now, keys[0], Intent::Release)
        .unwrap();
    granted(&world.events(&mut hub)[1..]);
}

#[test]
fn an_acquire_timeout_leaves_nothing_behind() {
    let mut world = World::new();
    let (mut holder, mut waiter) = (world.client(), world.client());
    world.open(&mut holder, AcquireTimeout::Forever);
    granted(&world.events(&mut holder));
    world.open(&mut waiter, AcquireTimeout::For(Duration::from_millis(200)));
    world.events(&mut waiter);
    world.open(&mut waiter, AcquireTimeout::Try);
    let events = world.events(&mut waiter);
    assert!(
        matches!(
            events[..],
            [Event::Refused {
                reason: Refusal::NotAvailable,
                ..
            }]
        ),
        "{events:?}"
    );
    world.now = world.now.plus(Duration::from_millis(200));
    waiter.handle_timeout(&mut world.server, world.now);
    let events = world.events(&mut waiter);
    assert!(
        matches!(
            events[..],
            [Event::Refused {
                reason: Refusal::Timeout,
                ..
            }]
        ),
        "{events:?}"
    );
    assert_eq!(world.left(), 1, "only the holder's node is left");
}

#[test]
fn a_deleted_node_and_an_ended_session_are_reported() {
    let mut world = World::new();
    let (mut holder, mut waiter) = (world.client(), world.client());
    world.open(&mut holder, AcquireTimeout::Forever);
    granted(&world.events(&mut holder));
    world.open(&mut waiter, AcquireTimeout::Forever);
    world.events(&mut waiter);
    holder.disconnect(&mut world.server, world.now);
    let events = world.events(&mut holder);
    assert!(
        matches!(
            events[..],
            [Event::Lost {
                reason: Loss::ConnectionClosed,
                ..
            }]
        ),
        "{events:?}"
    );
    granted(&world.events(&mut waiter));
    let own = world.server.model().children("/shop/stock").unwrap().remove(0);
    world.server.model().delete(&format!("/shop/stock/{own}"));
    let events = world.events(&mut waiter);
    assert!(
        matches!(
            events[..],
            [Event::Lost {
                reason: Loss::Deleted,
                ..
            }]
        ),
        "{events:?}"
    );
}

#[test]
fn closed_machines_go_when_the_server_has_answered() {
    let mut world = World::new();
    let mut hub = world.client();
    let (holder, waiter) = (
        world.open(&mut hub, AcquireTimeout::Forever),
        world.open(&mut hub, AcquireTimeout::Forever),
    );
    world.events(&mut hub);
    hub.close(&mut world.server, world.now, holder);
    granted(&world.events(&mut hub));
    hub.close(&mut world.server, world.now, waiter);
    assert_eq!(world.events(&mut hub), []);
    assert_eq!((hub.pending(), world.left()), (0, 0));
}

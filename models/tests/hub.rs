//! One type for hubs with a driver and for hubs on a server in memory.

use fencepost_core::{
    AcquireTimeout, CommandId, ContenderId, Event, Failure, Instant, Intent, Key, Misuse, Output,
    RawSettings, Settings, lowered::Outcome,
};
use fencepost_models::{
    hub::{Hub, MemoryServer},
    memory::SESSION_TIMEOUT,
};

const NOW: Instant = Instant::from_micros(1_000_000);

fn acquire(hub: &mut Hub, contender: u8) -> Key {
    let raw = RawSettings::machine("zookeeper-mutex").with("name", "stock");
    let settings = Settings::try_from(raw).unwrap();
    let hub = hub.at(NOW);
    let key = hub.open(&settings, ContenderId([contender; 16]), 3).unwrap();
    hub.intent(key, Intent::Acquire(AcquireTimeout::Forever)).unwrap();
    key
}

fn holds(hub: &mut Hub) -> bool {
    let mut acquired = false;
    loop {
        match hub.poll_output(None) {
            (_, Output::Event(event)) => acquired |= matches!(event, Event::Acquired { .. }),
            (_, Output::Wait(_)) => return acquired,
            (_, other) => panic!("a hub on a server in memory gave {other:?}"),
        }
    }
}

#[test]
fn hubs_on_clones_of_a_server_exclude_each_other() {
    let server = MemoryServer::default();
    let (mut one, mut other) = (
        server.connect(NOW, 1, SESSION_TIMEOUT),
        server.clone().connect(NOW, 2, SESSION_TIMEOUT),
    );
    assert_ne!(one.id(), other.id());
    acquire(&mut one, 1);
    assert!(holds(&mut one));
    acquire(&mut other, 2);
    assert!(!holds(&mut other));
    assert!(one.at(NOW).disconnect());
    assert_eq!(server.take_woken(), [other.id()]);
    assert!(holds(other.at(NOW)));
}

#[test]
fn a_hub_on_a_server_in_memory_issues_no_command() {
    let mut hub = MemoryServer::default().connect(NOW, 1, SESSION_TIMEOUT);
    assert_eq!(hub.family(), "zookeeper");
    let refused = hub.handle_outcome(CommandId(1), Outcome::Failed(Failure::Unknown));
    assert_eq!(refused, Err(Misuse::UnknownCommand { id: 1 }));
}

#[test]
fn a_hub_with_a_driver_has_no_session_here() {
    let mut hub = Hub::driven("redis", 1).unwrap();
    assert_eq!((hub.family(), hub.id()), ("redis", 0));
    assert!(!hub.disconnect());
    assert!(Hub::driven("etcd", 1).is_err());
}

#[test]
fn time_does_not_go_back() {
    let mut hub = MemoryServer::default().connect(NOW, 1, SESSION_TIMEOUT);
    acquire(&mut hub, 1);
    hub.at(Instant::ZERO).handle_timeout();
    assert!(holds(&mut hub));
}

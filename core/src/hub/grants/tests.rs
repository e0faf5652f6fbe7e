//! What transcripts cannot show: calls between two polls, and that nothing stays behind.

use alloc::{vec, vec::Vec};

use super::Grants;
use crate::{
    AcquireTimeout, ContenderId, Event, Instant, Intent, Key, Outcome, Output, Owner,
    hub::Hub,
    lease,
    redis::{LockSettings, Redis, Reply, StringSettings},
};

const NOW: Instant = Instant::from_micros(1_000_000);

/// A hub whose first key holds the lock for an owner, and a further hold of it.
fn held_twice() -> (Hub<Redis>, Key, Key) {
    let mut hub = Hub::new(7);
    let first = open(&mut hub);
    contend(&mut hub, first);
    let second = open(&mut hub);
    hub.intent(NOW, second, Intent::Acquire(AcquireTimeout::Try))
        .unwrap();
    assert!(matches!(poll(&mut hub)[..], [(key, Event::Acquired { .. })] if key == second));
    (hub, first, second)
}

fn open(hub: &mut Hub<Redis>) -> Key {
    let mut settings = StringSettings::new("stock", lease::DEFAULT_TTL, lease::DEFAULT_MARGIN).unwrap();
    settings.owner = Some(Owner::new("anna").unwrap());
    hub.open(NOW, LockSettings::String(settings), ContenderId([1; 16]), 3)
        .unwrap()
}

fn contend(hub: &mut Hub<Redis>, key: Key) {
    hub.intent(NOW, key, Intent::Acquire(AcquireTimeout::Forever))
        .unwrap();
    let granted = vec![Reply::Int(1), Reply::Bytes(b"9".to_vec())];
    answer(hub, Some(key), Reply::Array(granted));
    assert!(matches!(poll(hub)[..], [(granted, Event::Acquired { .. })] if granted == key));
}

/// The script's answer to a release: done.
fn released() -> Reply {
    Reply::Array(vec![Reply::Int(1)])
}

fn answer(hub: &mut Hub<Redis>, only: Option<Key>, reply: Reply) {
    let output = hub.poll_output(only);
    let (_, Output::Command(command)) = output else {
        panic!("no command: {output:?}");
    };
    hub.handle_outcome(NOW, command.id, Outcome::Reply(reply))
        .unwrap();
}

fn poll(hub: &mut Hub<Redis>) -> Vec<(Key, Event)> {
    let mut events = Vec::new();
    while let (key, Output::Event(event)) = hub.poll_output(None) {
        events.push((key, event));
    }
    events
}

#[test]
fn a_poll_of_a_further_hold_polls_the_machine_of_its_grant() {
    let (mut hub, first, second) = held_twice();
    hub.intent(NOW, first, Intent::Release).unwrap();
    hub.intent(NOW, second, Intent::Release).unwrap();
    assert_eq!(
        hub.poll_output(Some(second)),
        (first, Output::Event(Event::Released))
    );
    answer(&mut hub, Some(second), released());
    assert_eq!(poll(&mut hub), [(second, Event::Released)]);
}

#[test]
fn a_closed_key_gets_no_event_that_was_due() {
    let (mut hub, first, second) = held_twice();
    hub.intent(NOW, first, Intent::Release).unwrap();
    hub.close(NOW, first);
    assert_eq!(poll(&mut hub), []);
    hub.close(NOW, second);
    answer(&mut hub, None, released());
    assert_eq!(poll(&mut hub), []);
    assert_eq!((hub.pending(), &hub.grants), (0, &Grants::default()));
}

#[test]
fn a_key_that_was_a_further_hold_may_contend_itself() {
    let (mut hub, first, second) = held_twice();
    hub.intent(NOW, second, Intent::Release).unwrap();
    assert_eq!(poll(&mut hub), [(second, Event::Released)]);
    hub.intent(NOW, first, Intent::Release).unwrap();
    answer(&mut hub, None, released());
    assert_eq!(poll(&mut hub), [(first, Event::Released)]);
    contend(&mut hub, second);
    hub.close(NOW, first);
    hub.close(NOW, second);
    answer(&mut hub, None, released());
    assert_eq!(poll(&mut hub), []);
    assert_eq!((hub.pending(), &hub.grants), (0, &Grants::default()));
}

#[test]
fn a_shutdown_forgets_owners() {
    let (mut hub, first, _) = held_twice();
    hub.intent(NOW, first, Intent::Release).unwrap();
    hub.shutdown(NOW);
    answer(&mut hub, None, released());
    assert_eq!(poll(&mut hub), []);
    assert_eq!((hub.pending(), &hub.grants), (0, &Grants::default()));
}

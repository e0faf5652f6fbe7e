//! Tests of two things that transcripts do not contain: calls between two polls, and that the hub forgets ended grants.

use alloc::{vec, vec::Vec};

use super::Grants;
use crate::{
    AcquireTimeout, ContenderId, Event, Instant, Intent, Key, Outcome, Output, Owner,
    hub::{Hub, routes::Routes},
    lease,
    redis::{LockSettings, Redis, Reply, StringSettings},
};

const NOW: Instant = Instant::from_micros(1_000_000);

/// A hub whose first key holds the lock for an owner, and whose second key is another hold of it.
fn held_twice() -> (Hub<Redis>, Key, Key) {
    let mut hub = Hub::new(7);
    let first = open(&mut hub);
    contend(&mut hub, first);
    let second = join(&mut hub);
    (hub, first, second)
}

/// Adds another hold of the lock.
fn join(hub: &mut Hub<Redis>) -> Key {
    let key = open(hub);
    hub.intent(NOW, key, Intent::Acquire(AcquireTimeout::Try))
        .unwrap();
    assert!(matches!(poll(hub)[..], [(granted, Event::Acquired { .. })] if granted == key));
    key
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
    assert_eq!(hub.routes, Routes::default(), "the hub keeps no answered command");
}

/// The script's reply to a successful release.
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

/// Answers the release of the grant, and asserts that the hub is then empty.
fn assert_over(hub: &mut Hub<Redis>) {
    answer(hub, None, released());
    assert_eq!(poll(hub), []);
    assert_eq!((hub.pending(), &hub.grants), (0, &Grants::default()));
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
    assert_over(&mut hub);
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
    assert_over(&mut hub);
}

#[test]
fn a_shutdown_forgets_owners() {
    let (mut hub, first, _) = held_twice();
    hub.intent(NOW, first, Intent::Release).unwrap();
    hub.shutdown(NOW);
    assert_over(&mut hub);
}

#[test]
fn the_last_close_returns_the_machine_of_the_grant() {
    for first_first in [true, false] {
        let (mut hub, first, second) = held_twice();
        let (one, last) = if first_first {
            (first, second)
        } else {
            (second, first)
        };
        assert_eq!(hub.close(NOW, one), None);
        assert_eq!(hub.close(NOW, one), None, "a second time");
        assert!(hub.serves(first));
        assert_eq!(hub.close(NOW, last), Some(first));
        assert!(!hub.serves(first) && !hub.serves(second));
        assert_over(&mut hub);
        assert_eq!((hub.close(NOW, first), hub.close(NOW, second)), (None, None));
    }
}

#[test]
fn a_key_whose_grant_another_key_releases_returns_its_machine() {
    let (mut hub, first, second) = held_twice();
    hub.intent(NOW, first, Intent::Release).unwrap();
    assert_eq!(poll(&mut hub), [(first, Event::Released)]);
    // The release begins here. It does not need an open key.
    assert_eq!(hub.close(NOW, second), None);
    assert_eq!(hub.close(NOW, first), Some(first));
    assert_over(&mut hub);
}

/// Two holds: the first key is closed, and then the grant ends.
fn ended_after_a_close() -> (Hub<Redis>, Key, Key) {
    let (mut hub, first, second) = held_twice();
    assert_eq!(hub.close(NOW, first), None);
    hub.intent(NOW, second, Intent::Release).unwrap();
    assert!(hub.serves(first));
    answer(&mut hub, None, released());
    assert_eq!(poll(&mut hub), [(second, Event::Released)]);
    assert!(!hub.serves(first) && hub.serves(second));
    (hub, first, second)
}

#[test]
fn the_next_close_returns_a_machine_whose_grant_has_ended() {
    let (mut hub, first, second) = ended_after_a_close();
    assert_eq!(hub.close(NOW, second), Some(first));
    poll(&mut hub);
    assert_eq!((hub.pending(), &hub.grants), (0, &Grants::default()));
}

#[test]
fn a_further_hold_that_contends_returns_its_own_machine() {
    let (mut hub, _, second) = ended_after_a_close();
    contend(&mut hub, second);
    assert_eq!(hub.close(NOW, second), Some(second));
    assert_over(&mut hub);
}

#[test]
fn a_further_hold_that_contends_leaves_the_machine_to_the_others() {
    let (mut hub, first, second) = held_twice();
    let third = join(&mut hub);
    assert_eq!(hub.close(NOW, first), None);
    hub.intent(NOW, third, Intent::Release).unwrap();
    assert_eq!(poll(&mut hub), [(third, Event::Released)]);
    hub.intent(NOW, second, Intent::Release).unwrap();
    answer(&mut hub, None, released());
    assert_eq!(poll(&mut hub), [(second, Event::Released)]);
    contend(&mut hub, second);
    assert_eq!(hub.close(NOW, third), Some(first));
    assert_eq!(hub.close(NOW, second), Some(second));
    assert_over(&mut hub);
}

#[test]
fn a_lost_grant_returns_its_machine() {
    let (mut hub, first, second) = held_twice();
    assert_eq!(hub.close(NOW, first), None);
    let expired = NOW.plus(lease::DEFAULT_TTL);
    hub.handle_timeout(expired);
    assert!(matches!(poll(&mut hub)[..], [(key, Event::Lost { .. })] if key == second));
    assert!(!hub.serves(first));
    assert_eq!(hub.close(expired, second), Some(first));
    assert_eq!(&hub.grants, &Grants::default());
}

//! The number of grants that remain on the server after a shutdown.

use alloc::{vec, vec::Vec};

use crate::{
    AcquireTimeout, CommandId, ContenderId, Event, Failure, Instant, Intent, Key, Outcome, Output,
    hub::Hub,
    lease,
    redis::{LockSettings, Redis, Reply, StringSettings},
};

const NOW: Instant = Instant::from_micros(1_000_000);

fn open(hub: &mut Hub<Redis>) -> Key {
    let settings = StringSettings::new("stock", lease::DEFAULT_TTL, lease::DEFAULT_MARGIN).unwrap();
    hub.open(NOW, LockSettings::String(settings), ContenderId([1; 16]), 3)
        .unwrap()
}

fn intend(hub: &mut Hub<Redis>, key: Key, intent: Intent) {
    hub.intent(NOW, key, intent).unwrap();
}

/// The last command and the events until the hub waits.
fn poll(hub: &mut Hub<Redis>) -> (Option<CommandId>, Vec<Event>) {
    let (mut last, mut events) = (None, Vec::new());
    loop {
        match hub.poll_output(None) {
            (_, Output::Command(command)) => last = Some(command.id),
            (_, Output::Event(event)) => events.push(event),
            (_, Output::Wait(_)) => return (last, events),
        }
    }
}

/// Answers the last command.
fn answer(hub: &mut Hub<Redis>, outcome: Outcome<Reply>) {
    let last = poll(hub).0.expect("a command");
    hub.handle_outcome(NOW, last, outcome).unwrap();
}

fn done() -> Outcome<Reply> {
    Outcome::Reply(Reply::Array(vec![Reply::Int(1)]))
}

fn refused() -> Outcome<Reply> {
    Outcome::Reply(Reply::Error("NOPERM not yours".into()))
}

/// A hub with one held lock.
fn held() -> (Hub<Redis>, Key) {
    let mut hub = Hub::new(7);
    let key = open(&mut hub);
    intend(&mut hub, key, Intent::Acquire(AcquireTimeout::Forever));
    let granted = vec![Reply::Int(1), Reply::Bytes(b"9".to_vec())];
    answer(&mut hub, Outcome::Reply(Reply::Array(granted)));
    assert!(matches!(poll(&mut hub).1[..], [Event::Acquired { .. }]));
    (hub, key)
}

/// How many grants remain on the server if the shutdown's releases have this outcome.
fn unreleased(hub: &mut Hub<Redis>, outcome: Outcome<Reply>) -> usize {
    hub.shutdown(NOW);
    answer(hub, outcome);
    assert_eq!(poll(hub).1, [], "a closed machine has no event");
    assert_eq!(hub.pending(), 0);
    hub.unreleased()
}

#[test]
fn a_release_that_the_server_refuses_leaves_the_grant() {
    let (mut hub, _) = held();
    assert_eq!(unreleased(&mut hub, refused()), 1);
}

#[test]
fn a_release_without_a_connection_leaves_the_grant() {
    let (mut hub, _) = held();
    assert_eq!(unreleased(&mut hub, Outcome::Failed(Failure::Closed)), 1);
}

#[test]
fn a_release_that_is_done_leaves_nothing() {
    let (mut hub, _) = held();
    assert_eq!(unreleased(&mut hub, done()), 0);
}

#[test]
fn a_release_that_the_application_has_begun_counts_too() {
    let (mut hub, key) = held();
    intend(&mut hub, key, Intent::Release);
    assert_eq!(unreleased(&mut hub, refused()), 1);
}

#[test]
fn an_event_before_the_end_of_the_release_is_not_its_end() {
    let (mut hub, key) = held();
    intend(&mut hub, key, Intent::Extend);
    answer(&mut hub, done());
    // The extension is an event that the application has not polled when the release begins.
    assert_eq!(unreleased(&mut hub, refused()), 1);
}

#[test]
fn a_release_that_was_refused_before_the_shutdown_does_not_count() {
    let (mut hub, key) = held();
    intend(&mut hub, key, Intent::Release);
    answer(&mut hub, refused());
    assert!(matches!(poll(&mut hub).1[..], [Event::Refused { .. }]));
    hub.shutdown(NOW);
    poll(&mut hub);
    assert_eq!((hub.pending(), hub.unreleased()), (0, 0));
}

#[test]
fn an_acquire_that_the_shutdown_ends_leaves_no_grant() {
    let mut hub = Hub::new(7);
    let key = open(&mut hub);
    intend(&mut hub, key, Intent::Acquire(AcquireTimeout::Forever));
    poll(&mut hub);
    hub.shutdown(NOW);
    poll(&mut hub);
    assert_eq!(hub.unreleased(), 0);
}

#[test]
fn a_close_returns_its_key_once() {
    let (mut hub, key) = held();
    assert!(hub.serves(key));
    assert_eq!(hub.close(NOW, key), Some(key));
    assert!(!hub.serves(key));
    assert_eq!(hub.close(NOW, key), None, "the machine releases its lock");
    answer(&mut hub, done());
    poll(&mut hub);
    assert_eq!(hub.close(NOW, key), None, "the machine was removed");
    assert_eq!(hub.close(NOW, Key::HUB), None);
    assert!(!hub.serves(Key::HUB));
}

#[test]
fn no_machine_serves_a_key_after_a_shutdown() {
    let (mut hub, key) = held();
    hub.shutdown(NOW);
    assert!(!hub.serves(key));
    assert_eq!(hub.close(NOW, key), None);
}

//! Idempotent operations on `memory:`: what a client sees.

use core::time::Duration;

use fencepost_core::{
    AcquireTimeout, ContenderId, Event, Grant, Instant, Intent, Key, Loss, Output, RawSettings, Refusal,
    Settings,
    claim::Content,
    options::{Kind, Scope, Server as Place},
};
use fencepost_models::memory::{Hub, Server};

struct World {
    server: Server,
    now: Instant,
    owners: u8,
    policy: &'static str,
}

impl World {
    fn new() -> Self {
        Self {
            server: Server::new(),
            now: Instant::from_micros(1_000_000),
            owners: 0,
            policy: "retake",
        }
    }

    fn client(&mut self) -> Hub {
        Hub::connect(&mut self.server, self.now, 1)
    }

    fn scope(&self) -> Scope {
        let raw = RawSettings::on(Place::Memory, Kind::Claim)
            .with("scope", "payments")
            .with("on_lease_end", self.policy);
        Scope::try_from(raw).unwrap()
    }

    fn ask(&mut self, hub: &mut Hub, settings: &Settings, acquire_timeout: AcquireTimeout) -> Key {
        self.owners += 1;
        let owner = ContenderId([self.owners; 16]);
        let key = hub.open(&mut self.server, self.now, settings, owner, 3).unwrap();
        hub.intent(&mut self.server, self.now, key, Intent::Acquire(acquire_timeout))
            .unwrap();
        key
    }

    /// A claim that does not wait.
    fn claim(&mut self, hub: &mut Hub, fingerprint: &[u8]) -> (Key, Vec<Event>) {
        let settings = self.scope().claim("order-17", fingerprint).unwrap();
        let key = self.ask(hub, &settings, AcquireTimeout::Try);
        (key, self.events(hub))
    }

    fn step(&mut self, hub: &mut Hub, settings: &Settings) -> Event {
        self.ask(hub, settings, AcquireTimeout::Try);
        let mut events = self.events(hub);
        assert_eq!(events.len(), 1, "{events:?}");
        events.remove(0)
    }

    fn intent(&mut self, hub: &mut Hub, key: Key, intent: Intent) -> Vec<Event> {
        hub.intent(&mut self.server, self.now, key, intent).unwrap();
        self.events(hub)
    }

    fn events(&mut self, hub: &mut Hub) -> Vec<Event> {
        let mut events = Vec::new();
        while let (_, Output::Event(event)) = hub.poll_output(&mut self.server, self.now, None) {
            events.push(event);
        }
        events
    }

    fn pass(&mut self, millis: u64) {
        self.now = self.now.plus(Duration::from_millis(millis));
    }
}

fn granted(events: &[Event]) -> Grant {
    match events {
        [.., Event::Acquired { grant }] => *grant,
        other => panic!("not granted: {other:?}"),
    }
}

fn refused(events: &[Event]) -> Refusal {
    match events {
        [.., Event::Refused { reason, .. }] => *reason,
        other => panic!("not refused: {other:?}"),
    }
}

fn text(bytes: &str) -> Content {
    Content::new("text", bytes.into()).unwrap()
}

#[test]
fn a_completed_operation_is_replayed_and_another_one_under_its_key_refused() {
    let mut world = World::new();
    let (mut one, mut two) = (world.client(), world.client());
    let (key, events) = world.claim(&mut one, b"a");
    let grant = granted(&events);
    assert_eq!(grant.takeovers, 0);
    assert!(grant.fence.unwrap().0 > 0);
    let (_, events) = world.claim(&mut two, b"a");
    assert_eq!(refused(&events), Refusal::InProgress);
    let (_, events) = world.claim(&mut two, b"b");
    assert_eq!(refused(&events), Refusal::Mismatch);
    let events = world.intent(&mut one, key, Intent::Complete(text("paid")));
    assert!(
        matches!(&events[..], [Event::Completed { record }] if record.result == b"paid"),
        "{events:?}"
    );
    let (_, events) = world.claim(&mut two, b"a");
    assert!(
        matches!(&events[..], [Event::Replayed { record }] if record.result == b"paid" && record.fence == grant.fence.unwrap()),
        "{events:?}"
    );
    let (_, events) = world.claim(&mut two, b"b");
    assert_eq!(refused(&events), Refusal::Mismatch);
}

#[test]
fn a_waiter_gets_the_result_of_the_running_attempt() {
    let mut world = World::new();
    let (mut one, mut two) = (world.client(), world.client());
    let (key, events) = world.claim(&mut one, b"a");
    granted(&events);
    let settings = world.scope().claim("order-17", b"a").unwrap();
    world.ask(&mut two, &settings, AcquireTimeout::Forever);
    let events = world.events(&mut two);
    assert!(
        matches!(&events[..], [Event::Queued { ahead: None }]),
        "{events:?}"
    );
    world.intent(&mut one, key, Intent::Complete(text("paid")));
    let events = world.events(&mut two);
    assert!(matches!(&events[..], [Event::Replayed { .. }]), "{events:?}");
}

#[test]
fn the_end_of_a_session_hands_the_operation_over_as_its_policy_says() {
    for (policy, expected) in [
        ("retake", None),
        ("block", Some(Refusal::InProgress)),
        ("indeterminate", Some(Refusal::Indeterminate)),
    ] {
        let mut world = World::new();
        world.policy = policy;
        let (mut one, mut two) = (world.client(), world.client());
        let (_, events) = world.claim(&mut one, b"a");
        let first = granted(&events);
        one.disconnect(&mut world.server, world.now);
        let events = world.events(&mut one);
        assert!(
            matches!(
                &events[..],
                [Event::Lost {
                    reason: Loss::ConnectionClosed,
                    ..
                }]
            ),
            "{events:?}"
        );
        let (_, events) = world.claim(&mut two, b"a");
        match expected {
            None => {
                let grant = granted(&events);
                assert_eq!(grant.takeovers, 1);
                assert!(grant.fence > first.fence);
            }
            Some(reason) => assert_eq!(refused(&events), reason),
        }
    }
}

#[test]
fn a_release_frees_the_operation_and_a_leave_does_not() {
    let mut world = World::new();
    world.policy = "indeterminate";
    let (mut one, mut two) = (world.client(), world.client());
    let (key, events) = world.claim(&mut one, b"a");
    let first = granted(&events);
    let events = world.intent(&mut one, key, Intent::Release);
    assert!(matches!(&events[..], [Event::Released]), "{events:?}");
    let (key, events) = world.claim(&mut two, b"b");
    let grant = granted(&events);
    assert!(grant.fence > first.fence && grant.takeovers == 0);
    let events = world.intent(&mut two, key, Intent::Leave);
    assert!(matches!(&events[..], [Event::Released]), "{events:?}");
    let (_, events) = world.claim(&mut one, b"b");
    assert_eq!(refused(&events), Refusal::Indeterminate);
}

#[test]
fn a_token_is_claimed_once_and_within_its_life() {
    let mut world = World::new();
    let mut hub = world.client();
    let consume = world.scope().consume("t", b"alice", b"a").unwrap();
    let unknown = |event: &Event| {
        matches!(
            event,
            Event::Refused {
                reason: Refusal::UnknownToken,
                ..
            }
        )
    };
    let event = world.step(&mut hub, &consume);
    assert!(unknown(&event), "{event:?}");
    let life = Some(Duration::from_millis(1000));
    let issue = world.scope().issue("t", b"alice", life).unwrap();
    let event = world.step(&mut hub, &issue);
    assert!(matches!(event, Event::Completed { .. }), "{event:?}");
    let other = world.scope().consume("t", b"bob", b"a").unwrap();
    let event = world.step(&mut hub, &other);
    assert!(
        matches!(
            event,
            Event::Refused {
                reason: Refusal::Mismatch,
                ..
            }
        ),
        "{event:?}"
    );
    world.pass(1000);
    let key = world.ask(&mut hub, &consume, AcquireTimeout::Try);
    let events = world.events(&mut hub);
    granted(&events);
    world.intent(&mut hub, key, Intent::Complete(text("done")));
    let event = world.step(&mut hub, &consume);
    assert!(matches!(event, Event::Replayed { .. }), "{event:?}");

    let late = world.scope().issue("late", b"alice", life).unwrap();
    world.step(&mut hub, &late);
    world.pass(1001);
    let consume = world.scope().consume("late", b"alice", b"a").unwrap();
    for _ in 0..2 {
        let event = world.step(&mut hub, &consume);
        assert!(unknown(&event), "{event:?}");
    }
    let look = world.scope().look("late").unwrap();
    let event = world.step(&mut hub, &look);
    assert!(matches!(event, Event::Looked { record: None }), "{event:?}");
    let register = world
        .scope()
        .register("late", Some(b"alice"), b"a", text("x"))
        .unwrap();
    let event = world.step(&mut hub, &register);
    assert!(unknown(&event), "{event:?}");
}

#[test]
fn a_business_number_is_registered_once() {
    let mut world = World::new();
    let mut hub = world.client();
    let first = world.scope().register("n-1", None, b"a", text("first")).unwrap();
    let event = world.step(&mut hub, &first);
    assert!(matches!(event, Event::Completed { .. }), "{event:?}");
    let second = world.scope().register("n-1", None, b"a", text("second")).unwrap();
    let event = world.step(&mut hub, &second);
    assert!(
        matches!(&event, Event::Replayed { record } if record.result == b"first"),
        "{event:?}"
    );
    let other = world.scope().register("n-1", None, b"b", text("second")).unwrap();
    let event = world.step(&mut hub, &other);
    assert!(
        matches!(
            event,
            Event::Refused {
                reason: Refusal::Mismatch,
                ..
            }
        ),
        "{event:?}"
    );
}

/// An id counts while its record is kept, by the time of the last update: a client has no other clock.
#[test]
fn the_id_of_an_update_counts_again_after_its_retention() {
    let mut world = World::new();
    let mut hub = world.client();
    let scope = world.scope();
    let update = |id: &str, version| scope.update("stock", id, version, b"f", text("10")).unwrap();
    for (id, version, days) in [("one", 0, 2), ("two", 1, 0), ("one", 2, 0)] {
        let event = world.step(&mut hub, &update(id, version));
        assert!(
            matches!(&event, Event::Completed { record } if record.version == version + 1),
            "{id}: {event:?}"
        );
        world.pass(days * 86_400_000);
    }
}

#[test]
fn an_update_compares_the_version_and_is_applied_once() {
    let mut world = World::new();
    let mut hub = world.client();
    let update = |id: &str, version, value: &str| {
        world
            .scope()
            .update("stock", id, version, b"f", text(value))
            .unwrap()
    };
    let steps = [
        update("one", 0, "10"),
        update("two", 1, "9"),
        update("one", 0, "10"),
        update("three", 1, "8"),
    ];
    let version = |event: Event| match event {
        Event::Completed { record } => ("applied", record.version),
        Event::Replayed { record } => ("replayed", record.version),
        Event::Refused {
            reason: Refusal::Conflict,
            cause,
        } => ("conflict", cause.record.unwrap().version),
        other => panic!("{other:?}"),
    };
    let seen: Vec<_> = steps
        .iter()
        .map(|step| version(world.step(&mut hub, step)))
        .collect();
    assert_eq!(
        seen,
        [("applied", 1), ("applied", 2), ("replayed", 1), ("conflict", 2)]
    );
    let claim = world.scope().claim("stock", b"a").unwrap();
    let event = world.step(&mut hub, &claim);
    assert!(
        matches!(
            event,
            Event::Refused {
                reason: Refusal::Mismatch,
                ..
            }
        ),
        "{event:?}"
    );
    let forget = world.scope().forget("stock", 2).unwrap();
    let event = world.step(&mut hub, &forget);
    assert!(matches!(event, Event::Looked { record: None }), "{event:?}");
    let again = world.scope().update("stock", "four", 0, b"f", text("1")).unwrap();
    assert_eq!(version(world.step(&mut hub, &again)), ("applied", 1));
    // A name of an operation is no value.
    let (_, events) = world.claim(&mut hub, b"a");
    granted(&events);
    let wrong = world
        .scope()
        .update("order-17", "five", 1, b"f", text("1"))
        .unwrap();
    let event = world.step(&mut hub, &wrong);
    assert!(
        matches!(
            event,
            Event::Refused {
                reason: Refusal::Mismatch,
                ..
            }
        ),
        "{event:?}"
    );
}

#[test]
fn an_operator_settles_and_forgets_what_the_operator_has_seen() {
    let mut world = World::new();
    world.policy = "block";
    let (mut one, mut two) = (world.client(), world.client());
    let (_, events) = world.claim(&mut one, b"a");
    let fence = granted(&events).fence.unwrap();
    let settings = world.scope().claim("order-17", b"a").unwrap();
    world.ask(&mut two, &settings, AcquireTimeout::Forever);
    world.events(&mut two);
    let mut operator = world.client();
    let look = world.scope().look("order-17").unwrap();
    let guard = match world.step(&mut operator, &look) {
        Event::Looked { record: Some(record) } => record.guard(),
        other => panic!("{other:?}"),
    };
    assert_eq!(guard, fence.0);
    let stale = world.scope().settle("order-17", guard - 1, text("x")).unwrap();
    let event = world.step(&mut operator, &stale);
    assert!(
        matches!(
            event,
            Event::Refused {
                reason: Refusal::RecordChanged,
                ..
            }
        ),
        "{event:?}"
    );
    one.disconnect(&mut world.server, world.now);
    let events = world.events(&mut two);
    assert!(events.is_empty(), "{events:?}");
    let settle = world.scope().settle("order-17", guard, text("settled")).unwrap();
    let event = world.step(&mut operator, &settle);
    assert!(matches!(event, Event::Completed { .. }), "{event:?}");
    let events = world.events(&mut two);
    assert!(
        matches!(&events[..], [Event::Replayed { record }] if record.result == b"settled"),
        "{events:?}"
    );
    let forget = world.scope().forget("order-17", guard + 1).unwrap();
    let event = world.step(&mut operator, &forget);
    assert!(matches!(event, Event::Looked { record: None }), "{event:?}");
    let (_, events) = world.claim(&mut two, b"other");
    granted(&events);
}

#[test]
fn a_lost_claim_may_still_be_completed() {
    let mut world = World::new();
    let (mut one, mut two) = (world.client(), world.client());
    let (key, events) = world.claim(&mut one, b"a");
    granted(&events);
    // An operator deletes the lease.
    let path = world
        .server
        .model()
        .nodes()
        .map(|(path, ..)| path.to_owned())
        .find(|path| path.ends_with("-1"))
        .unwrap();
    world.server.model().delete(&path);
    one.handle_timeout(&mut world.server, world.now);
    let events = world.events(&mut one);
    assert!(events.is_empty(), "{events:?}");
    let events = world.intent(&mut one, key, Intent::Complete(text("late")));
    assert!(matches!(&events[..], [Event::Completed { .. }]), "{events:?}");
    let (_, events) = world.claim(&mut two, b"a");
    assert!(matches!(&events[..], [Event::Replayed { .. }]), "{events:?}");
}

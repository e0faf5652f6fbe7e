//! Requests of one step: tokens, known results, values, and an operator's requests.

use core::time::Duration;

use fencepost_core::{AcquireTimeout, Event, Intent, Refusal};

use crate::world::{World, assert_is, granted, refused, text};

#[test]
fn a_token_is_claimed_once_and_within_its_life() {
    let mut world = World::new();
    let mut hub = world.client();
    let consume = world.scope().consume("t", b"alice", b"a").unwrap();
    assert_eq!(refused(&[world.step(&mut hub, &consume)]), Refusal::UnknownToken);
    let life = Some(Duration::from_millis(1000));
    let issue = world.scope().issue("t", b"alice", life).unwrap();
    assert_is!(world.step(&mut hub, &issue), Event::Completed { .. });
    let other = world.scope().consume("t", b"bob", b"a").unwrap();
    assert_eq!(refused(&[world.step(&mut hub, &other)]), Refusal::Mismatch);
    world.pass(1000);
    let key = world.ask(&mut hub, &consume, AcquireTimeout::Try);
    let events = world.events(&mut hub);
    granted(&events);
    world.intent(&mut hub, key, Intent::Complete(text("done")));
    assert_is!(world.step(&mut hub, &consume), Event::Replayed { .. });

    let late = world.scope().issue("late", b"alice", life).unwrap();
    world.step(&mut hub, &late);
    world.pass(1001);
    let consume = world.scope().consume("late", b"alice", b"a").unwrap();
    for _ in 0..2 {
        assert_eq!(refused(&[world.step(&mut hub, &consume)]), Refusal::UnknownToken);
    }
    let look = world.scope().look("late").unwrap();
    assert_is!(world.step(&mut hub, &look), Event::Looked { record: None });
    let register = world
        .scope()
        .register("late", Some(b"alice"), b"a", text("x"))
        .unwrap();
    assert_eq!(refused(&[world.step(&mut hub, &register)]), Refusal::UnknownToken);
}

#[test]
fn a_business_number_is_registered_once() {
    let mut world = World::new();
    let mut hub = world.client();
    let first = world.scope().register("n-1", None, b"a", text("first")).unwrap();
    assert_is!(world.step(&mut hub, &first), Event::Completed { .. });
    let second = world.scope().register("n-1", None, b"a", text("second")).unwrap();
    assert_is!(world.step(&mut hub, &second), Event::Replayed { record } if record.result == b"first");
    let other = world.scope().register("n-1", None, b"b", text("second")).unwrap();
    assert_eq!(refused(&[world.step(&mut hub, &other)]), Refusal::Mismatch);
}

/// The id of an update is known while its record is kept. The time of the last update decides, because a client has no
/// other time of the server.
#[test]
fn the_id_of_an_update_counts_again_after_its_retention() {
    let mut world = World::new();
    let mut hub = world.client();
    let scope = world.scope();
    let update = |id: &str, version| scope.update("stock", id, version, b"f", text("10")).unwrap();
    for (id, version, days) in [("one", 0, 2), ("two", 1, 0), ("one", 2, 0)] {
        let event = world.step(&mut hub, &update(id, version));
        assert_is!(event, Event::Completed { record } if record.version == version + 1);
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
    assert_eq!(refused(&[world.step(&mut hub, &claim)]), Refusal::Mismatch);
    let forget = world.scope().forget("stock", 2).unwrap();
    assert_is!(world.step(&mut hub, &forget), Event::Looked { record: None });
    let again = world.scope().update("stock", "four", 0, b"f", text("1")).unwrap();
    assert_eq!(version(world.step(&mut hub, &again)), ("applied", 1));
    // A key of an operation cannot get a value.
    granted(&world.claim(&mut hub, b"a").1);
    let wrong = world
        .scope()
        .update("order-17", "five", 1, b"f", text("1"))
        .unwrap();
    assert_eq!(refused(&[world.step(&mut hub, &wrong)]), Refusal::Mismatch);
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
    assert_eq!(
        refused(&[world.step(&mut operator, &stale)]),
        Refusal::RecordChanged
    );
    one.disconnect(&mut world.server, world.now);
    assert_is!(world.events(&mut two)[..], []);
    let settle = world.scope().settle("order-17", guard, text("settled")).unwrap();
    assert_is!(world.step(&mut operator, &settle), Event::Completed { .. });
    assert_is!(world.events(&mut two)[..], [Event::Replayed { record }] if record.result == b"settled");
    let forget = world.scope().forget("order-17", guard + 1).unwrap();
    assert_is!(world.step(&mut operator, &forget), Event::Looked { record: None });
    granted(&world.claim(&mut two, b"other").1);
}

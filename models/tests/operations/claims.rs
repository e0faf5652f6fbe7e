//! Claims: which client runs an operation, and which events the others get.

use fencepost_core::{AcquireTimeout, Event, Intent, Loss, Refusal};

use crate::world::{World, assert_is, granted, refused, text};

#[test]
fn a_completed_operation_is_replayed_and_another_one_under_its_key_refused() {
    let mut world = World::new();
    let (mut one, mut two) = (world.client(), world.client());
    let (key, events) = world.claim(&mut one, b"a");
    let grant = granted(&events);
    assert_eq!(grant.takeovers, 0);
    assert!(grant.fence.unwrap().0 > 0);
    assert_eq!(refused(&world.claim(&mut two, b"a").1), Refusal::InProgress);
    assert_eq!(refused(&world.claim(&mut two, b"b").1), Refusal::Mismatch);
    let events = world.intent(&mut one, key, Intent::Complete(text("paid")));
    assert_is!(events[..], [Event::Completed { record }] if record.result == b"paid");
    let (_, events) = world.claim(&mut two, b"a");
    assert_is!(events[..], [Event::Replayed { record }] if record.result == b"paid" && Some(record.fence) == grant.fence);
    assert_eq!(refused(&world.claim(&mut two, b"b").1), Refusal::Mismatch);
}

#[test]
fn a_waiter_gets_the_result_of_the_running_attempt() {
    let mut world = World::new();
    let (mut one, mut two) = (world.client(), world.client());
    let (key, events) = world.claim(&mut one, b"a");
    granted(&events);
    let settings = world.scope().claim("order-17", b"a").unwrap();
    world.ask(&mut two, &settings, AcquireTimeout::Forever);
    assert_is!(world.events(&mut two)[..], [Event::Queued { ahead: None }]);
    world.intent(&mut one, key, Intent::Complete(text("paid")));
    assert_is!(world.events(&mut two)[..], [Event::Replayed { .. }]);
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
        assert_is!(events[..], [Event::Lost { reason, .. }] if *reason == Loss::ConnectionClosed);
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
    assert_is!(
        world.intent(&mut one, key, Intent::Release)[..],
        [Event::Released]
    );
    let (key, events) = world.claim(&mut two, b"b");
    let grant = granted(&events);
    assert!(grant.fence > first.fence && grant.takeovers == 0);
    assert_is!(world.intent(&mut two, key, Intent::Leave)[..], [Event::Released]);
    assert_eq!(refused(&world.claim(&mut one, b"b").1), Refusal::Indeterminate);
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
    assert_is!(world.events(&mut one)[..], []);
    assert_is!(
        world.intent(&mut one, key, Intent::Complete(text("late")))[..],
        [Event::Completed { .. }]
    );
    assert_is!(world.claim(&mut two, b"a").1[..], [Event::Replayed { .. }]);
}

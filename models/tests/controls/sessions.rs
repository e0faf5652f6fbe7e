//! Sessions that expire, and connections that are cut.

use core::time::Duration;

use fencepost_core::{AcquireTimeout, CommandId, Event, Failure, Loss, Outcome, zookeeper::Request};
use fencepost_models::memory::{Hub, State};

use crate::world::{World, granted, lost};

#[test]
fn an_expired_holder_loses_the_grant_and_the_next_in_line_gets_it() {
    let mut world = World::new();
    let (mut holder, mut waiter) = world.holder_and_waiter();
    let before = (holder.id(), world.session(&holder));
    assert!(world.server.expire(holder.id()));
    assert_eq!(world.server.take_woken(), [holder.id(), waiter.id()]);
    assert_eq!(lost(&world.events(&mut holder)), Loss::SessionExpired);
    let next = granted(&world.events(&mut waiter));
    assert_eq!(world.server.take_woken(), []);
    assert_eq!(holder.id(), before.0);
    assert_ne!(world.session(&holder), before.1, "it has a new session");
    assert_eq!(world.state(&holder), (State::Connected, false));
    world.server.expire(waiter.id());
    assert_eq!(lost(&world.events(&mut waiter)), Loss::SessionExpired);
    let again = world.grant(&mut holder);
    assert!(again.fence > next.fence, "the new session is of use");
}

#[test]
fn a_suspended_holder_keeps_the_grant_until_its_session_expires() {
    let mut world = World::new();
    let (mut holder, mut waiter) = world.holder_and_waiter();
    assert!(world.server.suspend(holder.id()));
    assert_eq!(world.events(&mut holder), [Event::Suspended]);
    assert_eq!(world.state(&holder), (State::Suspended, false));
    world.pass(1000);
    assert_eq!(world.events(&mut waiter), []);
    assert!(world.server.reconnect(holder.id()));
    let events = world.events(&mut holder);
    assert!(matches!(events[..], [Event::Resumed { .. }]), "{events:?}");
    assert_eq!(world.state(&holder), (State::Connected, false));

    world.server.suspend(holder.id());
    assert_eq!(world.events(&mut holder), [Event::Suspended]);
    world.server.expire(holder.id());
    granted(&world.events(&mut waiter));
    assert_eq!(world.events(&mut holder), [], "it has not learnt of its end");
    assert_eq!(world.state(&holder), (State::Expired, false));
    world.server.reconnect(holder.id());
    assert_eq!(lost(&world.events(&mut holder)), Loss::SessionExpired);
}

#[test]
fn a_suspended_holder_gives_up_when_its_own_lease_has_ended() {
    let mut world = World::new();
    let mut holder = Hub::connect(&mut world.server, world.now, 1, Duration::from_millis(900));
    let grant = world.grant(&mut holder);
    world.server.suspend(holder.id());
    assert_eq!(world.events(&mut holder), [Event::Suspended]);
    assert!(grant.valid_until.unwrap().since(world.now) < Duration::from_millis(900));
    world.pass(900);
    assert_eq!(lost(&world.events(&mut holder)), Loss::LeaseEnded);
    assert_eq!(world.state(&holder), (State::Suspended, false));
}

#[test]
fn a_suspended_waiter_learns_at_its_reconnect_what_it_has_missed() {
    let mut world = World::new();
    let (mut holder, mut waiter) = world.holder_and_waiter();
    world.server.suspend(waiter.id());
    assert_eq!(world.events(&mut waiter), []);
    holder.disconnect(&mut world.server, world.now);
    assert_eq!(world.server.take_woken(), []);
    assert_eq!(world.events(&mut waiter), []);
    world.server.reconnect(waiter.id());
    assert_eq!(world.server.take_woken(), [waiter.id()]);
    granted(&world.events(&mut waiter));
}

#[test]
fn a_request_of_a_suspended_hub_waits_for_the_connection() {
    let mut world = World::new();
    let mut hub = world.client();
    world.server.suspend(hub.id());
    world.acquire(&mut hub, AcquireTimeout::Forever);
    assert_eq!(world.events(&mut hub), []);
    assert_eq!(world.server.nodes().count(), 0);
    world.server.reconnect(hub.id());
    granted(&world.events(&mut hub));
}

#[test]
fn a_command_has_the_outcome_that_drivers_report() {
    let mut world = World::new();
    let hub = world.client();
    let sync = || Request::Sync { path: "/".into() };
    let mut outcome = |id, request| {
        let now = world.now;
        world.server.execute(id, now, CommandId(9), request)
    };
    assert!(matches!(outcome(hub.id(), sync()), Some(Outcome::Reply(_))));
    assert_eq!(outcome(hub.id(), Request::Reconnect), None);
    assert_eq!(outcome(77, sync()), Some(Outcome::Failed(Failure::Closed)));
    world.server.suspend(hub.id());
    let failed = world.server.execute(hub.id(), world.now, CommandId(9), sync());
    assert_eq!(failed, Some(Outcome::Failed(Failure::NotSent)));
}

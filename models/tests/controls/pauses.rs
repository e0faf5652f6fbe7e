//! Pauses, and controls that have no effect.

use core::time::Duration;

use fencepost_core::{AcquireTimeout, Event, Intent, Loss, Refusal};
use fencepost_models::memory::{Server, State};

use crate::world::{World, granted, lost};

#[test]
fn a_paused_holder_believes_in_its_grant_until_it_resumes() {
    let mut world = World::new();
    let (mut holder, mut waiter) = (world.client(), world.client());
    let first = world.grant(&mut holder);
    world.acquire(&mut waiter, AcquireTimeout::Forever);
    world.events(&mut waiter);
    assert!(world.server.pause(holder.id()));
    assert_eq!(world.state(&holder), (State::Connected, true));
    world.server.expire(holder.id());
    assert_eq!(world.state(&holder), (State::Expired, true));
    assert_eq!(world.server.take_woken(), [waiter.id()]);
    let second = granted(&world.events(&mut waiter));
    world.pass(3_600_000);
    assert_eq!(world.events(&mut holder), [], "no time passes for it");
    assert!(first.fence < second.fence, "a late write of the first is refused");
    assert!(world.server.resume(holder.id()));
    assert_eq!(world.server.take_woken(), [holder.id()]);
    assert_eq!(lost(&world.events(&mut holder)), Loss::SessionExpired);
    assert_eq!(world.state(&holder), (State::Connected, false));
}

#[test]
fn the_calls_and_timers_of_a_paused_hub_wait() {
    let mut world = World::new();
    let mut hub = world.client();
    world.server.pause(hub.id());
    let key = world.acquire(&mut hub, AcquireTimeout::Forever);
    assert_eq!(world.events(&mut hub), []);
    assert_eq!(world.server.nodes().count(), 0);
    world.server.resume(hub.id());
    granted(&world.events(&mut hub));

    world.acquire(&mut hub, AcquireTimeout::For(Duration::from_millis(200)));
    assert_eq!(world.events(&mut hub), [Event::Queued { ahead: Some(1) }]);
    world.server.pause(hub.id());
    world.intend(&mut hub, key, Intent::Release);
    world.pass(200);
    assert_eq!(world.events(&mut hub), []);
    world.server.resume(hub.id());
    let events = world.events(&mut hub);
    assert_eq!(events[0], Event::Released);
    let reason = match &events[1..] {
        [Event::Refused { reason, .. }] => *reason,
        other => panic!("not refused: {other:?}"),
    };
    assert_eq!(reason, Refusal::Timeout);
}

#[test]
fn a_pause_and_a_cut_connection_do_not_hide_each_other() {
    let mut world = World::new();
    let (mut holder, _waiter) = world.holder_and_waiter();
    world.server.pause(holder.id());
    world.server.suspend(holder.id());
    assert_eq!(world.state(&holder), (State::Suspended, true));
    assert_eq!(world.events(&mut holder), []);
    world.server.resume(holder.id());
    assert_eq!(world.events(&mut holder), [Event::Suspended]);
    world.server.pause(holder.id());
    world.server.reconnect(holder.id());
    assert_eq!(
        world.state(&holder),
        (State::Suspended, true),
        "it cannot connect"
    );
    world.server.resume(holder.id());
    let events = world.events(&mut holder);
    assert!(matches!(events[..], [Event::Resumed { .. }]), "{events:?}");
}

#[test]
fn a_paused_hub_can_be_shut_down_and_disconnected() {
    let mut world = World::new();
    let (mut holder, mut waiter) = world.holder_and_waiter();
    world.server.pause(holder.id());
    holder.shutdown(&mut world.server, world.now);
    world.events(&mut holder);
    assert_eq!((holder.pending(), holder.unreleased()), (0, 0));
    granted(&world.events(&mut waiter));
    world.server.pause(waiter.id());
    waiter.disconnect(&mut world.server, world.now);
    assert_eq!(lost(&world.events(&mut waiter)), Loss::ConnectionClosed);
    assert_eq!(world.server.sessions().count(), 1);
}

#[test]
fn a_control_changes_nothing_twice_and_names_a_hub() {
    let mut world = World::new();
    let (mut holder, mut waiter) = world.holder_and_waiter();
    for control in [Server::reconnect, Server::resume] {
        assert!(control(&mut world.server, holder.id()));
        assert_eq!(world.server.take_woken(), []);
    }
    for control in [Server::suspend, Server::pause] {
        assert!(control(&mut world.server, waiter.id()));
        assert!(control(&mut world.server, waiter.id()));
    }
    let controls = [
        Server::expire,
        Server::suspend,
        Server::reconnect,
        Server::pause,
        Server::resume,
    ];
    for control in controls {
        assert!(!control(&mut world.server, 77));
    }
    holder.disconnect(&mut world.server, world.now);
    for control in controls {
        assert!(!control(&mut world.server, holder.id()));
    }
    world.server.resume(waiter.id());
    world.server.reconnect(waiter.id());
    granted(&world.events(&mut waiter));
    // The test ends the second session of one hub twice, and does not end the first session of the next hub.
    for _ in 0..2 {
        world.server.suspend(waiter.id());
        world.server.expire(waiter.id());
    }
    let other = world.client();
    assert_eq!(world.state(&other), (State::Connected, false));
}

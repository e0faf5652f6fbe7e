//! The nodes, and the recorded messages.

use core::time::Duration;

use fencepost_core::{AcquireTimeout, Loss};
use fencepost_models::memory::{Kind, Message};

use crate::world::{LOCK, World, granted, lost};

#[test]
fn nodes_name_the_hub_that_owns_them() {
    let mut world = World::new();
    let (mut holder, mut waiter) = world.holder_and_waiter();
    world.server.expire(holder.id());
    granted(&world.events(&mut waiter));
    assert_eq!(lost(&world.events(&mut holder)), Loss::SessionExpired);
    world.acquire(&mut holder, AcquireTimeout::Forever);
    world.events(&mut holder);
    let nodes: Vec<_> = world.server.nodes().collect();
    let owners: Vec<_> = nodes.iter().map(|node| node.hub).collect();
    assert_eq!(owners, [0, 0, waiter.id(), holder.id()]);
    assert_eq!([nodes[0].path, nodes[1].path], ["/shop", LOCK]);
    assert!(nodes[2].path.starts_with(LOCK));
}

/// Kind, name and hub of each message.
fn briefly(messages: &[Message]) -> Vec<(&'static str, &'static str, u64)> {
    messages
        .iter()
        .map(|message| (message.kind.name(), message.name, message.hub))
        .collect()
}

#[test]
fn a_record_has_what_was_sent_in_its_order() {
    let mut world = World::new();
    let (mut holder, mut waiter) = world.holder_and_waiter();
    assert_eq!(world.server.messages(0), [], "there is no record at first");
    world.server.record(true);
    world.pass(5);
    let (session, at) = (world.session(&holder), world.now);
    holder.disconnect(&mut world.server, world.now);
    world.pass(5);
    granted(&world.events(&mut waiter));
    world.server.record(false);
    world.server.expire(waiter.id());
    world.events(&mut waiter);
    let messages = world.server.messages(0).to_vec();
    assert_eq!(
        briefly(&messages)[..2],
        [
            ("event", "closed", holder.id()),
            ("event", "deleted", waiter.id())
        ]
    );
    let numbers: Vec<u64> = messages.iter().map(|message| message.number).collect();
    assert_eq!(numbers, (1..=messages.len() as u64).collect::<Vec<_>>());
    assert_eq!((messages[0].time, messages[0].session.0), (at, session));
    assert_eq!(messages[1].time, at.plus(Duration::from_millis(5)));
    assert!(messages[1].paths[0].starts_with(LOCK), "{:?}", messages[1]);
    assert!(
        messages[1].text.contains("has fired: Deleted"),
        "{:?}",
        messages[1]
    );
}

#[test]
fn a_record_has_requests_and_replies_in_plain_values() {
    let mut world = World::new();
    let mut hub = world.client();
    world.server.record(true);
    world.grant(&mut hub);
    let messages = world.server.messages(0);
    let create = messages.iter().find(|message| message.name == "create");
    let create = create.unwrap();
    assert_eq!((create.kind, create.hub), (Kind::Request, hub.id()));
    assert!(create.paths[0].starts_with(LOCK), "{create:?}");
    assert!(create.text.ends_with(" EphemeralSequential"), "{create:?}");
    let reply = &messages[usize::try_from(create.number).unwrap()];
    assert_eq!(
        (reply.kind, reply.name, reply.command),
        (Kind::Reply, "error", create.command)
    );
    assert_eq!(
        (reply.error, &*reply.text),
        (-101, "error -101"),
        "there is no directory yet"
    );
    let created = messages.iter().rfind(|message| message.name == "created");
    assert!(created.unwrap().paths[0].starts_with(LOCK));
    assert!(messages.iter().all(|message| message.session.0 == 1));

    world.server.record(true);
    assert_eq!(world.server.messages(0), [], "it begins anew");
    world.server.expire(hub.id());
    world.events(&mut hub);
    let names: Vec<_> = world.server.messages(0)[..3]
        .iter()
        .map(|message| message.name)
        .collect();
    assert_eq!(names, ["expired", "connecting", "connected"]);
}

//! The controls of a server in memory, and its record: what a hub sees of a session that ends, a connection that is
//! cut, and a pause.

use core::time::Duration;

use fencepost_core::{
    AcquireTimeout, CommandId, ContenderId, Event, Failure, Grant, Instant, Intent, Key, Loss, Outcome,
    Output, RawSettings, Refusal, Settings, zookeeper::Request,
};
use fencepost_models::memory::{Hub, Kind, Message, SESSION_TIMEOUT, Server, State};

const LOCK: &str = "/shop/stock";

struct World {
    server: Server,
    now: Instant,
    contenders: u8,
}

impl World {
    fn new() -> Self {
        Self {
            server: Server::new(),
            now: Instant::from_micros(1_000_000),
            contenders: 0,
        }
    }

    fn client(&mut self) -> Hub {
        Hub::connect(&mut self.server, self.now, 1, SESSION_TIMEOUT)
    }

    fn acquire(&mut self, hub: &mut Hub, acquire_timeout: AcquireTimeout) -> Key {
        self.contenders += 1;
        let raw = RawSettings::machine("zookeeper-mutex").with("name", "shop/stock");
        let settings = Settings::try_from(raw).unwrap();
        let contender = ContenderId([self.contenders; 16]);
        let key = hub.open(&mut self.server, self.now, &settings, contender, 3);
        self.intend(hub, key.unwrap(), Intent::Acquire(acquire_timeout));
        key.unwrap()
    }

    fn intend(&mut self, hub: &mut Hub, key: Key, intent: Intent) {
        hub.intent(&mut self.server, self.now, key, intent).unwrap();
    }

    /// What a client does that has been woken, or whose timer is due.
    fn events(&mut self, hub: &mut Hub) -> Vec<Event> {
        hub.handle_timeout(&mut self.server, self.now);
        let mut events = Vec::new();
        while let (_, Output::Event(event)) = hub.poll_output(&mut self.server, self.now, None) {
            events.push(event);
        }
        events
    }

    fn grant(&mut self, hub: &mut Hub) -> Grant {
        self.acquire(hub, AcquireTimeout::Forever);
        granted(&self.events(hub))
    }

    /// A hub that holds the lock, and one that waits for it.
    fn holder_and_waiter(&mut self) -> (Hub, Hub) {
        let (mut holder, mut waiter) = (self.client(), self.client());
        self.grant(&mut holder);
        self.acquire(&mut waiter, AcquireTimeout::Forever);
        let queued = self.events(&mut waiter);
        assert_eq!(queued, [Event::Queued { ahead: Some(1) }]);
        (holder, waiter)
    }

    fn state(&self, hub: &Hub) -> (State, bool) {
        let known = self.server.sessions().find(|known| known.hub == hub.id());
        let known = known.unwrap();
        (known.state, known.paused)
    }

    fn session(&self, hub: &Hub) -> i64 {
        let known = self.server.sessions().find(|known| known.hub == hub.id());
        known.unwrap().session.0
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

fn lost(events: &[Event]) -> Loss {
    match events {
        [.., Event::Lost { reason, .. }] => *reason,
        other => panic!("not lost: {other:?}"),
    }
}

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
    assert_eq!(world.events(&mut holder), [], "nobody has told it");
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
    // Its second session is ended twice, the first one of the next hub is not.
    for _ in 0..2 {
        world.server.suspend(waiter.id());
        world.server.expire(waiter.id());
    }
    let other = world.client();
    assert_eq!(world.state(&other), (State::Connected, false));
}

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
    assert_eq!(world.server.messages(), [], "there is no record at first");
    world.server.record(true);
    world.pass(5);
    let (session, at) = (world.session(&holder), world.now);
    holder.disconnect(&mut world.server, world.now);
    world.pass(5);
    granted(&world.events(&mut waiter));
    world.server.record(false);
    world.server.expire(waiter.id());
    world.events(&mut waiter);
    let messages = world.server.messages().to_vec();
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
    let messages = world.server.messages();
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
    assert_eq!(world.server.messages(), [], "it begins anew");
    world.server.expire(hub.id());
    world.events(&mut hub);
    let names: Vec<_> = world.server.messages()[..3]
        .iter()
        .map(|message| message.name)
        .collect();
    assert_eq!(names, ["expired", "connecting", "connected"]);
}

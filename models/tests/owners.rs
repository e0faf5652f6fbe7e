//! Re-entry on the model: random calls of several owners, compared with a specification.
//!
//! [`World::check`] is the specification: it counts the holds of each owner, and the server has one node for each owner
//! that holds or waits. `FENCEPOST_SEED` sets another seed.

use std::collections::{BTreeMap, BTreeSet};

use fencepost_core::{
    AcquireTimeout, ContenderId, Event, Fence, Instant, Intent, Key, Misuse, Output, RawSettings, Settings,
};
use fencepost_models::memory::{Hub, SESSION_TIMEOUT, Server};

const SEED: u64 = 20_261_125;
const RUNS: u64 = 400;
const STEPS: usize = 120;
const OWNERS: [&str; 3] = ["anna", "ben", "carla"];

/// A small generator (splitmix64).
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % limit as u64).unwrap()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Waiting,
    Held,
    /// The acquire's release waits for a downgrade or a release of the machine.
    Releasing,
    Over,
}

/// One acquire.
#[derive(Clone, Debug)]
struct Acquire {
    owner: usize,
    writes: bool,
    state: State,
    fence: Option<Fence>,
    /// Whether the key was closed.
    closed: bool,
    /// The key of the acquire whose machine got the grant from the server.
    machine: Key,
}

struct World {
    server: Server,
    hub: Hub,
    now: Instant,
    acquires: BTreeMap<Key, Acquire>,
    opened: u8,
    seen: BTreeSet<&'static str>,
    /// The machines that a close has returned.
    unused: BTreeSet<Key>,
}

impl World {
    fn new() -> Self {
        let mut server = Server::new();
        let now = Instant::from_micros(1_000_000);
        let hub = Hub::connect(&mut server, now, 1, SESSION_TIMEOUT);
        Self {
            server,
            hub,
            now,
            acquires: BTreeMap::new(),
            opened: 0,
            seen: BTreeSet::new(),
            unused: BTreeSet::new(),
        }
    }

    fn acquire(&mut self, owner: usize, writes: bool, acquire_timeout: AcquireTimeout) {
        self.opened = self.opened.wrapping_add(1);
        let kind = if writes {
            "zookeeper-writer"
        } else {
            "zookeeper-reader"
        };
        let raw = RawSettings::machine(kind)
            .with("name", "prices")
            .with("owner", OWNERS[owner]);
        let settings = Settings::try_from(raw).unwrap();
        let id = ContenderId([self.opened; 16]);
        let key = self
            .hub
            .open(&mut self.server, self.now, &settings, id, 3)
            .unwrap();
        let owns = self.of(owner).map(|acquire| acquire.state).collect::<Vec<_>>();
        let held = self.of(owner).find(|acquire| acquire.state == State::Held);
        let machine = held.map_or(key, |acquire| acquire.machine);
        let reads_only = !self
            .of(owner)
            .any(|acquire| acquire.state == State::Held && acquire.writes);
        let result = self.intent(key, Intent::Acquire(acquire_timeout));
        if owns.contains(&State::Waiting) {
            assert_eq!(result, Err(Misuse::OwnerBusy));
        } else if owns.contains(&State::Held) && writes && reads_only {
            assert_eq!(result, Err(Misuse::Upgrade));
        } else {
            assert_eq!(result, Ok(()));
            let (state, fence, closed) = (State::Waiting, None, false);
            self.acquires.insert(
                key,
                Acquire {
                    owner,
                    writes,
                    state,
                    fence,
                    closed,
                    machine,
                },
            );
            self.poll();
            if owns.contains(&State::Held) {
                assert_eq!(
                    self.acquires[&key].state,
                    State::Held,
                    "a further hold needs no server"
                );
                self.seen.insert("joined");
            }
            return;
        }
        self.seen.insert(result.unwrap_err().name());
        assert_eq!(self.hub.close(&mut self.server, self.now, key), Some(key));
    }

    fn of(&self, owner: usize) -> impl Iterator<Item = &Acquire> {
        self.acquires
            .values()
            .filter(move |acquire| acquire.owner == owner && !acquire.closed)
    }

    fn intent(&mut self, key: Key, intent: Intent) -> Result<(), Misuse> {
        self.hub.intent(&mut self.server, self.now, key, intent)
    }

    fn release(&mut self, key: Key) {
        let state = self.acquires[&key].state;
        let result = self.intent(key, Intent::Release);
        if state == State::Held {
            assert_eq!(result, Ok(()));
            self.acquires.get_mut(&key).unwrap().state = State::Releasing;
            self.poll();
            assert_eq!(
                self.acquires[&key].state,
                State::Over,
                "the server answers at once"
            );
        } else {
            assert_eq!(result, Err(Misuse::NotHeld));
        }
    }

    fn cancel(&mut self, key: Key) {
        let waits = self.acquires[&key].state == State::Waiting;
        let result = self.intent(key, Intent::Cancel);
        assert_eq!(result, if waits { Ok(()) } else { Err(Misuse::NotWaiting) });
        self.poll();
        assert_ne!(self.acquires[&key].state, State::Waiting);
    }

    fn downgrade(&mut self, key: Key) {
        let acquire = self.acquires[&key].clone();
        let result = self.intent(key, Intent::Downgrade);
        if acquire.state != State::Held {
            assert_eq!(result, Err(Misuse::NotHeld));
        } else if acquire.writes {
            assert_eq!(result, Ok(()));
            self.poll();
            assert!(!self.acquires[&key].writes, "the server answers at once");
        } else {
            assert_eq!(result, Err(Misuse::NotAWriter));
        }
    }

    fn close(&mut self, key: Key) {
        let unused = self.hub.close(&mut self.server, self.now, key);
        self.acquires.get_mut(&key).unwrap().closed = true;
        let machine = self.acquires[&key].machine;
        let due = !self.is_used(machine) && self.unused.insert(machine);
        assert_eq!(unused, due.then_some(machine), "{key:?}: {:?}", self.acquires);
        if machine != key && due {
            self.seen.insert("the machine of another key");
        }
        assert!(matches!(
            self.intent(key, Intent::Release),
            Err(Misuse::UnknownKey { .. })
        ));
        self.poll();
    }

    fn poll(&mut self) {
        while let (key, Output::Event(event)) = self.hub.poll_output(&mut self.server, self.now, None) {
            self.seen.insert(event.name());
            let acquire = self.acquires.get_mut(&key).unwrap();
            assert!(!acquire.closed, "an event for a closed key: {event:?}");
            match event {
                Event::Queued { .. } => assert_eq!(acquire.state, State::Waiting),
                Event::Acquired { grant } => {
                    assert_eq!(acquire.state, State::Waiting);
                    acquire.state = State::Held;
                    acquire.fence = grant.fence;
                }
                Event::Downgraded => {
                    assert!(acquire.state == State::Held && acquire.writes);
                    acquire.writes = false;
                }
                Event::Released => {
                    assert_eq!(acquire.state, State::Releasing);
                    acquire.state = State::Over;
                }
                Event::Refused { .. } => {
                    assert_eq!(acquire.state, State::Waiting);
                    acquire.state = State::Over;
                }
                Event::RevokeRequested | Event::Extended { .. } => assert_eq!(acquire.state, State::Held),
                other => panic!("{other:?}"),
            }
        }
    }

    /// Whether an open key uses a machine: the machine's own key, or the key of an acquire that waits or holds.
    fn is_used(&self, machine: Key) -> bool {
        self.acquires.iter().any(|(key, acquire)| {
            let uses = *key == machine || acquire.machine == machine && acquire.state != State::Over;
            uses && !acquire.closed
        })
    }

    /// The specification.
    fn check(&mut self) {
        for key in self.acquires.keys() {
            assert_eq!(self.hub.serves(*key), self.is_used(*key), "{key:?}");
        }
        let nodes = self.server.model().children("/prices").unwrap_or_default();
        let mut writers = 0;
        let mut readers = 0;
        let mut contending = 0;
        for owner in 0..OWNERS.len() {
            let (mut held, mut writes, mut waits) = (BTreeSet::new(), false, None);
            for acquire in self.of(owner) {
                match acquire.state {
                    State::Held => {
                        held.insert(acquire.fence);
                        writes |= acquire.writes;
                    }
                    State::Waiting => waits = Some(acquire.writes),
                    State::Releasing | State::Over => {}
                }
            }
            assert!(held.len() <= 1, "one grant has one fence: {held:?}");
            assert!(held.is_empty() || waits.is_none());
            contending += usize::from(!held.is_empty() || waits.is_some());
            let node_writes = if held.is_empty() { waits } else { Some(writes) };
            writers += usize::from(node_writes == Some(true));
            readers += usize::from(node_writes == Some(false));
            if writes {
                let others = (0..OWNERS.len()).filter(|other| *other != owner);
                let others = others.flat_map(|other| self.of(other));
                assert_eq!(others.filter(|other| other.state == State::Held).count(), 0);
            }
        }
        assert_eq!(nodes.len(), contending, "{nodes:?}: {:?}", self.acquires);
        let reading = nodes.iter().filter(|node| node.contains("__READ__")).count();
        assert_eq!((reading, nodes.len() - reading), (readers, writers), "{nodes:?}");
    }
}

#[test]
fn any_calls_of_owners_mean_what_they_say() {
    let seed = std::env::var("FENCEPOST_SEED").map_or(SEED, |text| text.parse().unwrap());
    println!("seed {seed}, {RUNS} runs: FENCEPOST_SEED={seed} repeats them");
    let mut seen = BTreeSet::new();
    for run in 0..RUNS {
        let mut chance = Chance(seed.wrapping_add(run));
        let mut world = World::new();
        for _ in 0..STEPS {
            let open: Vec<Key> = world
                .acquires
                .iter()
                .filter(|(_, acquire)| !acquire.closed)
                .map(|(key, _)| *key)
                .collect();
            let any = chance.below(open.len().max(1));
            match (chance.below(9), open.get(any)) {
                (0..=2, _) | (_, None) => {
                    let acquire_timeout = [AcquireTimeout::Forever, AcquireTimeout::Try][chance.below(2)];
                    world.acquire(chance.below(OWNERS.len()), chance.below(2) == 0, acquire_timeout);
                }
                (3 | 4, Some(key)) => world.release(*key),
                (5, Some(key)) => world.downgrade(*key),
                (6, Some(key)) => world.close(*key),
                (7, Some(key)) => world.cancel(*key),
                (_, Some(key)) => {
                    let held = world.acquires[key].state == State::Held;
                    assert_eq!(world.intent(*key, Intent::Extend).is_ok(), held);
                    world.poll();
                }
            }
            world.check();
        }
        let open = world.acquires.iter().filter(|(_, acquire)| !acquire.closed);
        for key in open.map(|(key, _)| *key).collect::<Vec<_>>() {
            world.close(key);
        }
        let machines = world.acquires.values().map(|acquire| acquire.machine);
        assert_eq!(world.unused, machines.collect());
        world.check();
        assert_eq!(world.hub.pending(), 0);
        seen.extend(world.seen);
    }
    for what in [
        "joined",
        "busy",
        "upgrade",
        "downgraded",
        "released",
        "refused",
        "queued",
        "the machine of another key",
    ] {
        assert!(seen.contains(what), "no run has reached {what}");
    }
}

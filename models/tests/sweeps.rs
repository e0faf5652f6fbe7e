//! Sweeps between the steps of clients: a sweep never deletes a record that a request needs, and no client overwrites
//! the record of another client.
//!
//! Clients claim, complete, release and leave operations, consume tokens and update values. They use few keys, and
//! their servers lag. Sweeps run at the same time. The servers execute requests of different clients in any order,
//! sessions end, and connections are lost together with replies. After each request the test compares the records with
//! the records before it. `FENCEPOST_SEED` and `FENCEPOST_CASES` choose other runs.

#[path = "sweeps/audit.rs"]
mod audit;
#[path = "sweeps/client.rs"]
mod client;

use core::time::Duration;

use fencepost_core::{
    Instant, Intent, RawSettings, Settings,
    claim::Content,
    options::{Kind, Scope, Server as Place},
};
use fencepost_models::zookeeper::Server;

use audit::Audit;
use client::Client;

const CASES: u64 = 1000;
const STEPS: u32 = 800;
/// The number of clients. The first two only sweep.
const CLIENTS: usize = 5;
/// Half a second, so that some records get past their retention in each run.
const RETENTION: i64 = 500_000;

/// A small random number generator.
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) const fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    pub(crate) const fn below(&mut self, most: u64) -> u64 {
        self.next() % most
    }

    pub(crate) fn index(&mut self, most: usize) -> usize {
        usize::try_from(self.below(most as u64)).unwrap()
    }

    pub(crate) const fn one_in(&mut self, of: u64) -> bool {
        self.below(of) == 0
    }
}

/// Counts of the events in all runs.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) swept: u64,
    pub(crate) deleted: u64,
    pub(crate) claimed: u64,
    pub(crate) completed: u64,
    pub(crate) replayed: u64,
    pub(crate) conflicts: u64,
    pub(crate) others: u64,
}

struct World {
    chance: Chance,
    server: Server,
    now: Instant,
    clients: Vec<Client>,
    scope: Scope,
    audit: Audit,
    /// The client that takes few steps, while the others take many.
    slow: Option<usize>,
}

impl World {
    fn new(seed: u64) -> Self {
        let raw = RawSettings::on(Place::ZooKeeper, Kind::Claim)
            .with("scope", "s")
            .with("retention", RETENTION);
        let mut world = Self {
            chance: Chance(seed),
            server: Server::ensemble(3),
            now: Instant::from_micros(1_000_000),
            clients: Vec::new(),
            scope: Scope::try_from(raw).unwrap(),
            audit: Audit::default(),
            slow: None,
        };
        world.slow = seed.is_multiple_of(2).then(|| world.chance.index(CLIENTS));
        for at in 0..CLIENTS {
            let client = world.client(at);
            world.clients.push(client);
        }
        world
    }

    fn client(&mut self, at: usize) -> Client {
        let server = self.chance.index(3);
        let number = self.chance.next();
        Client::connect(&mut self.server, self.now, server, at < 2, number)
    }

    /// The next request of a client, and whether the client acts for an operator, who may delete a record.
    fn settings(&mut self, at: usize) -> (Settings, bool) {
        if self.clients[at].sweeps {
            return (self.scope.sweep().unwrap(), false);
        }
        // Both keys are in one bucket.
        let key = ["ov", "tp"][self.chance.index(2)];
        let content = || Content::new("", b"x".to_vec()).unwrap();
        let id = self.chance.below(3).to_string();
        // A value may replace a freed record, so a slow client may find another record at the same path.
        let what = match self.chance.below(12) {
            ..6 if self.slow == Some(at) => 5,
            what => what,
        };
        let settings = match what {
            0 => self.scope.register(key, None, b"a", content()),
            1 => self.scope.issue(key, b"b", Some(Duration::from_millis(200))),
            2 => self.scope.consume(key, b"b", b"a"),
            3 => self.scope.update(key, &id, self.chance.below(4), b"", content()),
            4 | 6 => self.scope.forget(key, 1 + self.chance.below(3)),
            5 => self.scope.update(key, &id, 0, b"", content()),
            _ => self.scope.claim(key, b"a"),
        };
        (settings.unwrap(), matches!(what, 4 | 6))
    }

    fn step(&mut self, seen: &mut Seen) {
        let mut at = self.chance.index(CLIENTS);
        if Some(at) == self.slow && !self.chance.one_in(8) {
            at = (at + 1) % CLIENTS;
        }
        let client = &mut self.clients[at];
        match self.chance.below(24) {
            0..11 => {
                self.execute(at, seen);
            }
            11..16 => client.learn(self.now, seen),
            16 => self.server.catch_up(self.chance.index(3), 2),
            17 => {
                self.now = self.now.plus(Duration::from_millis(self.chance.below(300)));
                self.server
                    .set_time(i64::try_from(self.now.as_micros() / 1000).unwrap());
            }
            18 if self.chance.one_in(4) => {
                self.clients[at].end(&mut self.server);
                self.clients[at] = self.client(at);
            }
            19 if self.chance.one_in(4) => client.reconnect(&mut self.server, self.now, &mut self.chance),
            _ if client.is_idle() => {
                let (settings, operates) = self.settings(at);
                let number = self.chance.next();
                self.clients[at].begin(self.now, &settings, operates, number);
            }
            _ => client.go_on(self.now, &mut self.chance),
        }
    }

    /// Executes the next request of a client. Returns whether there is one.
    fn execute(&mut self, at: usize, seen: &mut Seen) -> bool {
        let client = &mut self.clients[at];
        let writes = client.writes_next();
        let before = writes.then(|| audit::records(&self.server));
        let Some((request, operates)) = client.execute(&mut self.server, seen) else {
            return false;
        };
        if let Some(before) = before {
            let after = audit::records(&self.server);
            let by = (client.sweeps, operates, client.session);
            let millis = self.now.as_micros() / 1000;
            self.audit.compare(&before, &after, by, millis, &request);
        }
        true
    }

    /// Executes all requests of a client, and the requests that follow from the replies.
    fn settle(&mut self, at: usize, seen: &mut Seen) {
        while self.advance(at, seen) {}
    }

    /// Executes the requests of a client, and passes the replies to it. Returns whether there were any requests.
    fn advance(&mut self, at: usize, seen: &mut Seen) -> bool {
        let mut any = false;
        while self.execute(at, seen) {
            any = true;
        }
        (0..3).for_each(|server| self.server.catch_up(server, usize::MAX));
        self.clients[at].learn(self.now, seen);
        any
    }

    /// All clients end. A sweep runs one day later, and another one two days later, because the first sweep restarts
    /// the retention of records whose clients were killed.
    fn finish(&mut self, seen: &mut Seen) {
        for client in &mut self.clients {
            client.end(&mut self.server);
        }
        self.clients = vec![Client::connect(&mut self.server, self.now, 0, true, 77)];
        let sweep = self.scope.sweep().unwrap();
        for number in [78, 79] {
            self.now = self.now.plus(Duration::from_secs(86_400));
            self.server
                .set_time(i64::try_from(self.now.as_micros() / 1000).unwrap());
            self.clients[0].begin(self.now, &sweep, false, number);
            self.settle(0, seen);
        }
        self.audit.only_values_are_left(&audit::records(&self.server));
    }
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().expect("a number"))
}

#[test]
fn a_sweep_deletes_only_what_no_client_would_miss() {
    let first = setting("FENCEPOST_SEED", 20_261_204);
    let cases = setting("FENCEPOST_CASES", CASES);
    let mut seen = Seen::default();
    for seed in first..first + cases {
        let mut world = World::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        for _ in 0..STEPS {
            world.step(&mut seen);
        }
        world.finish(&mut seen);
        if let Some(broken) = &world.audit.broken {
            panic!("seed {seed}: S6 (an operation) is broken: {broken}");
        }
    }
    println!("{seen:?}");
    // Runs without rare events prove nothing about rare events.
    if cases >= CASES {
        for (count, least) in [
            (seen.swept, 2 * cases),
            (seen.deleted, cases),
            (seen.claimed, cases),
            (seen.completed, cases / 4),
            (seen.replayed, cases / 8),
            (seen.conflicts, cases / 8),
        ] {
            assert!(count >= least, "{seen:?}");
        }
    }
}

/// Only few random runs reach this case.
#[test]
fn a_value_takes_the_place_only_of_the_record_that_was_read() {
    let mut world = World::new(1);
    let seen = &mut Seen::default();
    let content = || Content::new("", b"x".to_vec()).unwrap();
    let (sweeps, claims, updates) = (0, 2, 3);
    let claim = world.scope.claim("ov", b"a").unwrap();
    world.clients[claims].begin(world.now, &claim, false, 11);
    world.settle(claims, seen);
    world.clients[claims].end_claim(world.now, Intent::Release);
    world.settle(claims, seen);
    let update = world.scope.update("ov", "1", 0, b"", content()).unwrap();
    world.clients[updates].begin(world.now, &update, false, 12);
    // The client sends a create, which fails, and a read. The test holds back the next transaction.
    for _ in 0..2 {
        assert!(world.advance(updates, seen));
    }
    let sweep = world.scope.sweep().unwrap();
    world.clients[sweeps].begin(world.now, &sweep, false, 13);
    world.settle(sweeps, seen);
    assert_eq!(seen.deleted, 1);
    // The new record has the same version as the record that the client has read.
    world.clients[claims].begin(world.now, &claim, false, 14);
    world.settle(claims, seen);
    world.clients[claims].end_claim(world.now, Intent::Complete(content()));
    world.settle(claims, seen);
    assert_eq!(seen.completed, 1);
    world.settle(updates, seen);
    if let Some(broken) = &world.audit.broken {
        panic!("S6 (an operation) is broken: {broken}");
    }
    assert!(world.clients[updates].is_idle());
}

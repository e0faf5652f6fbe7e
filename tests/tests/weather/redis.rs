//! Redis clients on a server that runs the scripts.
//!
//! No order between requests: any connection of a pool. A request is executed at once, late, after its client has given it up, or never; its
//! answer comes, or does not. Messages get lost with their subscriptions.

use core::time::Duration;

use fencepost_core::{
    CommandId, Failure, Instant, Intent, Key, Outcome, Output, OwnerId, Patience,
    hub::Hub,
    redis::{Machine, Notice, Redis, Reply, Request, Script, StringSettings},
};

use super::{
    chance::Chance,
    checker::{Belief, Checker, Seen},
    redis_server::RedisServer,
};

const TTL: Duration = Duration::from_millis(300);
const STEPS: usize = 800;

struct Client {
    hub: Hub<Redis>,
    key: Key,
    /// Requests on their way to the server; the client may have stopped waiting for them.
    requests: Vec<(CommandId, Request)>,
    answers: Vec<(CommandId, Reply)>,
    subscription: Option<CommandId>,
    /// Nothing gets through at present, in either direction.
    cut_off: bool,
}

struct World {
    chance: Chance,
    server: RedisServer,
    clients: Vec<Client>,
    now: Instant,
    checker: Checker,
    calm: bool,
    /// Until when a lock may be left behind: a renewal that was overtaken by its release has prolonged it.
    excused: Instant,
}

pub(crate) fn story(seed: u64) -> Seen {
    let mut world = World::new(seed);
    for _ in 0..STEPS {
        world.step();
    }
    world.clear_up();
    world.checker.seen
}

fn owner(client: usize) -> OwnerId {
    OwnerId((client as u128 + 1).to_be_bytes())
}

impl World {
    fn new(seed: u64) -> Self {
        let mut chance = Chance(seed);
        let now = Instant::from_micros(1_000_000);
        let clients: Vec<Client> = (0..2 + chance.below(3))
            .map(|number| {
                let mut settings = StringSettings::new("stock", TTL, Duration::from_millis(2)).unwrap();
                settings.answer_within = Duration::from_millis(90);
                let mut hub = Hub::new(seed);
                let owner = owner(number);
                let key = hub.open(now, Machine::String(settings), owner, seed).unwrap();
                Client {
                    hub,
                    key,
                    requests: Vec::new(),
                    answers: Vec::new(),
                    subscription: None,
                    cut_off: false,
                }
            })
            .collect();
        Self {
            chance,
            server: RedisServer::default(),
            checker: Checker::new(clients.len(), false),
            clients,
            now,
            calm: false,
            excused: now,
        }
    }

    fn step(&mut self) {
        let client = self.chance.below(self.clients.len());
        match self.chance.below(100) {
            0..30 => self.execute(client),
            30..55 => self.answer(client),
            55..68 => self.act(client),
            68..74 => self.give_up(client),
            74..80 => self.publish(),
            80..82 => self.lose_subscription(client),
            82 => self.weather(client),
            83..86 => self.pass_some(120_000),
            86..95 => self.pass_some(3000),
            _ => self.timeout(client),
        }
        self.checker.check(self.now);
        self.who_believes_holds();
    }

    /// A grant that is valid by its client's clock is there on the server.
    fn who_believes_holds(&mut self) {
        let holder = self.server.holder(self.now.as_micros(), b"stock");
        for client in 0..self.clients.len() {
            if self.checker.is_valid(self.now, client) {
                let owner = owner(client).to_string();
                let held = holder
                    .as_ref()
                    .is_some_and(|holder| holder.starts_with(owner.as_bytes()));
                assert!(held, "client {client} believes in its grant at {:?}", self.now);
            }
        }
    }

    fn weather(&mut self, client: usize) {
        match self.chance.below(4) {
            0 => self.server.flush_scripts(),
            _ => self.clients[client].cut_off ^= true,
        }
    }

    /// Some time passes, less than so many microseconds.
    fn pass_some(&mut self, micros: usize) {
        let some = self.chance.below(micros) as u64;
        self.pass(Duration::from_micros(some));
    }

    fn pass(&mut self, time: Duration) {
        self.now = self.now.plus(time);
        for client in 0..self.clients.len() {
            if self.calm || self.chance.percent(70) {
                self.timeout(client);
            }
        }
    }

    fn timeout(&mut self, client: usize) {
        self.clients[client].hub.handle_timeout(self.now);
        self.drain(client);
    }

    fn act(&mut self, client: usize) {
        let now = self.now;
        let patience = match self.chance.below(4) {
            0 => Patience::Try,
            1 => Patience::For(Duration::from_millis(self.chance.below(200) as u64 + 1)),
            _ => Patience::Forever,
        };
        let (stop, extend) = (self.chance.percent(6), self.chance.percent(30));
        let one = &mut self.clients[client];
        let key = one.key;
        match self.checker.beliefs[client] {
            Belief::Idle if !self.calm => {
                if one.hub.intent(now, key, Intent::Acquire(patience)).is_ok() {
                    self.checker.beliefs[client] = Belief::Waits;
                }
            }
            Belief::Waits if stop && !self.calm => one.hub.intent(now, key, Intent::Cancel).unwrap(),
            Belief::Holds(_) if extend && !self.calm => one.hub.intent(now, key, Intent::Extend).unwrap(),
            Belief::Holds(_) => {
                one.hub.intent(now, key, Intent::Release).unwrap();
                self.checker.beliefs[client] = Belief::Leaves;
            }
            Belief::Idle | Belief::Waits | Belief::Leaves => {}
        }
        self.drain(client);
    }

    fn drain(&mut self, client: usize) {
        loop {
            let one = &mut self.clients[client];
            match one.hub.poll_output(None) {
                (_, Output::Command(command)) => one.requests.push((command.id, command.request)),
                (_, Output::Event(event)) => self.checker.hear(self.now, client, &event),
                (_, Output::Wait(_)) => return,
                _ => {}
            }
        }
    }

    fn outcome(&mut self, client: usize, id: CommandId, outcome: Outcome<Reply>) {
        self.clients[client]
            .hub
            .handle_outcome(self.now, id, outcome)
            .unwrap();
        self.drain(client);
    }

    /// One of the requests on their way arrives.
    fn execute(&mut self, client: usize) {
        let count = self.clients[client].requests.len();
        if count == 0 || self.clients[client].cut_off {
            return;
        }
        let at = if self.chance.percent(70) {
            0
        } else {
            self.chance.below(count)
        };
        let (id, request) = self.clients[client].requests.remove(at);
        let one = &mut self.clients[client];
        match request {
            Request::Subscribe { .. } => one.subscription = Some(id),
            Request::Unsubscribe { .. } => one.subscription = None,
            _ => {}
        }
        let busy = !self.calm && self.chance.percent(3);
        let reply = if busy {
            Reply::Error("LOADING Redis is loading the dataset in memory".into())
        } else {
            self.server.run(self.now.as_micros(), &request)
        };
        let renewal = matches!(&request, Request::Script { script, .. } if *script == Script::Renew);
        if renewal && reply == Reply::Array(vec![Reply::Int(1)]) && !self.holds(client) {
            self.excused = self.now.plus(TTL);
        }
        self.clients[client].answers.push((id, reply));
    }

    fn holds(&self, client: usize) -> bool {
        matches!(self.checker.beliefs[client], Belief::Holds(_))
    }

    /// One of the answers arrives, or is lost, or is too late for a client that has given up.
    fn answer(&mut self, client: usize) {
        let count = self.clients[client].answers.len();
        if count == 0 || self.clients[client].cut_off {
            return;
        }
        let at = self.chance.below(count);
        let (id, reply) = self.clients[client].answers.remove(at);
        match if self.calm { 99 } else { self.chance.below(100) } {
            0..6 => self.outcome(client, id, Outcome::Failed(Failure::Unknown)),
            // Lost, and nobody says so.
            6..9 => {}
            9..12 => {
                self.outcome(client, id, Outcome::Reply(reply.clone()));
                self.outcome(client, id, Outcome::Reply(reply));
            }
            _ => self.outcome(client, id, Outcome::Reply(reply)),
        }
    }

    /// The client library gives a request up; it may be executed all the same, or later, or never.
    fn give_up(&mut self, client: usize) {
        let Some((id, request)) = self.clients[client].requests.pop() else {
            return;
        };
        let failure = if self.chance.percent(40) {
            self.clients[client].requests.push((id, request));
            Failure::Unknown
        } else if self.chance.percent(50) {
            Failure::NotSent
        } else {
            Failure::Unknown
        };
        self.outcome(client, id, Outcome::Failed(failure));
    }

    fn publish(&mut self) {
        for _ in 0..core::mem::take(&mut self.server.published) {
            for client in 0..self.clients.len() {
                let Some(id) = self.clients[client].subscription else {
                    continue;
                };
                if self.calm || self.chance.percent(80) {
                    self.clients[client]
                        .hub
                        .handle_notice(self.now, Notice::Message { id })
                        .unwrap();
                    self.drain(client);
                }
            }
        }
    }

    fn lose_subscription(&mut self, client: usize) {
        if let Some(id) = self.clients[client].subscription.take() {
            self.clients[client]
                .hub
                .handle_notice(self.now, Notice::Gone { id })
                .unwrap();
            self.drain(client);
        }
    }

    /// Everything arrives and is answered.
    fn settle(&mut self) {
        for client in 0..self.clients.len() {
            while !self.clients[client].requests.is_empty() || !self.clients[client].answers.is_empty() {
                self.execute(client);
                self.answer(client);
            }
        }
        self.publish();
    }

    /// The weather clears up: those who hold release, and those who wait hold one after the other. In half of the stories nobody waits for
    /// that, and everything is closed as it stands.
    fn clear_up(&mut self) {
        self.calm = true;
        for one in &mut self.clients {
            one.cut_off = false;
        }
        if self.chance.percent(50) {
            self.all_are_granted();
        }
        for client in 0..self.clients.len() {
            self.clients[client].hub.shutdown(self.now);
            self.drain(client);
        }
        for _ in 0..3000 {
            self.settle();
            if self.clients.iter().all(|one| one.hub.pending() == 0) {
                break;
            }
            self.pass(Duration::from_millis(1));
        }
        for one in &self.clients {
            assert_eq!(one.hub.pending(), 0, "{:?}", one.hub);
        }
        let holder = self.server.holder(self.now.as_micros(), b"stock");
        assert!(
            holder.is_none() || self.now < self.excused,
            "left behind: {holder:?}"
        );
    }

    fn all_are_granted(&mut self) {
        for _ in 0..400 {
            self.settle();
            for client in 0..self.clients.len() {
                self.act(client);
            }
            if self.checker.beliefs.iter().all(|belief| *belief == Belief::Idle) {
                return;
            }
            self.pass(Duration::from_millis(20));
        }
        panic!("somebody waits for ever: {:?}", self.checker.beliefs);
    }
}

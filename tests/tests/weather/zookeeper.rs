//! ZooKeeper clients on the model server.
//!
//! Each connection has a queue in each direction. It breaks with requests executed or not; the session goes on, or the server ends it when
//! its time is over, and the client learns of that when it connects again. Watches that fire meanwhile are told after the reconnect or never.

use core::time::Duration;
use std::collections::VecDeque;

use fencepost_core::{
    Command, CommandId, Failure, Instant, Intent, Key, Outcome, Output, OwnerId, Patience, SessionId,
    hub::Hub,
    zookeeper::{Answer, Machine, MutexSettings, Notice, Reply, Request, SessionState, ZooKeeper, code},
};
use fencepost_models::zookeeper::Server;

use super::{
    chance::Chance,
    checker::{Belief, Checker, Seen},
};

const TIMEOUT: Duration = Duration::from_millis(900);
const DIRECTORY: &str = "/shop/stock";
const STEPS: usize = 600;

enum Word {
    Reply(CommandId, Reply),
    Notice(Notice),
}

struct Client {
    hub: Hub<ZooKeeper>,
    key: Key,
    session: SessionId,
    connected: bool,
    /// When the server has heard of the session last.
    heard: Instant,
    ended: bool,
    requests: VecDeque<Command<Request>>,
    words: VecDeque<Word>,
    open: Vec<CommandId>,
    wait: Option<Instant>,
}

struct World {
    chance: Chance,
    server: Server,
    clients: Vec<Client>,
    now: Instant,
    checker: Checker,
    calm: bool,
}

pub(crate) fn story(seed: u64) -> Seen {
    let mut world = World::new(seed);
    for _ in 0..STEPS {
        world.step();
    }
    world.clear_up();
    world.checker.seen
}

impl World {
    fn new(seed: u64) -> Self {
        let mut chance = Chance(seed);
        let count = 2 + chance.below(3);
        let mut world = Self {
            chance,
            server: Server::new(),
            clients: Vec::new(),
            now: Instant::from_micros(1_000_000),
            checker: Checker::new(count, seed.is_multiple_of(3)),
            calm: false,
        };
        for number in 0..count {
            let settings = MutexSettings::new("shop", "stock").unwrap();
            let mut hub = Hub::new(seed);
            let owner = OwnerId(((number as u128 + 1) << 64).to_be_bytes());
            let key = hub
                .open(world.now, Machine::Mutex(settings), owner, seed)
                .unwrap();
            world.clients.push(Client {
                hub,
                key,
                session: SessionId(0),
                connected: false,
                heard: world.now,
                ended: true,
                requests: VecDeque::new(),
                words: VecDeque::new(),
                open: Vec::new(),
                wait: None,
            });
            world.connect(number);
        }
        world
    }

    fn step(&mut self) {
        let client = self.chance.below(self.clients.len());
        match self.chance.below(100) {
            0..36 => self.execute(client),
            36..74 => self.deliver(client),
            74..82 => self.act(client),
            82..84 => self.disconnect(client),
            84..90 => self.connect(client),
            90..92 => self.end_session(client),
            92..94 => self.pass_some(400_000),
            94..96 => self.pass_some(2000),
            96 => self.operate(),
            _ => self.timeout(client),
        }
        self.checker.check(self.now);
    }

    /// Some time passes, less than so many microseconds.
    fn pass_some(&mut self, micros: usize) {
        let some = self.chance.below(micros) as u64;
        self.pass(Duration::from_micros(some));
    }

    fn pass(&mut self, time: Duration) {
        self.now = self.now.plus(time);
        // The client's clock: it is told in time, or late.
        for client in 0..self.clients.len() {
            if self.calm || self.chance.percent(70) {
                self.timeout(client);
            }
        }
    }

    fn timeout(&mut self, client: usize) {
        let now = self.now;
        self.clients[client].hub.handle_timeout(now);
        self.drain(client);
    }

    /// What the application wants.
    fn act(&mut self, client: usize) {
        let now = self.now;
        let patience = match self.chance.below(4) {
            0 => Patience::Try,
            1 => Patience::For(Duration::from_millis(self.chance.below(500) as u64 + 1)),
            _ => Patience::Forever,
        };
        let stop = self.chance.percent(6);
        let one = &mut self.clients[client];
        let key = one.key;
        match self.checker.beliefs[client] {
            Belief::Idle if !self.calm => {
                // It may still be cleaning up.
                if one.hub.intent(now, key, Intent::Acquire(patience)).is_ok() {
                    self.checker.beliefs[client] = Belief::Waits;
                }
            }
            Belief::Waits if stop && !self.calm => one.hub.intent(now, key, Intent::Cancel).unwrap(),
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
                (_, Output::Command(command)) if one.connected => {
                    one.open.push(command.id);
                    one.requests.push_back(command);
                }
                (_, Output::Command(command)) => self.fail(client, command.id, Failure::NotSent),
                (_, Output::Event(event)) => self.checker.hear(self.now, client, &event),
                (_, Output::Wait(wait)) => {
                    one.wait = wait.until;
                    return;
                }
                _ => {}
            }
        }
    }

    fn fail(&mut self, client: usize, id: CommandId, failure: Failure) {
        let outcome = Outcome::Failed(failure);
        self.clients[client]
            .hub
            .handle_outcome(self.now, id, outcome)
            .unwrap();
    }

    /// In some stories an operator deletes contenders, holders among them: then two may hold for a moment, as the documentation says.
    fn operate(&mut self) {
        if !self.checker.operators {
            return;
        }
        let line = self.server.children(DIRECTORY).unwrap_or_default();
        if let Some(node) = line.get(self.chance.below(line.len().max(1))) {
            self.server.delete(&format!("{DIRECTORY}/{node}"));
            self.spread_notices();
        }
    }

    /// The server takes the next request of a client.
    fn execute(&mut self, client: usize) {
        let one = &mut self.clients[client];
        one.heard = if one.connected { self.now } else { one.heard };
        let Some(command) = one.requests.pop_front() else {
            return;
        };
        let (id, session) = (command.id, one.session);
        let crowded =
            !self.calm && self.chance.percent(4) && !matches!(command.request, Request::Sync { .. });
        let reply = if crowded {
            let answer = Answer::Error(code::THROTTLED);
            Reply { session, answer }
        } else {
            self.server.execute(session, id, command.request)
        };
        self.spread_notices();
        self.clients[client].words.push_back(Word::Reply(id, reply));
    }

    fn spread_notices(&mut self) {
        for one in &mut self.clients {
            for notice in self.server.take_notices(one.session) {
                // Two threads in the client library: a notice may overtake replies, but no other notice.
                let earlier = one.words.iter().rposition(|word| matches!(word, Word::Notice(_)));
                let first = earlier.map_or(0, |at| at + 1);
                let mut at = one.words.len();
                if self.chance.percent(20) {
                    at = first + self.chance.below(at - first + 1);
                }
                one.words.insert(at, Word::Notice(notice));
            }
        }
    }

    /// A client hears the next word of the server.
    fn deliver(&mut self, client: usize) {
        let now = self.now;
        let one = &mut self.clients[client];
        if !one.connected {
            return;
        }
        match one.words.pop_front() {
            Some(Word::Reply(id, reply)) => {
                one.open.retain(|open| *open != id);
                if !self.calm && self.chance.percent(3) {
                    // The client library has waited for too long.
                    self.fail(client, id, Failure::Unknown);
                } else {
                    one.hub.handle_outcome(now, id, Outcome::Reply(reply)).unwrap();
                }
            }
            Some(Word::Notice(notice)) => {
                if self.chance.percent(5) {
                    one.hub.handle_notice(now, notice.clone()).unwrap();
                }
                one.hub.handle_notice(now, notice).unwrap();
            }
            None => {}
        }
        self.drain(client);
    }

    fn session_is(&mut self, client: usize, state: SessionState) {
        let notice = Notice::Session {
            state,
            session: self.clients[client].session,
            timeout: TIMEOUT,
        };
        self.clients[client].hub.handle_notice(self.now, notice).unwrap();
    }

    /// The connection breaks. What the server had already got is executed, the rest is not; no answer arrives any more.
    fn disconnect(&mut self, client: usize) {
        if self.calm || !self.clients[client].connected {
            return;
        }
        while !self.clients[client].requests.is_empty() && self.chance.percent(60) {
            self.execute(client);
        }
        let one = &mut self.clients[client];
        one.connected = false;
        one.heard = self.now;
        one.requests.clear();
        one.words.retain(|word| matches!(word, Word::Notice(_)));
        let open = core::mem::take(&mut one.open);
        self.session_is(client, SessionState::Suspended);
        for id in open {
            self.fail(client, id, Failure::Unknown);
        }
        self.drain(client);
    }

    fn connect(&mut self, client: usize) {
        if self.clients[client].connected {
            return;
        }
        if self.clients[client].ended {
            if self.clients[client].session != SessionId(0) && self.chance.percent(70) {
                self.session_is(client, SessionState::Expired);
            }
            let session = self.server.open_session();
            let one = &mut self.clients[client];
            (one.session, one.ended) = (session, false);
            one.words.clear();
        } else if self.chance.percent(50) {
            // The client library has forgotten its watches.
            self.clients[client].words.clear();
        }
        self.clients[client].connected = true;
        self.clients[client].heard = self.now;
        self.session_is(client, SessionState::Connected);
        self.drain(client);
    }

    /// The server ends the session of a client that it has not heard of for long enough.
    fn end_session(&mut self, client: usize) {
        let one = &self.clients[client];
        let silent = one.heard.plus(TIMEOUT) <= self.now;
        if one.connected || one.ended || !silent {
            return;
        }
        assert!(
            !self.checker.is_valid(self.now, client),
            "the session ends while its holder believes in its grant"
        );
        let session = one.session;
        self.server.end_session(session);
        self.spread_notices();
        self.clients[client].ended = true;
    }

    /// The weather clears up: everybody connects, those who hold release, and those who wait hold one after the other. In half of the stories
    /// nobody waits for that, and everything is closed as it stands.
    fn clear_up(&mut self) {
        self.calm = true;
        if self.chance.percent(50) {
            self.all_are_granted();
        }
        self.nothing_is_left();
    }

    fn settle(&mut self) {
        for client in 0..self.clients.len() {
            self.connect(client);
            while !self.clients[client].requests.is_empty() {
                self.execute(client);
            }
        }
        for client in 0..self.clients.len() {
            while !self.clients[client].words.is_empty() {
                self.deliver(client);
            }
        }
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
            // No waiter may need the passing of much time.
            self.pass(Duration::from_millis(20));
        }
        let line = self.server.children(DIRECTORY);
        panic!("somebody waits for ever: {:?}, {line:?}", self.checker.beliefs);
    }

    fn nothing_is_left(&mut self) {
        for client in 0..self.clients.len() {
            self.clients[client].hub.shutdown(self.now);
            self.drain(client);
        }
        for _ in 0..100 {
            self.settle();
            self.pass(Duration::from_millis(20));
        }
        for one in &self.clients {
            assert_eq!(one.hub.pending(), 0, "{:?}", one.hub);
        }
        let left = self.server.children(DIRECTORY).unwrap_or_default();
        assert!(left.is_empty(), "{left:?}");
    }
}

//! Redis: the server, the clients, and the pending messages.

mod network;

use core::time::Duration;

use fencepost_core::{
    AcquireTimeout, CommandId, Failure, Instant, Intent, Misuse, Outcome, Output, Settings,
    claim::Policy,
    lowered::Operation,
    redis::{Notice, Redis, Reply, Script},
};
use fencepost_models::redis::{ConnectionId, Server};
use fencepost_simulator::{chance::Chance, lua::RealLua};
use serde_json::json;

use crate::{
    application::{Application, Stage},
    promises::{Account, Broken},
    seen::Seen,
};
pub(crate) use network::mutated;

const LEASE: Duration = Duration::from_millis(300);
const STEPS: u32 = 240;

/// A script that lacks a check.
#[derive(Debug)]
pub(crate) struct Mutant {
    pub(crate) script: Script,
    pub(crate) find: &'static str,
    pub(crate) replace: &'static str,
}

struct Client {
    application: Application<Redis>,
    connection: ConnectionId,
    crashes: u8,
    paused: bool,
    listening: Vec<(Vec<u8>, CommandId)>,
}

/// A pending request to the server, or a pending answer. A crashed process gets no answers.
struct Message {
    client: usize,
    crashes: u8,
    id: CommandId,
    content: Content,
}

enum Content {
    Ask(Operation, Vec<Vec<u8>>),
    Reply(Reply),
}

pub(crate) struct World<'a> {
    lua: &'a mut RealLua,
    chance: Chance,
    mutant: Option<&'a Mutant>,
    server: Server,
    now: Instant,
    clients: Vec<Client>,
    messages: Vec<Message>,
    account: Account,
    pub(crate) seen: Seen,
    story: Vec<String>,
}

fn settings(policy: Policy, fingerprint: &str) -> Settings {
    let settings = json!({
        "kind": "redis-claim", "scope": "payments", "key": "order-17", "fingerprint": fingerprint,
        "on_lease_end": policy.name(), "lease": 300_000, "retention": 3_600_000_000_u64, "answer_within": 90_000,
        "poll": 100_000,
    });
    serde_json::from_value(settings).expect("good settings")
}

impl<'a> World<'a> {
    pub(crate) fn new(seed: u64, mutant: Option<&'a Mutant>, lua: &'a mut RealLua) -> Self {
        let mut chance = Chance::new(seed);
        let policy = chance.pick(&Policy::ALL).expect("a policy");
        let mut world = Self {
            lua,
            mutant,
            server: Server::new(),
            now: Instant::from_micros(1_790_000_000_000_000),
            clients: Vec::new(),
            messages: Vec::new(),
            account: Account::new(policy),
            seen: Seen::default(),
            story: Vec::new(),
            chance,
        };
        for client in 0..3 {
            let fresh = world.client(client, 0);
            world.clients.push(fresh);
        }
        world
    }

    pub(crate) fn story(self) -> Vec<String> {
        self.story
    }

    fn client(&mut self, number: u8, crashes: u8) -> Client {
        // The third client has another request with the same key.
        let fingerprint = if number == 2 { "other" } else { "print" };
        let Settings::Redis(settings) = settings(self.account.policy(), fingerprint) else {
            panic!("settings of Redis")
        };
        Client {
            application: Application::new(self.now, settings, fingerprint.as_bytes(), [number + 1, crashes]),
            connection: self.server.connect(),
            crashes,
            paused: false,
            listening: Vec::new(),
        }
    }

    /// A run: first with faults, then without.
    pub(crate) fn run(&mut self) -> Result<(), Broken> {
        for _ in 0..STEPS {
            self.step()?;
        }
        self.recover()
    }

    fn step(&mut self) -> Result<(), Broken> {
        let client = self.chance.below(3) as usize;
        match self.chance.below(100) {
            0..26 => self.act(client)?,
            26..80 => self.move_message()?,
            80..94 => {
                let pause = self.chance.pick(&[1, 500, 5_000, 40_000, 100_000, 310_000]);
                self.pass(pause.unwrap_or_default())?;
            }
            94 => self.crash(client),
            95..97 => {
                self.clients[client].paused = !self.clients[client].paused;
                self.log(format!("{client} stands still, or goes on"));
            }
            97 => self.server.flush_scripts(),
            _ => self.break_connection(client)?,
        }
        Ok(())
    }

    fn act(&mut self, client: usize) -> Result<(), Broken> {
        let own = &mut self.clients[client];
        if own.paused {
            return Ok(());
        }
        let what = own
            .application
            .step(self.now, &mut self.chance, &mut self.account, &mut self.seen)?;
        if !what.is_empty() {
            self.log(format!("{client} {what}"));
        }
        self.drain(client)
    }

    fn pass(&mut self, micros: u64) -> Result<(), Broken> {
        self.now = self.now.plus(Duration::from_micros(micros));
        for client in 0..self.clients.len() {
            if !self.clients[client].paused {
                self.clients[client].application.hub.handle_timeout(self.now);
                self.drain(client)?;
            }
        }
        Ok(())
    }

    fn crash(&mut self, client: usize) {
        self.seen.crashes += 1;
        self.log(format!("{client} crashes"));
        let own = &mut self.clients[client];
        own.application.crash(&mut self.account);
        let awaits = |message: &Message| message.client == client && message.crashes == own.crashes;
        self.account.in_doubt |= self.messages.iter().any(awaits) || own.application.waits();
        let (connection, crashes) = (own.connection, own.crashes + 1);
        self.server.disconnect(connection);
        self.clients[client] = self.client(u8::try_from(client).expect("few clients"), crashes);
    }

    /// Pending requests may still arrive, but get no answer.
    fn break_connection(&mut self, client: usize) -> Result<(), Broken> {
        let own = &mut self.clients[client];
        let crashes = own.crashes;
        let waiting: Vec<CommandId> = self
            .messages
            .iter()
            .filter(|message| message.client == client && message.crashes == crashes)
            .map(|message| message.id)
            .collect();
        self.messages.retain(|message| {
            message.client != client || matches!(message.content, Content::Ask(Operation::Call, _))
        });
        for (_, id) in core::mem::take(&mut own.listening) {
            accepted(own.application.hub.handle_notice(self.now, Notice::Gone { id }))?;
        }
        for id in waiting {
            let failed = Outcome::Failed(Failure::Unknown);
            accepted(own.application.hub.handle_outcome(self.now, id, failed))?;
        }
        self.log(format!("the connection of {client} breaks"));
        self.drain(client)
    }

    fn drain(&mut self, client: usize) -> Result<(), Broken> {
        loop {
            let own = &mut self.clients[client];
            match own.application.hub.poll_output(None) {
                (_, Output::Command(command)) => {
                    let request = fencepost_core::lowered::Request::from(command.request);
                    self.messages.push(Message {
                        client,
                        crashes: own.crashes,
                        id: command.id,
                        content: Content::Ask(request.operation, request.arguments),
                    });
                }
                (_, Output::Event(event)) => {
                    self.log(format!("{client} receives {event:?}"));
                    let own = &mut self.clients[client].application;
                    own.on_event(self.now, |local| local, &event, &mut self.account, &mut self.seen)?;
                }
                _ => return Ok(()),
            }
        }
    }

    /// Faults end. A new client claims, and must get its result or its refusal within a lease.
    fn recover(&mut self) -> Result<(), Broken> {
        self.log("faults end".into());
        for client in &mut self.clients {
            client.paused = false;
        }
        self.settle()?;
        for client in 0..2 {
            self.crash(client);
        }
        let effects = self.account.runs.iter().filter(|run| run.has_effect).count();
        self.seen.repeated += u64::from(effects > 1);
        let fresh = &mut self.clients[0].application;
        let claims = Intent::Acquire(AcquireTimeout::For(LEASE.saturating_mul(3)));
        accepted(fresh.hub.intent(self.now, fresh.key, claims))?;
        fresh.stage = Stage::Claims;
        let limit = self.now.plus(LEASE).plus(Duration::from_millis(250));
        while self.clients[0].application.stage == Stage::Claims {
            self.drain(0)?;
            self.settle()?;
            let settled = self.clients[0].application.stage != Stage::Claims;
            if !settled && self.now > limit {
                let open = self.account.policy() == Policy::Retake || self.account.is_untouched();
                return if open { Err(Broken::Wedged) } else { Ok(()) };
            }
            if !settled {
                self.pass(10_000)?;
            }
        }
        Ok(())
    }

    /// All messages arrive.
    fn settle(&mut self) -> Result<(), Broken> {
        for client in 0..self.clients.len() {
            self.drain(client)?;
        }
        while !self.messages.is_empty() {
            self.arrive(0, 99)?;
        }
        Ok(())
    }

    fn log(&mut self, line: String) {
        let at = self.now.as_micros() % 1_000_000_000;
        self.story
            .push(format!("{:9}.{:03} {line}", at / 1000, at % 1000));
    }
}

fn accepted(verdict: Result<(), Misuse>) -> Result<(), Broken> {
    verdict.map_err(|_misuse| Broken::Misuse)
}

//! ZooKeeper: the servers, the clients, and an operator.

mod client;
mod connection;
mod faults;
mod mutants;
mod operator;
mod recovery;
mod truth;

use core::time::Duration;

use fencepost_core::{
    Instant, RawSettings, Settings,
    claim::Policy,
    options::{Kind, Scope, Server as Place},
    zookeeper::{LockSettings, ZooKeeper},
};
use fencepost_simulator::{
    backend::Backend as _, chance::Chance, states::Transitions, world::BEGINNING, zookeeper::Servers,
};

use crate::{
    application::Application,
    promises::{Account, Broken},
    seen::Seen,
};
use client::Client;
pub(crate) use mutants::{MUTANTS, Mutant};
use truth::Truth;

const STEPS: u32 = 500;

/// The clients that claim. The last one has another request with the same key. After them comes the operator.
const CLAIMANTS: u8 = 3;

/// The properties of a world that differ between runs.
#[derive(Debug)]
struct Theme {
    members: u8,
    /// How long an unclaimed token lives, if the key is one.
    life: Option<Duration>,
    /// Whether an operator settles or deletes records.
    operated: bool,
    /// Whether freed records are deleted.
    swept: bool,
    /// The number of faults in a hundred steps.
    bad: u32,
    /// Whether requests and answers take a while, so that other steps happen in between.
    slow: bool,
}

pub(crate) struct World<'a> {
    chance: Chance,
    mutant: Option<&'a Mutant>,
    servers: Servers,
    now: Instant,
    /// How many milliseconds the leader's wall clock is ahead of the time.
    ahead: i64,
    theme: Theme,
    scope: Scope,
    clients: Vec<Client>,
    account: Account,
    truth: Truth,
    /// How many of the next requests the server throttles.
    throttled: u32,
    recovering: bool,
    pub(crate) seen: Seen,
    /// The transitions of the machines, by their state tables.
    pub(crate) transitions: Transitions,
    story: Vec<String>,
}

impl<'a> World<'a> {
    pub(crate) fn new(seed: u64, mutant: Option<&'a Mutant>) -> Self {
        let mut chance = Chance::new(seed);
        let policy = chance.pick(&Policy::ALL).expect("a policy");
        let theme = Theme {
            members: chance.pick(&[1, 3]).expect("a number"),
            life: chance
                .pick(&[None, None, Some(600), Some(8_000)])
                .expect("a life")
                .map(Duration::from_millis),
            operated: chance.percent(25),
            swept: chance.percent(40),
            bad: chance.pick(&[2, 6, 12]).expect("a number"),
            slow: chance.percent(40),
        };
        let raw = RawSettings::on(Place::ZooKeeper, Kind::Claim)
            .with("scope", "stock")
            .with("prefix", "shop")
            .with("on_lease_end", policy.name())
            .with("answer_within", 500_000_i64);
        let drifting = chance.percent(50);
        let mut world = Self {
            servers: Servers::new(CLAIMANTS + 1, theme.members),
            mutant,
            now: BEGINNING,
            ahead: 1_790_000_000_000,
            scope: Scope::try_from(raw).expect("a good scope"),
            clients: Vec::new(),
            account: Account::new(policy),
            truth: Truth::default(),
            throttled: 0,
            recovering: false,
            seen: Seen::default(),
            transitions: Transitions::default(),
            story: Vec::new(),
            theme,
            chance,
        };
        world.set_clock();
        for number in 0..=CLAIMANTS {
            let drift = i8::try_from(world.chance.below(9)).expect("a small number") - 4;
            let fresh = world.client(number, 0, if drifting { drift } else { 0 });
            world.clients.push(fresh);
        }
        world
    }

    pub(crate) fn story(self) -> Vec<String> {
        self.story
    }

    fn claim_of(&self, fingerprint: &str) -> LockSettings {
        let (key, print) = ("stock", fingerprint.as_bytes());
        let settings = match self.theme.life {
            None => self.scope.claim(key, print),
            Some(_) => self.scope.consume(key, b"form", print),
        };
        zookeeper(settings.expect("good settings"))
    }

    fn client(&self, number: u8, crashes: u8, drift: i8) -> Client {
        let fingerprint = if number + 1 == CLAIMANTS { "other" } else { "print" };
        let settings = self.claim_of(fingerprint);
        let local = Client::clock(self.now, drift);
        let mut application =
            Application::<ZooKeeper>::new(local, settings, fingerprint.as_bytes(), [number + 1, crashes]);
        if self.theme.swept {
            application.resolve = 25;
        }
        Client::new(number, crashes, drift, application)
    }

    /// A run: first with faults, then without.
    pub(crate) fn run(&mut self) -> Result<(), Broken> {
        for number in 0..=CLAIMANTS {
            self.connect(number, number % self.theme.members)?;
        }
        if self.theme.life.is_some() {
            self.issue()?;
        }
        for _ in 0..STEPS {
            self.step()?;
        }
        let result = self.recover();
        for client in &self.clients {
            client.application.hub.observe(&mut self.transitions);
        }
        result
    }

    fn step(&mut self) -> Result<(), Broken> {
        let number = u8::try_from(self.chance.below(u32::from(CLAIMANTS) + 1)).expect("few clients");
        if self.chance.percent(self.theme.bad) {
            return self.fault(number);
        }
        if self.theme.swept && self.chance.percent(15) {
            return self.sweep();
        }
        if self.theme.swept && self.chance.percent(5) {
            self.clients[usize::from(number)].stuck = false;
        }
        if !self.theme.slow || self.chance.percent(30) {
            self.carry()?;
        }
        match self.chance.below(100) {
            0..20 if number == CLAIMANTS => self.operate(),
            0..20 => self.act(number),
            20..55 => self.execute(number),
            55..85 => self.answer(number),
            85..90 => self.notice(number),
            _ => {
                let pause = self.chance.pick(&[1, 1_000, 10_000, 40_000, 100_000, 230_000]);
                self.pass(pause.unwrap_or_default())
            }
        }
    }

    fn act(&mut self, number: u8) -> Result<(), Broken> {
        let (now, own) = (self.now, &mut self.clients[usize::from(number)]);
        if own.paused {
            return Ok(());
        }
        let local = own.local(now);
        let what = own
            .application
            .step(local, &mut self.chance, &mut self.account, &mut self.seen)?;
        if !what.is_empty() {
            self.log(|| format!("{number} {what}"));
        }
        self.truth.begins(number, what);
        self.drain(number)
    }

    fn pass(&mut self, micros: u64) -> Result<(), Broken> {
        for number in 0..=CLAIMANTS {
            let own = &self.clients[usize::from(number)];
            if own.connected && !own.paused {
                self.servers.alive(self.now, number);
            }
        }
        self.now = self.now.plus(Duration::from_micros(micros));
        self.set_clock();
        self.servers.pass(self.now);
        self.after_a_change()?;
        for number in 0..=CLAIMANTS {
            self.look_at_clock(number)?;
        }
        Ok(())
    }

    fn look_at_clock(&mut self, number: u8) -> Result<(), Broken> {
        let own = &mut self.clients[usize::from(number)];
        if own.paused {
            return Ok(());
        }
        own.application.hub.handle_timeout(own.local(self.now));
        self.drain(number)
    }

    fn set_clock(&mut self) {
        let millis = self.wall_clock();
        self.servers.server().set_time(millis);
    }

    /// The leader's wall clock, in milliseconds.
    fn wall_clock(&self) -> i64 {
        i64::try_from(self.now.as_micros() / 1000).expect("a small time") + self.ahead
    }

    fn log(&mut self, line: impl FnOnce() -> String) {
        let at = self.now.as_micros();
        self.story
            .push(format!("{:6}.{:03} {}", at / 1000, at % 1000, line()));
    }
}

fn zookeeper(settings: Settings) -> LockSettings {
    match settings {
        Settings::ZooKeeper(settings) => settings,
        other => panic!("settings of ZooKeeper: {other:?}"),
    }
}

fn accepted(verdict: Result<(), fencepost_core::Misuse>) -> Result<(), Broken> {
    verdict.map_err(|_misuse| Broken::Misuse)
}

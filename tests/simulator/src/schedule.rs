//! A random schedule of steps and faults, by seed: the beginning of a world, and its next steps.

use crate::{
    chance::Chance,
    faults::Faults,
    step::{ClientFault, Number, Operation, ServerFault, Step},
    world::{FORGETS, Setup, Traffic},
};

/// The schedule of one run. Each run has its own choice of faults, so that some runs have one kind of fault
/// and some have all.
#[derive(Clone, Debug)]
pub struct Schedule {
    chance: Chance,
    clients: Number,
    servers: u8,
    client_faults: Vec<ClientFault>,
    server_faults: Vec<ServerFault>,
    /// The number of faults in a thousand steps.
    bad: u32,
    /// How often, in a thousand steps, a long time passes.
    slow: u32,
    /// Whether pending messages arrive before any other step. Otherwise they take a while, and other steps
    /// happen in between.
    brisk: bool,
    /// How often, in a hundred, the first message arrives first, if the order is not fixed.
    in_order: u32,
}

/// The profile of a kind of machine: which faults its runs can have.
#[derive(Clone, Copy, Debug)]
pub struct Profile {
    /// The largest number of servers.
    pub servers: u8,
    /// A long time, compared with its leases, in microseconds.
    pub long: u32,
    /// The faults of its servers.
    pub server_faults: &'static [ServerFault],
    /// Whether clocks may differ: if grants are leases on another clock.
    pub drifts: bool,
    /// Whether a lock's name on the server does not identify its owner: see [`Setup::nameless`].
    pub nameless: bool,
}

const CLIENT_FAULTS: [ClientFault; 10] = [
    ClientFault::LoseRequest(0),
    ClientFault::LoseAnswer(0),
    ClientFault::GiveUp(0),
    ClientFault::Double,
    ClientFault::LoseNotice,
    ClientFault::Disconnect(0),
    ClientFault::Pause,
    ClientFault::Wake,
    ClientFault::Crash,
    ClientFault::Swap,
];

impl Schedule {
    /// The schedule of one run, and the beginning of its world.
    #[must_use]
    pub fn new(
        seed: u64,
        profile: &Profile,
        fair: bool,
        longest: core::time::Duration,
        faults: &Faults,
    ) -> (Self, Setup) {
        let mut chance = Chance::new(seed);
        let clients = 2 + u8::try_from(chance.below(3)).unwrap_or_default();
        let servers = if profile.servers > 1 && chance.percent(50) {
            profile.servers
        } else {
            1
        };
        let drifting = profile.drifts && chance.percent(50);
        let drifts = (0..clients)
            .map(|_| i8::try_from(chance.below(9)).unwrap_or_default() - 4)
            .map(|drift| if drifting { drift } else { 0 })
            .collect();
        let client_faults: Vec<ClientFault> = CLIENT_FAULTS
            .into_iter()
            .filter(|fault| chance.percent(60) && faults.allow(fault.name()))
            .collect();
        // After a fault by an operator or a loss of data, the checker can check less, so most runs have
        // neither.
        let server_faults = profile.server_faults.iter().copied().filter(|fault| {
            let often = match fault {
                ServerFault::Operator(_) => 15,
                ServerFault::FailOver | ServerFault::Restart => 20,
                // These conditions last until they end.
                ServerFault::Full
                | ServerFault::NoDisk
                | ServerFault::FewReplicas
                | ServerFault::NoChannels
                | ServerFault::Older => 25,
                _ => 60,
            };
            chance.percent(often) && faults.allow(fault.name())
        });
        let server_faults = server_faults.collect();
        let schedule = Self {
            clients,
            servers,
            client_faults,
            server_faults,
            bad: [5, 30, 80][chance.below(3) as usize],
            slow: [2, 15, 40][chance.below(3) as usize],
            brisk: chance.percent(75),
            in_order: [90, 75, 20][chance.below(3) as usize],
            chance,
        };
        let setup = Setup {
            drifts,
            servers,
            fair,
            nameless: profile.nameless,
            longest,
        };
        (schedule, setup)
    }

    /// Whether the recovery phase grants every waiter its lock before all is closed.
    pub fn grants_all(&mut self) -> bool {
        self.chance.percent(60)
    }

    /// A step that may happen next. `traffic` returns the pending messages of a client.
    pub fn next(&mut self, long: u32, traffic: impl Fn(Number) -> Traffic) -> Step {
        let client = self.client();
        let dice = self.chance.below(1000);
        let bad = self.bad;
        let slow = bad + self.slow;
        if dice < bad {
            return self.fault(client);
        }
        if dice < slow {
            return Step::Pass(self.chance.below(long));
        }
        let (clients, brisk) = (self.clients, self.brisk);
        let first = |has: fn(Traffic) -> bool| {
            let mut all = (client..clients).chain(0..client);
            let busy = all.find(|client| !brisk || has(traffic(*client)));
            busy.unwrap_or(client)
        };
        match self.chance.below(100) {
            0..36 => Step::Execute(first(|of| of.requests > 0), self.nth()),
            36..66 => Step::Answer(first(|of| of.connected && of.answers > 0), self.nth()),
            66..74 => Step::Notice(first(|of| of.connected && of.notices)),
            74..86 => Step::Operation(client, self.operation()),
            86..92 => Step::Tick(client),
            92..94 => Step::ClientFault(client, ClientFault::Reconnect(self.how())),
            94 => Step::ClientFault(client, ClientFault::Wake),
            95 => Step::Land(self.nth()),
            _ => Step::Pass(self.chance.below(4000)),
        }
    }

    fn client(&mut self) -> Number {
        u8::try_from(self.chance.below(self.clients.into())).unwrap_or_default()
    }

    /// Mostly the first message; in some runs mostly another one, which overtakes it.
    fn nth(&mut self) -> u8 {
        if self.chance.percent(self.in_order) {
            0
        } else {
            u8::try_from(1 + self.chance.below(3)).unwrap_or_default()
        }
    }

    fn how(&mut self) -> u8 {
        let server = u8::try_from(self.chance.below(self.servers.into())).unwrap_or_default();
        if self.chance.percent(50) {
            server | FORGETS
        } else {
            server
        }
    }

    fn operation(&mut self) -> Operation {
        match self.chance.below(36) {
            0..10 => Operation::Acquire,
            10..14 => Operation::AcquireWithin(1 + self.chance.below(1_500_000)),
            14..17 => Operation::Try,
            17 => Operation::Cancel,
            18..20 => Operation::Extend,
            20..24 => Operation::Write,
            24..26 => Operation::Downgrade,
            _ => Operation::Release,
        }
    }

    fn fault(&mut self, client: Number) -> Step {
        let all = self.client_faults.len() + self.server_faults.len();
        let at = self.chance.below(u32::try_from(all).unwrap_or_default()) as usize;
        let nth = self.nth();
        if let Some(fault) = self.client_faults.get(at) {
            let fault = match fault {
                ClientFault::LoseRequest(_) => ClientFault::LoseRequest(nth),
                ClientFault::LoseAnswer(_) => ClientFault::LoseAnswer(nth),
                ClientFault::GiveUp(_) => ClientFault::GiveUp(nth),
                ClientFault::Disconnect(_) => ClientFault::Disconnect(nth),
                other => *other,
            };
            return Step::ClientFault(client, fault);
        }
        match self.server_faults.get(at - self.client_faults.len()) {
            Some(ServerFault::Expire(_)) => Step::ServerFault(ServerFault::Expire(nth)),
            Some(ServerFault::Operator(_)) => Step::ServerFault(ServerFault::Operator(nth)),
            Some(ServerFault::Throttle(_)) => Step::ServerFault(ServerFault::Throttle(nth + 1)),
            Some(ServerFault::CatchUp(_)) => Step::ServerFault(ServerFault::CatchUp(self.server())),
            Some(ServerFault::CutOff(_)) => Step::ServerFault(ServerFault::CutOff(self.server())),
            Some(other) => Step::ServerFault(*other),
            None => Step::Tick(client),
        }
    }

    fn server(&mut self) -> u8 {
        u8::try_from(self.chance.below(self.servers.into())).unwrap_or_default()
    }
}

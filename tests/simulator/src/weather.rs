//! Bad weather, by seed: how a world begins, and what happens next in it.

use crate::{
    chance::Chance,
    faults::Faults,
    step::{Number, Outage, Step, Trouble, Wish},
    world::{FORGETS, Setup, Traffic},
};

/// What a run may meet: chosen for each run anew, so that there are runs with one kind of trouble, and runs with all of them.
#[derive(Clone, Debug)]
pub struct Weather {
    chance: Chance,
    clients: Number,
    servers: u8,
    troubles: Vec<Trouble>,
    outages: Vec<Outage>,
    /// How often, in a thousand steps, there is trouble.
    bad: u32,
    /// How often, in a thousand steps, a long time passes.
    slow: u32,
    /// Whether what is on its way comes before anything else: otherwise it takes a while, and much else happens in between.
    brisk: bool,
    /// How often, in a hundred, what came first goes first, where nothing keeps the order.
    in_order: u32,
}

/// What a kind of machine can meet at all.
#[derive(Clone, Copy, Debug)]
pub struct Climate {
    /// The most servers there are.
    pub servers: u8,
    /// Long against its leases, in microseconds.
    pub long: u32,
    /// What can go wrong on its servers.
    pub outages: &'static [Outage],
    /// Whether clocks may differ: where grants are leases that another clock counts.
    pub drifts: bool,
    /// Whether a lock's name on the server says nothing of its owner: see [`Setup::nameless`].
    pub nameless: bool,
}

const TROUBLES: [Trouble; 10] = [
    Trouble::LoseRequest(0),
    Trouble::LoseAnswer(0),
    Trouble::GiveUp(0),
    Trouble::Double,
    Trouble::LoseNotice,
    Trouble::Disconnect(0),
    Trouble::Pause,
    Trouble::Wake,
    Trouble::Crash,
    Trouble::Swap,
];

impl Weather {
    /// The weather of one run, and how its world begins.
    #[must_use]
    pub fn new(
        seed: u64,
        climate: &Climate,
        fair: bool,
        longest: core::time::Duration,
        faults: &Faults,
    ) -> (Self, Setup) {
        let mut chance = Chance::new(seed);
        let clients = 2 + u8::try_from(chance.below(3)).unwrap_or_default();
        let servers = if climate.servers > 1 && chance.percent(50) {
            climate.servers
        } else {
            1
        };
        let drifting = climate.drifts && chance.percent(50);
        let drifts = (0..clients)
            .map(|_| i8::try_from(chance.below(9)).unwrap_or_default() - 4)
            .map(|drift| if drifting { drift } else { 0 })
            .collect();
        let troubles: Vec<Trouble> = TROUBLES
            .into_iter()
            .filter(|trouble| chance.percent(60) && faults.allow(trouble.name()))
            .collect();
        // An operator or a loss of data excuses much: most runs are without.
        let outages = climate.outages.iter().copied().filter(|outage| {
            let often = match outage {
                Outage::Operator(_) => 15,
                Outage::FailOver | Outage::Restart => 20,
                // They last until they are over.
                Outage::Full | Outage::NoDisk | Outage::FewReplicas | Outage::NoChannels | Outage::Older => {
                    25
                }
                _ => 60,
            };
            chance.percent(often) && faults.allow(outage.name())
        });
        let outages = outages.collect();
        let weather = Self {
            clients,
            servers,
            troubles,
            outages,
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
            nameless: climate.nameless,
            longest,
        };
        (weather, setup)
    }

    /// Whether the run's ending waits for those who wait.
    pub fn patient(&mut self) -> bool {
        self.chance.percent(60)
    }

    /// What happens next, perhaps. `traffic` says what is on its way to and from a client.
    pub fn next(&mut self, long: u32, traffic: impl Fn(Number) -> Traffic) -> Step {
        let client = self.client();
        let dice = self.chance.below(1000);
        let bad = self.bad;
        let slow = bad + self.slow;
        if dice < bad {
            return self.trouble(client);
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
            74..86 => Step::Wish(client, self.wish()),
            86..92 => Step::Tick(client),
            92..94 => Step::Trouble(client, Trouble::Reconnect(self.how())),
            94 => Step::Trouble(client, Trouble::Wake),
            95 => Step::Land(self.nth()),
            _ => Step::Pass(self.chance.below(4000)),
        }
    }

    fn client(&mut self) -> Number {
        u8::try_from(self.chance.below(self.clients.into())).unwrap_or_default()
    }

    /// Mostly the first; in some runs mostly another one, which overtakes it.
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

    fn wish(&mut self) -> Wish {
        match self.chance.below(36) {
            0..10 => Wish::Acquire,
            10..14 => Wish::AcquireWithin(1 + self.chance.below(1_500_000)),
            14..17 => Wish::Try,
            17 => Wish::Cancel,
            18..20 => Wish::Extend,
            20..24 => Wish::Write,
            24..26 => Wish::Downgrade,
            _ => Wish::Release,
        }
    }

    fn trouble(&mut self, client: Number) -> Step {
        let all = self.troubles.len() + self.outages.len();
        let at = self.chance.below(u32::try_from(all).unwrap_or_default()) as usize;
        let nth = self.nth();
        if let Some(trouble) = self.troubles.get(at) {
            let trouble = match trouble {
                Trouble::LoseRequest(_) => Trouble::LoseRequest(nth),
                Trouble::LoseAnswer(_) => Trouble::LoseAnswer(nth),
                Trouble::GiveUp(_) => Trouble::GiveUp(nth),
                Trouble::Disconnect(_) => Trouble::Disconnect(nth),
                other => *other,
            };
            return Step::Trouble(client, trouble);
        }
        match self.outages.get(at - self.troubles.len()) {
            Some(Outage::Expire(_)) => Step::Outage(Outage::Expire(nth)),
            Some(Outage::Operator(_)) => Step::Outage(Outage::Operator(nth)),
            Some(Outage::Crowd(_)) => Step::Outage(Outage::Crowd(nth + 1)),
            Some(Outage::CatchUp(_)) => Step::Outage(Outage::CatchUp(self.server())),
            Some(Outage::CutOff(_)) => Step::Outage(Outage::CutOff(self.server())),
            Some(other) => Step::Outage(*other),
            None => Step::Tick(client),
        }
    }

    fn server(&mut self) -> u8 {
        u8::try_from(self.chance.below(self.servers.into())).unwrap_or_default()
    }
}

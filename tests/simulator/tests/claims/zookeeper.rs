//! ZooKeeper's machines on the model server, and the table: the same answers, and the same records.
//!
//! `core/src/zookeeper/operation` describes the differences: a lease lasts as long as its node, a fence is
//! the number of a transaction, only a sweep deletes a record, and a claim compares the life of its token.

mod table;

use core::time::Duration;

use fencepost_core::{
    AcquireTimeout, AttemptId, CommandId, ContenderId, Event, Instant, Intent, Key, Output, Settings,
    claim::{Name, Policy, Step, form},
    zookeeper::{ClaimSettings, LockSettings, Request, StepSettings, Write},
};
use fencepost_models::memory::{Hub, SESSION_TIMEOUT, Server};
use fencepost_simulator::chance::Chance;

use crate::{
    setting,
    steps::{Theme, step},
};
use table::{Answered, Table};

const RECORD: &str = "/shop/fencepost/payments/0e/order-17";

/// A claim that the application holds or has lost.
struct Claimed {
    key: Key,
    attempt: AttemptId,
}

struct Client {
    hub: Hub,
    claimed: Option<Claimed>,
}

struct Both {
    server: Server,
    clients: Vec<Client>,
    /// In milliseconds.
    now: u64,
    attempts: u32,
    table: Table,
    log: Vec<String>,
}

impl Both {
    fn new() -> Self {
        let mut both = Self {
            server: Server::new(),
            clients: Vec::new(),
            now: 1_795_000_000_000,
            attempts: 0,
            table: Table::default(),
            log: Vec::new(),
        };
        both.set_clock();
        for _ in 0..3 {
            let fresh = both.client();
            both.clients.push(fresh);
        }
        both
    }

    const fn at(&self) -> Instant {
        Instant::from_micros(self.now * 1000)
    }

    fn set_clock(&mut self) {
        let now = i64::try_from(self.now).unwrap();
        self.server.model().set_time(now);
    }

    fn client(&mut self) -> Client {
        let at = self.at();
        let hub = Hub::connect(&mut self.server, at, 1, SESSION_TIMEOUT);
        Client { hub, claimed: None }
    }

    /// Time passes, and the clients confirm their sessions meanwhile.
    fn pass(&mut self, millis: u64) {
        let until = self.now + millis;
        while self.now < until {
            self.now = until.min(self.now + 5_000);
            self.set_clock();
            for at in 0..self.clients.len() {
                let now = self.at();
                self.clients[at].hub.handle_timeout(&mut self.server, now);
                let events = self.events(at);
                assert!(
                    !events.iter().any(|event| matches!(event, Event::Lost { .. })),
                    "{events:?}"
                );
            }
        }
    }

    fn events(&mut self, client: usize) -> Vec<Event> {
        let now = self.at();
        let mut events = Vec::new();
        loop {
            match self.clients[client].hub.poll_output(&mut self.server, now, None) {
                (_, Output::Event(Event::Extended { .. })) => {}
                (_, Output::Event(event)) => events.push(event),
                _ => return events,
            }
        }
    }

    /// Makes a request with a new machine, and returns its result.
    fn ask(&mut self, client: usize, settings: LockSettings) -> (Key, AttemptId, Event) {
        // A claim may have been lost.
        self.events(client);
        self.attempts += 1;
        let contender = ContenderId(u128::from(self.attempts).to_be_bytes());
        let attempt = AttemptId { contender, number: 1 };
        let now = self.at();
        let hub = &mut self.clients[client].hub;
        let settings = Settings::ZooKeeper(settings);
        let key = hub.open(&mut self.server, now, &settings, contender, 3).unwrap();
        let tries = Intent::Acquire(AcquireTimeout::Try);
        hub.intent(&mut self.server, now, key, tries).unwrap();
        let mut events = self.events(client);
        // The request may end the client's own claim.
        events.retain(|event| !matches!(event, Event::Lost { .. }));
        assert_eq!(events.len(), 1, "{events:?}");
        (key, attempt, events.remove(0))
    }

    fn number_of_the_last_change(&mut self) -> u64 {
        let node = self.server.model().node(RECORD);
        node.map_or(0, |(_, stat)| u64::try_from(stat.mzxid).unwrap())
    }

    fn request(&mut self, client: usize, step: &Step) {
        let name = Name::new("payments", "order-17").unwrap();
        let within = Duration::from_secs(5);
        let (attempt, event) = match step {
            Step::Renew { .. } => return self.extend(client),
            Step::Complete(content) => match self.end(client, Intent::Complete(content.clone())) {
                Some(ended) => ended,
                None => return,
            },
            Step::Release | Step::Leave => {
                let intent = if *step == Step::Leave {
                    Intent::Leave
                } else {
                    Intent::Release
                };
                match self.end(client, intent) {
                    Some(ended) => ended,
                    None => return,
                }
            }
            Step::Claim(_) if self.clients[client].claimed.is_some() => return,
            Step::Claim(claim) => {
                let settings = ClaimSettings::new("shop", &name, claim.clone(), within).unwrap();
                let (key, attempt, event) = self.ask(client, LockSettings::Claim(settings));
                if let Event::Acquired { .. } = event {
                    self.clients[client].claimed = Some(Claimed { key, attempt });
                }
                (attempt, event)
            }
            step => {
                let settings = StepSettings::new("shop", &name, step.clone(), within).unwrap();
                let (_, attempt, event) = self.ask(client, LockSettings::Step(settings));
                (attempt, event)
            }
        };
        let mzxid = self.number_of_the_last_change();
        let expected = self.table.ask(attempt, step, self.now, mzxid);
        let answered = Answered::of(event);
        self.log.push(format!("{} {client} {attempt} {step:?}", self.now));
        self.log.push(format!("    {}", answered.word()));
        assert_eq!(
            answered, expected,
            "S6 may be broken: the machine, then the table"
        );
    }

    /// A claim ends, if the client has one.
    fn end(&mut self, client: usize, intent: Intent) -> Option<(AttemptId, Event)> {
        let claimed = self.clients[client].claimed.take()?;
        let (key, attempt) = (claimed.key, claimed.attempt);
        let now = self.at();
        let hub = &mut self.clients[client].hub;
        hub.intent(&mut self.server, now, key, intent).unwrap();
        let mut events = self.events(client).into_iter();
        let first = events.next()?;
        // If its end is refused, a claim continues, and may detect that it was lost.
        if let Event::Refused { .. } = first {
            self.clients[client].claimed = Some(claimed);
        }
        let rest: Vec<Event> = events.collect();
        assert!(matches!(&rest[..], [] | [Event::Lost { .. }]), "{rest:?}");
        Some((attempt, first))
    }

    /// Compares the stored record with that of the table.
    fn compare(&mut self, client: usize) {
        let name = Name::new("payments", "order-17").unwrap();
        let look = StepSettings::new("shop", &name, Step::Look, Duration::from_secs(5)).unwrap();
        let (.., event) = self.ask(client, LockSettings::Step(look));
        assert_eq!(
            Answered::of(event),
            self.table.look(),
            "the record, then the table's"
        );
        // An operator or the end of a lease may have ended claims. Their applications now receive the losses.
        for at in 0..self.clients.len() {
            self.receive_losses(at);
        }
    }

    /// A client extends its claim, and watches its lease from then on.
    fn extend(&mut self, client: usize) {
        let now = self.at();
        let Client { hub, claimed } = &mut self.clients[client];
        if let Some(claimed) = claimed
            && hub
                .intent(&mut self.server, now, claimed.key, Intent::Extend)
                .is_ok()
        {
            self.receive_losses(client);
        }
    }

    /// Compares the loss of a claim, if there is one: it must have the reason that a renewal would get.
    fn receive_losses(&mut self, client: usize) {
        let events = self.events(client);
        if let (Some(claimed), [Event::Lost { reason, .. }]) = (&self.clients[client].claimed, &events[..]) {
            self.log.push(format!("    loss: {}", reason.name()));
            let expected = self.table.loss_of(claimed.attempt);
            assert_eq!(*reason, expected, "the loss, then the table's");
        }
    }

    /// An operator deletes the lease of a claim, or a client's session ends.
    fn end_lease(&mut self, client: usize, chance: &mut Chance) {
        let Some(claimed) = &self.clients[client].claimed else {
            return;
        };
        self.log.push(format!("the lease of {client} ends"));
        self.table.end_lease(claimed.attempt);
        if chance.percent(50) {
            let lease = [RECORD, "/", &claimed.attempt.text()].concat();
            self.server.model().delete(&lease);
        } else {
            let now = self.at();
            self.clients[client].hub.disconnect(&mut self.server, now);
            let fresh = self.client();
            self.clients[client] = fresh;
        }
    }

    /// Deletes a freed record, or one after its retention.
    fn sweep(&mut self) {
        if !self.table.may_delete(self.now) {
            return;
        }
        let children = self.server.model().children(RECORD).unwrap_or_default();
        let Some((_, stat)) = self.server.model().node(RECORD) else {
            return;
        };
        self.log.push("sweep".into());
        let delete = |path, version| Write::Delete { path, version };
        let mut writes: Vec<Write> = children
            .iter()
            .map(|child| delete([RECORD, "/", child].concat(), None))
            .collect();
        writes.push(delete(RECORD.into(), Some(stat.version)));
        writes.push(Write::Set {
            path: RECORD.rsplit_once('/').unwrap().0.into(),
            data: Vec::new(),
            version: None,
        });
        self.execute(Request::Multi { writes });
        self.table.forget();
    }

    /// Another program writes into the record, or deletes it.
    fn damage(&mut self, chance: &mut Chance) {
        let Some((bytes, _)) = self.server.model().node(RECORD) else {
            return;
        };
        if self.table.is_value() {
            return;
        }
        let (path, mut data) = (RECORD.into(), bytes.to_vec());
        let at = chance.below(u32::try_from(data.len()).unwrap()) as usize;
        data[at] = data[at].wrapping_add(1);
        if form::decode(&data).is_ok() {
            return;
        }
        self.log.push("damage".into());
        self.execute(Request::Set { path, data });
        self.table.damage();
    }

    fn mend(&mut self) {
        self.log.push("mend".into());
        let (path, data) = (RECORD.into(), form::encode(None));
        self.execute(Request::Set { path, data });
        self.table.forget();
    }

    fn execute(&mut self, request: Request) {
        let session = self.server.model().open_session();
        self.server.model().execute(session, CommandId(1 << 60), request);
        self.server.model().end_session(session);
    }
}

fn sequence(both: &mut Both, chance: &mut Chance) {
    let theme = chance
        .pick(&[Theme::Keys, Theme::Keys, Theme::Tokens, Theme::Values])
        .unwrap();
    let policy = chance.pick(&Policy::ALL).unwrap();
    let damaged = chance.percent(20);
    for _ in 0..60 {
        both.pass(chance.pick(&[0, 0, 1, 5, 60, 120, 500]).unwrap());
        let client = chance.below(3) as usize;
        match chance.below(100) {
            0..8 => both.end_lease(client, chance),
            8..12 => both.sweep(),
            12..16 if damaged => both.damage(chance),
            _ if both.table.record().is_err() && chance.percent(30) => both.mend(),
            _ => {
                let mut step = step(chance, both.table.record(), theme);
                if let Step::Claim(claim) = &mut step
                    && chance.percent(80)
                {
                    claim.policy = policy;
                }
                both.request(client, &step);
            }
        }
        both.compare(client);
    }
}

#[test]
fn the_machines_answer_and_store_as_the_table_says() {
    let seed = setting("FENCEPOST_SEED", 20_260_701);
    let cases = setting("FENCEPOST_CASES", 1000);
    let mut seen = std::collections::BTreeMap::<String, u32>::new();
    for case in 0..cases {
        let mut both = Both::new();
        let run = std::panic::AssertUnwindSafe(|| {
            sequence(&mut both, &mut Chance::new(seed.wrapping_add(case << 32)));
        });
        if let Err(panic) = std::panic::catch_unwind(run) {
            eprintln!("sequence {case} of seed {seed}:");
            both.log.iter().for_each(|line| eprintln!("  {line}"));
            std::panic::resume_unwind(panic);
        }
        for line in &both.log {
            if let Some(answer) = line.strip_prefix("    ") {
                *seen.entry(answer.into()).or_default() += 1;
            }
        }
    }
    println!("{seen:?}");
    assert!(
        cases < 1000 || seen.len() == 18 && seen.values().all(|times| *times > 50),
        "{seen:?}"
    );
}

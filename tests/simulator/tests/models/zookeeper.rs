//! The ZooKeeper model against the real server.

mod ensemble;
mod jute;
mod real;

use std::collections::BTreeMap;

use fencepost_core::{
    CommandId, Instant, SessionId,
    zookeeper::{Answer, CreateMode, Request, Stat, Write},
};
use fencepost_models::zookeeper::{Ask, Server};

use crate::chance::{Chance, address, alone, sequences};
use real::{Fired, Real};

const CLIENTS: usize = 3;
const BASE: &str = "/fencepost-models";

#[derive(Debug)]
enum Step {
    Ask(usize, Ask),
    /// The session ends, and another one begins.
    Renew(usize),
    HangUp(usize),
    Reconnect(usize),
}

struct Client {
    model: SessionId,
    real: Real,
    connected: bool,
}

/// Both servers, which get the same requests.
struct Both {
    address: String,
    model: Server,
    clients: Vec<Client>,
    asked: u64,
    /// The transactions that created or changed nodes, on the model and on the real server.
    transactions: BTreeMap<i64, i64>,
    /// The times of these transactions: the model's time is the number of the request.
    times: BTreeMap<i64, i64>,
    /// All sessions so far.
    sessions: BTreeMap<i64, i64>,
    /// Nodes that have been created.
    known: Vec<String>,
}

impl Both {
    fn new() -> Self {
        let address = address("FENCEPOST_ZOOKEEPER");
        let mut both = Self {
            address,
            model: Server::new(),
            clients: Vec::new(),
            asked: 0,
            transactions: BTreeMap::new(),
            times: BTreeMap::new(),
            sessions: BTreeMap::new(),
            known: Vec::new(),
        };
        for _ in 0..CLIENTS {
            let client = both.open();
            both.clients.push(client);
        }
        both.ask(0, &create(BASE, CreateMode::Persistent));
        both
    }

    fn open(&mut self) -> Client {
        let client = Client {
            model: self.model.open_session(),
            real: Real::open(&self.address),
            connected: true,
        };
        self.sessions.insert(client.model.0, client.real.session);
        client
    }

    /// Sends a request to both, and compares the answers.
    fn ask(&mut self, client: usize, ask: &Ask) -> Answer {
        self.asked += 1;
        self.model.set_time(self.asked.try_into().unwrap());
        let client = &mut self.clients[client];
        let answered = self.model.ask(client.model, CommandId(self.asked), ask.clone());
        let answered = answered.expect("an answer");
        self.model.saw(client.model, answered.zxid);
        let (model, real) = (answered.reply.answer, client.real.ask(ask));
        assert!(
            self.alike(&model, &real),
            "the model: {model:?}\nthe real one: {real:?}"
        );
        match (&model, ask) {
            (Answer::Created { path, .. }, _) => self.known.push(path.clone()),
            (Answer::Children(names), Ask::Request(Request::Multi { writes })) => {
                let creates = writes.iter().filter_map(|write| match write {
                    Write::Create { path, .. } => path.rsplit_once('/'),
                    _ => None,
                });
                let made = creates
                    .zip(names)
                    .map(|((parent, _), name)| format!("{parent}/{name}"));
                self.known.extend(made);
            }
            _ => {}
        }
        model
    }

    fn alike(&mut self, model: &Answer, real: &Answer) -> bool {
        match (model, real) {
            (
                Answer::Created { path, zxid },
                Answer::Created {
                    path: other,
                    zxid: real,
                },
            ) => path == other && self.same_transaction(*zxid, *real),
            (
                Answer::Data { data, stat },
                Answer::Data {
                    data: other,
                    stat: real,
                },
            ) => {
                let Stat {
                    czxid,
                    mzxid,
                    ephemeral_owner: owner,
                    version,
                    created,
                    modified,
                } = *stat;
                let owner = self.sessions.get(&owner).copied().unwrap_or(owner);
                data == other
                    && version == real.version
                    && owner == real.ephemeral_owner
                    && self.same_transaction(czxid, real.czxid)
                    && self.same_transaction(mzxid, real.mzxid)
                    && self.same_time(created, real.created)
                    && self.same_time(modified, real.modified)
            }
            (model, real) => model == real,
        }
    }

    /// Transactions have other numbers, but the same order.
    fn same_transaction(&mut self, model: i64, real: i64) -> bool {
        in_order(&mut self.transactions, model, real, 1)
    }

    /// Two transactions of a server may have the same time.
    fn same_time(&mut self, model: i64, real: i64) -> bool {
        in_order(&mut self.times, model, real, 0)
    }

    /// Compares the events of every session. The events of a session's end and of a new connection may have
    /// any order.
    fn compare_events(&mut self, in_order: bool) {
        for client in self.clients.iter_mut().filter(|client| client.connected) {
            let mut model: Vec<(i64, Fired)> = Vec::new();
            for fired in self.model.take_fired_watches(client.model) {
                model.push((fired.zxid, (fired.event, fired.path)));
            }
            // The server sends an event to a session only once, even if the session has several watches.
            model.dedup();
            let mut model: Vec<Fired> = model.into_iter().map(|(_, fired)| fired).collect();
            let mut real = client.real.next_events(model.len());
            if !in_order {
                let key = |fired: &Fired| format!("{fired:?}");
                model.sort_by_key(key);
                model.dedup();
                real.sort_by_key(key);
            }
            assert_eq!(model, real);
            assert_eq!(
                client.real.untaken(),
                0,
                "more than the model: {:?}",
                client.real.ping()
            );
        }
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Ask(client, ask) if self.clients[*client].connected => drop(self.ask(*client, ask)),
            Step::Renew(client) if self.clients[*client].connected => {
                let fresh = self.open();
                let old = std::mem::replace(&mut self.clients[*client], fresh);
                self.model.end_session(old.model);
                old.real.close();
            }
            Step::HangUp(client) if self.clients[*client].connected => {
                let client = &mut self.clients[*client];
                client.connected = false;
                client.real.hang_up();
                self.model.detach(client.model);
            }
            Step::Reconnect(client) if !self.clients[*client].connected => {
                let client = &mut self.clients[*client];
                client.connected = true;
                self.model.reattach(Instant::ZERO, client.model, 0).unwrap();
                client.real.reconnect(&self.address).unwrap();
            }
            _ => return,
        }
        self.compare_events(matches!(step, Step::Ask(..)));
    }

    /// Compares the trees, checks that there are no further events, and cleans up.
    fn finish(mut self) {
        for client in 0..CLIENTS {
            self.step(&Step::Reconnect(client));
            assert_eq!(self.clients[client].real.ping(), []);
        }
        self.compare_below(BASE);
        let mut nodes = std::mem::take(&mut self.known);
        nodes.sort_by_key(|path| std::cmp::Reverse(path.len()));
        for path in nodes {
            self.ask(0, &Ask::Request(Request::Delete { path }));
        }
        self.ask(0, &Ask::Request(Request::Delete { path: BASE.into() }));
        for client in self.clients {
            client.real.close();
        }
    }

    fn compare_below(&mut self, path: &str) {
        let path = String::from(path);
        let get = Request::Get {
            path: path.clone(),
            watch: false,
        };
        self.ask(0, &Ask::Request(get));
        let list = Ask::Request(Request::Children {
            path: path.clone(),
            watch: false,
        });
        if let Answer::Children(names) = self.ask(0, &list) {
            for name in names {
                self.compare_below(&format!("{path}/{name}"));
            }
        }
    }
}

/// Whether the numbers of the real server have the order of those of the model, each greater than the one
/// before by at least `least`.
fn in_order(known: &mut BTreeMap<i64, i64>, model: i64, real: i64, least: i64) -> bool {
    let same = *known.entry(model).or_insert(real) == real;
    let before = known.range(..model).next_back();
    let after = known.range(model + 1..).next();
    same && before.is_none_or(|(_, before)| before + least <= real)
        && after.is_none_or(|(_, after)| real + least <= *after)
}

fn create(path: &str, mode: CreateMode) -> Ask {
    Ask::Request(Request::Create {
        path: path.into(),
        data: b"data".into(),
        mode,
    })
}

const NODES: &[&str] = &["/a", "/b", "/c", "/a/x", "/a/y", "/b/x", "/c/x", "/a/x/deep", ""];

fn random_path(chance: &mut Chance, known: &[String]) -> String {
    if !known.is_empty() && chance.one_in(2) {
        return known[chance.below(known.len())].clone();
    }
    format!("{BASE}{}", chance.pick(NODES))
}

fn random_ask(chance: &mut Chance, known: &[String]) -> Ask {
    let path = random_path(chance, known);
    let data = vec![b'd'; chance.below(3)];
    let watch = chance.one_in(2);
    let request = match chance.below(20) {
        0..=1 => create(&path, CreateMode::Persistent),
        2 => create(&path, CreateMode::Container),
        3..=5 => return create(&format!("{path}/n-"), CreateMode::EphemeralSequential),
        // Outside of the base, there are nodes of other programs.
        6 if path != BASE => create(&format!("{path}-"), CreateMode::EphemeralSequential),
        6..=7 => create(&path, CreateMode::Ephemeral),
        8..=9 => Ask::Request(Request::Delete { path }),
        10 => {
            let version = i32::try_from(chance.below(3)).unwrap();
            Ask::DeleteVersion { path, version }
        }
        11 => {
            let version = (!watch).then_some(i32::try_from(chance.below(3)).unwrap());
            Ask::Set { path, data, version }
        }
        12 => Ask::Request(Request::Get { path, watch }),
        13 => Ask::Exists { path, watch },
        14 => Ask::Request(Request::Children { path, watch }),
        15..=17 => random_writes(chance, known),
        18 => Ask::Request(Request::Set { path, data }),
        _ => match chance.below(4) {
            0 => Ask::Request(Request::Sync { path }),
            1 => Ask::Request(Request::Children { path, watch: true }),
            2 => Ask::Exists { path, watch: true },
            _ => Ask::Request(Request::Get { path, watch: true }),
        },
    };
    // The base stays.
    match request {
        Ask::Request(Request::Delete { path }) | Ask::DeleteVersion { path, .. } if path == BASE => {
            Ask::Request(Request::Sync { path })
        }
        other => other,
    }
}

fn random_writes(chance: &mut Chance, known: &[String]) -> Ask {
    let write = |chance: &mut Chance| {
        let path = random_path(chance, known);
        let data = vec![b'w'; chance.below(3)];
        let version = (!chance.one_in(3)).then_some(i32::try_from(chance.below(3)).unwrap());
        match chance.below(8) {
            0..=1 if path != BASE => Write::Delete { path, version },
            2 => Write::Create {
                path: format!("{path}/n-"),
                data,
                mode: CreateMode::EphemeralSequential,
            },
            3..=4 => Write::Set { path, data, version },
            5 => Write::Check { path, version },
            6 => Write::Create {
                path,
                data,
                mode: CreateMode::Ephemeral,
            },
            _ => Write::Create {
                path,
                data,
                mode: CreateMode::Persistent,
            },
        }
    };
    let writes = (0..=chance.below(3)).map(|_| write(chance)).collect();
    Ask::Request(Request::Multi { writes })
}

fn random_step(chance: &mut Chance, known: &[String]) -> Step {
    let client = chance.below(CLIENTS);
    match chance.below(24) {
        0 => Step::Renew(client),
        1 => Step::HangUp(client),
        2..=3 => Step::Reconnect(client),
        _ => Step::Ask(client, random_ask(chance, known)),
    }
}

#[test]
fn random_sequences_are_answered_alike() {
    let _alone = alone();
    sequences(300, |mut chance: Chance, steps| {
        let mut both = Both::new();
        for _ in 0..50 {
            steps.push(random_step(&mut chance, &both.known));
            both.step(steps.last().unwrap());
        }
        both.finish();
    });
}

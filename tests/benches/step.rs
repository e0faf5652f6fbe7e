//! Measures a step of a machine: one input into a hub with one machine, and all outputs that the hub then
//! has. Only the core runs, without a driver or a server.
//!
//! `cargo bench -p fencepost-tests` prints a table and fails if the median step takes longer than a microsecond.

use std::{process::ExitCode, time::Instant as Clock};

use core::time::Duration;

use fencepost_core::{
    AcquireTimeout, ContenderId, Instant, Intent, Key, Outcome, Output, SessionId,
    hub::{Family, Hub},
    lease, redis,
    zookeeper::{self, Answer, CreateMode, Layout, Notice, Role, SessionState, Stat, WatchEvent},
};

const ROUNDS: u32 = 20_000;
const MOST_NANOS: u64 = 1000;
const NOW: Instant = Instant::from_micros(1_000_000);

/// The input of a step, made before the clock starts.
enum Input<F: Family> {
    Intent(Intent),
    /// The reply to the command with this index in the round.
    Outcome(usize, F::Reply),
    /// A notice that names a command.
    Notice(F::Notice),
}

/// A hub with one machine, and the commands that it has issued in this round.
struct Bench<F: Family> {
    hub: Hub<F>,
    key: Key,
    given: Vec<fencepost_core::Command<F::Request>>,
    /// Nanoseconds, by step.
    steps: Vec<(&'static str, Vec<u64>)>,
    step: usize,
}

impl<F: Family> Bench<F> {
    fn new(hub: Hub<F>, key: Key) -> Self {
        Self {
            hub,
            key,
            given: Vec::with_capacity(16),
            steps: Vec::new(),
            step: 0,
        }
    }

    fn drain(&mut self) {
        loop {
            match self.hub.poll_output(None) {
                (_, Output::Command(command)) => self.given.push(command),
                (_, Output::Wait(_)) => return,
                _ => {}
            }
        }
    }

    fn take(&mut self, name: &'static str, input: Input<F>) {
        let start = Clock::now();
        match input {
            Input::Intent(intent) => self.hub.intent(NOW, self.key, intent),
            Input::Outcome(at, reply) => {
                let id = self.given[at].id;
                self.hub.handle_outcome(NOW, id, Outcome::Reply(reply))
            }
            Input::Notice(notice) => self.hub.handle_notice(NOW, notice),
        }
        .expect("an input that fits");
        self.drain();
        let nanos = u64::try_from(start.elapsed().as_nanos()).expect("short");
        if self.step == self.steps.len() {
            self.steps.push((name, Vec::new()));
        }
        self.steps[self.step].1.push(nanos);
        self.step += 1;
    }

    fn round_over(&mut self) {
        self.given.clear();
        self.step = 0;
    }

    /// Prints and returns the median of each step.
    fn medians(self, family: &str) -> Vec<u64> {
        self.steps
            .into_iter()
            .map(|(name, nanos)| {
                let nanos = median(nanos);
                println!("  {family:<9}  {name:<26} {nanos:>5} ns");
                nanos
            })
            .collect()
    }
}

fn median(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    values[values.len() / 2]
}

const SESSION: SessionId = SessionId(1);
const OTHER: &str = "_c_aaaaaaaa-0000-4000-8000-000000000000-lock-0000000001";

fn said(answer: Answer) -> zookeeper::Reply {
    let session = SESSION;
    zookeeper::Reply { session, answer }
}

fn node() -> zookeeper::Reply {
    said(Answer::Data {
        data: Vec::new(),
        stat: Stat {
            czxid: 7,
            mzxid: 7,
            ephemeral_owner: SESSION.0,
            version: 0,
            created: 0,
            modified: 0,
        },
    })
}

fn zookeeper_bench() -> Bench<zookeeper::ZooKeeper> {
    let mut hub = Hub::new(1);
    for state in [SessionState::Connecting, SessionState::Connected] {
        let notice = Notice::Session {
            state,
            session: SESSION,
            timeout: Duration::from_secs(9),
        };
        hub.handle_notice(NOW, notice).expect("a session");
    }
    let settings =
        zookeeper::ContenderSettings::new("shop", "stock/42", Layout::Curator, Role::Mutex).expect("a name");
    let machine = zookeeper::LockSettings::Contender(settings);
    let key = hub
        .open(NOW, machine, ContenderId([0; 16]), 1)
        .expect("an open hub");
    let mut bench = Bench::new(hub, key);
    bench.drain();
    bench.take("warm up", Input::Outcome(0, said(Answer::Done)));
    bench.steps.clear();
    bench.round_over();
    for _ in 0..ROUNDS {
        zookeeper_round(&mut bench);
    }
    bench
}

/// A contender waits behind another one, gets the lock, and releases it.
fn zookeeper_round(bench: &mut Bench<zookeeper::ZooKeeper>) {
    bench.take("acquire", Input::Intent(Intent::Acquire(AcquireTimeout::Forever)));
    let path = bench.given.iter().find_map(|command| match &command.request {
        zookeeper::Request::Create { path, mode, .. } if *mode == CreateMode::EphemeralSequential => {
            Some(format!("{path}0000000002"))
        }
        _ => None,
    });
    let path = path.expect("an own node");
    let own = path.rsplit('/').next().unwrap_or_default().to_owned();
    let children = vec![OTHER.to_owned(), own];
    let zxid = 7;
    bench.take(
        "create answered",
        Input::Outcome(0, said(Answer::Created { path, zxid })),
    );
    bench.take(
        "list answered, one ahead",
        Input::Outcome(1, said(Answer::Children(children))),
    );
    bench.take("predecessor watched", Input::Outcome(2, node()));
    bench.take("own node watched", Input::Outcome(3, node()));
    let gone = Notice::Watch {
        id: bench.given[2].id,
        session: SESSION,
        event: WatchEvent::Deleted,
    };
    bench.take("predecessor gone, granted", Input::Notice(gone));
    bench.take("release", Input::Intent(Intent::Release));
    bench.take("delete answered", Input::Outcome(4, said(Answer::Done)));
    bench.round_over();
}

fn redis_bench() -> Bench<redis::Redis> {
    let settings =
        redis::StringSettings::new("stock/42", lease::DEFAULT_TTL, lease::DEFAULT_MARGIN).expect("a name");
    let mut hub = Hub::new(1);
    let machine = redis::LockSettings::String(settings);
    let key = hub
        .open(NOW, machine, ContenderId([0; 16]), 1)
        .expect("an open hub");
    let mut bench = Bench::new(hub, key);
    for _ in 0..ROUNDS {
        redis_round(&mut bench);
    }
    bench
}

/// The lock is acquired, extended and released.
fn redis_round(bench: &mut Bench<redis::Redis>) {
    use redis::Reply::{Array, Bytes, Int};
    let granted = Array(vec![Int(1), Bytes(b"1790000000000001".to_vec())]);
    bench.take("acquire", Input::Intent(Intent::Acquire(AcquireTimeout::Forever)));
    bench.take("granted", Input::Outcome(0, granted));
    bench.take("extend", Input::Intent(Intent::Extend));
    bench.take("extended", Input::Outcome(1, Array(vec![Int(1)])));
    bench.take("release", Input::Intent(Intent::Release));
    bench.take("released", Input::Outcome(2, Array(vec![Int(1)])));
    bench.round_over();
}

fn main() -> ExitCode {
    // `cargo test --benches` runs this code without optimisation, so the numbers mean nothing.
    if cfg!(debug_assertions) {
        println!("not measured: build it with `cargo bench`");
        return ExitCode::SUCCESS;
    }
    println!(
        "A step: one input and everything polled out, the clock's own cost included; medians of {ROUNDS}."
    );
    let all = [
        zookeeper_bench().medians("zookeeper"),
        redis_bench().medians("redis"),
    ]
    .concat();
    let longest = all.iter().copied().max().unwrap_or_default();
    let median = median(all);
    println!("median step {median} ns, longest {longest} ns, limit {MOST_NANOS} ns");
    if median > MOST_NANOS {
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

//! The Redis model against the real server.

mod claims;
mod commands;
mod real;
mod written;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fencepost_core::{Instant, claim::form, redis::Reply};
use fencepost_models::redis::{ConnectionId, Server};
use fencepost_simulator::lua::RealLua;

use crate::chance::{Chance, alone, sequences};
use commands::{Step, Word, random_step};
use real::Real;

/// Both servers, which get the same commands.
struct Both {
    model: Server,
    lua: RealLua,
    connections: Vec<ConnectionId>,
    real: Vec<Real>,
}

/// One connection sends commands, two listen.
const CONNECTIONS: usize = 3;

fn words(line: &[&str]) -> Vec<Word> {
    line.iter().map(|word| word.as_bytes().into()).collect()
}

/// The model's clock shows the same time as the real server's.
fn now() -> Instant {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    Instant::from_micros(u64::try_from(since.as_micros()).unwrap())
}

impl Both {
    fn new() -> Self {
        let mut both = Self {
            model: Server::new(),
            lua: RealLua::new(),
            connections: Vec::new(),
            real: (0..CONNECTIONS).map(|_| Real::connect()).collect(),
        };
        both.start_anew();
        both
    }

    fn start_anew(&mut self) {
        self.model = Server::new();
        self.connections = self.real.iter().map(|_| self.model.connect()).collect();
        for line in [&["FLUSHALL"][..], &["SCRIPT", "FLUSH"]] {
            self.real[0].call(&words(line));
        }
    }

    fn on_model(&mut self, line: &[Word]) -> Reply {
        self.model.call(now(), self.connections[0], line, &mut self.lua)
    }

    /// Sends a command to both, and compares answers and messages.
    fn ask(&mut self, line: &[Word]) -> Reply {
        let model = self.on_model(line);
        let real = self.real[0].call(line);
        assert!(
            alike(&model, &real),
            "the model: {model:?}\nthe real one: {real:?}"
        );
        self.compare_messages();
        real
    }

    fn ask_text(&mut self, line: &[&str]) -> Reply {
        self.ask(&words(line))
    }

    fn compare_messages(&mut self) {
        for listener in 1..CONNECTIONS {
            for (channel, payload) in self.model.take_messages(self.connections[listener]) {
                let bytes = |bytes: &[u8]| Reply::Bytes(bytes.into());
                let message = Reply::Array(vec![bytes(b"message"), bytes(&channel), bytes(&payload)]);
                assert_eq!(self.real[listener].next(), message);
            }
        }
    }

    /// The listener's confirmations, one for each channel.
    fn listen(&mut self, listener: usize, line: &[Word]) {
        let model = self
            .model
            .call(now(), self.connections[listener], line, &mut self.lua);
        let confirmations = match model {
            Reply::Array(all) if matches!(all.first(), Some(Reply::Array(_))) => all,
            one => vec![one],
        };
        self.real[listener].send(line);
        let mut real: Vec<_> = confirmations.iter().map(|_| self.real[listener].next()).collect();
        // Without names, the real server unsubscribes from its channels in any order.
        if line.len() == 1 {
            real.sort_by_key(|confirmation| format!("{confirmation:?}"));
            assert_eq!(real.len(), confirmations.len());
        } else {
            assert_eq!(real, confirmations);
        }
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Ask(line) => drop(self.ask(line)),
            Step::Listen(listener, line) => self.listen(*listener, line),
            Step::Expire(key) => self.expire(key),
        }
    }

    /// Lets a key expire, waits until the real one is deleted, and compares.
    fn expire(&mut self, key: &[u8]) {
        self.ask(&[b"PEXPIRE".into(), key.into(), b"2".into()]);
        let exists = [b"EXISTS".into(), key.into()];
        while self.real[0].call(&exists) != Reply::Int(0) {}
        assert_eq!(self.on_model(&exists), Reply::Int(0));
    }

    /// Checks that no listener of the real server has received more than its listener on the model.
    fn nothing_is_left(&mut self) {
        for listener in 1..CONNECTIONS {
            self.real[listener].send(&words(&["PING"]));
            let pong = self.real[listener].next();
            let (plain, subscribed) = (
                Reply::Bytes(b"PONG".into()),
                Reply::Array(vec![Reply::Bytes(b"pong".into()), Reply::Bytes(Vec::new())]),
            );
            assert!(pong == plain || pong == subscribed, "{pong:?}");
        }
        let mut left: Vec<Word> = self.model.keys(now()).map(Word::from).collect();
        left.sort();
        let Reply::Array(mut keys) = self.real[0].call(&words(&["KEYS", "*"])) else {
            panic!("no keys");
        };
        keys.sort_by_key(|key| format!("{key:?}"));
        left.sort_by_key(|key| format!("{key:?}"));
        let left: Vec<_> = left.into_iter().map(Reply::Bytes).collect();
        assert_eq!(left, keys);
    }
}

/// Equal except for the clock: remaining times and times of day may differ by the time between two calls.
fn alike(model: &Reply, real: &Reply) -> bool {
    let near = |one: i64, other: i64| {
        let slack = match one.unsigned_abs() {
            // Remaining milliseconds. All other numbers in these sequences are smaller or much greater.
            500_000..=3_000_000_000 => 5_000,
            // Milliseconds of the day.
            1_000_000_000_000..=9_000_000_000_000 => 5_000,
            // Microseconds of the day, also minus the greatest number.
            1_000_000_000_000_000..=9_000_000_000_000_000 => 5_000_000,
            9_200_000_000_000_000_000..=9_222_999_999_999_999_999 => 5_000_000,
            _ => 0,
        };
        one.abs_diff(other) <= slack
    };
    let number = |bytes: &[u8]| std::str::from_utf8(bytes).ok()?.parse::<i64>().ok();
    match (model, real) {
        (Reply::Array(model), Reply::Array(real)) => {
            model.len() == real.len() && model.iter().zip(real).all(|(model, real)| alike(model, real))
        }
        (Reply::Int(model), Reply::Int(real)) => near(*model, *real),
        (Reply::Bytes(model), Reply::Bytes(real)) if model != real => {
            if let Some((model, real)) = fields(model).zip(fields(real)) {
                return alike(&model, &real);
            }
            if let Some((model, real)) = first_word(model).zip(first_word(real)) {
                return alike(&model, &real);
            }
            let (model, real) = (number(model), number(real));
            model.zip(real).is_some_and(|(model, real)| near(model, real))
        }
        (model, real) => model == real,
    }
}

/// The first word of an answer, and its details.
fn first_word(answer: &[u8]) -> Option<Reply> {
    let at = answer.iter().position(|byte| *byte == b' ')?;
    let parts = [&answer[..at], &answer[at + 1..]];
    Some(Reply::Array(parts.map(|part| Reply::Bytes(part.into())).into()))
}

/// The names and values of a record.
fn fields(bytes: &[u8]) -> Option<Reply> {
    let record = form::decode(bytes).ok()??;
    let named = form::fields(&record).flat_map(|(name, value)| [name.into(), value.into_owned()]);
    Some(Reply::Array(named.map(Reply::Bytes).collect()))
}

#[test]
fn random_sequences_are_answered_alike() {
    let _alone = alone();
    let mut both = Both::new();
    sequences(600, |mut chance: Chance, steps| {
        both.start_anew();
        for listener in 1..CONNECTIONS {
            both.real[listener].call(&words(&["RESET"]));
        }
        for _ in 0..40 {
            let step = random_step(&mut chance);
            steps.push(step);
            both.step(steps.last().unwrap());
        }
        both.nothing_is_left();
    });
}

/// Commands that random words would not find.
#[test]
fn written_sequences_are_answered_alike() {
    let _alone = alone();
    let mut both = Both::new();
    both.ask_text(&["LPUSH", "list", "1"]);
    both.ask_text(&["HSET", "hash", "a", "1", "b", "two"]);
    let scripts = written::SCRIPTS.iter();
    let scripts = scripts.map(|script| vec!["EVAL", script, "1", "key", "first", "5"]);
    let commands = written::COMMANDS.iter().map(|line| line.to_vec());
    let mut differences = 0;
    for line in commands.chain(scripts) {
        let line = words(&line);
        let (model, real) = (both.on_model(&line), both.real[0].call(&line));
        if !alike(&model, &real) {
            differences += 1;
            eprintln!(
                "{:?}\n  the model:    {model:?}\n  the real one: {real:?}",
                Step::Ask(line)
            );
        }
    }
    assert_eq!(differences, 0);
}

/// A key exists in the last millisecond of its time, with a remaining time of 0, and no longer in the next
/// one.
#[test]
fn a_key_lives_through_its_last_millisecond() {
    let _alone = alone();
    const LOOK: &str = "local t = redis.call('TIME') return {redis.call('PTTL', KEYS[1]), t[1], t[2]}";
    let mut both = Both::new();
    let mut seen_last = false;
    let number = |reply: &Reply| match reply {
        Reply::Int(number) => *number,
        Reply::Bytes(text) => std::str::from_utf8(text).unwrap().parse().unwrap(),
        other => panic!("{other:?}"),
    };
    let started = std::time::Instant::now();
    while !seen_last {
        assert!(started.elapsed() < Duration::from_secs(20));
        both.real[0].call(&words(&["SET", "key", "1", "PX", "3"]));
        let end = number(&both.real[0].call(&words(&["PEXPIRETIME", "key"])));
        loop {
            let Reply::Array(seen) = both.real[0].call(&words(&["EVAL", LOOK, "1", "key"])) else {
                panic!("a script without an answer");
            };
            let millis = number(&seen[1]) * 1000 + number(&seen[2]) / 1000;
            match number(&seen[0]) {
                -2 => {
                    assert!(millis > end, "gone at {millis} of {end}");
                    break;
                }
                left => seen_last |= left == 0 && millis == end,
            }
        }
    }
    let connection = both.connections[0];
    let mut at = |millis: u64, line: &[&str]| {
        let now = Instant::from_micros(millis * 1000 + 999);
        both.model.call(now, connection, &words(line), &mut both.lua)
    };
    at(1000, &["SET", "key", "1", "PX", "3"]);
    assert_eq!(at(1003, &["PTTL", "key"]), Reply::Int(0));
    assert_eq!(at(1004, &["PTTL", "key"]), Reply::Int(-2));
}

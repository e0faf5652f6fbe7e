//! The commands for both servers.

use std::fmt;

use fencepost_core::redis::Script;

use crate::chance::Chance;

use super::written::WRAPPERS;

pub(super) type Word = Vec<u8>;

pub(super) enum Step {
    Ask(Vec<Word>),
    Listen(usize, Vec<Word>),
    Expire(Word),
}

impl fmt::Debug for Step {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |line: &[Word]| {
            let words = line.iter().map(|word| format!("'{}'", word.escape_ascii()));
            words.collect::<Vec<_>>().join(" ")
        };
        match self {
            Self::Ask(line) => formatter.write_str(&text(line)),
            Self::Listen(number, line) => write!(formatter, "listener {number}: {}", text(line)),
            Self::Expire(key) => write!(formatter, "until {} is gone", key.escape_ascii()),
        }
    }
}

const KEYS: &[&str] = &["a", "b", "c", "list", "hash", "{a}:fence"];
const FIELDS: &[&str] = &["f", "g", ""];
const VALUES: &[&[u8]] = &[
    b"1",
    b"x",
    b"",
    b"-3",
    b"9223372036854775807",
    b"-9223372036854775808",
    b"01",
    b"\xff\0\r\n",
    b"owner",
];
const WRONG_TIMES: &[&str] = &["0", "-1", "abc", "9223372036854775807", "", "1.5"];
const CHANNELS: &[&str] = &["one", "two", "three"];
const SET_OPTIONS: &[&str] = &["NX", "XX", "get", "KEEPTTL", "Px", "EX", "foo"];
const EXPIRE_OPTIONS: &[&str] = &["NX", "xx", "GT", "LT", "foo"];

/// Commands by their arguments: k key, f field, v value, t milliseconds, s seconds, c channel.
const FORMS: &[(&str, &str)] = &[
    ("GET", "k"),
    ("GET", "k"),
    ("SETNX", "kv"),
    ("GETSET", "kv"),
    ("GETDEL", "k"),
    ("SETEX", "ksv"),
    ("PSETEX", "ktv"),
    ("DEL", "k"),
    ("DEL", "kk"),
    ("UNLINK", "k"),
    ("EXISTS", "k"),
    ("EXISTS", "kkk"),
    ("PTTL", "k"),
    ("PTTL", "k"),
    ("TTL", "k"),
    ("PERSIST", "k"),
    ("INCR", "k"),
    ("DECR", "k"),
    ("INCRBY", "kv"),
    ("DECRBY", "kv"),
    ("TYPE", "k"),
    ("LPUSH", "kv"),
    ("LPUSH", "kvv"),
    ("HSET", "kfv"),
    ("HSET", "kfvfv"),
    ("HSETNX", "kfv"),
    ("HGET", "kf"),
    ("HMGET", "kf"),
    ("HMGET", "kff"),
    ("HDEL", "kf"),
    ("HDEL", "kff"),
    ("HEXISTS", "kf"),
    ("HINCRBY", "kfv"),
    ("HGETALL", "k"),
    ("HLEN", "k"),
    ("PUBLISH", "cv"),
    ("PUBLISH", "cv"),
    ("PING", ""),
    ("ping", "v"),
    ("nonsense", "kf"),
];

fn word(chance: &mut Chance, kind: char) -> Word {
    match kind {
        'k' => chance.pick(KEYS).into(),
        'f' => chance.pick(FIELDS).into(),
        't' | 's' if chance.one_in(3) => chance.pick(WRONG_TIMES).into(),
        // Whole seconds, and rarely the same ones, because the clock decides which of two equal times ends
        // later.
        't' => format!("{}000", 600 + chance.below(100_000)).into(),
        's' => (100_000 + chance.below(100_000)).to_string().into(),
        'c' => chance.pick(CHANNELS).into(),
        _ => chance.pick(VALUES).into(),
    }
}

fn line(chance: &mut Chance, name: &str, form: &str) -> Vec<Word> {
    let mut line = vec![name.into()];
    line.extend(form.chars().map(|kind| word(chance, kind)));
    line
}

fn with_options(chance: &mut Chance, line: &mut Vec<Word>, options: &[&str]) {
    for _ in 0..chance.below(4) {
        let option = chance.pick(options);
        line.push(option.into());
        match option {
            "Px" => line.push(word(chance, 't')),
            "EX" => line.push(word(chance, 's')),
            _ => {}
        }
    }
}

/// Any command except a script.
fn command(chance: &mut Chance) -> Vec<Word> {
    let mut line = match chance.below(10) {
        0..=2 => {
            let mut set = line(chance, "SET", "kv");
            with_options(chance, &mut set, SET_OPTIONS);
            set
        }
        3 => {
            let mut expire = line(chance, "PEXPIRE", "kt");
            with_options(chance, &mut expire, EXPIRE_OPTIONS);
            expire
        }
        4 => {
            let mut expire = line(chance, "expire", "ks");
            with_options(chance, &mut expire, EXPIRE_OPTIONS);
            expire
        }
        _ => {
            let (name, form) = FORMS[chance.below(FORMS.len())];
            line(chance, name, form)
        }
    };
    if chance.one_in(25) {
        line.pop();
    } else if chance.one_in(25) {
        line.push(word(chance, 'f'));
    }
    if line.is_empty() { vec!["GET".into()] } else { line }
}

/// A script of the core, in the form of its machine, on keys that other commands write to.
fn own_script(chance: &mut Chance) -> Vec<Word> {
    let script = *chance.pick(&[
        &Script::Acquire,
        &Script::Renew,
        &Script::Release,
        &Script::Holder,
        &Script::Break,
    ]);
    let key = chance.pick(KEYS);
    let owner = if chance.one_in(3) { "other" } else { "owner" };
    let (tombstone, channel) = (format!("{{a}}:gone:{owner}"), format!("{{{key}}}:released"));
    let keep = if chance.one_in(4) { "1000000" } else { "0" };
    let day = "86400000";
    let (keys, arguments): (Vec<&str>, Vec<&str>) = match script {
        Script::Acquire => (vec![key, "{a}:fence", &tombstone], vec![owner, "1000000", day]),
        Script::Renew => (vec![key, "{a}:fence"], vec![owner, "2000000", day]),
        Script::Holder => (vec![key, "{a}:fence", "{a}:gone:looker"], vec![day]),
        Script::Break => (
            vec![key, &tombstone, "{a}:gone:looker"],
            vec![owner, &channel, keep],
        ),
        _ => (
            vec![key, &tombstone],
            vec![owner, if chance.one_in(2) { "one" } else { &channel }, keep],
        ),
    };
    let mut line: Vec<Word> = if chance.one_in(2) {
        vec!["EVAL".into(), script.text().into()]
    } else {
        vec!["EVALSHA".into(), script.sha().into()]
    };
    line.push(keys.len().to_string().into());
    line.extend(keys.into_iter().chain(arguments).map(Word::from));
    line
}

pub(super) fn random_step(chance: &mut Chance) -> Step {
    match chance.below(20) {
        0..=2 => Step::Ask(own_script(chance)),
        3..=5 => {
            let script = chance.pick(WRAPPERS);
            let mut line: Vec<Word> = vec!["EVAL".into(), script.into(), "0".into()];
            line.extend(command(chance));
            Step::Ask(line)
        }
        6 => {
            let listener = 1 + chance.below(2);
            let form = chance.pick(&["c", "cc", "c"]);
            Step::Listen(listener, line(chance, "SUBSCRIBE", form))
        }
        7 => {
            let listener = 1 + chance.below(2);
            let form = chance.pick(&["c", "cc", "", "c"]);
            Step::Listen(listener, line(chance, "UNSUBSCRIBE", form))
        }
        8 if chance.one_in(3) => Step::Expire(word(chance, 'k')),
        9 if chance.one_in(8) => Step::Ask(line(chance, "SCRIPT", "")),
        9 if chance.one_in(8) => Step::Ask(vec!["SCRIPT".into(), "FLUSH".into()]),
        _ => Step::Ask(command(chance)),
    }
}

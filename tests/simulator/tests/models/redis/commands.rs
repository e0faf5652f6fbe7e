//! What both servers are asked.

use std::fmt;

use fencepost_core::redis::Script;

use crate::chance::Chance;

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
            Self::Listen(who, line) => write!(formatter, "listener {who}: {}", text(line)),
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

/// What scripts do with a command of chance.
const WRAPPERS: &[&str] = &[
    "return redis.call(unpack(ARGV))",
    "return redis.pcall(unpack(ARGV))",
    "local r = redis.call(unpack(ARGV)) return type(r)",
    "local r = redis.call(unpack(ARGV)) return {r, type(r), tostring(r == false)}",
    "local ok, r = pcall(redis.call, unpack(ARGV)) return {tostring(ok), type(r), r}",
    "local r = redis.pcall(unpack(ARGV)) if type(r) == 'table' and r.err then return 'error: ' .. r.err end return r",
    "redis.call('INCR', 'side')\n\nlocal r = redis.call(unpack(ARGV))\nreturn r",
    "return redis.call(ARGV[1], ARGV[2], tonumber(ARGV[3]) or ARGV[3] or 7)",
];

/// What no chance would find.
pub(super) const TOLD: &[&[&str]] = &[
    &[""],
    &["foo", "a", "b"],
    &["a-command-with-a-very-long-name", "a"],
    &["SCRIPT", "foo"],
    &["SCRIPT", "load"],
    &["SCRIPT", "load", "return ("],
    &["SCRIPT", "load", "return 1"],
    &["SCRIPT", "exists"],
    &[
        "SCRIPT",
        "exists",
        "e0e1f9fabfc9d4800c877a703b823ac0578ff8db",
        "E0E1F9FABFC9D4800C877A703B823AC0578FF8DB",
        "x",
    ],
    &["EVALSHA", "E0E1F9FABFC9D4800C877A703B823AC0578FF8DB", "0"],
    &["EVALSHA", "e0e1f9fabfc9d4800c877a703b823ac0578ff8db", "x"],
    &["EVALSHA", "abc", "x"],
    &["EVALSHA", "ffffffffffffffffffffffffffffffffffffffff", "0"],
    &["EVALSHA", "ffffffffffffffffffffffffffffffffffffffff", "1"],
    &["EVAL", "return 1", "x"],
    &["EVAL", "return 1", "3", "a"],
    &["EVAL", "return 1", "-1"],
    &["EVAL", "return ("],
    &["EVAL", "return (", "0"],
    &["SCRIPT", "exists", "c14ecb2d1fb6a0a1c9ba2ba2e5ebcbf4b2a1a3c3"],
    &["SCRIPT", "FLUSH", "foo"],
    &["SCRIPT", "FLUSH", "async"],
    &["SCRIPT", "FLUSH", "sync", "x"],
    &["EVALSHA", "e0e1f9fabfc9d4800c877a703b823ac0578ff8db", "0"],
    &["SUBSCRIBE"],
    &["PING", "a", "b"],
    &["SET", "k", "v", "PX", "1000000", "PX", "2000000", "GET"],
    &["SET", "k", "v", "PX", "1000000", "EX", "200000"],
    &["SET", "k", "v", "EX"],
    &["SET", "k", "v", "EX", "KEEPTTL"],
    &["SET", "k", "w", "KEEPTTL", "GET", "NX"],
    &["PTTL", "k"],
    &["SET", "list", "v", "GET"],
    &["SET", "list", "v", "GET", "NX"],
    &["SET", "list", "v", "NX"],
    &["TTL", "k"],
    &["EXPIRE", "k", "9223372036854775807"],
    &["EXPIRE", "k", "-9223372036854775808"],
    &["PEXPIRE", "k", "9223372036854775807"],
    &["PEXPIRE", "nothing", "abc"],
    &["PEXPIRE", "k", "abc", "foo"],
    &["PEXPIRE", "k", "3000000", "GT"],
    &["PEXPIRE", "k", "3000000", "gt", "LT"],
    &["PEXPIRE", "k", "3000000", "nx", "XX"],
    &["PERSIST", "k"],
    &["PERSIST", "k"],
    &["PEXPIRE", "k", "3000000", "GT"],
    &["PEXPIRE", "k", "3000000", "LT"],
    &["EXPIRE", "k", "-1"],
    &["EXISTS", "k"],
    &["HINCRBY", "hash", "n", "9223372036854775807"],
    &["HINCRBY", "hash", "n", "1"],
    &["HINCRBY", "hash", "b", "1"],
    &["HDEL", "hash", "a", "a", "n"],
    &["HGETALL", "hash"],
    &["HDEL", "hash", "b", "nothing"],
    &["TYPE", "hash"],
    &["HSET", "hash", "z", "1", "y", "2", "z", "3"],
    &["HSET", "hash", "z", "1", "y"],
];

/// Called with one key, `key`, and the arguments `first` and `5`.
pub(super) const SCRIPTS: &[&str] = &[
    "",
    "return",
    "return nil",
    "return true",
    "return false",
    "return 3.99",
    "return -3.99",
    "return 1/0",
    "return 0/0",
    "return 1e18",
    "return 2^53",
    "return ''",
    "return {1, 2.9, 'a', true, false, {1, {}}, nil, 4}",
    "return {1, function() end, 3}",
    "return {[1] = 1, [3] = 3, ok = 'fine'}",
    "return {ok = 5}",
    "return {err = 5}",
    "return {err = 'boo'}",
    "return {err = 'MY own boo'}",
    "return {{err = 'MY own boo'}, {ok = 'fine'}}",
    "return {err = 'MY two\\nlines\\r\\n'}",
    "return {ok = 'two\\nlines'}",
    "return 1, 2, 3",
    "return {KEYS, ARGV, #KEYS, #ARGV}",
    "return KEYS[2]",
    "return ARGV[2] + 1",
    "return '10' + 5 .. ''",
    "KEYS[1] = 5 return KEYS",
    "return redis.error_reply('boo')",
    "return redis.error_reply('-MY boo')",
    "return redis.error_reply('MY boo')",
    "return redis.error_reply()",
    "return redis.error_reply('a', 'b')",
    "return redis.status_reply('X')",
    "return redis.status_reply(5)",
    "return redis.sha1hex('')",
    "return redis.sha1hex('abc')",
    "return redis.sha1hex(12)",
    "return redis.sha1hex()",
    "return redis.call()",
    "return redis.pcall()",
    "return redis.call({})",
    "return redis.call('GET', true)",
    "return redis.call('GET', nil)",
    "return redis.call('SUBSCRIBE', 'x')",
    "return redis.pcall('SUBSCRIBE', 'x')",
    "return redis.call('UNSUBSCRIBE')",
    "return redis.call('EVAL', 'return 1', 0)",
    "return redis.call('EVALSHA', 'x', 0)",
    "return redis.call('SCRIPT', 'FLUSH')",
    "return redis.call('nonsense')",
    "return redis.call('GET')",
    "return redis.call('GET', 'list')",
    "\n\nredis.call('GET', 'list')",
    "local function f()\n  return redis.call('GET', 'list')\nend\n\nlocal x = f()\nreturn x",
    "return {redis.pcall('GET', 'list')}",
    "local ok, e = pcall(redis.call, 'GET', 'list') return {tostring(ok), type(e), e}",
    "local e = redis.pcall('GET', 'list') return error(e)",
    "redis.call('SET', KEYS[1], 1) error('after the effect')",
    "return redis.call('GET', KEYS[1])",
    "redis.call('SET', 'f', 0.1) return redis.call('GET', 'f')",
    "redis.call('SET', 'f', 12345678901234567890) return redis.call('GET', 'f')",
    "redis.call('SET', 'f', 100000000000000000) return redis.call('GET', 'f')",
    "redis.call('SET', 'f', 1e15) return redis.call('GET', 'f')",
    "redis.call('SET', 'f', -0.0) return redis.call('GET', 'f')",
    "redis.call('SET', 'f', 1/3) return redis.call('GET', 'f')",
    "return redis.call('SET', 'k', 'v').ok",
    "return redis.call('SET', 'k', 'v') == 'OK'",
    "return tostring(redis.call('GET', 'nothing'))",
    "return type(redis.call('TTL', 'k'))",
    "return redis.call('HGETALL', 'hash')",
    "return unpack(redis.call('HGETALL', 'hash'))",
    "return redis.call('HGETALL', 'nothing')",
    "return redis.call('PING')",
    "return redis.call('PING', 'x')",
    "error('boo')",
    "error('boo', 0)",
    "error({err = 'MY boo'})",
    "error({err = 'boo'})",
    "error(5)",
    "error('two\\nlines')",
    "local a = {} return a.b.c",
    "return 'a' + 1",
    "return #5",
    "return {} .. 'x'",
    "return nil < 1",
    "local function f() error('in f') end\nf()",
    "local function f() return error('in f') end\n\nf()",
    "assert(false)",
    "assert(nil, 'asserted')",
    "return string.rep()",
    "return table.concat({1, 2}, 3, 4, 5)",
    "return x",
    "x = 1",
    "KEYS = 1",
    "redis.foo()",
    "redis.call = 1",
    "string.foo = 1",
    "setmetatable(_G, {})",
    "rawset(_G, 'x', 1)",
    "rawset(redis, 'x', 1)",
    "return print",
    "return os",
    "return {type(_G), _VERSION, type(redis), type(string), type(math), type(table)}",
    "local f = loadstring('return x') return f()",
    "local f = loadstring('return KEYS[1]') return f()",
    "return loadstring('x = 1')()",
    "local ok, e = pcall(function() return x end) return e",
    "local ok, e = pcall(error, {err = 'z z'}) return {type(e), e}",
    "local ok, e = pcall(error, 'plain') return {tostring(ok), e}",
    "local t = setmetatable({}, {__index = function() return 7 end}) return t",
    "return ('x'):rep(3)",
    "return string.format('%.0f', 2^60)",
    "return {string.format('%d', 5), string.format('%s', 5.5), tostring(1e15), tostring(1e14)}",
    "return tonumber('0x10')",
    "return tonumber('x')",
    "return math.floor(-2.5)",
    "return math.max(1, 2, 3)",
    "local t = {3, 1, 2} table.sort(t) return t",
    "for i = 1, 3 do redis.call('INCR', 'loop') end return redis.call('GET', 'loop')",
    "return redis.replicate_commands()",
    "redis.log(redis.LOG_WARNING, 'x')",
    "return (",
    "end x",
    "if true then return 5",
    "local x <const> = 5",
    "return 'unfinished",
    "goto x",
];

fn word(chance: &mut Chance, kind: char) -> Word {
    match kind {
        'k' => chance.pick(KEYS).into(),
        'f' => chance.pick(FIELDS).into(),
        't' | 's' if chance.one_in(3) => chance.pick(WRONG_TIMES).into(),
        // Whole seconds, and hardly ever the same: which of two equal times ends later is up to the clock.
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

/// Any command but a script.
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

/// A script of ours, as its machine sends it, on keys that others write to.
fn own_script(chance: &mut Chance) -> Vec<Word> {
    let script = Script::ALL[chance.below(Script::ALL.len())];
    let key = chance.pick(KEYS);
    let owner = if chance.one_in(3) { "other" } else { "owner" };
    let (tombstone, channel) = (format!("{{a}}:gone:{owner}"), format!("{{{key}}}:released"));
    let keep = if chance.one_in(4) { "1000000" } else { "0" };
    let day = "86400000";
    let (keys, arguments): (Vec<&str>, Vec<&str>) = match script {
        Script::Acquire => (vec![key, "{a}:fence", &tombstone], vec![owner, "1000000", day]),
        Script::Renew => (vec![key, "{a}:fence"], vec![owner, "2000000", day]),
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

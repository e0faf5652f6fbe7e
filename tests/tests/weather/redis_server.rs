//! What the three scripts do on a server, in Rust: keys with their ends, and the channel's messages.

use std::collections::BTreeMap;

use fencepost_core::redis::{Reply, Request, Script};

/// Times are microseconds of the server's clock.
#[derive(Default)]
pub(crate) struct RedisServer {
    keys: BTreeMap<Vec<u8>, (Vec<u8>, u64)>,
    known: Vec<Script>,
    /// Messages published, not delivered yet.
    pub(crate) published: usize,
}

fn number(bytes: &[u8]) -> u64 {
    std::str::from_utf8(bytes).unwrap().parse().unwrap()
}

impl RedisServer {
    fn get(&mut self, now: u64, key: &[u8]) -> Option<Vec<u8>> {
        self.keys.retain(|_, (_, end)| *end > now);
        self.keys.get(key).map(|(value, _)| value.clone())
    }

    fn set(&mut self, now: u64, key: &[u8], value: Vec<u8>, millis: &[u8]) {
        self.keys.insert(key.into(), (value, now + 1000 * number(millis)));
    }

    fn left(&self, now: u64, key: &[u8]) -> u64 {
        self.keys.get(key).map_or(0, |(_, end)| end - now)
    }

    /// Forgets its scripts.
    pub(crate) fn flush_scripts(&mut self) {
        self.known.clear();
    }

    /// Who holds.
    pub(crate) fn holder(&mut self, now: u64, key: &[u8]) -> Option<Vec<u8>> {
        self.get(now, key)
    }

    /// Runs a script.
    pub(crate) fn run(&mut self, now: u64, request: &Request) -> Reply {
        let Request::Script {
            script,
            with_text,
            keys,
            args,
        } = request
        else {
            return Reply::Nil;
        };
        if !with_text && !self.known.contains(script) {
            return Reply::Error("NOSCRIPT No matching script.".into());
        }
        self.known.push(*script);
        match script {
            Script::Acquire => self.acquire(now, keys, args),
            Script::Renew => self.renew(now, keys, args),
            _ => self.release(now, keys, args),
        }
    }

    fn acquire(&mut self, now: u64, keys: &[Vec<u8>], args: &[Vec<u8>]) -> Reply {
        let holder = self.get(now, &keys[0]);
        if holder.as_ref() == Some(&args[0]) {
            self.set(now, &keys[0], args[0].clone(), &args[1]);
            let fence = self.get(now, &keys[1]).unwrap_or_else(|| b"0".to_vec());
            return Reply::Array(vec![Reply::Int(1), Reply::Bytes(fence)]);
        }
        if self.get(now, &keys[2]).is_some() {
            return Reply::Array(vec![Reply::Int(2)]);
        }
        if holder.is_some() {
            let millis = i64::try_from(self.left(now, &keys[0]) / 1000).unwrap();
            return Reply::Array(vec![Reply::Int(0), Reply::Int(millis)]);
        }
        let last = self.get(now, &keys[1]).map_or(0, |last| number(&last));
        let fence = (last + 1).max(now).to_string().into_bytes();
        self.set(now, &keys[1], fence.clone(), &args[2]);
        self.set(now, &keys[0], args[0].clone(), &args[1]);
        Reply::Array(vec![Reply::Int(1), Reply::Bytes(fence)])
    }

    fn other(holder: Option<Vec<u8>>) -> Reply {
        let holder = holder.map_or(Reply::Nil, Reply::Bytes);
        Reply::Array(vec![Reply::Int(0), holder])
    }

    fn renew(&mut self, now: u64, keys: &[Vec<u8>], args: &[Vec<u8>]) -> Reply {
        let holder = self.get(now, &keys[0]);
        if holder.as_ref() != Some(&args[0]) {
            return Self::other(holder);
        }
        if self.left(now, &keys[0]) < 1000 * number(&args[1]) {
            self.set(now, &keys[0], args[0].clone(), &args[1]);
        }
        Reply::Array(vec![Reply::Int(1)])
    }

    fn release(&mut self, now: u64, keys: &[Vec<u8>], args: &[Vec<u8>]) -> Reply {
        if args[2] != b"0" {
            self.set(now, &keys[1], b"1".to_vec(), &args[2]);
        }
        let holder = self.get(now, &keys[0]);
        if holder.as_ref() != Some(&args[0]) {
            return Self::other(holder);
        }
        self.keys.remove(&keys[0]);
        self.published += 1;
        Reply::Array(vec![Reply::Int(1)])
    }
}

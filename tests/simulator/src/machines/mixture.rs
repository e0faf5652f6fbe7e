//! Different kinds of locks under one name. Kazoo's mutexes, elections and writers have the same names, and
//! exclude its readers: all of them are in one queue.

use crate::{checker::Mode, run::Machine, step::Number, subject::Fencepost, zookeeper::Servers};
use fencepost_core::zookeeper::ZooKeeper;

use super::{ZOOKEEPER_MUTEX, zookeeper};

/// The kinds of locks of clients.
const KINDS: [&str; 5] = ["writer", "mutex", "reader", "election", "multi-lock"];

/// The kind of a client: a digit of the seed for each, so that small seeds give all mixtures of two and three.
fn kind(client: Number, seed: u64) -> &'static str {
    let kinds = KINDS.len() as u64;
    let digit = seed / kinds.pow(u32::from(client) % 8) % kinds;
    KINDS[digit as usize]
}

fn settings(client: Number, seed: u64) -> String {
    let kind = kind(client, seed);
    let named = if kind == "multi-lock" {
        r#""names": ["stock"]"#
    } else {
        r#""name": "stock""#
    };
    format!(
        r#"{{"kind": "zookeeper-{kind}", {named}, "prefix": "shop", "layout": "kazoo", "answer_within": 500000}}"#
    )
}

/// Locks of all kinds in the queue of one name in Kazoo's layout.
pub static ZOOKEEPER_MIXTURE: Machine<Servers, Fencepost<ZooKeeper>> = Machine {
    name: "zookeeper-mixture",
    make: |client, crashes, seed| {
        let mode = match kind(client, seed) {
            "reader" => Mode::Shared,
            _ => Mode::Exclusive,
        };
        zookeeper(&settings(client, seed), client, crashes, seed).granting(mode)
    },
    settings: Some(settings),
    ..ZOOKEEPER_MUTEX
};

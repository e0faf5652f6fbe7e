//! Random requests, and damage.

use fencepost_core::claim::{Claim, Content, Corrupt, Issue, Policy, Record, Step, Update, UpdateId};
use fencepost_simulator::chance::Chance;

use crate::both::{Both, UPDATES};

/// One of a few values, some of which are not text.
fn bytes(chance: &mut Chance) -> Vec<u8> {
    let choice: [&[u8]; 4] = [b"", b"one", b"\0\xff\r\n:0", b"0"];
    chance.pick(&choice).unwrap().into()
}

fn content(chance: &mut Chance) -> Content {
    let tag = chance.pick(&["", "json"]).unwrap();
    Content::new(tag, bytes(chance)).unwrap()
}

pub(crate) fn claim(chance: &mut Chance, tokens: bool) -> Claim {
    let print: [&[u8]; 3] = [b"print", b"print", b"\0other"];
    let binding: [&[u8]; 3] = [b"alice", b"alice", b""];
    Claim {
        token: (tokens ^ chance.percent(5)).then(|| chance.pick(&binding).unwrap().into()),
        fingerprint: chance.pick(&print).unwrap().into(),
        policy: chance
            .pick(&[Policy::Retake, Policy::Block, Policy::Indeterminate])
            .unwrap(),
        lease: chance.pick(&[20, 30, 300]).unwrap(),
        retention: chance.pick(&[10, 200, 400]).unwrap(),
    }
}

/// The kind of most requests of a sequence.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Theme {
    Keys,
    Tokens,
    Values,
}

pub(crate) fn step(chance: &mut Chance, record: &Result<Option<Record>, Corrupt>, theme: Theme) -> Step {
    let tokens = theme == Theme::Tokens;
    if theme == Theme::Values && chance.percent(60) {
        let present = match record {
            Ok(Some(record)) => record.version,
            _ => 0,
        };
        let print: [&[u8]; 3] = [b"", b"u", b"u"];
        return Step::Update(Update {
            id: UpdateId::new(chance.pick(&UPDATES).unwrap()).unwrap(),
            expected: if chance.percent(70) { present } else { 1 },
            fingerprint: chance.pick(&print).unwrap().into(),
            retention: 200,
            content: content(chance),
        });
    }
    match chance.below(if tokens { 24 } else { 20 }) {
        0..7 => Step::Claim(claim(chance, tokens)),
        7..9 => Step::Renew {
            lease: chance.pick(&[20, 30, 300]).unwrap(),
        },
        9..12 => Step::Complete(content(chance)),
        12..14 => Step::Release,
        14..16 => Step::Leave,
        16 => Step::Register(claim(chance, tokens), content(chance)),
        17 => Step::Look,
        18 => Step::Settle {
            guard: guard(record, chance),
            content: content(chance),
        },
        19 => Step::Forget {
            guard: guard(record, chance),
        },
        _ => Step::Issue(Issue {
            binding: b"alice".into(),
            life: 100,
            retention: 200,
        }),
    }
}

impl Both<'_> {
    /// Another program writes into the record.
    pub(crate) fn damage(&mut self, chance: &mut Chance) {
        let names = [
            "format",
            "state",
            "attempt",
            "fence",
            "takeovers",
            "fingerprint",
            "binding",
            "life",
            "policy",
            "lease",
            "retention",
            "version",
            "other",
        ];
        let attempt = "00112233445566778899aabbccddeeff-";
        let numbered = ["0", "01", "4294967295", "4294967296", "+1", ""].map(|end| [attempt, end].concat());
        let values: Vec<&str> = [
            "",
            "0",
            "1",
            "2",
            "07",
            "9007199254740991",
            "9007199254740992",
            "99999999999999999999",
            "1e3",
            " 1",
            "-1",
            "running",
            "done",
            "retake",
            "block",
            "print",
        ]
        .into_iter()
        .chain(numbered.iter().map(String::as_str))
        .collect();
        let name = chance.pick(&names).unwrap();
        let value = match (name, chance.pick(&values).unwrap()) {
            // No client requests a duration of thousands of years.
            ("retention" | "life", "9007199254740991") => "9",
            (_, value) => value,
        };
        self.log.push(format!("{} damage {name} {value:?}", self.now));
        let key = self.name.redis_key();
        if chance.percent(30) {
            self.call(&[b"HDEL", key.as_bytes(), name.as_bytes()]);
        } else {
            self.call(&[b"HSET", key.as_bytes(), name.as_bytes(), value.as_bytes()]);
        }
        self.record = self.stored(&key);
    }
}

fn guard(record: &Result<Option<Record>, Corrupt>, chance: &mut Chance) -> u64 {
    match record {
        Ok(Some(record)) if chance.percent(70) => record.guard(),
        _ => 1,
    }
}

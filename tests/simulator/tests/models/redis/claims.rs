//! The claims' scripts on both servers. A lease ends by a *leave*, because the test does not change the servers' clocks.

use core::time::Duration;

use fencepost_core::{
    AttemptId, ContenderId,
    claim::{Claim, Content, Issue, Name, Policy, Request, Step, Update, UpdateId},
    redis::claim::{self, read_answer},
};

use super::{Both, Word};
use crate::chance::{Chance, alone, sequences};

const LONG: u64 = 1_000_000;
const TOMBSTONE: Duration = Duration::from_secs(10);

fn content(chance: &mut Chance) -> Content {
    let result: &[u8] = chance.pick(&[&b""[..], b"one", b"\0\xff\r\n", b"0"]);
    Content::new(chance.pick(&["", "json"]), result.into()).unwrap()
}

fn claim(chance: &mut Chance) -> Claim {
    Claim {
        token: chance.one_in(4).then(|| b"alice".into()),
        fingerprint: chance.pick(&["print", "print", "print", "other"]).into(),
        policy: *chance.pick(&[&Policy::Retake, &Policy::Block, &Policy::Indeterminate]),
        lease: LONG,
        retention: 2 * LONG,
    }
}

fn step(chance: &mut Chance) -> Step {
    match chance.below(20) {
        0..7 => Step::Claim(claim(chance)),
        7 => Step::Renew { lease: 3 * LONG },
        8..11 => Step::Complete(content(chance)),
        11 => Step::Release,
        12..14 => Step::Leave,
        14 => Step::Register(claim(chance), content(chance)),
        15 => Step::Look,
        16 => Step::Settle {
            guard: 0,
            content: content(chance),
        },
        17 => Step::Forget { guard: 1 },
        18 => Step::Issue(Issue {
            binding: b"alice".into(),
            life: LONG,
            retention: LONG,
        }),
        _ => Step::Update(Update {
            id: UpdateId::new(chance.pick(&["sell-1", "sell-2"])).unwrap(),
            expected: chance.below(3) as u64,
            fingerprint: Vec::new(),
            retention: LONG,
            content: content(chance),
        }),
    }
}

fn call(chance: &mut Chance) -> Vec<Word> {
    let attempt = AttemptId {
        contender: ContenderId([1; 16]),
        number: 1 + u32::try_from(chance.below(6)).unwrap(),
    };
    let name = Name::new("payments", chance.pick(&["a", "b"])).unwrap();
    let step = step(chance);
    let call = claim::call(&name, &Request { attempt, step }, TOMBSTONE);
    let mut line: Vec<Word> = vec!["EVAL".into(), call.script.text().into()];
    line.push(call.keys.to_string().into());
    line.extend(call.arguments);
    line
}

#[test]
fn claims_are_answered_alike() {
    let _alone = alone();
    let mut both = Both::new();
    sequences(200, |mut chance: Chance, steps: &mut Vec<String>| {
        both.start_anew();
        for _ in 0..40 {
            let line = call(&mut chance);
            let words = line[2..].iter().map(|word| word.escape_ascii().to_string());
            steps.push(words.collect::<Vec<_>>().join(" "));
            let answer = both.ask(&line);
            assert!(read_answer(&answer).is_some(), "{answer:?}");
        }
        both.nothing_is_left();
    });
}

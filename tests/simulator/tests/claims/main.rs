//! The claims' scripts, in a real Lua on the model server, compared with the table: after each random
//! request, both must give the same answer, and store the same records. ZooKeeper's machines on their model
//! are compared in the same way.
//!
//! `FENCEPOST_SEED` and `FENCEPOST_CASES` choose other sequences; a failure prints the sequence up to the difference.

mod both;
mod steps;
mod zookeeper;

use fencepost_core::{
    AttemptId, ContenderId,
    claim::{Answer, Claim, Content, Issue, Request, Step, Update, UpdateId, form},
    redis::{Reply, Script, claim::read_answer},
};
use fencepost_models::redis::Condition;
use fencepost_simulator::{chance::Chance, lua::RealLua};

use both::Both;
use steps::{Theme, claim, step};

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().expect("a number"))
}

fn sequence(both: &mut Both<'_>, chance: &mut Chance) {
    let theme = chance.pick(&[Theme::Keys, Theme::Keys, Theme::Tokens, Theme::Values]);
    let mut attempts = [1_u8, 2, 3].map(|of| AttemptId {
        contender: ContenderId([of; 16]),
        number: 1,
    });
    let damaged = chance.percent(20);
    for _ in 0..60 {
        let pause = [0, 0, 1, 900, 5_000, 20_000, 30_000, 200_000, 400_000, 11_000_000];
        both.now += chance.pick(&pause).unwrap();
        let at = usize::try_from(chance.below(3)).unwrap();
        if chance.percent(15) {
            attempts[at].number += 1;
        }
        if damaged && chance.percent(10) {
            both.damage(chance);
        } else if both.record.is_err() && chance.percent(30) {
            both.wipe();
        }
        let step = step(chance, &both.record, theme.unwrap());
        both.ask(&Request {
            attempt: attempts[at],
            step,
        });
    }
}

#[test]
fn the_scripts_answer_and_store_as_the_table_says() {
    let seed = setting("FENCEPOST_SEED", 20_260_701);
    let cases = setting("FENCEPOST_CASES", 1000);
    let mut lua = RealLua::new();
    let mut seen = std::collections::BTreeMap::<String, u32>::new();
    for case in 0..cases {
        let mut both = Both::new(&mut lua);
        let run = std::panic::AssertUnwindSafe(|| {
            sequence(&mut both, &mut Chance::new(seed.wrapping_add(case << 32)));
        });
        let result = std::panic::catch_unwind(run);
        if let Err(panic) = result {
            eprintln!("sequence {case} of seed {seed}:");
            both.log.iter().for_each(|line| eprintln!("  {line}"));
            std::panic::resume_unwind(panic);
        }
        for line in &both.log {
            if let Some(answer) = line.strip_prefix("    ") {
                let word = answer.split([' ', '{', '(']).next().unwrap_or_default();
                *seen.entry(word.into()).or_default() += 1;
            }
        }
    }
    println!("{seen:?}");
    assert!(
        cases < 1000 || seen.len() == 17 && seen.values().all(|times| *times > 50),
        "{seen:?}"
    );
}

#[test]
fn every_script_begins_with_a_write() {
    let attempt = AttemptId {
        contender: ContenderId([1; 16]),
        number: 1,
    };
    let content = || Content::new("json", b"1".into()).unwrap();
    let a_claim = || Claim {
        lease: 20,
        retention: 20,
        ..Claim::default()
    };
    let update = Update {
        id: UpdateId::new("sell").unwrap(),
        expected: 0,
        fingerprint: Vec::new(),
        retention: 20,
        content: Content::default(),
    };
    let issue = Issue {
        life: 20,
        retention: 20,
        ..Issue::default()
    };
    let mut lua = RealLua::new();
    let mut both = Both::new(&mut lua);
    let steps = [
        Step::Claim(a_claim()),
        Step::Renew { lease: 20 },
        Step::Complete(content()),
        Step::Release,
        Step::Leave,
        Step::Issue(issue),
        Step::Register(a_claim(), content()),
        Step::Update(update),
        Step::Look,
        Step::Settle {
            guard: 1,
            content: content(),
        },
        Step::Forget { guard: 1 },
    ];
    // The scripts of claims.
    assert_eq!(steps.len(), Script::ALL.len() - 5);
    for step in steps {
        let request = Request { attempt, step };
        both.server.set(Condition::Replica, true);
        let refused = both.run(&request);
        assert!(
            matches!(&refused, Reply::Error(error) if error.starts_with("READONLY ")),
            "{refused:?}"
        );
        both.server.set(Condition::Replica, false);
        // A full server executes it, because the first write needs no memory.
        both.server.set(Condition::Full, true);
        let reply = both.run(&request);
        assert!(read_answer(&reply).is_some(), "{reply:?}");
        both.server.set(Condition::Full, false);
    }
}

/// The bytes for other servers and Redis's hash are the same record.
#[test]
fn the_bytes_of_a_record_are_its_fields() {
    let mut lua = RealLua::new();
    let mut both = Both::new(&mut lua);
    both.ask(&Request {
        attempt: AttemptId {
            contender: ContenderId([1; 16]),
            number: 1,
        },
        step: Step::Claim(claim(&mut Chance::new(3), false)),
    });
    let key = both.name.redis_key();
    let stored = both.stored(&key).unwrap().unwrap();
    assert_eq!(
        form::decode(&form::encode(Some(&stored))),
        Ok(Some(stored.clone()))
    );
    assert!(matches!(both.run(&Request {
        attempt: stored.attempt,
        step: Step::Look
    }), reply if read_answer(&reply) == Some(Answer::Looked(Some(stored.into())))));
}

//! Tests of the rules that concern several cells.

use alloc::vec::Vec;

use super::{cells::outcome, *};
use crate::claim::{UpdateId, chance::Chance, form, record::MAX_NUMBER, request::Update};

fn put_by(step: Step, at: &str) -> Record {
    match decide(known(column(at, false)), &ask(step), NOW).record {
        Change::Put(record) => *record,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_claim_writes_who_runs_until_when() {
    let now = NOW.millis();
    let record = put_by(row("claim"), "none");
    assert_eq!((record.attempt, record.fence), (me(), Fence(NOW.0)));
    assert_eq!(
        (record.lease_end, record.kept_until),
        (now + LEASE, now + RETENTION)
    );
    let short = Claim {
        retention: 5,
        ..a_claim()
    };
    let record = put_by(Step::Claim(short), "none");
    assert_eq!((record.retention, record.kept_until), (5, now + LEASE));
}

#[test]
fn a_repeated_claim_has_the_same_fence_and_a_takeover_a_greater_one() {
    assert_eq!(put_by(row("claim"), "own_running").fence, Fence(FENCE));
    assert_eq!(put_by(row("claim"), "lease_over").fence, Fence(NOW.0));
    let mut later = column("lease_over", false).unwrap().unwrap();
    later.fence = Fence(NOW.0 + 9);
    let decision = decide(known(Ok(Some(later))), &ask(row("claim")), NOW);
    let fence = Fence(NOW.0 + 10);
    assert_eq!(decision.answer, Answer::Claimed { fence, takeovers: 1 });
}

#[test]
fn the_first_claim_decides_the_policy() {
    let block = Claim {
        policy: Policy::Block,
        ..a_claim()
    };
    assert_eq!(put_by(Step::Claim(block.clone()), "none").policy, Policy::Block);
    assert_eq!(put_by(Step::Claim(block), "lease_over").policy, Policy::Retake);
    let blocked = decide(known(column("lease_over_block", false)), &ask(row("claim")), NOW);
    assert_eq!(blocked.answer, Answer::InProgress { left: None });
}

#[test]
fn a_lease_is_never_shortened() {
    for step in [
        Step::Renew { lease: 1 },
        Step::Claim(Claim {
            lease: 1,
            ..a_claim()
        }),
    ] {
        assert_eq!(put_by(step, "own_running").lease_end, NOW.millis() + LEFT);
    }
    assert_eq!(
        put_by(row("renew"), "own_running").lease_end,
        NOW.millis() + LEASE
    );
}

#[test]
fn a_result_is_kept_for_the_retention_and_has_no_lease() {
    let record = put_by(row("complete"), "own_running");
    assert_eq!(
        (record.lease_end, record.kept_until),
        (0, NOW.millis() + RETENTION)
    );
    assert_eq!(
        (record.tag.as_str(), record.result.as_slice()),
        ("json", &b"result"[..])
    );
    assert_eq!((record.attempt, record.fence), (me(), Fence(FENCE)));
}

#[test]
fn a_token_that_is_given_back_is_as_issued() {
    let record = column("own_running", true);
    let Change::Put(record) = decide(known(record), &ask(Step::Release), NOW).record else {
        panic!("no token");
    };
    assert_eq!(record.kept_until, NOW.millis() + LIFE);
    assert_eq!((record.lease_end, record.takeovers), (0, 0));
    // A corrected request may use this token.
    assert_eq!((record.fence, record.fingerprint), (Fence(FENCE), Vec::new()));
}

#[test]
fn no_late_request_revives_an_ended_claim() {
    for ended in [Tombstone::Released, Tombstone::Lost] {
        for (step, answer) in [
            (row("claim"), Answer::GivenUp),
            (row("register"), Answer::GivenUp),
            (row("renew"), Answer::Lost(Lost::Gone)),
        ] {
            for at in ["none", "own_running", "own_lease_over", "lease_over", "corrupt"] {
                let known = Known {
                    tombstone: Some(ended),
                    ..known(column(at, false))
                };
                assert_eq!(
                    decide(known, &ask(step.clone()), NOW),
                    unchanged(answer.clone()),
                    "{at}"
                );
            }
        }
    }
    for step in [Step::Release, Step::Leave] {
        let first = decide(known(column("own_running", false)), &ask(step.clone()), NOW);
        assert_eq!(first.tombstone, Some(Tombstone::Released));
        // Another attempt runs the operation when the request arrives again.
        let again = Known {
            tombstone: first.tombstone,
            ..known(column("running", false))
        };
        assert_eq!(
            decide(again, &ask(step.clone()), NOW),
            unchanged(Answer::Released)
        );
        let lost = decide(known(column("running", false)), &ask(step), NOW);
        assert_eq!(lost.tombstone, Some(Tombstone::Lost));
    }
    // The attempt may still complete the operation.
    let left = Known {
        tombstone: Some(Tombstone::Released),
        ..known(column("own_lease_over", false))
    };
    assert_eq!(decide(left, &ask(row("complete")), NOW).answer, Answer::Completed);
}

fn update(expected: u64, fingerprint: &[u8]) -> Request {
    ask(Step::Update(Update {
        id: UpdateId::new("sell-1").unwrap(),
        expected,
        fingerprint: fingerprint.into(),
        retention: RETENTION,
        content: content(b"new"),
    }))
}

#[test]
fn an_update_compares_the_version() {
    for (at, expected, said) in [
        ("none", 0, "applied { version: 1 } -> value"),
        ("none", 1, "conflict { present: none }"),
        ("value", 3, "applied { version: 4 } -> value"),
        ("done", 0, "mismatch"),
        ("issued", 0, "mismatch"),
        ("running", 0, "mismatch"),
        ("past_retention", 0, "applied { version: 1 } -> value"),
        ("corrupt", 0, "corruptrecord"),
    ] {
        let decision = decide(known(column(at, false)), &update(expected, b"u"), NOW);
        assert_eq!(outcome(&decision), said, "{at}");
        assert_eq!(decision.operation.is_some(), said.starts_with("applied"), "{at}");
    }
    for expected in [2, 4, 0] {
        let Ok(Some(value)) = column("value", false) else {
            panic!("no value");
        };
        let present = Some(Box::new(value.clone()));
        let decision = decide(known(Ok(Some(value))), &update(expected, b"u"), NOW);
        assert_eq!(decision, unchanged(Answer::Conflict { present }));
    }
    assert_eq!(
        put_by(update(3, b"u").step, "value").kept_until,
        0,
        "a value has no end"
    );
}

#[test]
fn the_record_of_an_update_answers_its_repetitions() {
    let first = decide(known(column("value", false)), &update(3, b"u"), NOW);
    let operation = first.operation.unwrap();
    assert_eq!(
        (operation.version, operation.kept_until),
        (4, NOW.millis() + RETENTION)
    );
    let again = |attempt, fingerprint| {
        let request = Request {
            attempt,
            ..update(3, fingerprint)
        };
        let known = Known {
            operation: Ok(Some(operation.clone())),
            ..known(column("value", false))
        };
        decide(known, &request, NOW)
    };
    assert_eq!(again(me(), b"u"), unchanged(Answer::Applied { version: 4 }));
    let replayed = Answer::Replayed(Box::new(operation.clone()));
    assert_eq!(again(attempt(2), b"u"), unchanged(replayed));
    assert_eq!(again(me(), b"other"), unchanged(Answer::Mismatch));
    let known = Known {
        operation: Err(Corrupt),
        ..known(column("value", false))
    };
    assert_eq!(decide(known, &update(3, b"u"), NOW).answer, Answer::CorruptRecord);
}

#[test]
fn a_sweep_deletes_what_no_request_would_miss() {
    for (at, may) in [
        ("none", true),
        ("past_retention", true),
        ("issued", false),
        ("running", false),
        ("lease_over", false),
        ("done", false),
        ("value", false),
        ("corrupt", false),
    ] {
        assert_eq!(may_delete(&column(at, false), NOW), may, "{at}");
    }
    // On ZooKeeper the lease may last longer than the retention that was written with the claim.
    let mut running = column("running", false).unwrap().unwrap();
    running.kept_until = 1;
    assert!(!may_delete(&Ok(Some(running.clone())), NOW));
    let decision = decide(known(Ok(Some(running))), &ask(row("claim")), NOW);
    assert_eq!(decision.answer, Answer::InProgress { left: Some(LEFT) });
    let mut value = column("value", false).unwrap().unwrap();
    value.kept_until = 0;
    assert!(!may_delete(&Ok(Some(value)), ServerTime(u64::MAX)));
}

#[test]
fn a_record_lives_through_its_last_millisecond_and_a_lease_does_not() {
    let now = NOW.millis();
    let mut record = Record::new(State::Running, me());
    (record.lease_end, record.kept_until) = (now, now);
    assert_eq!(record.lease_left(ServerTime(NOW.0 - 1)), Some(1));
    assert_eq!(record.lease_left(NOW), None);
    assert!(!record.is_past_retention(ServerTime(NOW.0 + 999)));
    assert!(record.is_past_retention(ServerTime(NOW.0 + 1000)));
}

/// For every record and every request: a record that the table stores can be parsed again.
#[test]
fn every_decision_can_be_stored() {
    let rows = [
        "claim",
        "token_claim",
        "renew",
        "complete",
        "release",
        "leave",
        "token_issue",
        "register",
        "token_register",
        "settle",
        "forget",
    ];
    let mut stored = 0;
    for seed in 0..20_000 {
        let mut chance = Chance::new(seed);
        let mut record = chance.record();
        if chance.one_in(2) {
            record.attempt = me();
        }
        if chance.one_in(2) {
            record.fingerprint = b"print".into();
        }
        record.kept_until = chance.pick(&[0, MAX_NUMBER]);
        let step = if chance.one_in(5) {
            update(record.version, b"u").step
        } else {
            row(rows[chance.below(rows.len())])
        };
        let now = chance.pick(&[NOW, ServerTime(0), ServerTime(MAX_NUMBER)]);
        let decision = decide(known(Ok(Some(record))), &ask(step), now);
        if let Change::Put(record) = decision.record {
            stored += 1;
            let bytes = form::encode(Some(&record));
            let read = form::decode(&bytes).unwrap().unwrap();
            assert_eq!(form::encode(Some(&read)), bytes, "{}", bytes.escape_ascii());
        }
    }
    assert!(stored > 1000, "{stored}");
}

//! Tests of every cell of the table, and of the rules that concern several cells.

mod cells;
mod rules;

use super::*;
use crate::{ContenderId, Fence, claim::request::Issue};

/// The server's time in all cells, ten seconds after the claims.
const NOW: ServerTime = ServerTime(1_000_000_000_000);
const LEASE: u64 = 30_000;
const LEFT: u64 = 20_000;
const RETENTION: u64 = 86_400_000;
const LIFE: u64 = 600_000;
const FENCE: u64 = 7_000;

fn attempt(of: u8) -> AttemptId {
    AttemptId {
        contender: ContenderId([of; 16]),
        number: 1,
    }
}

fn me() -> AttemptId {
    attempt(1)
}

fn token(binding: &[u8]) -> Token {
    Token {
        binding: binding.into(),
        life: LIFE,
    }
}

fn content(bytes: &[u8]) -> Content {
    Content::new("json", bytes.into()).unwrap()
}

fn a_claim() -> Claim {
    Claim {
        token: None,
        fingerprint: b"print".into(),
        policy: Policy::Retake,
        lease: LEASE,
        retention: RETENTION,
    }
}

fn of_token() -> Claim {
    Claim {
        token: Some(b"alice".into()),
        ..a_claim()
    }
}

/// The request of a row.
fn row(name: &str) -> Step {
    let other_print = b"other".to_vec();
    match name {
        "claim" => Step::Claim(a_claim()),
        "token_claim" => Step::Claim(of_token()),
        "claim_with_other_fingerprint" => Step::Claim(Claim {
            fingerprint: other_print,
            ..a_claim()
        }),
        "token_claim_with_other_fingerprint" => Step::Claim(Claim {
            fingerprint: other_print,
            ..of_token()
        }),
        "token_claim_with_other_binding" => Step::Claim(Claim {
            token: Some(b"bob".into()),
            ..of_token()
        }),
        "renew" => Step::Renew { lease: LEASE },
        "complete" => Step::Complete(content(b"result")),
        "complete_with_other_bytes" => Step::Complete(content(b"another")),
        "release" | "token_release" => Step::Release,
        "leave" | "token_leave" => Step::Leave,
        "token_issue" => Step::Issue(Issue {
            binding: b"alice".into(),
            life: LIFE,
            retention: RETENTION,
        }),
        "register" => Step::Register(a_claim(), content(b"result")),
        "token_register" => Step::Register(of_token(), content(b"result")),
        "register_with_other_fingerprint" => Step::Register(
            Claim {
                fingerprint: other_print,
                ..a_claim()
            },
            content(b"result"),
        ),
        "look" => Step::Look,
        "settle" => Step::Settle {
            guard: FENCE,
            content: content(b"result"),
        },
        "settle_what_was_before" => Step::Settle {
            guard: FENCE - 1,
            content: content(b"result"),
        },
        "forget" => Step::Forget { guard: FENCE },
        "forget_done" => Step::Forget { guard: FENCE + 1 },
        "forget_what_was_before" => Step::Forget { guard: FENCE - 1 },
        other => panic!("{other}"),
    }
}

/// The record of a column. In the rows of tokens it is the record of a token.
fn column(name: &str, of_token: bool) -> Result<Option<Record>, Corrupt> {
    let (whose, what) = match name.strip_prefix("own_") {
        Some(what) => (1, what),
        None => (2, name),
    };
    let now = NOW.millis();
    let state = match what {
        "none" => return Ok(None),
        "corrupt" => return Err(Corrupt),
        "issued" => State::Issued,
        "done" | "past_retention" => State::Done,
        "value" => State::Value,
        _ => State::Running,
    };
    let mut record = Record::new(state, attempt(whose));
    record.fence = Fence(FENCE);
    record.retention = RETENTION;
    record.kept_until = now + 1000;
    record.fingerprint = b"print".into();
    record.token = of_token.then(|| token(b"alice"));
    match what {
        "running" => record.lease_end = now + LEFT,
        "lease_over" => record.lease_end = now,
        "lease_over_block" => record.policy = Policy::Block,
        "lease_over_indeterminate" => record.policy = Policy::Indeterminate,
        "done" => record.set_content(content(b"result")),
        "past_retention" => record.kept_until = now - 1,
        "issued" => {
            record.token = Some(token(b"alice"));
            record.fingerprint.clear();
        }
        "value" => record.version = 3,
        other => panic!("{other}"),
    }
    Ok(Some(record))
}

fn known(record: Result<Option<Record>, Corrupt>) -> Known {
    Known {
        record,
        tombstone: None,
        operation: Ok(None),
    }
}

fn ask(step: Step) -> Request {
    Request { attempt: me(), step }
}

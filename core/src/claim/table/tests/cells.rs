//! Tests of every cell, by row and column.

use alloc::{format, string::String};

use super::*;

/// An answer as text.
fn words(answer: &Answer) -> String {
    match answer {
        Answer::Claimed { takeovers: 0, .. } => "claimed".into(),
        Answer::Claimed { takeovers, .. } => format!("claimed, takeovers {takeovers}"),
        Answer::InProgress { left: Some(left) } => format!("in-progress, {left} left"),
        Answer::InProgress { left: None } => "in-progress".into(),
        Answer::Replayed(record) => format!("replayed {}", String::from_utf8_lossy(&record.result)),
        Answer::Lost(why) => format!("lost: {why:?}"),
        Answer::Looked(None) => "nothing there".into(),
        Answer::Looked(Some(_)) => "looked".into(),
        other => format!("{other:?}"),
    }
    .to_lowercase()
}

/// A decision as text: its answer, and the change of the record.
pub(super) fn outcome(decision: &Decision) -> String {
    let answer = words(&decision.answer);
    match &decision.record {
        Change::Nothing => answer,
        Change::Delete => answer + " -> none",
        Change::Put(record) => {
            let state = match record.state {
                State::Running if record.lease_left(NOW).is_none() => "lease over".into(),
                state => format!("{state:?}").to_lowercase(),
            };
            format!("{answer} -> {state}")
        }
    }
}

fn check(named: &str, at: &str, expected: &str) {
    let record = column(at, named.starts_with("token_"));
    let decision = decide(known(record), &ask(row(named)), NOW);
    assert_eq!(outcome(&decision), expected);
}

macro_rules! cells {
    ($($row:ident { $($column:ident: $expected:literal,)* })*) => {
        $(mod $row {
            $(#[test] fn $column() { super::check(stringify!($row), stringify!($column), $expected); })*
        })*
    };
}

cells! {
    claim {
        none: "claimed -> running",
        issued: "mismatch",
        own_running: "claimed -> running",
        running: "in-progress, 20000 left",
        own_lease_over: "claimed -> running",
        own_lease_over_block: "claimed -> running",
        own_lease_over_indeterminate: "claimed -> running",
        lease_over: "claimed, takeovers 1 -> running",
        lease_over_block: "in-progress",
        lease_over_indeterminate: "indeterminate",
        own_done: "replayed result",
        done: "replayed result",
        past_retention: "claimed -> running",
        value: "mismatch",
        corrupt: "corruptrecord",
    }
    token_claim {
        none: "unknowntoken",
        issued: "claimed -> running",
        own_running: "claimed -> running",
        running: "in-progress, 20000 left",
        lease_over: "claimed, takeovers 1 -> running",
        lease_over_block: "in-progress",
        lease_over_indeterminate: "indeterminate",
        done: "replayed result",
        past_retention: "unknowntoken",
        value: "mismatch",
        corrupt: "corruptrecord",
    }
    claim_with_other_fingerprint {
        none: "claimed -> running",
        issued: "mismatch",
        running: "mismatch",
        lease_over: "mismatch",
        lease_over_block: "mismatch",
        lease_over_indeterminate: "mismatch",
        done: "mismatch",
        past_retention: "claimed -> running",
    }
    token_claim_with_other_fingerprint {
        none: "unknowntoken",
        issued: "claimed -> running",
        running: "mismatch",
        lease_over: "mismatch",
        done: "mismatch",
    }
    token_claim_with_other_binding {
        none: "unknowntoken",
        issued: "mismatch",
        running: "mismatch",
        lease_over: "mismatch",
        done: "mismatch",
    }
    renew {
        none: "lost: gone",
        issued: "lost: gone",
        own_running: "extended -> running",
        running: "lost: superseded",
        own_lease_over: "extended -> running",
        lease_over: "lost: superseded",
        own_done: "lost: done",
        done: "lost: superseded",
        past_retention: "lost: gone",
        value: "lost: superseded",
        corrupt: "corruptrecord",
    }
    complete {
        none: "lost: gone",
        issued: "lost: gone",
        own_running: "completed -> done",
        running: "lost: superseded",
        own_lease_over: "completed -> done",
        lease_over: "lost: superseded",
        own_done: "completed",
        done: "replayed result",
        past_retention: "lost: gone",
        value: "lost: superseded",
        corrupt: "corruptrecord",
    }
    complete_with_other_bytes {
        own_running: "completed -> done",
        own_done: "mismatch",
        done: "replayed result",
    }
    release {
        none: "released",
        issued: "released",
        own_running: "released -> none",
        running: "lost: superseded",
        own_lease_over: "released -> none",
        lease_over: "lost: superseded",
        own_done: "lost: done",
        done: "lost: superseded",
        past_retention: "released",
        value: "lost: superseded",
        corrupt: "corruptrecord",
    }
    token_release {
        none: "released",
        issued: "released",
        own_running: "released -> issued",
        running: "lost: superseded",
        own_lease_over: "released -> issued",
        lease_over: "lost: superseded",
        own_done: "lost: done",
        done: "lost: superseded",
    }
    leave {
        none: "released",
        issued: "released",
        own_running: "released -> lease over",
        running: "lost: superseded",
        own_lease_over: "released -> lease over",
        lease_over: "lost: superseded",
        own_done: "lost: done",
        done: "lost: superseded",
        past_retention: "released",
        value: "lost: superseded",
        corrupt: "corruptrecord",
    }
    token_leave {
        own_running: "released -> lease over",
        own_lease_over: "released -> lease over",
    }
    token_issue {
        none: "issued -> issued",
        own_issued: "issued",
        issued: "mismatch",
        running: "mismatch",
        lease_over: "mismatch",
        done: "mismatch",
        past_retention: "issued -> issued",
        value: "mismatch",
        corrupt: "corruptrecord",
    }
    register {
        none: "completed -> done",
        issued: "mismatch",
        own_running: "completed -> done",
        running: "in-progress, 20000 left",
        lease_over: "completed -> done",
        lease_over_block: "in-progress",
        lease_over_indeterminate: "indeterminate",
        own_done: "completed",
        done: "replayed result",
        past_retention: "completed -> done",
        value: "mismatch",
        corrupt: "corruptrecord",
    }
    token_register {
        none: "unknowntoken",
        issued: "completed -> done",
        running: "in-progress, 20000 left",
        own_done: "completed",
        done: "replayed result",
    }
    register_with_other_fingerprint {
        running: "mismatch",
        own_done: "mismatch",
        done: "mismatch",
    }
    look {
        none: "nothing there",
        issued: "looked",
        running: "looked",
        lease_over: "looked",
        done: "looked",
        past_retention: "nothing there",
        value: "looked",
        corrupt: "corruptrecord",
    }
    settle {
        none: "lost: gone",
        issued: "completed -> done",
        running: "completed -> done",
        lease_over: "completed -> done",
        lease_over_block: "completed -> done",
        lease_over_indeterminate: "completed -> done",
        done: "replayed result",
        own_done: "completed",
        past_retention: "lost: gone",
        value: "mismatch",
        corrupt: "corruptrecord",
    }
    settle_what_was_before {
        none: "lost: gone",
        running: "lost: superseded",
        lease_over: "lost: superseded",
        done: "replayed result",
        own_done: "completed",
    }
    forget {
        none: "forgotten",
        issued: "forgotten -> none",
        running: "forgotten -> none",
        lease_over: "forgotten -> none",
        done: "lost: superseded",
        past_retention: "forgotten",
        value: "lost: superseded",
        corrupt: "corruptrecord",
    }
    forget_done {
        none: "forgotten",
        running: "lost: superseded",
        done: "forgotten -> none",
    }
    forget_what_was_before {
        none: "forgotten",
        running: "lost: superseded",
        done: "lost: superseded",
    }
}

//! The replies of a Redis server, well-formed or not.

use fencepost_core::{
    lowered::Request,
    redis::{
        Reply::{self, Array, Bytes, Error, Int, Nil},
        Script,
    },
};

/// A reply by number; 0 is the reply of a healthy server.
pub(crate) fn reply(request: &Request, variant: u8) -> (Reply, &'static str) {
    match variant % 40 {
        0 => healthy(request),
        1 => (Array(vec![Int(1), Bytes(b"17".to_vec())]), "yes"),
        2 => (
            Array(vec![Int(0), Int(i64::from(variant)), Bytes(b"x".to_vec())]),
            "held",
        ),
        3 => (
            Array(vec![
                Int(0),
                Int(-1),
                Bytes(b"6f74686572206f6e6520697320686572-1".to_vec()),
            ]),
            "held without end",
        ),
        4 => (
            Array(vec![Int(0), Int(i64::MAX), Bytes(b"x".to_vec())]),
            "held for ages",
        ),
        5 => (Array(vec![Int(0), Bytes(b"x".to_vec())]), "foreign"),
        6 => (Array(vec![Int(0), Nil]), "absent"),
        7 => (Array(vec![Int(2)]), "given up"),
        8 => (Int(1), "wrong"),
        9 => (Nil, "nil"),
        10 => (Error("NOSCRIPT No matching script.".into()), "no script"),
        11 => (Error("LOADING".into()), "transient"),
        12 => (Error("NOPERM".into()), "final"),
        13 => (Error("NOAUTH".into()), "credentials"),
        14 => (Error("WRONGTYPE".into()), "type"),
        15 => (Error("ERR unknown command".into()), "unsupported"),
        16 => (Error(String::new()), "empty error"),
        17 => (Array(Vec::new()), "empty"),
        18 => (
            Array(vec![Int(1), Bytes(b"18446744073709551616".to_vec())]),
            "a number too large",
        ),
        19 => (Bytes(vec![0xff, 0]), "bytes"),
        20 => (words(&["issued"]), "issued"),
        21 => (words(&["claimed", "17", "0"]), "claimed"),
        22 => (words(&["claimed", "18", "3"]), "claimed again"),
        23 => (words(&["extended"]), "extended"),
        24 => (words(&["completed"]), "completed"),
        25 => (words(&["released"]), "released"),
        26 => (words(&["in-progress", &variant.to_string()]), "in progress"),
        27 => (words(&["in-progress"]), "blocked"),
        28 => (words(&["mismatch"]), "mismatch"),
        29 => (words(&["indeterminate"]), "indeterminate"),
        30 => (words(&["unknown-token"]), "unknown token"),
        31 => (words(&["corrupt-record"]), "corrupt record"),
        32 => (words(&["lost", "gone"]), "lost"),
        33 => (words(&["lost", "superseded"]), "superseded"),
        34 => (words(&["lost", "done"]), "done"),
        35 => (words(&["replayed", RECORD]), "replayed"),
        36 => (words(&["conflict", RECORD]), "conflict"),
        37 => (words(&["looked", RECORD]), "looked"),
        38 => (words(&["applied", "4"]), "applied"),
        _ => (words(&["looked", NO_RECORD]), "looked for nothing"),
    }
}

/// The reply that grants, renews, ends, or confirms a request.
fn healthy(request: &Request) -> (Reply, &'static str) {
    let source = request.arguments.get(1).map(Vec::as_slice).unwrap_or_default();
    let is = |script: &&Script| script.sha().as_bytes() == source || script.text().as_bytes() == source;
    match Script::ALL.iter().find(is) {
        Some(Script::Claim) => (words(&["claimed", "17", "0"]), "claimed"),
        Some(Script::RenewClaim) => (words(&["extended"]), "extended"),
        Some(Script::Complete | Script::Register | Script::Settle) => (words(&["completed"]), "completed"),
        Some(Script::ReleaseClaim | Script::Leave) => (words(&["released"]), "released"),
        Some(Script::Issue) => (words(&["issued"]), "issued"),
        Some(Script::Update) => (words(&["applied", "1"]), "applied"),
        Some(Script::Look) => (words(&["looked", NO_RECORD]), "looked for nothing"),
        Some(Script::Holder) => (
            Array(vec![Bytes(b"token".to_vec()), Int(250), Bytes(b"17".to_vec())]),
            "found",
        ),
        Some(Script::Break) => (Array(vec![Int(1)]), "found"),
        Some(Script::Forget) => (words(&["forgotten"]), "forgotten"),
        _ => (Array(vec![Int(1), Bytes(b"17".to_vec())]), "yes"),
    }
}

/// The reply of a claim's script: one text.
fn words(words: &[&str]) -> Reply {
    Bytes(words.join(" ").into_bytes())
}

/// A record.
const RECORD: &str = "fencepost-record:1\n\
    state:4:done\n\
    attempt:34:6f74686572206f6e6520697320686572-1\n\
    fence:2:16\n\
    retention:4:9000\n\
    result:2:[]\n";

/// A script's answer for a record that does not exist.
const NO_RECORD: &str = "fencepost-record:1\n";

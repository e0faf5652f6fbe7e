//! What a Redis server may say, well-formed or not.

use fencepost_core::redis::Reply::{self, Array, Bytes, Error, Int, Nil};

/// A reply by number; 0 is what grants, renews and releases.
pub(crate) fn reply(variant: u8) -> (Reply, &'static str) {
    match variant % 20 {
        0 | 1 => (Array(vec![Int(1), Bytes(b"17".to_vec())]), "yes"),
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
        _ => (Bytes(vec![0xff, 0]), "bytes"),
    }
}

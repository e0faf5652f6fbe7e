//! The demo on `memory:`, as `make demo` runs it, and what it says to bad options.

mod support;

use support::{assert_sold_exactly, demo, numbers};

#[test]
fn the_sale_oversells_without_a_lock_and_not_with_one() {
    let numbers = numbers(&[]);
    assert_eq!(numbers["without_lock"]["buyers"], 99);
    assert_sold_exactly(&numbers, 3);
}

#[test]
fn the_table_shows_both_sales() {
    let output = demo(&[]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success());
    for row in [
        "sold",
        "oversold",
        "wait, p99",
        "acquisitions",
        "fences, in order",
    ] {
        assert!(text.contains(row), "{row} is missing in {text}");
    }
}

#[test]
fn a_sale_that_cannot_oversell_is_a_failure() {
    let output = demo(&["--at-once", "1"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("has not oversold"));
}

#[test]
fn bad_options_say_what_is_wrong() {
    for (arguments, word) in [
        (&["--buyers", "0"][..], "0 is not in 1..=100000"),
        (&["--patience", "-1"], "unexpected argument"),
        (&["--patience=-1"], "give more than 0"),
        (&["--work=NaN"], "give more than 0"),
        (&["--work=soon"], "no number of milliseconds"),
        (&["--processes", "2"], "memory: locks within one process only"),
        (
            &["--processes", "9", "--url", "redis://127.0.0.1:1"],
            "9 processes need at least as many --at-once",
        ),
        (&["--url", "http://x"], "unknown scheme"),
        (&["--url", "zk://127.0.0.1?timeout=1"], "unknown option"),
        (&["--url", "redis://127.0.0.1:1"], "no server has answered"),
    ] {
        let output = demo(arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(word), "{arguments:?}: {said}");
    }
}

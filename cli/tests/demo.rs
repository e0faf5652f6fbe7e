//! The demo in one process, and its errors for invalid options.

mod run;

use run::{convinces, fencepost};

#[test]
fn the_demo_shows_what_a_lock_is_for() {
    let report = convinces(&[]);
    assert_eq!(
        (report["buyers"].as_u64(), report["items"].as_u64()),
        (Some(99), Some(3))
    );
}

#[test]
fn its_options_are_followed() {
    let report = convinces(&[
        "--buyers",
        "40",
        "--at-once",
        "10",
        "--items",
        "5",
        "--work",
        "5ms",
        "--wait",
        "2s",
    ]);
    let asked = ["buyers", "at_once", "items"].map(|name| report[name].as_u64().unwrap());
    assert_eq!(asked, [40, 10, 5]);
    let longest = report["with"]["waits"]["longest"].as_u64().unwrap();
    assert!((5_000..2_000_000).contains(&longest), "{longest}");
}

#[test]
fn people_get_a_table() {
    let output = fencepost(&["demo"]);
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    for words in [
        "without a lock",
        "with a lock",
        "oversold",
        "longest wait",
        "acquisitions a second",
        "fences of the sales",
    ] {
        assert!(text.contains(words), "{words:?} is missing in\n{text}");
    }
}

#[test]
fn buyers_one_after_the_other_prove_nothing() {
    let output = fencepost(&["demo", "--at-once", "1", "--buyers", "10"]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("has not oversold without the lock either"),
        "{text}"
    );
}

#[test]
fn options_that_make_no_sense_are_refused() {
    for (arguments, word) in [
        (&["demo", "--buyers", "0"][..], "--buyers"),
        (&["demo", "--buyers", "many"], "--buyers"),
        (&["demo", "--at-once", "-1"], "-1"),
        (&["demo", "--items", "0"], "--items"),
        (&["demo", "--wait", "200"], "unit"),
        (&["demo", "--wait", "0ms"], "longer than nothing"),
        (&["demo", "--work", "-2ms"], "-2"),
        (&["demo", "--processes", "0"], "--processes"),
        (&["demo", "--processes", "2"], "server that they can share"),
        (
            &["demo", "--processes", "9", "--url", "redis://localhost"],
            "buyers at a time",
        ),
        (&["demo", "--url", "http://localhost"], "unknown scheme"),
        (&["demo", "--url", "zk://localhost?speed=1"], "unknown option"),
        (&["demo", "--lock", "a//b"], "a//b"),
        (&["demo", "--colour"], "--colour"),
        (&["buyers"], "no shop"),
        (&[], "Usage"),
    ] {
        let output = fencepost(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(
            text.contains(word),
            "{arguments:?}: {word:?} is missing in\n{text}"
        );
    }
}

#[test]
fn an_absent_server_is_an_error() {
    let port = {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        free.local_addr().unwrap().port()
    };
    let output = fencepost(&["demo", "--url", &format!("redis://user:secret@127.0.0.1:{port}")]);
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(
        text.contains("no server answered") && text.contains("because:"),
        "{text}"
    );
    assert!(!text.contains("secret"), "{text}");
}

//! Runs the command.

use std::process::{Command, Output};

use serde_json::Value;

/// Runs `fencepost` with these arguments.
pub(crate) fn fencepost(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fencepost"))
        .args(arguments)
        .env_remove("FENCEPOST_URL")
        .output()
        .unwrap()
}

/// Runs a demo that has to show the expected result: too many sales without the lock, exactly the stock with it, and
/// fences in order.
pub(crate) fn convinces(arguments: &[&str]) -> Value {
    let output = fencepost(&[&["demo", "--json"], arguments].concat());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{errors}{}",
        String::from_utf8_lossy(&output.stdout)
    );
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let number = |run: &str, what: &str| report[run][what].as_u64().unwrap();
    let (items, buyers) = (
        report["items"].as_u64().unwrap(),
        report["buyers"].as_u64().unwrap(),
    );
    assert_eq!(number("with", "sold"), items, "{report}");
    assert_eq!(number("with", "oversold"), 0);
    assert!(number("without", "oversold") > 0);
    assert_eq!(number("without", "oversold"), number("without", "sold") - items);
    for run in ["with", "without"] {
        assert_eq!(number(run, "sold") + number(run, "refused"), buyers);
    }
    assert_eq!(report["with"]["fences_in_order"], true);
    assert_eq!(report["with"]["fences"].as_array().unwrap().len() as u64, items);
    assert!(report["with"]["acquisitions_per_second"].as_f64().unwrap() > 0.0);
    report
}

//! Running the command, and reading its numbers.

use std::process::{Command, Output};

use serde_json::Value;

/// Runs `fencepost demo` with these arguments.
pub(crate) fn demo(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fencepost"));
    command
        .arg("demo")
        .args(arguments)
        .output()
        .expect("the command starts")
}

/// The numbers of a demo that has to go well.
pub(crate) fn numbers(arguments: &[&str]) -> Value {
    let output = demo(&[arguments, &["--json"]].concat());
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {complaint}", output.status);
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// Without the lock too many were sold, with it exactly as many as there were, and nobody was served out of order.
pub(crate) fn assert_sold_exactly(numbers: &Value, items: u64) {
    let (without, with) = (&numbers["without_lock"], &numbers["with_lock"]);
    assert!(without["oversold"].as_u64() > Some(0), "{without}");
    assert_eq!(with["sold"].as_u64(), Some(items), "{with}");
    assert_eq!(with["oversold"].as_u64(), Some(0), "{with}");
    assert_eq!(with["refused_fences"].as_u64(), Some(0), "{with}");
    assert_eq!(with["fences_in_order"].as_bool(), Some(true), "{with}");
    let fences = with["fences"].as_array().map(Vec::len);
    assert_eq!(
        fences,
        with["acquisitions"].as_u64().map(|count| count as usize),
        "{with}"
    );
}

//! The scenarios: each run keeps every promise, and still reaches the point that it tests.

use std::path::{Path, PathBuf};

use fencepost_simulator::{checker::Property, machines, scenario::Scenario};

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files
}

#[test]
fn every_scenario_keeps_its_promises() {
    let files = files();
    assert!(!files.is_empty());
    let mut broken = String::new();
    for file in &files {
        let name = file.file_stem().unwrap().to_string_lossy();
        let scenario = Scenario::read(file).unwrap();
        let (story, verdict) = machines::named(&scenario.machine)
            .unwrap()
            .walk(&scenario)
            .unwrap();
        if let Some(violation) = verdict.violation {
            broken += &format!(
                "{}, scenario {name}: {violation}\n{}\n\n{}\n",
                scenario.machine,
                scenario.why,
                story.text()
            );
            continue;
        }
        let missed = scenario.missed(&verdict.seen);
        let undecided = scenario.undecided(story.lines());
        if !missed.is_empty() || undecided.is_some() {
            broken += &format!(
                "scenario {name} does not get to what it is about: {missed:?}, {undecided:?}\n\n{}\n",
                story.text()
            );
        }
    }
    assert!(broken.is_empty(), "{broken}");
}

#[test]
fn every_scenario_is_written_as_it_would_be_and_guards_a_promise() {
    for file in files() {
        let scenario = Scenario::read(&file).unwrap();
        assert_eq!(
            std::fs::read_to_string(&file).unwrap(),
            scenario.text().unwrap(),
            "{}",
            file.display()
        );
        assert!(Property::named(&scenario.guards).is_some(), "{}", file.display());
        assert!(
            !scenario.why.is_empty() && !scenario.reaches.is_empty() && !scenario.decides.is_empty(),
            "{}",
            file.display()
        );
    }
}

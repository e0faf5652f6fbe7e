//! Every transcript is replayed on the public hub, and matches the recording of its case.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use fencepost_tests::{cases, transcript};

fn transcripts() -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("transcripts");
    let mut found = BTreeMap::new();
    for folder in folders(&root) {
        for file in folders(&folder)
            .into_iter()
            .filter(|file| file.extension().is_some_and(|end| end == "jsonl"))
        {
            let name = file.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
            found.insert(name, fs::read_to_string(&file).unwrap());
        }
    }
    found
}

fn folders(root: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(root) else {
        return Vec::new();
    };
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn every_transcript_is_replayed_to_the_byte() {
    all_pass(transcript::replay);
}

#[test]
fn early_timeouts_change_nothing() {
    all_pass(transcript::replay_with_early_timeouts);
}

#[track_caller]
fn all_pass(replay: impl Fn(&str) -> Result<(), String>) {
    let transcripts = transcripts();
    let differ = transcripts.iter().filter_map(|(name, text)| {
        let difference = replay(text).err()?;
        Some(format!("{name}, {difference}"))
    });
    let differ: Vec<_> = differ.collect();
    assert!(
        differ.is_empty(),
        "{} of {} transcripts:\n\n{}",
        differ.len(),
        transcripts.len(),
        differ.join("\n\n")
    );
    println!("{} transcripts replayed", transcripts.len());
}

#[test]
fn every_transcript_is_what_its_case_records() {
    let mut transcripts = transcripts();
    for case in cases::all() {
        let (name, text) = (case.file(), case.text());
        let recorded = transcripts.remove(&name);
        assert!(
            recorded.as_ref() == Some(&text),
            "{name} differs from its case: run `cargo run -p fencepost-tests --bin record`"
        );
    }
    assert!(
        transcripts.is_empty(),
        "transcripts without a case: {:?}",
        transcripts.keys()
    );
}

#[test]
fn a_difference_is_found() {
    let text = cases::all().remove(0).text();
    let changed = text.replacen("\"flags\":1", "\"flags\":0", 1);
    assert_ne!(text, changed);
    let difference = transcript::replay(&changed).unwrap_err();
    assert!(difference.contains("expected"), "{difference}");
}

#[test]
fn a_difference_names_the_promise_and_an_unknown_one_is_an_error() {
    let case = cases::all()
        .into_iter()
        .find(|case| case.file() == "zookeeper/confirming-probe-lost.jsonl");
    let text = case.expect("a case that guards S3").text();
    let difference = transcript::replay(&text.replacen("\"command\":\"sync\"", "\"command\":\"get\"", 1));
    let difference = difference.unwrap_err();
    let promise = "S3 may be broken: a client that believes in its grant, by its own clock, holds the lock on the server";
    assert!(
        difference.contains(promise)
            && difference.contains("the case: The answer to a confirming probe is lost"),
        "{difference}"
    );
    let unknown = transcript::replay(&text.replacen("\"S3\"", "\"S0\"", 1)).unwrap_err();
    assert!(
        unknown.contains("there is no promise \"S0\"; there are D, L1"),
        "{unknown}"
    );
}

#[test]
#[cfg_attr(panic = "abort", ignore = "there is no catching of a panic here")]
fn a_case_that_the_hub_does_not_follow_is_refused() {
    let story = |expected: &'static [&'static str]| {
        std::panic::catch_unwind(move || {
            let mut story = transcript::Recorder::new("redis", "it has to fail", None);
            let key = story.open(&serde_json::json!({"kind": "redis-string", "name": "a"}));
            story.acquire(key).returns(expected);
        })
    };
    assert!(story(&["call"]).is_ok());
    assert!(story(&[]).is_err());
    assert!(story(&["call", "acquired"]).is_err());
}

//! Every transcript is replayed on the public hub, and is what its case tells.

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
    let transcripts = transcripts();
    for (name, text) in &transcripts {
        if let Err(difference) = transcript::replay(text) {
            panic!("{name}, {difference}");
        }
    }
    println!("{} transcripts replayed", transcripts.len());
}

#[test]
fn every_transcript_is_what_its_case_tells() {
    let mut transcripts = transcripts();
    for (name, text) in cases::all() {
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
    let (_, text) = cases::all().remove(0);
    let changed = text.replacen("\"flags\":1", "\"flags\":0", 1);
    assert_ne!(text, changed);
    let difference = transcript::replay(&changed).unwrap_err();
    assert!(difference.contains("expected"), "{difference}");
}

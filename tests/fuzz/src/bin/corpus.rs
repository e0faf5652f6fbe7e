//! Keeps the corpus: `corpus distil [FOLDER...]` chooses few short stories that together reach the same
//! states as the present corpus, random bytes and the folders (with libFuzzer's stories); `corpus tell FILE`
//! (or the bytes in hexadecimal) prints a story.

use std::{
    collections::BTreeSet,
    env, fs,
    path::{Path, PathBuf},
};

use fencepost_fuzz::{Seen, fuzz_one, tell};

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/corpus/hub");
const RANDOM: u64 = 20_000;
const MOST: usize = 160;

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments
        .iter()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .as_slice()
    {
        ["tell", story] => tell(&fs::read(story).unwrap_or_else(|_| digits(story))),
        ["distil", folders @ ..] => distil(folders),
        _ => eprintln!("corpus distil [FOLDER...] | corpus tell FILE | corpus tell HEXADECIMAL"),
    }
}

fn distil(folders: &[&str]) {
    let mut candidates: Vec<Vec<u8>> = (0..RANDOM).map(random).collect();
    for folder in [&CORPUS].into_iter().chain(folders) {
        candidates.extend(
            files(Path::new(folder))
                .into_iter()
                .filter_map(|path| fs::read(path).ok()),
        );
    }
    let mut reached: Vec<(Vec<u8>, Seen)> = candidates
        .into_iter()
        .map(|story| {
            let seen = fuzz_one(&story);
            (story, seen)
        })
        .collect();
    // Short stories first: of equal stories, the loop chooses the first.
    reached.sort_by_key(|(story, _)| story.len());
    let (mut covered, mut chosen) = (Seen::new(), BTreeSet::new());
    while chosen.len() < MOST {
        reached
            .iter_mut()
            .for_each(|(_, seen)| seen.retain(|one| !covered.contains(one)));
        reached.retain(|(_, seen)| !seen.is_empty());
        // First new outputs, then new ways to known outputs.
        let outputs: BTreeSet<_> = covered.iter().map(|(_, _, output)| *output).collect();
        let worth = |seen: &Seen| -> usize {
            let rare = seen.iter().filter(|(_, _, output)| !outputs.contains(output));
            seen.len() + 1000 * rare.count()
        };
        let Some((story, new)) = reached.iter().rev().max_by_key(|(_, seen)| worth(seen)) else {
            break;
        };
        let story = shorten(story.clone(), new);
        covered.extend(fuzz_one(&story));
        chosen.insert(story);
    }
    let _none_yet = fs::remove_dir_all(CORPUS);
    fs::create_dir_all(CORPUS).unwrap_or_else(|error| panic!("{CORPUS}: {error}"));
    for story in &chosen {
        let path = format!("{CORPUS}/{:016x}.bin", hash(story));
        fs::write(&path, story).unwrap_or_else(|error| panic!("{path}: {error}"));
    }
    println!(
        "{} stories reach {} of what there is; {} are left",
        chosen.len(),
        covered.len(),
        reached.len()
    );
}

/// Removes the bytes that are not needed to reach this.
fn shorten(mut story: Vec<u8>, wanted: &Seen) -> Vec<u8> {
    let mut piece = story.len() / 2;
    while piece > 0 {
        let mut at = 1;
        while at < story.len() {
            let mut shorter = story.clone();
            shorter.drain(at..(at + piece).min(story.len()));
            if fuzz_one(&shorter).is_superset(wanted) {
                story = shorter;
            } else {
                at += piece;
            }
        }
        piece /= 2;
    }
    story
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries
        .map(|entry| entry.path())
        .filter(|path| path.is_file())
        .collect();
    paths.sort();
    paths
}

fn digits(text: &str) -> Vec<u8> {
    let pair = |at| {
        text.get(at..at + 2)
            .and_then(|pair| u8::from_str_radix(pair, 16).ok())
    };
    (0..text.len() / 2)
        .map(|at| pair(2 * at).unwrap_or_else(|| panic!("neither a file nor bytes in hexadecimal: {text}")))
        .collect()
}

/// Bytes from a seed (splitmix64).
fn random(seed: u64) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    };
    let words = next() % 100;
    (0..=words).flat_map(|_| next().to_le_bytes()).collect()
}

/// FNV-1a: names the file.
fn hash(story: &[u8]) -> u64 {
    story.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

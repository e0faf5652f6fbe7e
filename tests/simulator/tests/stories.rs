//! The Redis model executes the text of the scripts under all conditions, and must give the recorded answers
//! of real servers.
//!
//! `tests/redis-servers/stories.jsonl` has the commands and the real servers' answers; the suite there
//! records them.

use std::path::{Path, PathBuf};

use fencepost_core::{
    Instant,
    redis::{Reply, Script},
};
use fencepost_models::redis::{Condition, Server};
use fencepost_simulator::lua::RealLua;
use serde_json::{Value, json};

fn stories() -> Vec<Value> {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../redis-servers/stories.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn condition(name: &Value) -> Condition {
    match name.as_str().unwrap() {
        "replica" => Condition::Replica,
        "full" => Condition::Full,
        "no-disk" => Condition::NoDisk,
        "few-replicas" => Condition::FewReplicas,
        "no-channels" => Condition::NoChannels,
        other => panic!("{other:?} is no condition"),
    }
}

/// A word, or the script that it names.
fn word(word: &Value) -> Vec<u8> {
    let word = word.as_str().unwrap();
    let scripts = Script::ALL.iter();
    let named = scripts.copied().find(|script| {
        let name = format!("{script:?}").to_lowercase();
        word.strip_prefix('@') == Some(&name)
    });
    named.map_or_else(|| word.into(), |script| script.text().into())
}

fn to_json(reply: &Reply) -> Value {
    match reply {
        Reply::Nil => Value::Null,
        Reply::Int(number) => json!(number),
        Reply::Bytes(bytes) => json!(str::from_utf8(bytes).unwrap()),
        Reply::Array(items) => items.iter().map(to_json).collect(),
        Reply::Error(error) => json!({ "error": normal(error) }),
        other => panic!("{other:?}"),
    }
}

/// An error without the name of the script and the line in it.
fn normal(error: &str) -> String {
    let words = error.split(' ').map(|word| {
        let bare = word
            .strip_prefix("f_")
            .unwrap_or(word)
            .trim_end_matches([',', ')', ':']);
        let word = if bare.len() == 40 {
            word.replace(bare, "SHA")
        } else {
            word.into()
        };
        let (place, rest) = word.split_once("user_script:").unwrap_or((&word, ""));
        let rest = rest.trim_start_matches(|digit: char| digit.is_ascii_digit());
        if place.len() == word.len() {
            word
        } else {
            let number = if word.ends_with("user_script:") { "" } else { "N" };
            format!("{place}user_script:{number}{rest}")
        }
    });
    // A number alone is the line.
    let words = words.map(|word| match word.strip_suffix(':') {
        Some(line) if line.parse::<u32>().is_ok() => "N:".into(),
        _ => word,
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Runs the stories on one version of the server. A difference is reported with the promise that its story guards.
fn walk(older: bool) {
    let mut lua = RealLua::new();
    let mut server = Server::new();
    let (mut story, mut guards) = (String::new(), String::new());
    let mut differences = Vec::new();
    for line in stories() {
        if let Some(name) = line["story"].as_str() {
            server = Server::new();
            server.set(Condition::Older, older);
            (story, guards) = (name.into(), line["guards"].as_str().unwrap().into());
        } else if let Some(words) = line["ask"].as_array() {
            let words: Vec<_> = words.iter().map(word).collect();
            let asking = server.connect();
            let now = Instant::from_micros(1_790_000_000_000_000);
            let answer = to_json(&server.call(now, asking, &words, &mut lua));
            let recorded = line.get("older").filter(|_| older).unwrap_or(&line["answer"]);
            if answer != *recorded {
                let asked = &line["ask"];
                differences.push(format!(
                    "{guards} may be broken: {story}: {asked}: {answer}, not {recorded}"
                ));
            }
        } else {
            let begins = line.get("condition");
            server.set(condition(begins.unwrap_or(&line["over"])), begins.is_some());
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn the_model_answers_as_redis_7_0_has() {
    walk(false);
}

#[test]
fn the_model_answers_as_redis_6_2_has() {
    walk(true);
}

/// No story has this fence, because it comes from the server's clock.
#[test]
fn a_repeated_acquire_whose_fence_has_gone_gets_a_new_one() {
    let (mut lua, mut server) = (RealLua::new(), Server::new());
    let asking = server.connect();
    let now = Instant::from_micros(1_790_000_000_000_000);
    let arguments = [
        "stock",
        "{stock}:fence",
        "{stock}:gone:ours",
        "ours",
        "10000",
        "604800000",
        "10000",
    ];
    let text = Script::Acquire.text();
    let acquire = ["EVAL", &text, "3"].into_iter().chain(arguments);
    let acquire: Vec<Vec<u8>> = acquire.map(Into::into).collect();
    let first = to_json(&server.call(now, asking, &acquire, &mut lua));
    server.delete(b"{stock}:fence");
    let later = now.plus(core::time::Duration::from_micros(1));
    let again = to_json(&server.call(later, asking, &acquire, &mut lua));
    let fences = [json!([1, "1790000000000000"]), json!([1, "1790000000000001"])];
    assert_eq!([first, again], fences, "S2 may be broken");
}

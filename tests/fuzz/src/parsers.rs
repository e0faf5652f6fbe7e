//! Texts from outside: addresses, settings, lines of transcripts.

use fencepost_core::{RawSettings, Settings, lowered::Hub, url::Address};

/// A text of every form, into which bytes are inserted.
const FORMS: [&str; 8] = [
    "*",
    "memory:*",
    "zk://*",
    "zk://h:1*/p?session_timeout=5",
    "zk://h/p?session_timeout=*",
    "redis://*",
    r#"{"kind": "zookeeper-mutex", "name": "*"}"#,
    r#"{"kind": "redis-string", "name": "a", "ttl": *}"#,
];

/// Passes the bytes to all parsers of text.
///
/// # Panics
/// If a parser panics, or accepts a value that a hub then rejects.
pub fn fuzz_parsers(data: &[u8]) {
    let (head, rest) = data.split_first().unwrap_or((&0, &[]));
    let scrap = String::from_utf8_lossy(rest);
    let text = FORMS[usize::from(head % 8)].replace('*', &scrap);
    match Address::parse(&text) {
        Ok(address) => assert!(["zookeeper", "redis"].contains(&address.family())),
        Err(error) => {
            assert!(!error.to_string().is_empty() && error.code() / 100 == 1 && !error.name().is_empty());
        }
    }
    let _raw = serde_json::from_str::<RawSettings>(&text);
    let _bytes = serde_json::from_slice::<Settings>(rest);
    if let Ok(settings) = serde_json::from_str::<Settings>(&text) {
        assert!(Hub::new(settings.family(), 0).is_ok());
    }
    if let Err(error) = Hub::new(&scrap, 0) {
        assert_eq!(error.name(), "unknown-option");
    }
}

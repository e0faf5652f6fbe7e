//! The table of addresses that all languages read. No error contains a user or a password of an address. Every secret
//! in the table contains `sesa` or `same`.

#![cfg(all(feature = "redis", feature = "zookeeper"))]
#![expect(clippy::unwrap_used, reason = "tests")]

use core::{error::Error, time::Duration};

use fencepost::{Client, connect};
use serde_json::Value;

fn hides_secrets(shown: &str) {
    assert!(!shown.contains("sesa") && !shown.contains("same"), "{shown}");
}

/// Checks an error and its sources.
fn keeps_quiet(error: &dyn Error) {
    let mut at = Some(error);
    while let Some(here) = at {
        hides_secrets(&format!("{here} {here:?} {here:#?}"));
        at = here.source();
    }
}

#[tokio::test]
async fn bad_addresses_are_refused_as_the_table_says() {
    let rows: Vec<Value> = serde_json::from_str(include_str!("../../tests/addresses.json")).unwrap();
    for row in rows.iter().filter(|row| row.get("error").is_some()) {
        let url = row["url"].as_str().unwrap();
        let error = connect(url).await.unwrap_err();
        assert_eq!(row["error"], error.name(), "{url}: {error}");
        assert!(
            error.to_string().contains(row["says"].as_str().unwrap()),
            "{url}: {error}"
        );
        keeps_quiet(&error);
    }
}

// No server listens at port 1.
#[tokio::test]
async fn a_client_shows_no_password() {
    for url in [
        "redis://u:sesame@127.0.0.1:1",
        "redis://:se%2Fsa%23me@127.0.0.1:1",
    ] {
        let builder = Client::builder()
            .auth("digest", b"u:sesame")
            .subscribe_with(redis::Client::open("redis://u:sesame@localhost").unwrap());
        let bytes = format!("{:?}", b"sesame");
        assert!(!format!("{builder:?}").contains(bytes.trim_matches(['[', ']'])));
        hides_secrets(&format!("{builder:?}"));
        let client = Client::builder()
            .connect_timeout(Duration::from_millis(300))
            .connect_lazily(url)
            .unwrap();
        hides_secrets(&format!("{client:?}"));
        let lock = client.lock("stock/42").unwrap();
        let error = lock.acquire_within(Duration::from_millis(300)).await.unwrap_err();
        keeps_quiet(&error);
        client.close().await.unwrap();
    }
}

//! The table of options that all languages read, through the methods of the client. The clients never connect, and send
//! nothing.

#![cfg(all(feature = "redis", feature = "zookeeper"))]
#![expect(clippy::unwrap_used, reason = "tests")]

use core::time::Duration;

use fencepost::{Client, Error, Layout, LockOptions};
use serde_json::Value;

/// The options of a row; `None` for values that Rust's types cannot express.
fn options(row: &Value) -> Option<LockOptions> {
    let mut options = LockOptions::new();
    for (name, value) in row["options"].as_object().unwrap() {
        let text = value.as_str().unwrap_or_default();
        let duration = || value.as_u64().map(Duration::from_micros);
        options = match name.as_str() {
            "ttl" => options.ttl(duration()?),
            "margin" => options.margin(duration()?),
            "poll" => options.poll(duration()?),
            "max_hold" => options.max_hold(duration()?),
            "answer_within" => options.answer_within(duration()?),
            "renew" => options.renew(value.as_bool()?),
            "revocable" => options.revocable(value.as_bool()?),
            "fair" => options.fair(value.as_bool()?),
            "identifier" => options.identifier(text),
            "owner" => options.owner(text),
            "layout" => options.layout(match text {
                "curator" => Layout::Curator,
                "kazoo" => Layout::Kazoo,
                "plain" => Layout::Plain {
                    prefix: row["options"]["node_prefix"].as_str().unwrap_or("node_").into(),
                },
                _ => return None,
            }),
            // In Rust, this is a part of the layout.
            "node_prefix" if row["options"]["layout"] == "plain" => options,
            "node_prefix" => return None,
            "name" | "names" | "permits" => options,
            unknown => panic!("add the option {unknown} to this test"),
        };
    }
    Some(options)
}

/// The result of making the lock of a row; `None` if Rust cannot express the row.
fn made(client: &Client, row: &Value) -> Option<Result<(), Error>> {
    let options = options(row)?;
    let name = row["options"]["name"].as_str().unwrap_or_default();
    Some(match row["kind"].as_str().unwrap() {
        "lock" => client.lock_with(name, options).map(drop),
        "reader" | "writer" => client.read_write_lock_with(name, options).map(drop),
        "election" => client.election_with(name, options).map(drop),
        "semaphore" => {
            let permits = u32::try_from(row["options"]["permits"].as_u64()?).ok()?;
            client.semaphore_with(name, permits, options).map(drop)
        }
        "multi-lock" => {
            let names = row["options"]["names"].as_array().unwrap();
            let names = names.iter().map(|name| name.as_str().unwrap());
            client.multi_lock_with(names, options).map(drop)
        }
        kind => panic!("add the kind {kind} to this test"),
    })
}

#[tokio::test]
async fn every_row_is_as_it_says() {
    let rows: Vec<Value> = serde_json::from_str(include_str!("../../tests/options.json")).unwrap();
    let lazily = |url| Client::builder().connect_lazily(url).unwrap();
    let (zookeeper, redis) = (lazily("zk://127.0.0.1:1"), lazily("redis://127.0.0.1:1"));
    let memory = fencepost::connect("memory:").await.unwrap();
    let mut inexpressible = 0;
    for row in &rows {
        let client = match row["server"].as_str().unwrap() {
            "zookeeper" => &zookeeper,
            "redis" => &redis,
            _ => &memory,
        };
        let Some(made) = made(client, row) else {
            inexpressible += 1;
            continue;
        };
        match (made, row["error"].as_str()) {
            (Ok(()), None) => {}
            (Err(error), Some(name)) => {
                assert_eq!(error.name(), name, "{row}: {error}");
                // The client makes both sides of a read/write lock, and refuses the reader first.
                let expected = row["says"].as_str().unwrap().replace("a writer", "a reader");
                assert!(error.to_string().contains(&expected), "{row}: {error}");
            }
            (made, _) => panic!("{row}: {made:?}"),
        }
    }
    assert!(inexpressible <= 4, "{inexpressible} rows of {}", rows.len());
    memory.close().await.unwrap();
}

//! The table of addresses, `tests/addresses.json`: their parsed parts, or their errors. The tests of the
//! bindings read the same table.
//!
//! Every secret in the table has `sesa` or `same` in it.

#![expect(clippy::unwrap_used, reason = "tests")]

use core::time::Duration;

use fencepost_core::url::{Address, Credentials};
use serde_json::{Value, json};

/// The parts of an address, in the form of the table.
fn parts(address: &Address) -> Value {
    match address {
        Address::Memory {
            name,
            session_timeout,
        } => json!({
            "kind": "memory",
            "name": name,
            "session_timeout": session_timeout.as_micros() / Duration::from_millis(1).as_micros(),
        }),
        Address::ZooKeeper {
            hosts,
            prefix,
            session_timeout,
        } => json!({
            "kind": "zookeeper",
            "hosts": hosts,
            "prefix": prefix,
            "session_timeout": session_timeout.as_micros() / Duration::from_millis(1).as_micros(),
        }),
        Address::Redis(server) => json!({
            "kind": "redis",
            "host": server.host,
            "port": server.port,
            "user": server.credentials.user,
            "password": server.credentials.password,
            "database": server.database,
            "tls": server.tls,
            "ca": server.ca,
        }),
        other => panic!("{other:?}"),
    }
}

fn hides_secrets(url: &str, shown: &str) {
    assert!(
        !shown.contains("sesa") && !shown.contains("same"),
        "{url}: {shown}"
    );
}

#[test]
fn addresses_are_read_as_the_table_says() {
    let rows: Vec<Value> = serde_json::from_str(include_str!("../addresses.json")).unwrap();
    for row in rows {
        let url = row["url"].as_str().unwrap();
        match Address::parse(url) {
            Ok(address) => {
                let mut expected = row.clone();
                expected.as_object_mut().unwrap().remove("url");
                assert_eq!(parts(&address), expected, "{url}");
                hides_secrets(url, &format!("{address:?} {}", address.shown()));
            }
            Err(error) => {
                assert_eq!(row["error"], error.name(), "{url}: {error}");
                let says = row["says"].as_str().unwrap();
                assert!(error.to_string().contains(says), "{url}: {error}");
                hides_secrets(url, &format!("{error:?} {error}"));
            }
        }
    }
}

#[test]
fn an_address_is_shown_without_its_secrets_and_options() {
    for (url, shown) in [
        ("Memory:Shop", "memory:Shop"),
        (
            "ZK://a,b:2182/shop/?session_timeout=500",
            "zk://a:2181,b:2182/shop",
        ),
        ("redis://u:sesame@h/2", "redis://h:6379/2"),
        ("rediss://:sesame@[::1]:1", "rediss://[::1]:1/0"),
    ] {
        assert_eq!(Address::parse(url).unwrap().shown(), shown);
    }
}

#[test]
fn credentials_are_empty_or_hidden() {
    for (url, shown) in [
        ("redis://h", "none"),
        ("redis://:sesame@h", "***"),
        ("redis://u:sesame@h", "***"),
    ] {
        let Address::Redis(server) = Address::parse(url).unwrap() else {
            panic!("{url}")
        };
        assert_eq!(format!("{:?}", server.credentials), shown);
        assert_eq!(server.credentials.is_empty(), shown == "none");
    }
    let mut user_alone = Credentials::default();
    user_alone.user = "u".into();
    assert!(!user_alone.is_empty());
}

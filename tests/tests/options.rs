//! The table of options, `tests/options.json`: settings that the core accepts, and settings that it rejects.
//! The tests of the bindings use the same rows.

use fencepost_core::{
    Owner, RawSettings, Settings,
    options::{Kind, OPTIONS, Scope, Server, ValueType},
};
use serde_json::{Map, Value, json};

fn rows() -> Vec<Value> {
    serde_json::from_str(include_str!("../options.json")).unwrap()
}

/// The settings of a row as data.
fn data(row: &Value) -> Value {
    let mut data: Map<String, Value> = row["options"].as_object().unwrap().clone();
    data.insert("server".into(), row["server"].clone());
    data.insert("kind".into(), row["kind"].clone());
    data.into()
}

fn read(data: &Value) -> Result<Settings, fencepost_core::ConfigError> {
    Settings::try_from(serde_json::from_value::<RawSettings>(data.clone()).unwrap())
}

#[test]
fn every_row_is_as_it_says() {
    for row in rows() {
        match (read(&data(&row)), row["error"].as_str()) {
            (Ok(settings), None) => {
                let expected = if row["server"] == "redis" {
                    "redis"
                } else {
                    "zookeeper"
                };
                assert_eq!(settings.family(), expected, "{row}");
            }
            (Err(error), Some(name)) => {
                assert_eq!(error.name(), name, "{row}: {error}");
                assert!(
                    error.to_string().contains(row["says"].as_str().unwrap()),
                    "{row}: {error}"
                );
            }
            (result, _) => panic!("{row}: {result:?}"),
        }
    }
}

/// The table of the options of idempotent operations, `tests/scopes.json`.
fn scopes() -> Vec<Value> {
    serde_json::from_str(include_str!("../scopes.json")).unwrap()
}

#[test]
fn every_scope_is_as_it_says() {
    for row in scopes() {
        let mut data = row["options"].clone();
        data["server"] = "redis".into();
        data["kind"] = "claim".into();
        let scope = Scope::try_from(serde_json::from_value::<RawSettings>(data).unwrap());
        match (scope, row["error"].as_str()) {
            (Ok(scope), None) => assert!(scope.claim("order-17", b"print").is_ok(), "{row}"),
            (Err(error), Some(name)) => {
                assert_eq!(error.name(), name, "{row}: {error}");
                let says = row["says"].as_str().unwrap();
                assert!(error.to_string().contains(says), "{row}: {error}");
            }
            (result, _) => panic!("{row}: {result:?}"),
        }
    }
}

#[test]
fn every_option_has_a_row() {
    let rows = [rows(), scopes()].concat();
    // The fields of settings that are no options.
    let fields = [
        "prefix",
        "of",
        "action",
        "node",
        "fence",
        "key",
        "fingerprint",
        "binding",
        "step",
        "operation",
        "version",
        "life",
        "tag",
        "result",
    ];
    for spec in &OPTIONS {
        let has = |row: &Value| row["options"].get(spec.name()).is_some();
        let is_field = fields.contains(&spec.name());
        assert!(is_field || rows.iter().any(has), "{}", spec.name());
    }
}

#[test]
fn a_lock_can_be_inspected_with_its_own_settings() {
    for row in rows().iter().filter(|row| row["error"].is_null()) {
        let mut data = data(row);
        data["action"] = json!("list");
        let has_queue = row["kind"] != "multi-lock";
        match read(&data) {
            Ok(_) => assert!(has_queue, "{row}"),
            Err(error) => {
                assert!(!has_queue, "{row}: {error}");
                assert!(error.to_string().contains("contenders"), "{row}: {error}");
            }
        }
    }
}

#[test]
fn what_is_no_setting_is_refused() {
    let wrong = [
        (
            json!({"kind": "lock", "name": "x"}),
            "unreadable-settings",
            "kinds of machines",
        ),
        (json!({"name": "x"}), "unreadable-settings", "kind is \"\""),
        (
            json!({"server": "sql", "kind": "lock", "name": "x"}),
            "unreadable-settings",
            "\"sql\"",
        ),
        (
            json!({"server": "redis", "kind": "queue", "name": "x"}),
            "unreadable-settings",
            "\"queue\"",
        ),
        (
            json!({"server": "zookeeper", "kind": "multi-lock", "names": ["x"], "name": "x"}),
            "unknown-option",
            "name",
        ),
        (
            json!({"server": "redis", "kind": "lock", "name": 7}),
            "unreadable-settings",
            "name has to be a text",
        ),
        (
            json!({"server": "redis", "kind": "lock", "name": "x", "ttl": "1"}),
            "unreadable-settings",
            "whole microseconds",
        ),
        (
            json!({"server": "redis", "kind": "lock", "name": "x", "renew": 1}),
            "unreadable-settings",
            "true or false",
        ),
        (
            json!({"server": "memory", "kind": "multi-lock", "names": "x"}),
            "unreadable-settings",
            "list of texts",
        ),
        (
            json!({"server": "memory", "kind": "lock", "name": "x", "fair": "no"}),
            "unreadable-settings",
            "true or false",
        ),
        (
            json!({"server": "redis", "kind": "lock", "name": "x", "tll": 1}),
            "unknown-option",
            "ttl, renew, margin",
        ),
        (
            json!({"kind": "zookeeper-mutex", "name": "x", "fair": false}),
            "unknown-option",
            "fair",
        ),
        (
            json!({"kind": "redis-single-step", "scope": "x", "step": "sweep", "key": "y"}),
            "invalid-option",
            "leave it out",
        ),
        (
            json!({"kind": "zookeeper-single-step", "scope": "", "step": "sweep"}),
            "invalid-option",
            "scope is",
        ),
        (
            json!({"kind": "zookeeper-lock", "name": "x"}),
            "unreadable-settings",
            "zookeeper-lock",
        ),
        (
            json!({"server": "zookeeper", "kind": "lock", "name": "x", "action": "sing"}),
            "invalid-option",
            "sing",
        ),
        (
            json!({"server": "zookeeper", "kind": "lock", "name": "x", "action": "break"}),
            "invalid-option",
            "fence",
        ),
    ];
    for (data, name, says) in wrong {
        let error = read(&data).unwrap_err();
        assert_eq!(error.name(), name, "{data}: {error}");
        assert!(error.to_string().contains(says), "{data}: {error}");
    }
    for text in [
        r#"{"kind": "redis-string", "ttl": 1.5}"#,
        r#"{"name": "x", "name": "y"}"#,
        "[]",
        r#"{"name": {}}"#,
    ] {
        assert!(serde_json::from_str::<RawSettings>(text).is_err(), "{text}");
    }
}

#[test]
fn a_program_with_the_machines_of_one_server_checks_the_same_settings() {
    for row in rows() {
        let data = data(&row);
        let raw = || serde_json::from_value::<RawSettings>(data.clone()).unwrap();
        let (own, other) = if row["server"] == "redis" {
            (raw().for_redis(), raw().for_zookeeper())
        } else {
            (raw().for_zookeeper(), raw().for_redis())
        };
        assert_eq!(own, read(&data), "{row}");
        assert!(other.is_err(), "{row}");
    }
}

#[test]
fn null_is_no_value() {
    let data = json!({"server": "redis", "kind": "lock", "name": "x", "layout": null, "ttl": null});
    assert!(read(&data).is_ok());
}

#[test]
fn an_error_lists_what_there_is() {
    let last = Kind::LOCKS.last().unwrap().name();
    for (data, first, last) in [
        (
            json!({"kind": "queue", "name": "x"}),
            "kind is \"queue\": the kinds of machines are redis-string, redis-claim, redis-single-step, zookeeper-mutex, ",
            "zookeeper-single-step",
        ),
        (
            json!({"server": "redis", "kind": "queue", "name": "x"}),
            "kind is \"queue\": the kinds of locks are lock, reader, ",
            last,
        ),
    ] {
        let error = read(&data).unwrap_err().to_string();
        assert!(error.contains(first), "{error}");
        assert!(error.ends_with(&format!(" and {last}")), "{error}");
    }
    let many =
        "unknown option \"contenders\": a multi-lock has no queue of its own: inspect each of its locks";
    let redis = "unknown option \"revoke\": only ZooKeeper has it: a holder on Redis does not receive requests; to take the lock from it, break it";
    for (data, says) in [
        (
            json!({"server": "zookeeper", "kind": "multi-lock", "names": ["x"], "action": "list"}),
            many,
        ),
        (
            json!({"server": "redis", "kind": "lock", "name": "x", "action": "revoke", "node": "token", "fence": "0"}),
            redis,
        ),
    ] {
        assert_eq!(read(&data).unwrap_err().to_string(), says, "{data}");
    }
    for (text, expected) in [
        ("[]", "expected a map of options"),
        (
            r#"{"name": {}}"#,
            "expected a whole number, true or false, a text or a list of texts",
        ),
    ] {
        let error = serde_json::from_str::<RawSettings>(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn a_setting_at_its_limit_is_accepted_and_one_beyond_it_is_refused() {
    let names = |count: usize| (0..count).map(|name| name.to_string()).collect::<Vec<_>>();
    let many = |count| json!({"server": "zookeeper", "kind": "multi-lock", "names": names(count)});
    let identified =
        |size| json!({"server": "zookeeper", "kind": "lock", "name": "x", "identifier": "i".repeat(size)});
    // With the leading slash, the path of the lock has one more byte.
    let named = |size| json!({"server": "zookeeper", "kind": "lock", "name": "n".repeat(size)});
    for (last, beyond) in [
        (many(64), [many(65), many(66)]),
        (identified(1024), [identified(1025), identified(1026)]),
        (named(4095), [named(4096), named(4097)]),
    ] {
        assert!(read(&last).is_ok(), "{last}");
        for data in beyond {
            let name = read(&data).unwrap_err().name();
            assert!(name.starts_with("invalid-"), "{name}: {data}");
        }
    }
}

#[test]
fn the_settings_of_a_client_are_made_without_data() {
    let raw = RawSettings::on(Server::Redis, Kind::Mutex).with("name", "x");
    assert_eq!(Settings::try_from(raw).unwrap().family(), "redis");
    let raw = RawSettings::on(Server::Redis, Kind::Election).with("name", "x");
    assert_eq!(Settings::try_from(raw).unwrap_err().name(), "unknown-option");
    assert_eq!(Owner::new("request-17").unwrap().name(), "request-17");
}

#[test]
fn bindings_convert_a_value_by_the_name_of_its_type() {
    let types = [
        ValueType::Duration,
        ValueType::Whole,
        ValueType::Flag,
        ValueType::Text,
        ValueType::Texts,
    ];
    let names = types.map(ValueType::name);
    assert_eq!(names, ["duration", "whole", "flag", "text", "texts"]);
}

#[test]
fn an_option_belongs_to_kinds_and_servers_and_a_field_to_none() {
    let is_option = |name: &str, server, kind| {
        let spec = OPTIONS.iter().find(|spec| spec.name() == name).unwrap();
        spec.is_option_of(server, kind)
    };
    assert!(is_option("permits", Server::ZooKeeper, Kind::Semaphore));
    assert!(!is_option("permits", Server::ZooKeeper, Kind::Mutex));
    assert!(!is_option("permits", Server::Redis, Kind::Semaphore));
    assert!(!is_option("name", Server::ZooKeeper, Kind::Mutex));
}

#[test]
fn of_two_errors_the_names_comes_first() {
    let data = json!({"server": "zookeeper", "kind": "lock", "name": "", "max_hold": 0});
    assert_eq!(read(&data).unwrap_err().name(), "empty-name");
}

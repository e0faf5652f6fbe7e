//! The scope of operations: the limits of a request's arguments, and the server of the scope.

use fencepost_core::{
    ConfigError, RawSettings,
    claim::{Content, MAX_RESULT, Name},
    options::{Kind, MAX_DIGEST, Scope, Server},
};

fn settings(server: Server) -> RawSettings {
    RawSettings::on(server, Kind::Claim).with("scope", "payments")
}

fn scope() -> Scope {
    Scope::try_from(settings(Server::Redis)).unwrap()
}

fn content(size: usize) -> Result<Content, ConfigError> {
    Content::new("json", vec![0; size])
}

#[track_caller]
fn is_refused<T: std::fmt::Debug>(result: Result<T, ConfigError>, says: &str) {
    let text = result.unwrap_err().to_string();
    assert!(text.contains(says), "{text}");
}

#[test]
fn a_digest_has_a_longest_length() {
    let (scope, longest) = (scope(), [7; MAX_DIGEST]);
    let longer = [7; MAX_DIGEST + 1];
    scope.claim("order-17", &longest).unwrap();
    scope.consume("token", &longest, &longest).unwrap();
    let fingerprint = "fingerprint is \"…\": it is longer than 1024 bytes";
    is_refused(scope.claim("order-17", &longer), fingerprint);
    is_refused(scope.consume("token", b"", &longer), fingerprint);
    let binding = "binding is \"…\": it is longer than 1024 bytes";
    is_refused(scope.consume("token", &longer, b""), binding);
    is_refused(scope.issue("token", &longer, None), binding);
}

#[test]
fn a_result_has_a_longest_length() {
    content(MAX_RESULT).unwrap();
    is_refused(content(MAX_RESULT + 1), "longer than 1000000 bytes");
    is_refused(Content::check_size(MAX_RESULT + 1), "longer than 1000000 bytes");
}

#[test]
fn a_derived_key_is_that_of_the_name() {
    let scope = scope();
    let name = Name::new("payments", "order-17").unwrap();
    let derived = scope.derive("order-17", "charge").unwrap();
    assert_eq!(derived, name.derive("charge"));
    assert_ne!(derived, scope.derive("order-17", "ship").unwrap());
    assert_eq!(scope.derive("", "charge").unwrap_err().name(), "invalid-option");
}

/// If only the machines of one family are compiled, the settings of the other family do not exist.
#[test]
fn a_scope_is_for_one_family() {
    Scope::for_redis(settings(Server::Redis)).unwrap();
    Scope::for_zookeeper(settings(Server::ZooKeeper)).unwrap();
    Scope::for_zookeeper(settings(Server::Memory)).unwrap();
    is_refused(Scope::for_redis(settings(Server::ZooKeeper)), "not for Redis");
    is_refused(Scope::for_zookeeper(settings(Server::Redis)), "not for ZooKeeper");
}

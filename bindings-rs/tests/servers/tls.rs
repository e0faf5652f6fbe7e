//! Redis over TLS: which servers the client trusts, and that it sends nothing without TLS.

use std::{error::Error as _, time::Duration};

use fencepost::{Client, Error, LockOptions};
use tokio::process::Command;

use crate::{
    control::{Proxy, redis, until, variable},
    scenarios::{soon, unique, waits},
};

/// The URL of the server at an address, with the file of trusted certificates.
fn at(address: &str, ca: Option<&str>) -> String {
    let password = variable("FENCEPOST_REDIS_TLS_PASSWORD");
    let ca = ca
        .map(|name| format!("?ca={}", variable(name)))
        .unwrap_or_default();
    format!("rediss://:{password}@{address}{ca}")
}

/// The URL with which the client trusts the server.
pub(crate) fn trusted() -> String {
    at(&variable("FENCEPOST_REDIS_TLS"), Some("FENCEPOST_REDIS_TLS_CA"))
}

/// The server's reply to a command of another program.
async fn ask(words: &[&str]) -> String {
    let address = variable("FENCEPOST_REDIS_TLS");
    let (host, port) = address.split_once(':').unwrap();
    let output = Command::new("redis-cli")
        .args([
            "--tls",
            "--cacert",
            &variable("FENCEPOST_REDIS_TLS_CA"),
            "-h",
            host,
            "-p",
            port,
        ])
        .env("REDISCLI_AUTH", variable("FENCEPOST_REDIS_TLS_PASSWORD"))
        .args(words)
        .output()
        .await
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

fn is(error: &Error, name: &str, why: &str) {
    assert_eq!(error.name(), name, "{error:?}");
    let native = error.source().unwrap();
    assert!(native.is::<redis::RedisError>());
    assert!(native.to_string().contains(why), "{why}: {native}");
}

#[tokio::test]
async fn a_waiter_is_notified_through_tls_too() {
    let (a, b) = (
        fencepost::connect(&trusted()).await.unwrap(),
        fencepost::connect(&trusted().replace("127.0.0.1", "localhost"))
            .await
            .unwrap(),
    );
    let name = unique("tls");
    let long = LockOptions::new().ttl(Duration::from_secs(3600));
    let grant = soon(a.lock_with(&name, long.clone()).unwrap().acquire())
        .await
        .unwrap();
    assert!(ask(&["PTTL", &name]).await.trim().parse::<i64>().unwrap() > 3_000_000);
    let theirs = b.lock_with(&name, long).unwrap();
    assert!(soon(theirs.try_acquire()).await.unwrap().is_none());
    let waiting = tokio::spawn(async move { theirs.acquire().await });
    let channel = format!("{{{name}}}:released");
    until(|| async { ask(&["PUBSUB", "NUMSUB", &channel]).await.trim().ends_with('1') }).await;
    let fence = grant.fence();
    soon(grant.release()).await.unwrap();
    let next = soon(waiting).await.unwrap().unwrap();
    assert!(next.fence() > fence);
    soon(next.release()).await.unwrap();
    soon(a.close()).await.unwrap();
    soon(b.close()).await.unwrap();
}

#[tokio::test]
async fn a_server_with_an_unknown_certificate_is_refused_at_once() {
    let address = variable("FENCEPOST_REDIS_TLS");
    let elsewhere = address.replace("127.0.0.1", "127.0.0.2");
    for (url, why) in [
        (
            at(&address, Some("FENCEPOST_REDIS_TLS_OTHER_CA")),
            "UnknownIssuer",
        ),
        (at(&address, None), "UnknownIssuer"),
        (
            at(&elsewhere, Some("FENCEPOST_REDIS_TLS_CA")),
            "not valid for name",
        ),
    ] {
        // The error comes before the connect timeout.
        let patient = Client::builder().connect_timeout(Duration::from_secs(3600));
        let error = soon(patient.connect(&url)).await.unwrap_err();
        is(&error, "server-error", why);
        let lazy = Client::builder().connect_lazily(&url).unwrap();
        let error = soon(lazy.lock("x").unwrap().acquire()).await.unwrap_err();
        is(&error, "server-error", why);
        soon(lazy.close()).await.unwrap();
    }
}

#[tokio::test]
async fn tls_and_no_tls_do_not_mix() {
    let brief = || Client::builder().connect_timeout(Duration::from_millis(500));
    let error = soon(brief().connect(&trusted().replace("rediss:", "redis:").replace("?ca=", "#")))
        .await
        .unwrap_err();
    assert_eq!(error.name(), "invalid-url");
    let url = at(&variable("FENCEPOST_REDIS_TLS"), None).replace("rediss:", "redis:");
    let error = soon(brief().connect(&url)).await.unwrap_err();
    is(&error, "unreachable", "");
    // A server without TLS treats the handshake as the beginning of a command, and waits for the
    // rest.
    let url = redis().replace("redis:", "rediss:");
    let error = soon(brief().connect(&url)).await.unwrap_err();
    assert_eq!(error.name(), "unreachable");
}

#[tokio::test]
async fn a_wrong_password_is_an_error() {
    let url = trusted().replace(&variable("FENCEPOST_REDIS_TLS_PASSWORD"), "wrong");
    let error = soon(fencepost::connect(&url)).await.unwrap_err();
    assert_eq!((error.code(), error.name()), (306, "auth-failed"));
}

#[tokio::test]
async fn a_cut_connection_is_made_again_and_a_handshake_that_hangs_is_no_hang() {
    let proxy = Proxy::open("redis-tls").await;
    let url = at(&proxy.address, Some("FENCEPOST_REDIS_TLS_CA"));
    let client = fencepost::connect(&url).await.unwrap();
    let lock = client.lock(&unique("cut")).unwrap();
    let grant = soon(lock.acquire()).await.unwrap();
    proxy.order("cut").await;
    proxy.order("hold").await;
    proxy.order("heal").await;
    let brief = Client::builder().connect_timeout(Duration::from_millis(300));
    let error = soon(brief.connect(&url)).await.unwrap_err();
    assert_eq!(error.name(), "unreachable");
    assert!(waits(grant.lost()).await);
    proxy.order("pass").await;
    soon(grant.extend()).await.unwrap();
    soon(grant.release()).await.unwrap();
    soon(client.close()).await.unwrap();
    proxy.close().await;
}

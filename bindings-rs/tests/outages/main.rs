//! The client during outages of servers: one outage at a time, separate from the tests that need running servers.
//! `python3 tests/servers run -- cargo test -p fencepost --features servers`.

#[path = "../servers/control.rs"]
#[allow(dead_code, reason = "shared with the other suite")]
mod control;
mod crowd;
mod failover;
mod reach;
mod relay;
#[path = "../scenarios/mod.rs"]
#[allow(dead_code, unused_macros, reason = "shared with the other suites")]
mod scenarios;
mod silence;
mod silence_redis;

use std::time::Duration;

use control::{ask, bare_redis, ensemble, order, redis, until, zookeeper};
use fencepost::{Client, Error, LockOptions, Loss};
use redis::aio::MultiplexedConnection;
use scenarios::{soon, unique, waits};
use tokio::sync::Mutex;

/// An outage affects all tests.
static ONE_AT_A_TIME: Mutex<()> = Mutex::const_new(());

/// A holder and a waiter, and an outage that is longer than the lease: the holder is notified of the loss in time, and
/// the waiter gets the lock after the outage.
async fn outlasts(url: &str, options: LockOptions, gone: &str, back: &str) {
    let _alone = ONE_AT_A_TIME.lock().await;
    let name = unique("outage");
    let (a, b) = (
        fencepost::connect(url).await.unwrap(),
        fencepost::connect(url).await.unwrap(),
    );
    let grant = soon(a.lock_with(&name, options).unwrap().acquire())
        .await
        .unwrap();
    let theirs = b.lock(&name).unwrap();
    let waiting = tokio::spawn(async move { theirs.acquire().await });
    assert!(waits(grant.lost()).await);
    assert!(!waiting.is_finished());
    order(gone).await;
    let lost = soon(grant.lost()).await;
    assert!(
        matches!(lost.reason(), Loss::LeaseEnded | Loss::SessionExpired),
        "{lost}"
    );
    assert!(!grant.is_valid());
    // An acquire with a timeout ends in time during the outage.
    let limit = Duration::from_millis(100);
    let error = soon(a.lock(&unique("away")).unwrap().acquire_within(limit))
        .await
        .unwrap_err();
    assert_eq!((error.code(), error.name()), (304, "unreachable"));
    order(back).await;
    let next = soon(waiting).await.unwrap().unwrap();
    assert!(next.fence() > grant.fence());
    soon(next.release()).await.unwrap();
    drop(grant);
    soon(a.close()).await.unwrap();
    soon(b.close()).await.unwrap();
}

fn brief() -> LockOptions {
    LockOptions::new().ttl(Duration::from_secs(2))
}

#[tokio::test]
async fn a_paused_redis() {
    outlasts(&redis(), brief(), "pause redis-1", "resume redis-1").await;
}

#[tokio::test]
async fn a_stopped_redis_that_forgets_everything() {
    outlasts(&redis(), brief(), "stop redis-1", "start redis-1").await;
}

#[tokio::test]
async fn a_paused_zookeeper() {
    let url = zookeeper() + "?session_timeout=3000";
    outlasts(&url, LockOptions::new(), "pause zookeeper", "resume zookeeper").await;
}

#[tokio::test]
async fn a_stopped_zookeeper() {
    let url = zookeeper() + "?session_timeout=3000";
    outlasts(&url, LockOptions::new(), "stop zookeeper", "start zookeeper").await;
}

#[tokio::test]
async fn an_ensemble_that_loses_its_leader_keeps_its_locks() {
    let _alone = ONE_AT_A_TIME.lock().await;
    let url = ensemble() + "?session_timeout=10000";
    let (a, b) = (
        fencepost::connect(&url).await.unwrap(),
        fencepost::connect(&url).await.unwrap(),
    );
    let grant = soon(a.lock("x").unwrap().acquire()).await.unwrap();
    let theirs = b.lock("x").unwrap();
    let waiting = tokio::spawn(async move { theirs.acquire().await });
    let leader = order("leader").await["name"].as_str().unwrap().to_owned();
    order(&format!("kill {leader}")).await;
    // The session moves to another member, with all its nodes.
    soon(grant.extend()).await.unwrap();
    until(async || grant.is_valid()).await;
    assert!(!waiting.is_finished());
    soon(grant.release()).await.unwrap();
    let next = soon(waiting).await.unwrap().unwrap();
    soon(next.release()).await.unwrap();
    order(&format!("start {leader}")).await;
    soon(a.close()).await.unwrap();
    soon(b.close()).await.unwrap();
}

#[tokio::test]
async fn a_release_without_an_answer_is_reported_and_goes_on() {
    let _alone = ONE_AT_A_TIME.lock().await;
    let client = fencepost::connect(&redis()).await.unwrap();
    let name = unique("unconfirmed");
    let lock = client
        .lock_with(&name, LockOptions::new().ttl(Duration::from_secs(60)))
        .unwrap();
    let grant = soon(lock.acquire()).await.unwrap();
    order("pause redis-1").await;
    let start = std::time::Instant::now();
    let error = soon(grant.release()).await.unwrap_err();
    assert_eq!((error.code(), error.name()), (501, "release-unconfirmed"));
    assert!(start.elapsed() >= Duration::from_secs(5));
    order("resume redis-1").await;
    // The server has executed the release.
    soon(soon(lock.acquire()).await.unwrap().release()).await.unwrap();
    soon(client.close()).await.unwrap();
}

#[tokio::test]
async fn a_given_connection_that_nothing_makes_again_is_over() {
    let _alone = ONE_AT_A_TIME.lock().await;
    let bare = bare_redis("FENCEPOST_REDIS").await;
    let theirs = bare_redis("FENCEPOST_REDIS").await;
    let client = Client::from_redis(theirs.clone()).unwrap();
    let lock = client.lock_with(&unique("given"), brief()).unwrap();
    let grant = soon(lock.acquire()).await.unwrap();
    end(&theirs, &bare).await;
    assert_eq!(soon(grant.lost()).await.reason(), Loss::ConnectionClosed);
    let error = soon(lock.acquire()).await.unwrap_err();
    assert_eq!((error.code(), error.name()), (313, "connection-closed"));
    let native = std::error::Error::source(&error).unwrap();
    assert!(native.is::<redis::RedisError>(), "{native:?}");
    drop(grant);
    // The grant has reported its loss, so the close has nothing to report.
    soon(client.close()).await.unwrap();
}

#[tokio::test]
async fn closing_counts_the_grants_of_a_given_connection_that_has_ended() {
    let _alone = ONE_AT_A_TIME.lock().await;
    let bare = bare_redis("FENCEPOST_REDIS").await;
    let theirs = bare_redis("FENCEPOST_REDIS").await;
    let client = Client::from_redis(theirs.clone()).unwrap();
    let name = unique("counted");
    let options = LockOptions::new().ttl(Duration::from_secs(60));
    let grant = soon(client.lock_with(&name, options).unwrap().acquire())
        .await
        .unwrap();
    // The server keeps the lock.
    end(&theirs, &bare).await;
    let error = soon(client.close()).await.unwrap_err();
    assert!(matches!(error, Error::CleanupIncomplete { left: 1 }), "{error:?}");
    drop(grant);
    assert_eq!(ask::<i64>(&bare, &["DEL", &name]).await, 1);
}

/// Makes the server end a connection, and nothing else.
async fn end(connection: &MultiplexedConnection, bare: &MultiplexedConnection) {
    let number: i64 = ask(connection, &["CLIENT", "ID"]).await;
    let _: i64 = ask(bare, &["CLIENT", "KILL", "ID", &number.to_string()]).await;
}

#[tokio::test]
async fn a_given_connection_that_is_made_again_goes_on() {
    let _alone = ONE_AT_A_TIME.lock().await;
    let theirs = redis::Client::open(redis()).unwrap();
    let manager = theirs.get_connection_manager().await.unwrap();
    let client = Client::from_redis(manager).unwrap();
    let lock = client.lock_with(&unique("managed"), brief()).unwrap();
    soon(soon(lock.acquire()).await.unwrap().release()).await.unwrap();
    order("restart redis-1").await;
    soon(soon(lock.acquire()).await.unwrap().release()).await.unwrap();
    soon(client.close()).await.unwrap();
}

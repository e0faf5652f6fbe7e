//! Two thousand contenders at once: acquires, waiters and grants, also through a restart of the server.

use std::{future::Future, time::Duration};

use fencepost::{Client, Error, Grant, Lock};
use tokio::task::JoinSet;

use crate::{
    ONE_AT_A_TIME,
    control::{order, path_of, redis, variable, zookeeper},
    scenarios::unique,
};

const CROWD: usize = 2000;

/// How many contenders of a program's own client survive a restart: with more than 128 KiB of watched paths, the library (0.11.2) sends two
/// requests with one number, and drops the connection at the second answer, again and again.
const GIVEN_CROWD: usize = 500;

/// More than enough for anything that does not hang, with many contenders on a busy machine.
async fn in_time<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(120), what)
        .await
        .expect("it should have happened by now")
}

fn locks(client: &Client, name: &str, crowd: usize) -> Vec<Lock> {
    let lock = |number| client.lock(&format!("{name}/{number}")).unwrap();
    (0..crowd).map(lock).collect()
}

/// All of them at once.
fn acquire(locks: Vec<Lock>) -> JoinSet<Grant> {
    locks
        .into_iter()
        .map(|lock| async move { lock.acquire().await.unwrap() })
        .collect()
}

async fn all<T: 'static>(tasks: JoinSet<T>) -> Vec<T> {
    in_time(tasks.join_all()).await
}

/// A client by address.
async fn by_address(url: &str) -> Client {
    fencepost::connect(url).await.unwrap()
}

/// A client on a program's own ZooKeeper client.
async fn given(url: &str) -> Client {
    let theirs = zookeeper_client::Client::connector()
        .with_session_timeout(Duration::from_secs(20))
        .connect(&variable("FENCEPOST_ZOOKEEPER"))
        .await
        .unwrap();
    let builder = Client::builder().prefix(&path_of(url));
    builder.from_zookeeper(theirs).unwrap()
}

/// Fails with the first error and the number of errors.
fn all_released(released: &[Result<(), Error>]) {
    let errors: Vec<&Error> = released.iter().filter_map(|one| one.as_ref().err()).collect();
    assert!(
        errors.is_empty(),
        "{} of {}: {}",
        errors.len(),
        released.len(),
        errors[0]
    );
}

async fn a_burst_is_served(url: &str, connect: impl AsyncFn(&str) -> Client) {
    let _alone = ONE_AT_A_TIME.lock().await;
    let client = connect(url).await;
    let name = unique("burst");
    for _ in 0..2 {
        let grants = all(acquire(locks(&client, &name, CROWD))).await;
        let released: JoinSet<_> = grants.into_iter().map(Grant::release).collect();
        all_released(&all(released).await);
    }
    in_time(client.close()).await.unwrap();
}

/// The results of releases after a restart.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Releases {
    /// The server still knows of the locks, and confirms.
    Confirmed,
    /// The same, but the program's library decides when it connects again. Later than the time of a release, the client
    /// goes on in the background.
    ConfirmedLater,
    /// The server has forgotten the locks.
    Any,
}

/// Many contenders hold and as many wait while the server restarts.
async fn a_restart_is_survived(
    url: &str,
    connect: impl AsyncFn(&str) -> Client,
    crowd: usize,
    server: &str,
    releases: Releases,
) {
    let _alone = ONE_AT_A_TIME.lock().await;
    let (a, b) = (connect(url).await, connect(url).await);
    let name = unique("restart");
    let held = all(acquire(locks(&a, &name, crowd))).await;
    let waiting = acquire(locks(&b, &name, crowd));
    // When a later read is answered, the server has the request of the last contender.
    in_time(b.lock(&unique("behind")).unwrap().acquire())
        .await
        .unwrap()
        .release()
        .await
        .unwrap();
    order(&format!("restart {server}")).await;
    let released: JoinSet<_> = held.into_iter().map(Grant::release).collect();
    let mut released = all(released).await;
    if releases == Releases::ConfirmedLater {
        released.retain(|one| !matches!(one, Err(Error::ReleaseUnconfirmed { .. })));
    }
    if releases != Releases::Any {
        all_released(&released);
    }
    let next = all(waiting).await;
    assert_eq!(next.len(), crowd);
    drop(next);
    in_time(a.close()).await.unwrap();
    in_time(b.close()).await.unwrap();
}

async fn closing_gives_all_back(url: &str, connect: impl AsyncFn(&str) -> Client) {
    let _alone = ONE_AT_A_TIME.lock().await;
    let (a, b) = (connect(url).await, connect(url).await);
    let name = unique("closing");
    let held = all(acquire(locks(&a, &name, CROWD))).await;
    let waiting = acquire(locks(&b, &name, CROWD));
    in_time(a.close()).await.unwrap();
    assert!(held.iter().all(|grant| !grant.is_valid()));
    drop(all(waiting).await);
    in_time(b.close()).await.unwrap();
}

#[tokio::test]
async fn a_burst_on_zookeeper() {
    a_burst_is_served(&zookeeper(), by_address).await;
}

#[tokio::test]
async fn a_burst_on_redis() {
    a_burst_is_served(&redis(), by_address).await;
}

#[tokio::test]
async fn a_restart_of_zookeeper() {
    let url = zookeeper() + "?session_timeout=20000";
    a_restart_is_survived(&url, by_address, CROWD, "zookeeper", Releases::Confirmed).await;
}

#[tokio::test]
async fn a_restart_of_redis() {
    a_restart_is_survived(&redis(), by_address, CROWD, "redis-1", Releases::Any).await;
}

#[tokio::test]
async fn a_close_on_zookeeper() {
    closing_gives_all_back(&zookeeper(), by_address).await;
}

#[tokio::test]
async fn a_close_on_redis() {
    closing_gives_all_back(&redis(), by_address).await;
}

#[tokio::test]
async fn a_burst_on_a_given_zookeeper_client() {
    a_burst_is_served(&zookeeper(), given).await;
}

#[tokio::test]
async fn a_restart_of_a_given_clients_zookeeper() {
    a_restart_is_survived(
        &zookeeper(),
        given,
        GIVEN_CROWD,
        "zookeeper",
        Releases::ConfirmedLater,
    )
    .await;
}

#[tokio::test]
async fn a_close_on_a_given_zookeeper_client() {
    closing_gives_all_back(&zookeeper(), given).await;
}

//! Two thousand at once: acquires, waiters and grants, also through a restart of the server.

use std::{future::Future, time::Duration};

use fencepost::{Client, Grant, Lock};
use tokio::task::JoinSet;

use crate::{
    ONE_AT_A_TIME,
    control::{order, redis, zookeeper},
    scenarios::unique,
};

const CROWD: usize = 2000;

/// More than enough for anything that does not hang, for a crowd on a busy machine.
async fn in_time<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(120), what)
        .await
        .expect("it should have happened by now")
}

fn locks(client: &Client, name: &str) -> Vec<Lock> {
    let lock = |number| client.lock(&format!("{name}/{number}")).unwrap();
    (0..CROWD).map(lock).collect()
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

async fn a_burst_is_served(url: &str) {
    let _alone = ONE_AT_A_TIME.lock().await;
    let client = fencepost::connect(url).await.unwrap();
    let name = unique("burst");
    for _ in 0..2 {
        let grants = all(acquire(locks(&client, &name))).await;
        let released: JoinSet<_> = grants.into_iter().map(Grant::release).collect();
        assert!(all(released).await.iter().all(Result::is_ok));
    }
    in_time(client.close()).await.unwrap();
}

/// Two thousand hold and two thousand wait while the server restarts. `kept`: it still knows of the locks then.
async fn a_restart_is_survived(url: &str, server: &str, kept: bool) {
    let _alone = ONE_AT_A_TIME.lock().await;
    let (a, b) = (
        fencepost::connect(url).await.unwrap(),
        fencepost::connect(url).await.unwrap(),
    );
    let name = unique("restart");
    let held = all(acquire(locks(&a, &name))).await;
    let waiting = acquire(locks(&b, &name));
    // The last one has been asked for when a look behind it has been answered.
    in_time(b.lock(&unique("behind")).unwrap().acquire())
        .await
        .unwrap()
        .release()
        .await
        .unwrap();
    order(&format!("restart {server}")).await;
    let released: JoinSet<_> = held.into_iter().map(Grant::release).collect();
    let released = all(released).await;
    assert!(!kept || released.iter().all(Result::is_ok));
    let next = all(waiting).await;
    assert_eq!(next.len(), CROWD);
    drop(next);
    in_time(a.close()).await.unwrap();
    in_time(b.close()).await.unwrap();
}

async fn closing_gives_all_back(url: &str) {
    let _alone = ONE_AT_A_TIME.lock().await;
    let (a, b) = (
        fencepost::connect(url).await.unwrap(),
        fencepost::connect(url).await.unwrap(),
    );
    let name = unique("closing");
    let held = all(acquire(locks(&a, &name))).await;
    let waiting = acquire(locks(&b, &name));
    in_time(a.close()).await.unwrap();
    assert!(held.iter().all(|grant| !grant.is_valid()));
    drop(all(waiting).await);
    in_time(b.close()).await.unwrap();
}

#[tokio::test]
async fn a_burst_on_zookeeper() {
    a_burst_is_served(&zookeeper()).await;
}

#[tokio::test]
async fn a_burst_on_redis() {
    a_burst_is_served(&redis()).await;
}

#[tokio::test]
async fn a_restart_of_zookeeper() {
    let url = zookeeper() + "?session_timeout=20000";
    a_restart_is_survived(&url, "zookeeper", true).await;
}

#[tokio::test]
async fn a_restart_of_redis() {
    a_restart_is_survived(&redis(), "redis-1", false).await;
}

#[tokio::test]
async fn a_close_on_zookeeper() {
    closing_gives_all_back(&zookeeper()).await;
}

#[tokio::test]
async fn a_close_on_redis() {
    closing_gives_all_back(&redis()).await;
}

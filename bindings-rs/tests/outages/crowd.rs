//! Two thousand contenders at once: acquires, waiters and grants, also during a restart of the server.

use std::{future::Future, time::Duration};

use fencepost::{Client, Error, Grant, Lock};
use tokio::task::JoinSet;

use crate::{
    ONE_AT_A_TIME,
    control::{order, path_of, redis, variable, zookeeper},
    scenarios::unique,
};

const CROWD: usize = 2000;

/// The number of contenders on a client of the program. With more of them (more than 128 KiB of watched paths), the
/// library (0.11.2) sends two requests with one number after a restart, and drops the connection at the second reply,
/// again and again.
const GIVEN_CROWD: usize = 500;

/// Enough time for many contenders on a busy machine, if nothing hangs.
async fn in_time<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(120), what)
        .await
        .expect("it should have happened by now")
}

fn locks(client: &Client, name: &str, crowd: usize) -> Vec<Lock> {
    let lock = |number| client.lock(&format!("{name}/{number}")).unwrap();
    (0..crowd).map(lock).collect()
}

/// Acquires all locks at once.
fn acquire(locks: Vec<Lock>) -> JoinSet<Grant> {
    locks
        .into_iter()
        .map(|lock| async move { lock.acquire().await.unwrap() })
        .collect()
}

async fn all<T: 'static>(tasks: JoinSet<T>) -> Vec<T> {
    in_time(tasks.join_all()).await
}

/// Connects by address.
async fn by_address(url: &str) -> Client {
    fencepost::connect(url).await.unwrap()
}

/// Makes a client on a ZooKeeper client of the program.
async fn given(url: &str) -> Client {
    let theirs = zookeeper_client::Client::connector()
        .with_session_timeout(Duration::from_secs(20))
        .connect(&variable("FENCEPOST_ZOOKEEPER"))
        .await
        .unwrap();
    let builder = Client::builder().prefix(&path_of(url));
    builder.from_zookeeper(theirs).unwrap()
}

/// Releases all grants at once.
///
/// On a busy machine, the server may confirm a release after its time limit. Then the client retries in the background,
/// and the next grant of the lock shows that the release has succeeded.
async fn release(grants: Vec<Grant>) {
    for released in release_all(grants).await {
        assert!(
            matches!(released, Ok(()) | Err(Error::ReleaseUnconfirmed { .. })),
            "{released:?}"
        );
    }
}

async fn release_all(grants: Vec<Grant>) -> Vec<Result<(), Error>> {
    all(grants.into_iter().map(Grant::release).collect()).await
}

/// Closes a client. A close waits at most five seconds, in which a busy server may not confirm everything.
async fn close(client: Client) {
    let closed = in_time(client.close()).await;
    assert!(
        matches!(closed, Ok(()) | Err(Error::CleanupIncomplete { .. })),
        "{closed:?}"
    );
}

async fn a_burst_is_served(url: &str, connect: impl AsyncFn(&str) -> Client) {
    let _alone = ONE_AT_A_TIME.lock().await;
    let client = connect(url).await;
    let name = unique("burst");
    for _ in 0..2 {
        let grants = all(acquire(locks(&client, &name, CROWD))).await;
        release(grants).await;
    }
    close(client).await;
}

/// Whether a server keeps the locks during its restart.
enum AfterRestart {
    Kept,
    Forgotten,
}

/// The server restarts while many contenders hold locks and the same number wait.
async fn a_restart_is_survived(
    url: &str,
    connect: impl AsyncFn(&str) -> Client,
    crowd: usize,
    server: &str,
    after_restart: AfterRestart,
) {
    let _alone = ONE_AT_A_TIME.lock().await;
    let (a, b) = (connect(url).await, connect(url).await);
    let name = unique("restart");
    let held = all(acquire(locks(&a, &name, crowd))).await;
    let waiting = acquire(locks(&b, &name, crowd));
    // When a later acquire has a result, the server has the request of the last contender.
    let behind = b.lock(&unique("behind")).unwrap();
    release(vec![in_time(behind.acquire()).await.unwrap()]).await;
    order(&format!("restart {server}")).await;
    match after_restart {
        AfterRestart::Kept => release(held).await,
        AfterRestart::Forgotten => drop(release_all(held).await),
    }
    let next = all(waiting).await;
    assert_eq!(next.len(), crowd);
    drop(next);
    close(a).await;
    close(b).await;
}

async fn closing_gives_all_back(url: &str, connect: impl AsyncFn(&str) -> Client) {
    let _alone = ONE_AT_A_TIME.lock().await;
    let (a, b) = (connect(url).await, connect(url).await);
    let name = unique("closing");
    let held = all(acquire(locks(&a, &name, CROWD))).await;
    let waiting = acquire(locks(&b, &name, CROWD));
    close(a).await;
    assert!(held.iter().all(|grant| !grant.is_valid()));
    drop(all(waiting).await);
    close(b).await;
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
    a_restart_is_survived(&url, by_address, CROWD, "zookeeper", AfterRestart::Kept).await;
}

#[tokio::test]
async fn a_restart_of_redis() {
    a_restart_is_survived(&redis(), by_address, CROWD, "redis-1", AfterRestart::Forgotten).await;
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
    a_restart_is_survived(&zookeeper(), given, GIVEN_CROWD, "zookeeper", AfterRestart::Kept).await;
}

#[tokio::test]
async fn a_close_on_a_given_zookeeper_client() {
    closing_gives_all_back(&zookeeper(), given).await;
}

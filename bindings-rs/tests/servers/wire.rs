//! The requests on the connection.

use std::time::Duration;

use fencepost::{Lock, LockOptions};

use crate::{
    control::{Proxy, until},
    scenarios::{soon, unique},
};

/// Waits until the client sends the create and the list together, and the delete alone. This may take several tries:
/// the system may interrupt the sender between two requests, and at first a new connection does not send at once.
async fn three_requests_in_two_flights(proxy: &Proxy, lock: &Lock) {
    until(|| async {
        proxy.order("reset").await;
        for _ in 0..10 {
            soon(soon(lock.acquire()).await.unwrap().release()).await.unwrap();
        }
        let (requests, flights) = proxy.traffic().await;
        assert_eq!(requests, 30);
        flights == 20
    })
    .await;
}

#[tokio::test]
async fn zookeeper_takes_three_requests_in_two_flights() {
    let proxy = Proxy::open("zookeeper").await;
    let url = format!("zk://{}/{}?session_timeout=40000", proxy.address, unique("wire"));
    let client = fencepost::connect(&url).await.unwrap();
    let lock = client.lock("x").unwrap();
    // Now the directory exists, and the session is confirmed.
    soon(soon(lock.acquire()).await.unwrap().release()).await.unwrap();
    three_requests_in_two_flights(&proxy, &lock).await;
    // This is another connection.
    let grant = soon(lock.acquire()).await.unwrap();
    proxy.order("cut").await;
    until(|| async { !grant.is_valid() }).await;
    proxy.order("heal").await;
    until(|| async { grant.is_valid() }).await;
    soon(grant.release()).await.unwrap();
    three_requests_in_two_flights(&proxy, &lock).await;
    soon(client.close()).await.unwrap();
    proxy.close().await;
}

#[tokio::test]
async fn zookeeper_takes_no_request_to_hand_over() {
    let proxy = Proxy::open("zookeeper").await;
    let prefix = unique("wire");
    let near = format!(
        "zk://{}/{prefix}",
        crate::control::variable("FENCEPOST_ZOOKEEPER")
    );
    let far = format!("zk://{}/{prefix}?session_timeout=40000", proxy.address);
    let (a, b) = (
        fencepost::connect(&near).await.unwrap(),
        fencepost::connect(&far).await.unwrap(),
    );
    let (mine, theirs) = (a.lock("x").unwrap(), b.lock("x").unwrap());
    soon(soon(theirs.acquire()).await.unwrap().release())
        .await
        .unwrap();
    let grant = soon(mine.acquire()).await.unwrap();
    proxy.order("reset").await;
    let waiting = tokio::spawn(async move { theirs.acquire().await });
    // Create, list, and watches on the predecessor and on the contender's own node.
    until(|| async { proxy.traffic().await.0 == 4 }).await;
    proxy.order("reset").await;
    soon(grant.release()).await.unwrap();
    let next = soon(waiting).await.unwrap().unwrap();
    assert_eq!(proxy.traffic().await.0, 0);
    soon(next.release()).await.unwrap();
    soon(a.close()).await.unwrap();
    soon(b.close()).await.unwrap();
    proxy.close().await;
}

#[tokio::test]
async fn an_unneeded_watch_is_removed_from_zookeeper() {
    let proxy = Proxy::open("zookeeper").await;
    let url = format!("zk://{}/{}", proxy.address, unique("watch"));
    let client = fencepost::connect(&url).await.unwrap();
    let lock = client.lock("x").unwrap();
    let grant = soon(lock.acquire()).await.unwrap();
    let limit = Duration::from_secs(1);
    assert!(soon(lock.acquire_within(limit)).await.unwrap().is_none());
    until(|| async {
        let count = proxy.order("count").await;
        let kinds = count["by_kind"].as_object().unwrap().clone();
        kinds
            .keys()
            .any(|kind| kind.to_lowercase().contains("removewatch"))
    })
    .await;
    // This does not change another waiter's watch on the same node.
    let waiting = tokio::spawn({
        let lock = lock.clone();
        async move { lock.acquire().await }
    });
    assert!(soon(lock.acquire_within(limit)).await.unwrap().is_none());
    soon(grant.release()).await.unwrap();
    soon(soon(waiting).await.unwrap().unwrap().release())
        .await
        .unwrap();
    soon(client.close()).await.unwrap();
    proxy.close().await;
}

#[tokio::test]
async fn redis_takes_two_requests() {
    let proxy = Proxy::open("redis-1").await;
    let client = fencepost::connect(&format!("redis://{}", proxy.address))
        .await
        .unwrap();
    let lock = client.lock(&unique("wire")).unwrap();
    soon(soon(lock.acquire()).await.unwrap().release()).await.unwrap();
    proxy.order("reset").await;
    for _ in 0..10 {
        soon(soon(lock.acquire()).await.unwrap().release()).await.unwrap();
    }
    assert_eq!(proxy.traffic().await, (20, 20));
    soon(client.close()).await.unwrap();
    proxy.close().await;
}

/// An acquire of an owner that holds the lock sends nothing.
async fn an_owner_enters_for_nothing(proxy: Proxy, url: &str) {
    let client = fencepost::connect(url).await.unwrap();
    let lock = client
        .lock_with(&unique("wire"), LockOptions::new().owner("request-17"))
        .unwrap();
    soon(soon(lock.acquire()).await.unwrap().release()).await.unwrap();
    let outer = soon(lock.acquire()).await.unwrap();
    proxy.order("reset").await;
    for _ in 0..10 {
        let inner = soon(lock.acquire()).await.unwrap();
        drop(soon(lock.try_acquire()).await.unwrap().unwrap());
        soon(inner.release()).await.unwrap();
    }
    assert_eq!(proxy.traffic().await, (0, 0));
    soon(outer.release()).await.unwrap();
    assert_eq!(proxy.traffic().await.0, 1);
    soon(client.close()).await.unwrap();
    proxy.close().await;
}

#[tokio::test]
async fn zookeeper_takes_no_request_to_enter_again() {
    let proxy = Proxy::open("zookeeper").await;
    let url = format!("zk://{}/{}?session_timeout=40000", proxy.address, unique("wire"));
    an_owner_enters_for_nothing(proxy, &url).await;
}

#[tokio::test]
async fn redis_takes_no_request_to_enter_again() {
    let proxy = Proxy::open("redis-1").await;
    let url = format!("redis://{}", proxy.address);
    an_owner_enters_for_nothing(proxy, &url).await;
}

//! Faults between a client and Redis.

use std::time::Duration;

use fencepost::{Error, LockOptions, Loss};

use crate::{
    control::{Proxy, ask, bare_redis, redis, until},
    scenarios::{soon, unique, waits},
};

/// A short lease that is long enough for a busy machine.
fn short() -> LockOptions {
    LockOptions::new().ttl(Duration::from_secs(2))
}

#[tokio::test]
async fn a_deleted_key_is_a_lost_lock_and_so_is_a_taken_one() {
    let client = fencepost::connect(&redis()).await.unwrap();
    let bare = bare_redis("FENCEPOST_REDIS").await;
    let name = unique("deleted");
    let lock = client.lock_with(&name, short()).unwrap();
    let grant = soon(lock.acquire()).await.unwrap();
    let _: i64 = ask(&bare, &["DEL", &name]).await;
    assert_eq!(soon(grant.lost()).await.reason(), Loss::Deleted);
    assert_eq!(soon(grant.release()).await.unwrap_err().name(), "deleted");

    let grant = soon(lock.acquire()).await.unwrap();
    let _: String = ask(&bare, &["SET", &name, "somebody", "PX", "60000"]).await;
    // The release itself detects the loss, and does not change the key of the other holder.
    let error = soon(grant.release()).await.unwrap_err();
    assert!(
        matches!(&error, Error::Lost(lost) if lost.reason() == Loss::Taken),
        "{error:?}"
    );
    let holder: String = ask(&bare, &["GET", &name]).await;
    assert_eq!(holder, "somebody");
    assert!(soon(lock.try_acquire()).await.unwrap().is_none());
    let _: i64 = ask(&bare, &["DEL", &name]).await;
    soon(client.close()).await.unwrap();
}

#[tokio::test]
async fn a_grant_is_renewed_and_without_renewal_it_ends() {
    let client = fencepost::connect(&redis()).await.unwrap();
    let name = unique("renewed");
    let grant = soon(client.lock_with(&name, short()).unwrap().acquire())
        .await
        .unwrap();
    tokio::time::sleep(Duration::from_millis(2500)).await;
    assert!(grant.is_valid());
    soon(grant.release()).await.unwrap();
    let grant = soon(client.lock_with(&name, short().renew(false)).unwrap().acquire())
        .await
        .unwrap();
    soon(grant.extend()).await.unwrap();
    assert_eq!(soon(grant.lost()).await.reason(), Loss::LeaseEnded);
    soon(client.close()).await.unwrap();
}

#[tokio::test]
async fn a_cut_connection_is_made_again() {
    let proxy = Proxy::open("redis-1").await;
    let client = fencepost::connect(&format!("redis://{}", proxy.address))
        .await
        .unwrap();
    let lock = client.lock(&unique("cut")).unwrap();
    let grant = soon(lock.acquire()).await.unwrap();
    proxy.order("cut").await;
    let waiting = tokio::spawn({
        let lock = lock.clone();
        async move { lock.acquire().await }
    });
    assert!(waits(grant.lost()).await);
    proxy.order("heal").await;
    soon(grant.extend()).await.unwrap();
    soon(grant.release()).await.unwrap();
    let next = soon(waiting).await.unwrap().unwrap();
    soon(next.release()).await.unwrap();
    soon(client.close()).await.unwrap();
    proxy.close().await;
}

#[tokio::test]
async fn a_network_that_swallows_everything_is_left_and_the_grant_ends_in_time() {
    let proxy = Proxy::open("redis-1").await;
    let client = fencepost::connect(&format!("redis://{}", proxy.address))
        .await
        .unwrap();
    let near = fencepost::connect(&redis()).await.unwrap();
    let name = unique("swallowed");
    let grant = soon(client.lock_with(&name, short()).unwrap().acquire())
        .await
        .unwrap();
    proxy.order("hold").await;
    let next = soon(near.lock(&name).unwrap().acquire()).await.unwrap();
    assert!(!grant.is_valid());
    assert_eq!(soon(grant.lost()).await.reason(), Loss::LeaseEnded);
    assert!(next.fence() > grant.fence());
    soon(next.release()).await.unwrap();
    // The present connections stay silent, so the client makes new ones.
    let _held = order_cut_and_heal(&proxy).await;
    let again = soon(client.lock(&name).unwrap().acquire()).await.unwrap();
    soon(again.release()).await.unwrap();
    soon(client.close()).await.unwrap();
    soon(near.close()).await.unwrap();
    proxy.close().await;
}

async fn order_cut_and_heal(proxy: &Proxy) {
    proxy.order("pass").await;
    proxy.order("cut").await;
    proxy.order("heal").await;
}

#[tokio::test]
async fn a_lost_reply_leaves_no_orphaned_lock() {
    let proxy = Proxy::open("redis-1").await;
    let client = fencepost::connect(&format!("redis://{}", proxy.address))
        .await
        .unwrap();
    let bare = bare_redis("FENCEPOST_REDIS").await;
    let name = unique("reply");
    let lock = client.lock(&name).unwrap();
    soon(soon(lock.acquire()).await.unwrap().release()).await.unwrap();
    // The reply to the acquire, and to the release.
    for lost in 1..=2 {
        proxy.order(&format!("drop-replies {lost}")).await;
        let grant = soon(lock.acquire()).await.unwrap();
        assert!(grant.is_valid());
        soon(grant.release()).await.unwrap();
        let there: i64 = ask(&bare, &["EXISTS", &name]).await;
        assert_eq!(there, 0);
        proxy.order("drop-replies 0").await;
    }
    // The acquire is cancelled while its reply is lost.
    proxy.order("drop-replies 1").await;
    assert!(!waits(async { lock.acquire_within(Duration::from_micros(1)).await }).await);
    until(|| async { ask::<i64>(&bare, &["EXISTS", &name]).await == 0 }).await;
    soon(client.close()).await.unwrap();
    proxy.close().await;
}

/// The time during which the program is busy does not count towards the limit of its releases: a slow server may reply
/// after the extra time that a late alarm waits for I/O.
#[tokio::test]
async fn a_slow_server_confirms_the_release_of_a_busy_program() {
    let proxy = Proxy::open("redis-1").await;
    let client = fencepost::connect(&format!("redis://{}", proxy.address))
        .await
        .unwrap();
    let grant = soon(client.lock(&unique("busy")).unwrap().acquire())
        .await
        .unwrap();
    proxy.order("hold").await;
    let release = tokio::spawn(grant.release());
    tokio::task::yield_now().await;
    std::thread::sleep(Duration::from_millis(5100));
    tokio::time::sleep(Duration::from_millis(500)).await;
    proxy.order("pass").await;
    soon(release).await.unwrap().unwrap();
    soon(client.close()).await.unwrap();
    proxy.close().await;
}

//! Faults between a client and ZooKeeper.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use fencepost::{Error, Loss};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional},
    net::{TcpListener, TcpStream},
    sync::Notify,
};

use crate::{
    control::{
        Proxy, bare_zookeeper, contenders, deserted, expire_owner, only_contender, path_of, until,
        went_with_its_session, zookeeper,
    },
    scenarios::{soon, unique, waits},
};

#[tokio::test]
async fn a_deleted_node_is_a_lost_lock() {
    let url = zookeeper();
    let client = fencepost::connect(&url).await.unwrap();
    let lock = client.lock("x").unwrap();
    let grant = soon(lock.acquire()).await.unwrap();
    let bare = bare_zookeeper().await;
    let node = only_contender(&bare, &format!("{}/x", path_of(&url))).await;
    bare.delete(&node, None).await.unwrap();
    assert_eq!(soon(grant.lost()).await.reason(), Loss::Deleted);
    assert!(!grant.is_valid());
    assert!(matches!(soon(grant.release()).await, Err(Error::Lost(_))));
    soon(soon(lock.acquire()).await.unwrap().release()).await.unwrap();
    soon(client.close()).await.unwrap();
}

#[tokio::test]
async fn an_expired_session_is_a_lost_lock_and_the_next_session_goes_on() {
    let url = zookeeper();
    let (a, b) = (
        fencepost::connect(&url).await.unwrap(),
        fencepost::connect(&url).await.unwrap(),
    );
    let (mine, theirs) = (a.lock("x").unwrap(), b.lock("x").unwrap());
    let grant = soon(mine.acquire()).await.unwrap();
    let bare = bare_zookeeper().await;
    let node = only_contender(&bare, &format!("{}/x", path_of(&url))).await;
    let waiting = tokio::spawn({
        let theirs = theirs.clone();
        async move { theirs.acquire().await }
    });
    // A waiter in the same session leaves the wait queue when the session ends, and joins it again in the next session.
    let own_waiting = tokio::spawn({
        let mine = mine.clone();
        async move { mine.acquire().await }
    });
    let directory = format!("{}/x", path_of(&url));
    until(|| async { contenders(&bare, &directory).await.len() == 3 }).await;
    expire_owner(&bare, &node).await;
    let lost = soon(grant.lost()).await;
    assert!(went_with_its_session(&lost));
    assert_eq!(
        soon(grant.release()).await.unwrap_err().name(),
        Error::Lost(lost).name()
    );
    let next = soon(waiting).await.unwrap().unwrap();
    soon(next.release()).await.unwrap();
    let own = soon(own_waiting).await.unwrap().unwrap();
    soon(own.release()).await.unwrap();
    soon(a.close()).await.unwrap();
    soon(b.close()).await.unwrap();
}

#[tokio::test]
async fn a_short_cut_suspends_and_resumes() {
    let proxy = Proxy::open("zookeeper").await;
    let url = format!("zk://{}/{}?session_timeout=4000", proxy.address, unique("cut"));
    let client = fencepost::connect(&url).await.unwrap();
    let grant = soon(client.lock("x").unwrap().acquire()).await.unwrap();
    proxy.order("cut").await;
    until(async || !grant.is_valid()).await;
    assert!(waits(grant.lost()).await);
    proxy.order("heal").await;
    until(async || grant.is_valid()).await;
    soon(grant.extend()).await.unwrap();
    soon(grant.release()).await.unwrap();
    soon(client.close()).await.unwrap();
    proxy.close().await;
}

#[tokio::test]
async fn a_silent_network_ends_a_grant_before_the_server_gives_the_lock_away() {
    let proxy = Proxy::open("zookeeper").await;
    let prefix = unique("silent");
    let far = format!("zk://{}/{prefix}?session_timeout=3000", proxy.address);
    let near = format!(
        "zk://{}/{prefix}",
        crate::control::variable("FENCEPOST_ZOOKEEPER")
    );
    let (a, b) = (
        fencepost::connect(&far).await.unwrap(),
        fencepost::connect(&near).await.unwrap(),
    );
    let grant = soon(a.lock("x").unwrap().acquire()).await.unwrap();
    proxy.order("hold").await;
    let next = soon(b.lock("x").unwrap().acquire()).await.unwrap();
    assert!(!grant.is_valid());
    assert!(next.fence() > grant.fence());
    let lost = soon(grant.lost()).await;
    assert!(
        matches!(lost.reason(), Loss::LeaseEnded | Loss::SessionExpired),
        "{lost}"
    );
    proxy.order("pass").await;
    soon(next.release()).await.unwrap();
    // After some time, the client has a new session.
    let again = soon(a.lock("x").unwrap().acquire()).await.unwrap();
    soon(again.release()).await.unwrap();
    soon(a.close()).await.unwrap();
    soon(b.close()).await.unwrap();
    proxy.close().await;
}

/// A proxy for one connection at a time, until it is cut. Like a server with this `maxSessionTimeout`, it limits the
/// session timeout that a client may have.
async fn limiting(listener: TcpListener, longest: Arc<AtomicU32>, cut: Arc<Notify>) {
    let server = crate::control::variable("FENCEPOST_ZOOKEEPER");
    loop {
        let (mut near, _) = listener.accept().await.unwrap();
        let mut far = TcpStream::connect(&server).await.unwrap();
        // The length, the protocol's version, the last transaction, and the timeout that the client requests.
        let mut head = [0; 20];
        if near.read_exact(&mut head).await.is_err() {
            continue;
        }
        let (before, asked) = head.split_at_mut(16);
        let asked_for = u32::from_be_bytes(asked.try_into().unwrap());
        let allowed = asked_for.min(longest.load(Ordering::Relaxed));
        asked.copy_from_slice(&allowed.to_be_bytes());
        far.write_all(&[before, asked].concat()).await.unwrap();
        tokio::select! {
            _ = copy_bidirectional(&mut near, &mut far) => {}
            () = cut.notified() => {}
        }
    }
}

/// Another client gets the lock when the last timeout that the server agreed to has passed.
#[tokio::test]
async fn a_grant_lasts_no_longer_than_its_session_after_a_reconnect() {
    const LOWERED: Duration = Duration::from_secs(4);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (longest, cut) = (Arc::new(AtomicU32::new(30_000)), Arc::<Notify>::default());
    let relay = tokio::spawn(limiting(listener, Arc::clone(&longest), Arc::clone(&cut)));
    let url = format!("zk://{address}/{}?session_timeout=30000", unique("lowered"));
    let client = fencepost::connect(&url).await.unwrap();
    let grant = soon(client.lock("x").unwrap().acquire()).await.unwrap();
    assert!(grant.remaining() > LOWERED);
    longest.store(4000, Ordering::Relaxed);
    cut.notify_one();
    until(async || grant.is_valid() && grant.remaining() < LOWERED).await;
    // The client proves the session again and again, with the new timeout.
    assert!(waits(grant.lost()).await);
    for _ in 0..30 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert!(grant.is_valid() && grant.remaining() < LOWERED);
    }
    soon(grant.release()).await.unwrap();
    soon(client.close()).await.unwrap();
    relay.abort();
}

#[tokio::test]
async fn a_lost_reply_leaves_no_orphaned_lock() {
    let proxy = Proxy::open("zookeeper").await;
    let url = format!("zk://{}/{}", proxy.address, unique("reply"));
    let client = fencepost::connect(&url).await.unwrap();
    let lock = client.lock("x").unwrap();
    soon(soon(lock.acquire()).await.unwrap().release()).await.unwrap();
    let bare = bare_zookeeper().await;
    let directory = format!("{}/x", path_of(&url));
    // The reply to the create, to the list, and to the delete.
    for lost in 1..=3 {
        proxy.order(&format!("drop-replies {lost}")).await;
        let grant = soon(lock.acquire()).await.unwrap();
        soon(grant.release()).await.unwrap();
        deserted(&bare, &directory).await;
        proxy.order("drop-replies 0").await;
        let other = soon(lock.try_acquire()).await.unwrap().expect("the lock is free");
        soon(other.release()).await.unwrap();
    }
    // The acquire is cancelled while its reply is lost.
    proxy.order("drop-replies 1").await;
    assert!(!waits(async { lock.acquire_within(Duration::from_micros(1)).await }).await);
    deserted(&bare, &directory).await;
    soon(client.close()).await.unwrap();
    proxy.close().await;
}

//! Faults between a client and ZooKeeper, for unfair locks and for downgrades.

use fencepost::{Client, Error, Grant, LockOptions, Loss, Refusal};
use zookeeper_client::{Acl, Acls, AuthId, CreateMode, Permission};

use crate::{
    control::{
        Proxy, bare_zookeeper, contenders, deserted, expire_owner, only_contender, path_of, until,
        went_with_its_session, zookeeper,
    },
    scenarios::{soon, unique, waits},
};

fn unfair() -> LockOptions {
    LockOptions::new().fair(false)
}

/// An ACL with this right for all clients.
fn only(permission: Permission) -> [Acl; 1] {
    [Acl::new(permission, AuthId::anyone())]
}

async fn is_there(bare: &zookeeper_client::Client, node: &str) -> bool {
    bare.check_stat(node).await.unwrap().is_some()
}

/// A client with a downgraded grant, and the path of its node.
async fn downgraded(url: &str) -> (Client, Grant, String) {
    let client = fencepost::connect(url).await.unwrap();
    let both = client.read_write_lock("x").unwrap();
    let grant = soon(both.writer().acquire()).await.unwrap();
    soon(grant.downgrade()).await.unwrap();
    (client, grant, format!("{}/x", path_of(url)))
}

#[tokio::test]
async fn an_expired_holder_of_a_single_node_leaves_it_to_the_waiter() {
    let url = zookeeper();
    let (a, b) = (
        fencepost::connect(&url).await.unwrap(),
        fencepost::connect(&url).await.unwrap(),
    );
    let mine = a.lock_with("x", unfair()).unwrap();
    let theirs = b.lock_with("x", unfair()).unwrap();
    let grant = soon(mine.acquire()).await.unwrap();
    let mut waiting = tokio::spawn(async move { theirs.acquire().await });
    assert!(waits(&mut waiting).await);
    let bare = bare_zookeeper().await;
    expire_owner(&bare, &format!("{}/x", path_of(&url))).await;
    assert!(went_with_its_session(&soon(grant.lost()).await));
    let next = soon(waiting).await.unwrap().unwrap();
    assert!(next.fence() > grant.fence());
    assert!(soon(mine.try_acquire()).await.unwrap().is_none());
    soon(next.release()).await.unwrap();
    let again = soon(mine.acquire()).await.unwrap();
    soon(again.release()).await.unwrap();
    soon(a.close()).await.unwrap();
    soon(b.close()).await.unwrap();
}

#[tokio::test]
async fn a_deleted_single_node_is_a_lost_lock() {
    let url = zookeeper();
    let client = fencepost::connect(&url).await.unwrap();
    let lock = client.lock_with("x", unfair()).unwrap();
    let grant = soon(lock.acquire()).await.unwrap();
    let bare = bare_zookeeper().await;
    bare.delete(&format!("{}/x", path_of(&url)), None).await.unwrap();
    assert_eq!(soon(grant.lost()).await.reason(), Loss::Deleted);
    assert!(matches!(soon(grant.release()).await, Err(Error::Lost(_))));
    soon(soon(lock.acquire()).await.unwrap().release()).await.unwrap();
    soon(client.close()).await.unwrap();
}

#[tokio::test]
async fn a_lost_reply_leaves_no_single_node() {
    let proxy = Proxy::open("zookeeper").await;
    let url = format!("zk://{}/{}", proxy.address, unique("reply"));
    let client = fencepost::connect(&url).await.unwrap();
    let lock = client.lock_with("x", unfair()).unwrap();
    soon(soon(lock.acquire()).await.unwrap().release()).await.unwrap();
    let bare = bare_zookeeper().await;
    let node = format!("{}/x", path_of(&url));
    // The reply to the create, to the read, and to the delete.
    for lost in 1..=3 {
        proxy.order(&format!("drop-replies {lost}")).await;
        let grant = soon(lock.acquire()).await.unwrap();
        soon(grant.release()).await.unwrap();
        until(|| async { !is_there(&bare, &node).await }).await;
        proxy.order("drop-replies 0").await;
        let other = soon(lock.try_acquire()).await.unwrap().expect("the lock is free");
        soon(other.release()).await.unwrap();
    }
    proxy.order("drop-replies 1").await;
    let limit = std::time::Duration::from_micros(1);
    let _given_up = soon(lock.acquire_within(limit)).await;
    until(|| async { !is_there(&bare, &node).await }).await;
    soon(client.close()).await.unwrap();
    proxy.close().await;
}

#[tokio::test]
async fn a_node_that_goes_with_no_session_is_no_lock() {
    let url = zookeeper();
    let bare = bare_zookeeper().await;
    let everybody = CreateMode::Persistent.with_acls(Acls::anyone_all());
    bare.mkdir(&path_of(&url), &everybody).await.unwrap();
    let node = format!("{}/x", path_of(&url));
    bare.create(&node, b"settings", &everybody).await.unwrap();
    let client = fencepost::connect(&url).await.unwrap();
    let lock = client.lock_with("x", unfair()).unwrap();
    let Err(Error::Refused(refused)) = soon(lock.acquire()).await else {
        panic!("the acquire is refused at once")
    };
    assert_eq!(refused.reason(), Refusal::WrongType);
    assert_eq!(bare.get_data(&node).await.unwrap().0, b"settings");
    soon(client.close()).await.unwrap();
    bare.delete(&node, None).await.unwrap();
}

#[tokio::test]
async fn a_downgraded_grant_is_watched() {
    let url = zookeeper();
    let (client, grant, directory) = downgraded(&url).await;
    let bare = bare_zookeeper().await;
    let node = &only_contender(&bare, &directory).await;
    assert!(node.contains("__READ__"), "{node}");
    assert!(waits(grant.lost()).await);
    bare.delete(node, None).await.unwrap();
    assert_eq!(soon(grant.lost()).await.reason(), Loss::Deleted);
    assert!(matches!(soon(grant.downgrade()).await, Err(Error::Lost(_))));
    soon(client.close()).await.unwrap();
}

#[tokio::test]
async fn a_downgraded_grant_goes_with_its_session() {
    let url = zookeeper();
    let (client, grant, directory) = downgraded(&url).await;
    let other = fencepost::connect(&url).await.unwrap();
    let both = other.read_write_lock("x").unwrap();
    let mut writing = tokio::spawn(async move { both.writer().acquire().await });
    assert!(waits(&mut writing).await);
    let bare = bare_zookeeper().await;
    let nodes = contenders(&bare, &directory).await;
    let reader = nodes.iter().find(|node| node.contains("__READ__")).unwrap();
    expire_owner(&bare, reader).await;
    assert!(went_with_its_session(&soon(grant.lost()).await));
    let next = soon(writing).await.unwrap().unwrap();
    assert!(next.fence() > grant.fence());
    soon(next.release()).await.unwrap();
    soon(client.close()).await.unwrap();
    soon(other.close()).await.unwrap();
}

#[tokio::test]
async fn a_downgrade_without_an_answer_is_asked_for_again() {
    let proxy = Proxy::open("zookeeper").await;
    let url = format!("zk://{}/{}", proxy.address, unique("reply"));
    let client = fencepost::connect(&url).await.unwrap();
    let both = client.read_write_lock("x").unwrap();
    let bare = bare_zookeeper().await;
    let directory = format!("{}/x", path_of(&url));
    for released in [false, true] {
        let grant = soon(both.writer().acquire()).await.unwrap();
        proxy.order("drop-replies 1").await;
        if released {
            // The downgrade is cancelled while the outcome of its create is unknown: neither node
            // stays.
            let mut downgrade = Box::pin(grant.downgrade());
            let _begun = futures_util::poll!(&mut downgrade);
            drop(downgrade);
        } else {
            soon(grant.downgrade()).await.unwrap();
            let node = only_contender(&bare, &directory).await;
            assert!(node.contains("__READ__"), "{node}");
            let other = soon(both.reader().try_acquire()).await.unwrap().unwrap();
            soon(other.release()).await.unwrap();
        }
        soon(grant.release()).await.unwrap();
        deserted(&bare, &directory).await;
        proxy.order("drop-replies 0").await;
    }
    soon(client.close()).await.unwrap();
    proxy.close().await;
}

#[tokio::test]
async fn the_call_after_a_cancelled_downgrade_returns_its_result() {
    let proxy = Proxy::open("zookeeper").await;
    let url = format!("zk://{}/{}", proxy.address, unique("join"));
    let client = fencepost::connect(&url).await.unwrap();
    let both = client.read_write_lock("x").unwrap();
    let grant = soon(both.writer().acquire()).await.unwrap();
    proxy.order("hold").await;
    let mut cancelled = Box::pin(grant.downgrade());
    assert!(futures_util::poll!(&mut cancelled).is_pending());
    drop(cancelled);
    // Two tasks call the downgrade again while it is in progress.
    let (mut next, mut other) = (Box::pin(grant.downgrade()), Box::pin(grant.downgrade()));
    assert!(futures_util::poll!(&mut next).is_pending());
    assert!(futures_util::poll!(&mut other).is_pending());
    proxy.order("pass").await;
    soon(next).await.unwrap();
    soon(other).await.unwrap();
    let error = soon(grant.downgrade()).await.unwrap_err();
    assert_eq!(error.name(), "not-a-writer", "{error}");
    let reader = soon(both.reader().try_acquire()).await.unwrap().unwrap();
    soon(reader.release()).await.unwrap();
    soon(grant.release()).await.unwrap();
    soon(client.close()).await.unwrap();
    proxy.close().await;
}

#[tokio::test]
async fn a_downgrade_that_is_refused_leaves_the_grant_as_it_was() {
    let url = zookeeper();
    let client = fencepost::connect(&url).await.unwrap();
    let options = LockOptions::new().owner("request-17");
    let both = client.read_write_lock_with("x", options).unwrap();
    let grant = soon(both.writer().acquire()).await.unwrap();
    let bare = bare_zookeeper().await;
    let directory = format!("{}/x", path_of(&url));
    bare.set_acl(&directory, &only(Permission::READ | Permission::ADMIN), None)
        .await
        .unwrap();
    let refused = |error: Error| {
        assert_eq!((error.code(), error.name()), (305, "no-permission"), "{error}");
    };
    refused(soon(grant.downgrade()).await.unwrap_err());
    assert!(grant.is_valid() && waits(grant.lost()).await);
    // The grant is still a writer's, and so are the other grants of its owner.
    let again = soon(both.writer().acquire()).await.unwrap();
    soon(again.release()).await.unwrap();
    let share = soon(both.reader().acquire()).await.unwrap();
    refused(soon(grant.release()).await.unwrap_err());
    assert!(share.is_valid());
    bare.set_acl(&directory, &only(Permission::ALL), None)
        .await
        .unwrap();
    soon(share.release()).await.unwrap();
    deserted(&bare, &directory).await;
    let next = soon(both.writer().acquire()).await.unwrap();
    soon(next.downgrade()).await.unwrap();
    soon(next.release()).await.unwrap();
    soon(client.close()).await.unwrap();
}

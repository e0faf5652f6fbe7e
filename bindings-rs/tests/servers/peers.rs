//! The contenders' nodes as other libraries see them, and the requests of other libraries.

use fencepost::{Client, Grant, Layout, Lock, LockOptions};

use crate::{
    control::{bare_zookeeper, deserted, only_contender, path_of, zookeeper},
    scenarios::{soon, waits},
};

async fn held(lock: &Lock) -> Grant {
    soon(lock.acquire()).await.unwrap()
}

#[tokio::test]
async fn nodes_have_the_names_and_data_that_peers_expect() {
    let url = zookeeper();
    let client = fencepost::connect(&url).await.unwrap();
    let bare = bare_zookeeper().await;
    let plain = Layout::Plain {
        prefix: "node_".into(),
    };
    let with = |layout: &Layout| LockOptions::new().layout(layout.clone()).identifier("till-7");
    for (layout, mark, writer, reader) in [
        (Layout::Curator, "-lock-", "-__WRIT__", "-__READ__"),
        (Layout::Kazoo, "__lock__", "__lock__", "__rlock__"),
        (plain, "node_", "", ""),
    ] {
        let mut contenders = vec![(client.lock_with("x", with(&layout)).unwrap(), mark)];
        if !writer.is_empty() {
            let both = client.read_write_lock_with("x", with(&layout)).unwrap();
            contenders.push((both.writer().clone(), writer));
            contenders.push((both.reader().clone(), reader));
        }
        for (lock, mark) in contenders {
            let grant = held(&lock).await;
            let node = only_contender(&bare, &format!("{}/x", path_of(&url))).await;
            let (name, number) = node.split_at(node.len() - 10);
            assert!(name.ends_with(mark), "{name} {mark}");
            assert!(number.parse::<u32>().is_ok(), "{number}");
            let (data, stat) = bare.get_data(&node).await.unwrap();
            assert!(String::from_utf8(data).unwrap().ends_with("till-7"));
            assert_eq!(grant.fence(), u64::try_from(stat.czxid).ok());
            soon(grant.release()).await.unwrap();
        }
    }
    soon(client.close()).await.unwrap();
}

#[tokio::test]
async fn a_revocation_request_is_reported() {
    let url = zookeeper();
    let client = Client::builder().connect(&url).await.unwrap();
    let lock = client.lock_with("x", LockOptions::new().revocable(true)).unwrap();
    let bare = bare_zookeeper().await;
    let grant = held(&lock).await;
    assert!(waits(grant.revoke_requested()).await);
    let node = only_contender(&bare, &format!("{}/x", path_of(&url))).await;
    // The same request as Curator's Revoker.
    bare.set_data(&node, b"__REVOKE__", None).await.unwrap();
    soon(async { tokio::join!(grant.revoke_requested(), grant.revoke_requested()) }).await;
    assert!(grant.is_revoke_requested());
    // It is only a request: the grant is still held.
    assert!(grant.is_valid());
    soon(grant.extend()).await.unwrap();
    soon(grant.release()).await.unwrap();
    let next = held(&lock).await;
    assert!(!next.is_revoke_requested());
    soon(next.release()).await.unwrap();
    deserted(&bare, &format!("{}/x", path_of(&url))).await;
    soon(client.close()).await.unwrap();
}

#[tokio::test]
async fn a_revocation_request_reaches_the_grants_that_an_owner_has_left() {
    // The session timeout is so long that no recheck finds the request during the test.
    let url = zookeeper() + "?session_timeout=40000";
    let directory = format!("{}/x", path_of(&url));
    let client = Client::builder().connect(&url).await.unwrap();
    let options = LockOptions::new().revocable(true).owner("request-17");
    let lock = client.lock_with("x", options).unwrap();
    let bare = bare_zookeeper().await;
    // The watch of the first acquire stays, and the client renews it after each event.
    for events in [&["__REVOKE__"] as &[_], &["mine", "__REVOKE__"]] {
        for dropped in [false, true] {
            let (first, second) = (held(&lock).await, held(&lock).await);
            let node = only_contender(&bare, &directory).await;
            // The watch is set when this has a reply.
            soon(first.extend()).await.unwrap();
            if dropped {
                drop(first);
                // This grant is closed before the owner's next acquire.
                soon(held(&lock).await.release()).await.unwrap();
            } else {
                soon(first.release()).await.unwrap();
            }
            assert!(!second.is_revoke_requested());
            for data in events {
                bare.set_data(&node, data.as_bytes(), None).await.unwrap();
                soon(second.extend()).await.unwrap();
            }
            soon(second.revoke_requested()).await;
            // The same is true for a later grant.
            let third = held(&lock).await;
            assert!(third.is_revoke_requested());
            soon(second.release()).await.unwrap();
            assert_eq!(only_contender(&bare, &directory).await, node);
            soon(third.release()).await.unwrap();
            deserted(&bare, &directory).await;
        }
    }
    soon(client.close()).await.unwrap();
}

//! Owners that acquire a lock that they already hold. Each test runs on memory:, on ZooKeeper and on Redis.

use std::time::Duration;

use fencepost::{Client, Error, Grant, Lock, LockOptions, Loss, Misuse};

use crate::scenarios::{runs_out, soon, unique, waits};

pub(crate) fn of(owner: &str) -> LockOptions {
    LockOptions::new().owner(owner)
}

pub(crate) async fn two(url: &str) -> (Client, Client) {
    (
        fencepost::connect(url).await.unwrap(),
        fencepost::connect(url).await.unwrap(),
    )
}

pub(crate) async fn close(clients: [Client; 2]) {
    for client in clients {
        soon(client.close()).await.unwrap();
    }
}

pub(crate) async fn held(lock: &Lock) -> Grant {
    soon(lock.acquire()).await.unwrap()
}

async fn free(lock: &Lock) -> bool {
    match soon(lock.try_acquire()).await.unwrap() {
        Some(grant) => {
            soon(grant.release()).await.unwrap();
            true
        }
        None => false,
    }
}

pub(crate) async fn an_owner_enters_again(url: &str) {
    let name = unique("again");
    let (a, b) = two(url).await;
    // Two objects of the same lock.
    let (mine, too) = (
        a.lock_with(&name, of("request-17")).unwrap(),
        a.lock_with(&name, of("request-17")).unwrap(),
    );
    let theirs = b.lock(&name).unwrap();
    let outer = held(&mine).await;
    // Another name is another lock.
    let elsewhere = held(&a.lock_with(&unique("elsewhere"), of("request-17")).unwrap()).await;
    assert_ne!(elsewhere.fence(), outer.fence());
    soon(elsewhere.release()).await.unwrap();
    let inner = soon(tokio::spawn(
        async move { too.try_acquire().await.unwrap().unwrap() },
    ))
    .await
    .unwrap();
    let innermost = soon(mine.acquire_within(Duration::from_secs(5)))
        .await
        .unwrap()
        .unwrap();
    assert_eq!((outer.fence(), outer.fence()), (inner.fence(), innermost.fence()));
    assert!(outer.is_valid() && inner.is_valid() && innermost.is_valid());
    assert!(inner.remaining() > Duration::ZERO);
    soon(inner.extend()).await.unwrap();
    // The grants may be released in any order.
    soon(outer.release()).await.unwrap();
    assert!(!free(&theirs).await);
    drop(innermost);
    assert!(!free(&theirs).await);
    let mut waiting = tokio::spawn({
        let theirs = theirs.clone();
        async move { theirs.acquire().await }
    });
    assert!(waits(&mut waiting).await);
    let fence = inner.fence();
    soon(inner.release()).await.unwrap();
    let next = soon(waiting).await.unwrap().unwrap();
    assert!(next.fence() > fence);
    // The owner has to acquire again.
    assert!(!free(&mine).await);
    soon(next.release()).await.unwrap();
    let again = held(&mine).await;
    assert!(again.fence() > fence);
    soon(again.release()).await.unwrap();
    close([a, b]).await;
}

pub(crate) async fn the_last_grant_dropped_gives_the_lock_back(url: &str) {
    let name = unique("dropped");
    let (a, b) = two(url).await;
    let mine = a.lock_with(&name, of("request-17")).unwrap();
    let theirs = b.lock(&name).unwrap();
    let grants = [held(&mine).await, held(&mine).await, held(&mine).await];
    drop(grants);
    let next = held(&theirs).await;
    soon(next.release()).await.unwrap();
    // If no task awaits the last release, it continues. A release that was never polled only drops the grant.
    for begun in [true, false] {
        let (outer, inner) = (held(&mine).await, held(&mine).await);
        soon(outer.release()).await.unwrap();
        let mut release = Box::pin(inner.release());
        if begun {
            let _started = futures_util::poll!(&mut release);
        }
        drop(release);
        let next = held(&theirs).await;
        soon(next.release()).await.unwrap();
    }
    close([a, b]).await;
}

pub(crate) async fn an_owner_that_waits_is_busy(url: &str) {
    let name = unique("busy");
    let (a, b) = two(url).await;
    let mine = a.lock_with(&name, of("request-17")).unwrap();
    let theirs = held(&b.lock(&name).unwrap()).await;
    let mut waiting = tokio::spawn({
        let mine = mine.clone();
        async move { mine.acquire().await }
    });
    assert!(waits(&mut waiting).await);
    for busy in [
        soon(mine.acquire()).await.map(drop),
        soon(mine.try_acquire()).await.map(drop),
        soon(mine.acquire_within(Duration::from_secs(1))).await.map(drop),
    ] {
        let error = busy.unwrap_err();
        assert_eq!((error.code(), error.name()), (204, "busy"));
        assert!(error.to_string().contains("\"request-17\""), "{error}");
    }
    // A cancelled acquire no longer blocks the owner.
    waiting.abort();
    assert!(soon(&mut waiting).await.unwrap_err().is_cancelled());
    assert!(!free(&mine).await);
    assert!(runs_out(async |limit| mine.acquire_within(limit).await).await);
    let waiting = tokio::spawn({
        let mine = mine.clone();
        async move { mine.acquire().await }
    });
    soon(theirs.release()).await.unwrap();
    let outer = soon(waiting).await.unwrap().unwrap();
    let inner = held(&mine).await;
    soon(outer.release()).await.unwrap();
    soon(inner.release()).await.unwrap();
    close([a, b]).await;
}

pub(crate) async fn a_dropped_first_acquire_leaves_nothing(url: &str) {
    let name = unique("withdrawn");
    let (a, b) = two(url).await;
    let mine = a.lock_with(&name, of("request-17")).unwrap();
    let theirs = b.lock(&name).unwrap();
    for polls in 0..12 {
        let mut acquire = Box::pin(mine.acquire());
        for _ in 0..polls {
            if let std::task::Poll::Ready(granted) = futures_util::poll!(&mut acquire) {
                drop(granted.unwrap());
                break;
            }
            tokio::task::yield_now().await;
        }
        drop(acquire);
        let (outer, inner) = (held(&mine).await, held(&mine).await);
        drop(outer);
        soon(inner.release()).await.unwrap();
        let next = held(&theirs).await;
        soon(next.release()).await.unwrap();
    }
    close([a, b]).await;
}

pub(crate) async fn a_loss_notifies_all_tasks(url: &str) {
    let name = unique("lost");
    let (a, b) = two(url).await;
    let mine = a
        .lock_with(&name, of("request-17").max_hold(Duration::from_millis(80)))
        .unwrap();
    // The settings of the first acquire apply: this acquire cannot set its own limit.
    let too = a.lock_with(&name, of("request-17")).unwrap();
    let (outer, inner) = (held(&mine).await, held(&too).await);
    let (first, second) = soon(async { tokio::join!(outer.lost(), inner.lost()) }).await;
    assert_eq!((first.reason(), second.reason()), (Loss::MaxHold, Loss::MaxHold));
    assert!(!outer.is_valid() && !inner.is_valid());
    // The owner does not hold a lost lock: it has to acquire again, even if its old grants still exist.
    let next = held(&b.lock(&name).unwrap()).await;
    assert!(soon(too.try_acquire()).await.unwrap().is_none());
    soon(next.release()).await.unwrap();
    let again = held(&too).await;
    assert!(again.fence() > outer.fence());
    let more = held(&too).await;
    for old in [outer, inner] {
        let error = soon(old.release()).await.unwrap_err();
        assert_eq!((error.code(), error.name()), (405, "max-hold"));
    }
    assert!(again.is_valid() && more.is_valid());
    soon(again.release()).await.unwrap();
    assert!(!free(&b.lock(&name).unwrap()).await);
    soon(more.release()).await.unwrap();
    assert!(free(&b.lock(&name).unwrap()).await);
    close([a, b]).await;
}

pub(crate) async fn closing_releases_once(url: &str) {
    let name = unique("closed");
    let (a, b) = two(url).await;
    let mine = a.lock_with(&name, of("request-17")).unwrap();
    let (outer, inner) = (held(&mine).await, held(&mine).await);
    let waiting = tokio::spawn({
        let other = a.lock_with(&name, of("request-18")).unwrap();
        async move { other.acquire().await.map(drop) }
    });
    let theirs = b.lock(&name).unwrap();
    assert!(!free(&theirs).await);
    soon(a.close()).await.unwrap();
    let closed = |error: Error| assert!(matches!(error, Error::Misuse(Misuse::Closed)), "{error:?}");
    closed(soon(waiting).await.unwrap().unwrap_err());
    closed(soon(mine.acquire()).await.unwrap_err());
    for grant in [outer, inner] {
        let error = soon(grant.release()).await.unwrap_err();
        assert_eq!(error.name(), "lost-connection-closed", "{error}");
    }
    let next = held(&theirs).await;
    soon(next.release()).await.unwrap();
    soon(b.close()).await.unwrap();
}

pub(crate) async fn tasks_of_one_owner_lose_nothing(url: &str) {
    let name = unique("tasks");
    let (a, b) = two(url).await;
    let theirs = b.lock(&name).unwrap();
    let shop = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(0));
    let mut tasks = Vec::new();
    for task in 0..4 {
        let lock = a.lock_with(&name, of("request-17")).unwrap();
        let theirs = theirs.clone();
        let shop = std::sync::Arc::clone(&shop);
        tasks.push(tokio::spawn(async move {
            let mut turns = 0;
            while turns < 10 {
                let grant = if task == 0 {
                    theirs.acquire().await.unwrap()
                } else {
                    match lock.acquire().await {
                        Ok(grant) => grant,
                        // Another task of the owner waits on behalf of all its tasks.
                        Err(Error::OwnerBusy { .. }) => {
                            tokio::task::yield_now().await;
                            continue;
                        }
                        Err(error) => panic!("{error}"),
                    }
                };
                assert!(grant.is_valid());
                // Task 0 has no owner, so it holds the lock alone: no task of the owner may write meanwhile.
                if task == 0 {
                    let seen = shop.load(std::sync::atomic::Ordering::SeqCst);
                    tokio::task::yield_now().await;
                    assert_eq!(seen, shop.load(std::sync::atomic::Ordering::SeqCst));
                } else {
                    shop.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                    tokio::task::yield_now().await;
                }
                turns += 1;
                grant.release().await.unwrap();
            }
        }));
    }
    for task in tasks {
        soon(task).await.unwrap();
    }
    assert!(free(&theirs).await, "nothing is left held");
    close([a, b]).await;
}

pub(crate) async fn owners_have_names(url: &str) {
    let client = fencepost::connect(url).await.unwrap();
    let long = "o".repeat(1025);
    for owner in ["", long.as_str()] {
        for refused in [
            client.lock_with("x", of(owner)).map(drop),
            client.read_write_lock_with("x", of(owner)).map(drop),
        ] {
            let error = refused.unwrap_err();
            if url.starts_with("redis") && error.name() == "unknown-option" {
                continue;
            }
            assert_eq!((error.code(), error.name()), (110, "invalid-option"), "{error}");
            assert!(error.to_string().starts_with("owner"), "{error}");
        }
    }
    for refused in [
        client.semaphore_with("x", 2, of("request-17")).map(drop),
        client.election_with("x", of("request-17")).map(drop),
        client.multi_lock_with(["x", "y"], of("request-17")).map(drop),
    ] {
        let error = refused.unwrap_err();
        assert_eq!((error.code(), error.name()), (108, "unknown-option"), "{error}");
    }
    let longest = client.lock_with(&unique("long"), of(&"o".repeat(1024))).unwrap();
    soon(held(&longest).await.release()).await.unwrap();
    soon(client.close()).await.unwrap();
}

/// One test for each scenario, on the server at the address of the expression.
#[macro_export]
macro_rules! reentry {
    ($url:expr) => {
        $crate::reentry!($url;
            an_owner_enters_again, the_last_grant_dropped_gives_the_lock_back, an_owner_that_waits_is_busy,
            a_dropped_first_acquire_leaves_nothing, a_loss_notifies_all_tasks, closing_releases_once, tasks_of_one_owner_lose_nothing,
            owners_have_names);
    };
    ($url:expr; $($name:ident),*) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                $crate::reentry::$name(&$url).await;
            }
        )*
    };
}

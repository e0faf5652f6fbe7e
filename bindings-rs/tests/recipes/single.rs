//! The lock that is a single node. Each test runs on memory: and on ZooKeeper.

use fencepost::{Client, Layout, Lock, LockOptions, Loss};

use crate::{
    reentry::{close, held, two},
    scenarios::{runs_out, soon, unique, waits},
};

fn unfair() -> LockOptions {
    LockOptions::new().fair(false)
}

/// The same lock on two clients.
async fn contested(url: &str) -> (Lock, Lock, [Client; 2]) {
    let name = unique("nightly");
    let (a, b) = two(url).await;
    let mine = a.lock_with(&name, unfair().identifier("till-7")).unwrap();
    let theirs = b.lock_with(&name, unfair()).unwrap();
    (mine, theirs, [a, b])
}

pub(crate) async fn an_unfair_lock_excludes(url: &str) {
    let (mine, theirs, clients) = contested(url).await;
    let grant = held(&mine).await;
    assert!(grant.is_valid() && grant.fence().unwrap() > 0);
    assert!(soon(theirs.try_acquire()).await.unwrap().is_none());
    assert!(soon(mine.try_acquire()).await.unwrap().is_none());
    assert!(runs_out(async |limit| theirs.acquire_within(limit).await).await);
    let waiting = [theirs.clone(), mine.clone(), theirs.clone()].map(|lock| {
        tokio::spawn(async move {
            let grant = lock.acquire().await.unwrap();
            let fence = grant.fence();
            grant.release().await.unwrap();
            fence
        })
    });
    assert!(waits(grant.lost()).await);
    soon(grant.extend()).await.unwrap();
    let first = grant.fence();
    soon(grant.release()).await.unwrap();
    let mut fences = Vec::new();
    for waiter in waiting {
        fences.push(soon(waiter).await.unwrap());
    }
    fences.sort();
    fences.dedup();
    assert!(
        fences.len() == 3 && fences[0] > first,
        "{fences:?} after {first:?}"
    );
    let next = soon(theirs.try_acquire()).await.unwrap().unwrap();
    drop(next);
    let last = held(&mine).await;
    soon(last.release()).await.unwrap();
    close(clients).await;
}

pub(crate) async fn its_holder_is_seen_and_broken(url: &str) {
    let (mine, theirs, clients) = contested(url).await;
    assert_eq!(soon(theirs.contenders()).await.unwrap(), []);
    let grant = held(&mine).await;
    let waiting = tokio::spawn({
        let theirs = theirs.clone();
        async move { theirs.acquire().await }
    });
    // The server of this client may be behind.
    let mut found = Vec::new();
    while found.is_empty() {
        found = soon(theirs.contenders()).await.unwrap();
    }
    let [holder] = found.as_slice() else {
        panic!("{found:?}")
    };
    assert!(
        holder.holds && !holder.shared && holder.identifier == "till-7",
        "{holder:?}"
    );
    assert_eq!(Some(holder.fence), grant.fence());
    // The node has the name of the lock.
    assert!(holder.node.ends_with(mine.name()), "{holder:?}");
    // A revocation request would overwrite the data that identify the node's owner.
    let error = soon(theirs.revoke(holder)).await.unwrap_err();
    assert_eq!(error.name(), "invalid-option", "{error}");
    soon(theirs.break_contender(holder)).await.unwrap();
    assert_eq!(soon(grant.lost()).await.reason(), Loss::Deleted);
    let next = soon(waiting).await.unwrap().unwrap();
    let error = soon(theirs.break_contender(holder)).await.unwrap_err();
    assert_eq!((error.code(), error.name()), (316, "no-contender"));
    soon(next.release()).await.unwrap();
    close(clients).await;
}

pub(crate) async fn its_acquires_are_withdrawn_when_dropped(url: &str) {
    let (mine, theirs, clients) = contested(url).await;
    let grant = held(&mine).await;
    assert!(waits(theirs.acquire()).await);
    soon(grant.release()).await.unwrap();
    for polls in 0..12 {
        let mut acquire = Box::pin(theirs.acquire());
        for _ in 0..polls {
            if let std::task::Poll::Ready(granted) = futures_util::poll!(&mut acquire) {
                drop(granted.unwrap());
                break;
            }
            tokio::task::yield_now().await;
        }
        drop(acquire);
        let next = held(&mine).await;
        soon(next.release()).await.unwrap();
    }
    close(clients).await;
}

pub(crate) async fn only_plain_locks_are_unfair(url: &str) {
    let client = fencepost::connect(url).await.unwrap();
    for refused in [
        client.read_write_lock_with("x", unfair()).map(drop),
        client.semaphore_with("x", 2, unfair()).map(drop),
        client.election_with("x", unfair()).map(drop),
        client.multi_lock_with(["x", "y"], unfair()).map(drop),
        client.lock_with("x", unfair().layout(Layout::Kazoo)).map(drop),
        client.lock_with("x", unfair().revocable(true)).map(drop),
        client.lock_with("x", unfair().revocable(false)).map(drop),
    ] {
        let error = refused.unwrap_err();
        assert_eq!((error.code(), error.name()), (108, "unknown-option"), "{error}");
    }
    let fair = client
        .lock_with(&unique("fair"), LockOptions::new().fair(true))
        .unwrap();
    let grant = held(&fair).await;
    assert!(soon(fair.contenders()).await.unwrap()[0].node.contains("-lock-"));
    soon(grant.release()).await.unwrap();
    soon(client.close()).await.unwrap();
}

/// One test for each scenario, on the server at the address of the expression.
#[macro_export]
macro_rules! single {
    ($url:expr) => {
        $crate::single!($url;
            an_unfair_lock_excludes, its_holder_is_seen_and_broken, its_acquires_are_withdrawn_when_dropped,
            only_plain_locks_are_unfair);
    };
    ($url:expr; $($name:ident),*) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                $crate::recipes::single::$name(&$url).await;
            }
        )*
    };
}

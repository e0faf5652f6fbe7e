//! The behaviour of a client on every server. Each scenario runs on memory:, on ZooKeeper and on Redis.

use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use fencepost::{Client, Error, Grant, Lock, LockOptions, Loss, Misuse, Refusal};

/// Enough time for every step, if nothing hangs.
pub(crate) const LIMIT: Duration = Duration::from_secs(20);

/// The first timeout of acquires that have to fail.
const BRIEF: Duration = Duration::from_millis(100);

/// A name that no other test uses, in this run or another one.
pub(crate) fn unique(what: &str) -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let since = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap();
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("{what}-{}-{}-{count}", std::process::id(), since.as_nanos())
}

/// Waits for a future that has to complete.
pub(crate) async fn soon<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(LIMIT, what)
        .await
        .expect("it should have happened by now")
}

/// Whether a future is still waiting after a while.
pub(crate) async fn waits<T>(what: impl Future<Output = T>) -> bool {
    tokio::time::timeout(Duration::from_millis(100), what)
        .await
        .is_err()
}

/// Whether an acquire with a limit ends without the lock. If a busy server does not reply in time, the next try has a
/// longer limit.
pub(crate) async fn runs_out<T>(acquire: impl AsyncFn(Duration) -> Result<Option<T>, Error>) -> bool {
    let mut limit = BRIEF;
    loop {
        let start = std::time::Instant::now();
        let ended = soon(acquire(limit)).await;
        assert!(start.elapsed() >= limit);
        match ended {
            Err(Error::Refused(refused)) if refused.reason() == Refusal::Unreachable && limit < LIMIT => {
                limit *= 2
            }
            outcome => return outcome.unwrap().is_none(),
        }
    }
}

async fn two(url: &str) -> (Client, Client) {
    (
        fencepost::connect(url).await.unwrap(),
        fencepost::connect(url).await.unwrap(),
    )
}

/// The same lock on two clients.
async fn contested(url: &str, what: &str) -> ((Client, Lock), (Client, Lock)) {
    let name = unique(what);
    let (a, b) = two(url).await;
    let (la, lb) = (a.lock(&name).unwrap(), b.lock(&name).unwrap());
    ((a, la), (b, lb))
}

async fn close(clients: impl IntoIterator<Item = Client>) {
    for client in clients {
        soon(client.close()).await.unwrap();
    }
}

pub(crate) async fn the_whole_life_of_a_grant(url: &str) {
    let client = fencepost::connect(url).await.unwrap();
    let name = unique("life");
    let lock = client.lock(&name).unwrap();
    assert_eq!(lock.name(), name);
    let grant = soon(lock.acquire()).await.unwrap();
    assert!(grant.is_valid());
    assert!(grant.fence().unwrap() > 0);
    let remaining = grant.remaining();
    assert!(remaining > Duration::from_millis(100) && remaining < Duration::from_secs(61));
    soon(grant.extend()).await.unwrap();
    assert!(waits(grant.lost()).await);
    assert!(format!("{grant:?} {lock:?} {client:?}").contains(&name));
    soon(grant.release()).await.unwrap();
    let again = soon(lock.acquire_within(Duration::from_secs(5)))
        .await
        .unwrap()
        .unwrap();
    soon(again.release()).await.unwrap();
    let third = soon(lock.try_acquire()).await.unwrap().unwrap();
    soon(third.release()).await.unwrap();
    close([client]).await;
}

pub(crate) async fn two_clients_exclude_each_other(url: &str) {
    let ((a, mine), (b, theirs)) = contested(url, "exclusion").await;
    let grant = soon(mine.acquire()).await.unwrap();
    assert!(soon(theirs.try_acquire()).await.unwrap().is_none());
    assert!(runs_out(async |limit| theirs.acquire_within(limit).await).await);
    // The same client does not get the lock either, because each acquire is a contender.
    assert!(soon(mine.try_acquire()).await.unwrap().is_none());
    let waiting = tokio::spawn({
        let theirs = theirs.clone();
        async move { theirs.acquire().await }
    });
    tokio::task::yield_now().await;
    assert!(grant.is_valid());
    let fence = grant.fence();
    soon(grant.release()).await.unwrap();
    let next: Grant = soon(waiting).await.unwrap().unwrap();
    assert!(next.fence() > fence);
    soon(next.release()).await.unwrap();
    close([a, b]).await;
}

pub(crate) async fn an_extension_lasts_from_now_on(url: &str) {
    let client = fencepost::connect(url).await.unwrap();
    let grant = soon(client.lock(&unique("extend")).unwrap().acquire())
        .await
        .unwrap();
    let start = std::time::Instant::now();
    let full = grant.remaining();
    while grant.remaining() + Duration::from_millis(20) > full {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let asked = std::time::Instant::now();
    soon(grant.extend()).await.unwrap();
    assert!(grant.is_valid());
    let remaining = grant.remaining();
    // On ZooKeeper, a confirmation proves an earlier one that is a quarter of the session timeout old.
    let since = if url.starts_with("redis") { asked } else { start };
    let least = full.saturating_sub(since.elapsed() + Duration::from_millis(1));
    assert!(remaining >= least, "{remaining:?} of {full:?}, not {least:?}");
    soon(grant.release()).await.unwrap();
    close([client]).await;
}

pub(crate) async fn a_dropped_acquire_is_withdrawn(url: &str) {
    let ((a, mine), (b, theirs)) = contested(url, "withdrawn").await;
    let grant = soon(mine.acquire()).await.unwrap();
    assert!(waits(theirs.acquire()).await);
    soon(grant.release()).await.unwrap();
    // The cancelled contender has left the wait queue, even if the server had granted it the lock.
    let next = soon(mine.acquire()).await.unwrap();
    soon(next.release()).await.unwrap();
    // Drops an uncontended acquire at every point.
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
        let next = soon(mine.acquire()).await.unwrap();
        soon(next.release()).await.unwrap();
    }
    close([a, b]).await;
}

pub(crate) async fn a_dropped_grant_is_released(url: &str) {
    let ((a, mine), (b, theirs)) = contested(url, "dropped").await;
    drop(soon(mine.acquire()).await.unwrap());
    let next = soon(theirs.acquire()).await.unwrap();
    // A release that no task awaits continues.
    let mut release = Box::pin(next.release());
    let _started = futures_util::poll!(&mut release);
    drop(release);
    let last = soon(mine.acquire()).await.unwrap();
    // The same is true after the program has dropped the whole client.
    drop((a, mine, last));
    let after = soon(theirs.acquire()).await.unwrap();
    soon(after.release()).await.unwrap();
    close([b]).await;
}

pub(crate) async fn closing_releases_and_says_so(url: &str) {
    let ((a, mine), (b, theirs)) = contested(url, "closing").await;
    let grant = soon(mine.acquire()).await.unwrap();
    let waiting = tokio::spawn({
        let mine = mine.clone();
        async move { mine.acquire().await.map(drop) }
    });
    assert!(waits(theirs.acquire()).await);
    soon(a.close()).await.unwrap();
    let next = soon(theirs.acquire()).await.unwrap();
    let closed = |error: Error| {
        assert!(matches!(error, Error::Misuse(Misuse::Closed)), "{error:?}");
        assert_eq!((error.code(), error.name()), (207, "client-closed"));
    };
    let lost = |error: Error| {
        assert_eq!((error.code(), error.name()), (406, "lost-connection-closed"));
        assert!(error.to_string().contains("the client was closed"), "{error}");
    };
    closed(soon(waiting).await.unwrap().unwrap_err());
    soon(a.clone().close()).await.unwrap();
    closed(a.lock("x").unwrap_err());
    closed(soon(mine.acquire()).await.unwrap_err());
    closed(soon(mine.try_acquire()).await.unwrap_err());
    lost(soon(grant.extend()).await.unwrap_err());
    assert!(!grant.is_valid());
    assert_eq!(soon(grant.lost()).await.reason(), Loss::ConnectionClosed);
    lost(soon(grant.release()).await.unwrap_err());
    soon(next.release()).await.unwrap();
    close([b]).await;
}

pub(crate) async fn a_hold_can_be_capped(url: &str) {
    let ((a, _), (b, _)) = contested(url, "capped").await;
    let name = unique("capped");
    let options = LockOptions::new().max_hold(Duration::from_millis(50));
    let grant = soon(a.lock_with(&name, options).unwrap().acquire())
        .await
        .unwrap();
    let (first, second) = soon(async { tokio::join!(grant.lost(), grant.lost()) }).await;
    assert_eq!((first.reason(), second.reason()), (Loss::MaxHold, Loss::MaxHold));
    assert!(!grant.is_valid());
    assert_eq!(grant.remaining(), Duration::ZERO);
    assert!(matches!(soon(grant.extend()).await, Err(Error::Lost(_))));
    let error = soon(grant.release()).await.unwrap_err();
    assert_eq!((error.code(), error.name()), (405, "max-hold"));
    let next = soon(b.lock(&name).unwrap().acquire()).await.unwrap();
    soon(next.release()).await.unwrap();
    close([a, b]).await;
}

pub(crate) async fn nothing_is_lost_under_contention(url: &str) {
    let ((a, mine), (b, theirs)) = contested(url, "contention").await;
    // Read, let other tasks run, write: without the lock, increments would be lost.
    let shop = Arc::new((AtomicU64::new(0), AtomicU64::new(0)));
    let mut tasks = Vec::new();
    for task in 0..8 {
        let lock = if task % 2 == 0 {
            mine.clone()
        } else {
            theirs.clone()
        };
        let shop = Arc::clone(&shop);
        tasks.push(tokio::spawn(async move {
            for _ in 0..10 {
                let grant = lock.acquire().await.unwrap();
                let seen = shop.0.load(Ordering::SeqCst);
                let fence = grant.fence().unwrap();
                assert!(shop.1.swap(fence, Ordering::SeqCst) < fence);
                tokio::task::yield_now().await;
                shop.0.store(seen + 1, Ordering::SeqCst);
                grant.release().await.unwrap();
            }
        }));
    }
    for task in tasks {
        soon(task).await.unwrap();
    }
    assert_eq!(shop.0.load(Ordering::SeqCst), 80);
    close([a, b]).await;
}

pub(crate) async fn bad_input_is_refused_before_anything_is_sent(url: &str) {
    let client = fencepost::connect(url).await.unwrap();
    let name = |error: Error| error.name();
    assert_eq!(name(client.lock("").unwrap_err()), "empty-name");
    let lock = client.lock(&unique("bad")).unwrap();
    let error = soon(lock.acquire_within(Duration::ZERO)).await.unwrap_err();
    assert_eq!(error.name(), "not-positive");
    assert!(error.to_string().contains("try_acquire"), "{error}");
    let error = soon(lock.acquire_within(Duration::MAX)).await.unwrap_err();
    assert_eq!(error.name(), "too-long");
    let cap = |limit| client.lock_with("x", LockOptions::new().max_hold(limit));
    assert_eq!(name(cap(Duration::ZERO).unwrap_err()), "not-positive");
    assert_eq!(name(cap(Duration::MAX).unwrap_err()), "too-long");
    close([client]).await;
}

/// One test for each scenario, on the server at the address of the expression.
#[macro_export]
macro_rules! scenarios {
    ($url:expr) => {
        $crate::scenarios!($url;
            the_whole_life_of_a_grant, two_clients_exclude_each_other, an_extension_lasts_from_now_on,
            a_dropped_acquire_is_withdrawn, a_dropped_grant_is_released, closing_releases_and_says_so, a_hold_can_be_capped,
            nothing_is_lost_under_contention, bad_input_is_refused_before_anything_is_sent);
    };
    ($url:expr; $($name:ident),*) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                $crate::scenarios::$name(&$url).await;
            }
        )*
    };
}

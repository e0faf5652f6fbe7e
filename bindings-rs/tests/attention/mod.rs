//! Futures that are not polled, and a busy runtime. Each test runs on memory:, on ZooKeeper and on Redis.

use std::{pin::pin, time::Duration};

use fencepost::{Client, Grant, LockOptions};
use futures_util::poll;

use crate::scenarios::{soon, unique, waits};

/// A wait that is longer than the delegation of commands to a task.
const REST: Duration = Duration::from_millis(400);

/// On Redis, a short lease: the client releases a grant that no task takes after half of it.
fn brief(url: &str) -> LockOptions {
    let usual = LockOptions::new();
    if url.starts_with("redis") {
        usual.ttl(Duration::from_secs(4))
    } else {
        usual
    }
}

pub(crate) async fn an_acquire_that_is_not_polled_holds_nothing(url: &str) {
    let (a, b) = (
        fencepost::connect(url).await.unwrap(),
        fencepost::connect(url).await.unwrap(),
    );
    // From an acquire that was polled once, to an acquire that may already have the lock.
    for polls in 1..4 {
        let name = unique("resting");
        let mine = a.lock_with(&name, brief(url)).unwrap();
        let theirs = b.lock(&name).unwrap();
        let mut resting = pin!(mine.acquire());
        for _ in 0..polls {
            if let std::task::Poll::Ready(granted) = poll!(&mut resting) {
                // The acquire was faster. The client does not release a grant that the program has.
                granted.unwrap().release().await.unwrap();
                break;
            }
            tokio::task::yield_now().await;
        }
        // The program does something else, and another process wants the lock.
        let next = soon(theirs.acquire()).await.unwrap();
        assert!(next.is_valid());
        soon(next.release()).await.unwrap();
    }
    soon(a.close()).await.unwrap();
    soon(b.close()).await.unwrap();
}

pub(crate) async fn a_waiter_that_is_not_polled_queues_again(url: &str) {
    let (a, b) = (
        fencepost::connect(url).await.unwrap(),
        fencepost::connect(url).await.unwrap(),
    );
    let name = unique("resting");
    let mine = a.lock_with(&name, brief(url)).unwrap();
    let theirs = b.lock(&name).unwrap();
    let held = soon(theirs.acquire()).await.unwrap();
    let mut resting = pin!(mine.acquire());
    let mut limited = pin!(mine.acquire_within(Duration::from_millis(700)));
    assert!(waits(async { tokio::join!(&mut resting, &mut limited) }).await);
    // No task polls either of them now. First one acquire gets the lock and then the other one, and the client has to
    // release both grants.
    soon(held.release()).await.unwrap();
    let next = soon(theirs.acquire()).await.unwrap();
    assert!(waits(&mut resting).await);
    // The time limit of this acquire has ended while another contender held the lock.
    assert!(soon(&mut limited).await.unwrap().is_none());
    soon(next.release()).await.unwrap();
    let grant = soon(resting).await.unwrap();
    assert!(grant.is_valid());
    soon(grant.release()).await.unwrap();
    soon(a.close()).await.unwrap();
    soon(b.close()).await.unwrap();
}

pub(crate) async fn a_call_that_is_not_polled_delays_no_other(url: &str) {
    let client = fencepost::connect(url).await.unwrap();
    let grant = soon(client.lock(&unique("resting")).unwrap().acquire())
        .await
        .unwrap();
    let mut extending = Box::pin(grant.extend());
    let polled_once = poll!(&mut extending);
    tokio::time::sleep(REST).await;
    // Other contenders may need the reply to its commands, for example the confirmation of the session.
    let other = client.lock(&unique("other")).unwrap();
    soon(soon(other.acquire()).await.unwrap().release())
        .await
        .unwrap();
    if polled_once.is_pending() {
        soon(&mut extending).await.unwrap();
    }
    drop(extending);
    assert!(grant.is_valid());
    soon(grant.release()).await.unwrap();
    soon(client.close()).await.unwrap();
}

pub(crate) async fn a_close_that_is_not_polled_delays_no_other(url: &str) {
    let client = fencepost::connect(url).await.unwrap();
    let grant = soon(client.lock(&unique("resting")).unwrap().acquire())
        .await
        .unwrap();
    let mut resting = pin!(client.close());
    assert!(poll!(&mut resting).is_pending());
    soon(client.close()).await.unwrap();
    soon(resting).await.unwrap();
    soon(client.close()).await.unwrap();
    drop(grant);
}

pub(crate) async fn a_close_that_is_dropped_goes_on(url: &str) {
    let (a, b) = (
        fencepost::connect(url).await.unwrap(),
        fencepost::connect(url).await.unwrap(),
    );
    let name = unique("dropped");
    let grant = soon(a.lock(&name).unwrap().acquire()).await.unwrap();
    let mut dropped = Box::pin(a.close());
    assert!(poll!(&mut dropped).is_pending());
    drop(dropped);
    let next = soon(b.lock(&name).unwrap().acquire()).await.unwrap();
    soon(next.release()).await.unwrap();
    soon(a.close()).await.unwrap();
    soon(b.close()).await.unwrap();
    drop(grant);
}

/// Blocks the only thread for so long that every timer is late.
fn work(long: Duration) {
    std::thread::sleep(long);
}

async fn turns(turns: usize) {
    for _ in 0..turns {
        tokio::task::yield_now().await;
    }
}

pub(crate) async fn an_answer_beats_a_timer_that_is_late(url: &str) {
    let client = fencepost::connect(url).await.unwrap();
    let limit = Duration::from_millis(200);
    // The second time, the client needs fewer replies.
    let names: Vec<_> = (0..4).map(|_| unique("busy")).collect();
    for name in &names {
        let grant = soon(client.lock(name).unwrap().acquire()).await.unwrap();
        soon(grant.release()).await.unwrap();
    }
    for _ in 0..5 {
        let mut acquires = Vec::new();
        for name in &names {
            let free = client.lock(name).unwrap();
            acquires.push(tokio::spawn(async move { free.acquire_within(limit).await }));
            turns(1).await;
        }
        work(limit + Duration::from_millis(200));
        for acquire in acquires {
            let granted: Option<Grant> = soon(acquire).await.unwrap().unwrap();
            soon(granted.unwrap().release()).await.unwrap();
        }
    }
    soon(client.close()).await.unwrap();
}

pub(crate) async fn a_release_is_confirmed_by_a_busy_program(url: &str) {
    let client: Client = fencepost::connect(url).await.unwrap();
    let mut grants = Vec::new();
    for _ in 0..4 {
        let lock = client.lock(&unique("busy")).unwrap();
        grants.push(soon(lock.acquire()).await.unwrap());
    }
    let mut releases = Vec::new();
    for grant in grants {
        releases.push(tokio::spawn(grant.release()));
        turns(1).await;
    }
    // A release waits for 5 s.
    work(Duration::from_millis(5100));
    for release in releases {
        soon(release).await.unwrap().unwrap();
    }
    soon(client.close()).await.unwrap();
}

/// One test for each scenario, all on one thread, on the server at the address of the expression.
#[macro_export]
macro_rules! attention {
    ($url:expr) => {
        $crate::attention!($url;
            an_acquire_that_is_not_polled_holds_nothing, a_waiter_that_is_not_polled_queues_again,
            a_call_that_is_not_polled_delays_no_other, an_answer_beats_a_timer_that_is_late,
            a_close_that_is_not_polled_delays_no_other, a_close_that_is_dropped_goes_on,
            a_release_is_confirmed_by_a_busy_program);
    };
    ($url:expr; $($name:ident),*) => {
        $(
            #[tokio::test]
            async fn $name() {
                $crate::attention::$name(&$url).await;
            }
        )*
    };
}

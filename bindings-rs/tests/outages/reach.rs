//! Servers that cannot be reached, that are of another kind, or that do not reply, and the time of a close in these
//! cases.

use std::time::{Duration, Instant};

use fencepost::{Client, Error, LockOptions};
use futures_util::{join, poll};
use tokio::net::TcpListener;

use crate::{
    ONE_AT_A_TIME,
    control::{order, redis, variable, zookeeper},
    relay::Relay,
    scenarios::{soon, unique},
};

/// A close ends within 5 s. Sessions and leases here last for longer than this, so nothing else can end it.
const CLOSES_WITHIN: Duration = Duration::from_secs(20);

/// Checks that a client by address finds no server of its kind there, reports the address and the reason, and has
/// nothing to clean up.
async fn finds_nothing(scheme: &str, at: &str) {
    let url = &format!("{scheme}://{at}");
    let client = Client::builder().connect_lazily(url).unwrap();
    let lock = client.lock(&unique("nothing")).unwrap();
    let refused = soon(lock.acquire_within(Duration::from_millis(500))).await;
    let error = refused.unwrap_err();
    assert_eq!((error.code(), error.name()), (304, "unreachable"), "{url}");
    soon(client.close()).await.unwrap();
    let brief = Client::builder().connect_timeout(Duration::from_secs(1));
    let error = soon(brief.connect(url)).await.unwrap_err();
    assert_eq!((error.code(), error.name()), (304, "unreachable"), "{url}");
    assert!(error.to_string().contains(at), "{url}: {error}");
}

#[tokio::test]
async fn a_server_of_another_kind_is_unreachable() {
    let (zookeeper, redis) = (variable("FENCEPOST_ZOOKEEPER"), variable("FENCEPOST_REDIS"));
    let _alone = ONE_AT_A_TIME.lock().await;
    join!(finds_nothing("redis", &zookeeper), finds_nothing("zk", &redis));
}

#[tokio::test]
async fn a_server_that_accepts_and_says_nothing_is_unreachable() {
    let mute = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = mute.local_addr().unwrap().to_string();
    // The system accepts connections, but the program does not.
    join!(finds_nothing("redis", &at), finds_nothing("zk", &at));
}

#[tokio::test]
async fn the_first_connection_has_five_seconds_by_default() {
    let has_five_seconds = async |url| {
        let start = Instant::now();
        let error = soon(fencepost::connect(url)).await.unwrap_err();
        assert!(
            start.elapsed() >= Duration::from_millis(4900),
            "{:?}",
            start.elapsed()
        );
        assert_eq!((error.code(), error.name()), (304, "unreachable"), "{url}");
        assert!(error.to_string().contains("127.0.0.1:1"), "{error}");
        assert!(std::error::Error::source(&error).is_some(), "{error:?}");
    };
    // No server listens at port 1.
    join!(
        has_five_seconds("redis://127.0.0.1:1"),
        has_five_seconds("zk://127.0.0.1:1")
    );
}

#[tokio::test]
async fn servers_at_ipv6_addresses_are_reached() {
    let _alone = ONE_AT_A_TIME.lock().await;
    for (scheme, server) in [("redis", "FENCEPOST_REDIS"), ("zk", "FENCEPOST_ZOOKEEPER")] {
        let relay = Relay::at("[::1]:0", variable(server)).await;
        let url = format!("{scheme}://{}", relay.address);
        assert!(url.contains("://[::1]:"), "{url}");
        let client = fencepost::connect(&url).await.unwrap();
        let lock = client.lock(&unique("v6")).unwrap();
        soon(soon(lock.acquire()).await.unwrap().release()).await.unwrap();
        soon(client.close()).await.unwrap();
        assert_eq!(relay.accepted(), 1);
    }
}

/// Closes while the server is paused: one call reports in time the contenders that it leaves, and the other calls wait
/// for it. `drops_the_first`: the first call is cancelled, and the second one finishes its work.
async fn closes_in_time(url: &str, options: LockOptions, server: &str, drops_the_first: bool) {
    let _alone = ONE_AT_A_TIME.lock().await;
    let client = fencepost::connect(url).await.unwrap();
    let lock = client.lock_with(&unique("closed"), options).unwrap();
    let grant = soon(lock.acquire()).await.unwrap();
    order(&format!("pause {server}")).await;
    let start = Instant::now();
    let clone = client.clone();
    let (mut first, mut beside) = (Box::pin(client.close()), Box::pin(clone.close()));
    assert!(poll!(&mut first).is_pending());
    assert!(poll!(&mut beside).is_pending());
    let (closed, other) = if drops_the_first {
        drop(first);
        (soon(beside).await, soon(clone.close()).await)
    } else {
        soon(async { join!(first, beside) }).await
    };
    let took = start.elapsed();
    let later = soon(client.close()).await;
    order(&format!("resume {server}")).await;
    let error = closed.unwrap_err();
    assert!(matches!(error, Error::CleanupIncomplete { left: 1 }), "{error:?}");
    assert_eq!((error.code(), error.name()), (503, "cleanup-incomplete"));
    assert!(error.to_string().contains("the end of 1 contender of"), "{error}");
    assert!(other.is_ok() && later.is_ok(), "{other:?} {later:?}");
    assert!(took < CLOSES_WITHIN, "{took:?}");
    drop(grant);
}

#[tokio::test]
async fn a_close_on_a_silent_redis_takes_five_seconds_at_most() {
    let brief = LockOptions::new().ttl(Duration::from_secs(60));
    closes_in_time(&redis(), brief, "redis-1", false).await;
}

#[tokio::test]
async fn a_close_on_a_silent_zookeeper_takes_five_seconds_at_most() {
    let url = zookeeper() + "?session_timeout=60000";
    closes_in_time(&url, LockOptions::new(), "zookeeper", true).await;
}

//! Connections to Redis that become silent without ending.

use std::{collections::BTreeSet, time::Duration};

use fencepost::LockOptions;

use crate::{
    ONE_AT_A_TIME,
    control::{Proxy, ask, bare_redis, redis, until, variable},
    relay::Relay,
    scenarios::{soon, unique},
};

#[tokio::test]
async fn a_subscription_that_has_fallen_silent_is_made_again() {
    let _alone = ONE_AT_A_TIME.lock().await;
    let relay = Relay::to(variable("FENCEPOST_REDIS")).await;
    let far = fencepost::connect(&format!("redis://{}", relay.address))
        .await
        .unwrap();
    let near = fencepost::connect(&redis()).await.unwrap();
    let name = unique("silent");
    let held = soon(near.lock(&name).unwrap().acquire()).await.unwrap();
    let lock = far.lock(&name).unwrap();
    let waiting = tokio::spawn(async move { lock.acquire().await });
    let bare = bare_redis("FENCEPOST_REDIS").await;
    // The numbers of the connections with subscriptions at the server.
    let listeners = async || {
        let list: String = ask(&bare, &["CLIENT", "LIST", "TYPE", "PUBSUB"]).await;
        let numbers = list.lines().filter(|line| !line.contains(" sub=0 "));
        let numbers = numbers.map(|line| line.split(' ').next().unwrap().to_owned());
        numbers.collect::<BTreeSet<_>>()
    };
    until(async || !listeners().await.is_empty()).await;
    let before = listeners().await;
    // The first connection is for commands.
    relay.silence(1);
    until(async || !listeners().await.is_subset(&before)).await;
    soon(held.release()).await.unwrap();
    soon(soon(waiting).await.unwrap().unwrap().release())
        .await
        .unwrap();
    soon(far.close()).await.unwrap();
    soon(near.close()).await.unwrap();
}

#[tokio::test]
async fn commands_that_have_fallen_silent_have_another_connection() {
    let _alone = ONE_AT_A_TIME.lock().await;
    let relay = Relay::to(variable("FENCEPOST_REDIS")).await;
    let client = fencepost::connect(&format!("redis://{}", relay.address))
        .await
        .unwrap();
    let long = LockOptions::new().ttl(Duration::from_secs(60));
    let held = soon(client.lock_with(&unique("held"), long).unwrap().acquire())
        .await
        .unwrap();
    assert_eq!(relay.accepted(), 1);
    relay.silence(0);
    let lock = client.lock(&unique("silent")).unwrap();
    let grant = lock.acquire_within(Duration::from_secs(20)).await.unwrap();
    assert_eq!(relay.accepted(), 2);
    soon(held.extend()).await.unwrap();
    soon(held.release()).await.unwrap();
    soon(grant.unwrap().release()).await.unwrap();
    soon(client.close()).await.unwrap();
}

#[tokio::test]
async fn a_subscription_connection_at_rest_sends_nothing() {
    let _alone = ONE_AT_A_TIME.lock().await;
    let proxy = Proxy::open("redis-1").await;
    let far = fencepost::connect(&format!("redis://{}", proxy.address))
        .await
        .unwrap();
    let near = fencepost::connect(&redis()).await.unwrap();
    let bare = bare_redis("FENCEPOST_REDIS").await;
    let name = unique("rest");
    let channel = format!("{{{name}}}:released");
    let listeners = async || {
        ask::<(String, i64)>(&bare, &["PUBSUB", "NUMSUB", &channel])
            .await
            .1
    };
    let pings = async || {
        proxy.order("count").await["by_kind"]["PING"]
            .as_u64()
            .unwrap_or(0)
    };
    let held = soon(near.lock(&name).unwrap().acquire()).await.unwrap();
    let lock = far.lock(&name).unwrap();
    let waiting = tokio::spawn(async move { lock.acquire().await });
    until(async || pings().await > 0).await;
    soon(held.release()).await.unwrap();
    soon(soon(waiting).await.unwrap().unwrap().release())
        .await
        .unwrap();
    until(async || listeners().await == 0).await;
    proxy.order("reset").await;
    // More than two heartbeats.
    tokio::time::sleep(Duration::from_secs(12)).await;
    assert_eq!(pings().await, 0);
    soon(far.close()).await.unwrap();
    soon(near.close()).await.unwrap();
    proxy.close().await;
}

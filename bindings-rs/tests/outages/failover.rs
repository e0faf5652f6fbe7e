//! A Redis server that becomes a replica of another one while the client is connected to it.

use std::time::Duration;

use fencepost::{Client, LockOptions};
use redis::aio::MultiplexedConnection;

use crate::{
    ONE_AT_A_TIME,
    control::{ask, bare_redis, until, variable},
    relay::Relay,
    scenarios::{soon, unique, waits},
};

#[tokio::test]
async fn a_primary_that_was_demoted_is_left() {
    let _alone = ONE_AT_A_TIME.lock().await;
    let (old, new) = (variable("FENCEPOST_REDIS"), variable("FENCEPOST_REDIS_2"));
    let relay = Relay::to(old).await;
    let client = fencepost::connect(&format!("redis://{}", relay.address))
        .await
        .unwrap();
    let (name, waited) = (unique("demoted"), unique("waited"));
    let lock = client.lock(&name).unwrap();
    soon(soon(lock.acquire()).await.unwrap().release()).await.unwrap();
    // Both connections exist.
    let held = soon(client.lock(&waited).unwrap().acquire()).await.unwrap();
    assert!(waits(client.lock(&waited).unwrap().acquire()).await);
    soon(held.release()).await.unwrap();

    // The name leads to the new primary; the existing connections lead to the old one, which still
    // runs.
    let (host, port) = new.split_once(':').unwrap();
    relay.turn(new.clone());
    let demoted = bare_redis("FENCEPOST_REDIS").await;
    let _: String = ask(&demoted, &["REPLICAOF", host, port]).await;
    let grant = soon(lock.acquire()).await.unwrap();
    let promoted = bare_redis("FENCEPOST_REDIS_2").await;
    assert_eq!(ask::<i64>(&promoted, &["EXISTS", &name]).await, 1);
    soon(grant.release()).await.unwrap();
    let _: String = ask(&demoted, &["REPLICAOF", "NO", "ONE"]).await;
    soon(client.close()).await.unwrap();
}

/// The number of that server's connections with a subscription to the releases of the lock.
async fn listeners(server: &MultiplexedConnection, lock: &str) -> i64 {
    let channel = format!("{{{lock}}}:released");
    let (_, count): (String, i64) = ask(server, &["PUBSUB", "NUMSUB", &channel]).await;
    count
}

#[tokio::test]
async fn a_grant_and_a_waiter_outlive_a_failover() {
    let _alone = ONE_AT_A_TIME.lock().await;
    let (old_at, new_at) = (variable("FENCEPOST_REDIS"), variable("FENCEPOST_REDIS_2"));
    let old = bare_redis("FENCEPOST_REDIS").await;
    let new = bare_redis("FENCEPOST_REDIS_2").await;
    let follow = async |server: &MultiplexedConnection, at: &str| {
        let (host, port) = at.split_once(':').unwrap();
        let _: String = ask(server, &["REPLICAOF", host, port]).await;
    };
    follow(&new, &old_at).await;
    until(async || {
        let info: String = ask(&new, &["INFO", "replication"]).await;
        info.contains("master_link_status:up")
    })
    .await;
    let relay = Relay::to(old_at).await;
    let client = fencepost::connect(&format!("redis://{}", relay.address))
        .await
        .unwrap();
    let (name, waited) = (unique("survives"), unique("waited"));
    let long = || LockOptions::new().ttl(Duration::from_secs(60));
    let grant = soon(client.lock_with(&name, long()).unwrap().acquire())
        .await
        .unwrap();
    let held = soon(client.lock_with(&waited, long()).unwrap().acquire())
        .await
        .unwrap();
    let lock = client.lock(&waited).unwrap();
    let waiting = tokio::spawn(async move { lock.acquire().await });
    until(async || listeners(&old, &waited).await == 1).await;
    until(async || ask::<i64>(&new, &["EXISTS", &name, &waited]).await == 2).await;

    let _: String = ask(&new, &["REPLICAOF", "NO", "ONE"]).await;
    relay.turn(new_at.clone());
    follow(&old, &new_at).await;
    soon(grant.extend()).await.unwrap();
    until(async || listeners(&old, &waited).await == 0).await;
    until(async || listeners(&new, &waited).await == 1).await;
    assert!(!waiting.is_finished());
    soon(held.release()).await.unwrap();
    soon(soon(waiting).await.unwrap().unwrap().release())
        .await
        .unwrap();
    soon(grant.release()).await.unwrap();
    assert_eq!(ask::<i64>(&new, &["EXISTS", &name, &waited]).await, 0);
    let _: String = ask(&old, &["REPLICAOF", "NO", "ONE"]).await;
    soon(client.close()).await.unwrap();
}

#[tokio::test]
async fn a_given_connection_to_a_replica_stays_open() {
    let _alone = ONE_AT_A_TIME.lock().await;
    let bare = bare_redis("FENCEPOST_REDIS").await;
    let theirs = bare_redis("FENCEPOST_REDIS").await;
    let number: i64 = ask(&theirs, &["CLIENT", "ID"]).await;
    let client = Client::from_redis(theirs.clone()).unwrap();
    let lock = client.lock(&unique("replica")).unwrap();
    let primary = variable("FENCEPOST_REDIS_2");
    let (host, port) = primary.split_once(':').unwrap();
    let _: String = ask(&bare, &["REPLICAOF", host, port]).await;
    let refused = soon(lock.acquire_within(Duration::from_millis(300))).await;
    let error = refused.unwrap_err();
    assert_eq!((error.code(), error.name()), (304, "unreachable"));
    assert_eq!(ask::<i64>(&theirs, &["CLIENT", "ID"]).await, number);
    let _: String = ask(&bare, &["REPLICAOF", "NO", "ONE"]).await;
    soon(soon(lock.acquire()).await.unwrap().release()).await.unwrap();
    assert_eq!(ask::<i64>(&theirs, &["CLIENT", "ID"]).await, number);
    soon(client.close()).await.unwrap();
}

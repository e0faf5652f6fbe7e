//! Clients on connections that somebody else has made, and goes on using.

use fencepost::{Client, Error, Loss};

use crate::{
    control::{
        ask, bare_redis, bare_zookeeper, expire_owner, only_contender, redis, variable, went_with_its_session,
    },
    scenarios::{runs_out, soon, unique, waits},
};

#[tokio::test]
async fn a_zookeeper_client_is_used_and_left_alone() {
    let theirs = bare_zookeeper().await;
    let client = Client::builder()
        .prefix(&unique("rs"))
        .from_zookeeper(theirs.clone())
        .unwrap();
    let lock = client.lock("x").unwrap();
    let grant = soon(lock.acquire()).await.unwrap();
    assert!(waits(lock.acquire()).await);
    soon(grant.release()).await.unwrap();
    soon(client.close()).await.unwrap();
    assert_eq!(theirs.state(), zookeeper_client::SessionState::SyncConnected);
    theirs.list_children("/").await.unwrap();
}

#[tokio::test]
async fn a_session_of_somebody_else_is_not_renewed() {
    let theirs = bare_zookeeper().await;
    let prefix = unique("rs");
    let client = Client::builder()
        .prefix(&prefix)
        .from_zookeeper(theirs.clone())
        .unwrap();
    let lock = client.lock("x").unwrap();
    let grant = soon(lock.acquire()).await.unwrap();
    let bare = bare_zookeeper().await;
    let node = only_contender(&bare, &format!("/{prefix}/x")).await;
    expire_owner(&bare, &node).await;
    assert!(went_with_its_session(&soon(grant.lost()).await));
    let error = soon(lock.acquire()).await.unwrap_err();
    assert_eq!(error.name(), "connection-closed");
    assert!(
        std::error::Error::source(&error)
            .unwrap()
            .is::<zookeeper_client::Error>()
    );
    soon(client.close()).await.unwrap();
}

#[tokio::test]
async fn a_missing_chroot_is_told() {
    let theirs = bare_zookeeper()
        .await
        .chroot(format!("/{}", unique("nowhere")))
        .unwrap();
    let client = Client::from_zookeeper(theirs).unwrap();
    let error = soon(client.lock("x").unwrap().acquire()).await.unwrap_err();
    assert_eq!((error.code(), error.name()), (307, "no-parent"));
    soon(client.close()).await.unwrap();
}

#[tokio::test]
async fn a_redis_connection_is_used_and_left_alone() {
    let theirs = bare_redis("FENCEPOST_REDIS").await;
    let client = Client::from_redis(theirs.clone()).unwrap();
    hand_over(&client).await;
    soon(client.close()).await.unwrap();
    let answer: String = ask(&theirs, &["PING"]).await;
    assert_eq!(answer, "PONG");
}

#[tokio::test]
async fn a_redis_connection_may_be_any_and_have_another_to_subscribe_with() {
    let factory = redis::Client::open(redis()).unwrap();
    let theirs = factory.get_connection_manager().await.unwrap();
    let client = Client::builder()
        .subscribe_with(factory)
        .from_redis(theirs)
        .unwrap();
    let bare = bare_redis("FENCEPOST_REDIS").await;
    let name = hand_over(&client).await;
    let channel = format!("{{{name}}}:released");
    soon(client.close()).await.unwrap();
    // The connection that was made for listening has gone with the client.
    crate::control::until(|| async {
        let (_, listeners): (String, i64) = ask(&bare, &["PUBSUB", "NUMSUB", &channel]).await;
        listeners == 0
    })
    .await;
}

async fn hand_over(client: &Client) -> String {
    let name = unique("given");
    let lock = client.lock(&name).unwrap();
    let grant = soon(lock.acquire()).await.unwrap();
    let waiting = tokio::spawn({
        let lock = lock.clone();
        async move { lock.acquire().await }
    });
    assert!(runs_out(async |limit| lock.acquire_within(limit).await).await);
    soon(grant.release()).await.unwrap();
    let next = soon(waiting).await.unwrap().unwrap();
    soon(next.release()).await.unwrap();
    name
}

#[tokio::test]
async fn the_native_error_is_the_source() {
    let address = variable("FENCEPOST_REDIS_AUTH");
    let error = soon(fencepost::connect(&format!("redis://:wrong@{address}")))
        .await
        .unwrap_err();
    assert_eq!((error.code(), error.name()), (306, "auth-failed"));
    assert!(
        std::error::Error::source(&error)
            .unwrap()
            .is::<redis::RedisError>()
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_zookeeper_client_whose_runtime_has_ended_is_over() {
    let theirs = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let made = theirs.spawn(bare_zookeeper()).await.unwrap();
    let client = Client::builder()
        .prefix(&unique("rs"))
        .from_zookeeper(made)
        .unwrap();
    let lock = client.lock("x").unwrap();
    let grant = soon(lock.acquire()).await.unwrap();
    let waiting = tokio::spawn({
        let lock = lock.clone();
        async move { lock.acquire().await.map(drop) }
    });
    assert!(waits(grant.lost()).await);
    theirs.shutdown_background();
    assert_eq!(soon(grant.lost()).await.reason(), Loss::ConnectionClosed);
    let over = |error: Error| assert_eq!(error.name(), "connection-closed", "{error}");
    over(soon(waiting).await.unwrap().unwrap_err());
    over(soon(lock.acquire()).await.unwrap_err());
    soon(client.close()).await.unwrap();
}

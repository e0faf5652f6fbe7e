//! Clients on connections that the program has made, and still uses.

use std::time::Duration;

use fencepost::{Client, Error, LockOptions, Loss};
use zookeeper_client::{Acl, AuthId, Permission};

use crate::{
    control::{
        Proxy, ask, bare_redis, bare_zookeeper, expire_owner, only_contender, redis, variable,
        went_with_its_session,
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
async fn a_session_of_another_client_is_not_renewed() {
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
async fn a_missing_chroot_is_an_error() {
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
    // The connection for subscriptions has ended with the client.
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

#[tokio::test]
async fn the_native_error_is_the_source_for_every_grant_of_an_owner() {
    let client = fencepost::connect(&redis()).await.unwrap();
    let bare = bare_redis("FENCEPOST_REDIS").await;
    let name = unique("mistyped");
    let options = LockOptions::new().owner("request-17");
    let lock = client.lock_with(&name, options).unwrap();
    // The client sends the request of the first acquire, even if that acquire has already ended.
    for first_is_over in [true, false] {
        let (first, second) = (
            soon(lock.acquire()).await.unwrap(),
            soon(lock.acquire()).await.unwrap(),
        );
        let mut left = vec![first, second];
        if first_is_over {
            soon(left.remove(0).release()).await.unwrap();
        }
        let (): () = ask(&bare, &["DEL", &name]).await;
        let (): () = ask(&bare, &["RPUSH", &name, "a list"]).await;
        for grant in &left {
            assert!(matches!(soon(grant.extend()).await, Err(Error::Lost(_))));
            let lost = soon(grant.lost()).await;
            let source = std::error::Error::source(&lost);
            assert!(
                source.is_some_and(<dyn std::error::Error>::is::<redis::RedisError>),
                "{lost:?}"
            );
        }
        let (): () = ask(&bare, &["DEL", &name]).await;
    }
    soon(client.close()).await.unwrap();
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

#[tokio::test]
async fn a_redis_connection_that_says_nothing_is_reported_and_left_open() {
    let proxy = Proxy::open("redis-1").await;
    let factory = redis::Client::open(format!("redis://{}", proxy.address)).unwrap();
    let patient = redis::AsyncConnectionConfig::new().set_response_timeout(None);
    let theirs = factory
        .get_multiplexed_async_connection_with_config(&patient)
        .await
        .unwrap();
    let number: i64 = ask(&theirs, &["CLIENT", "ID"]).await;
    let client = Client::from_redis(theirs.clone()).unwrap();
    let lock = client.lock(&unique("silent")).unwrap();
    proxy.order("hold").await;
    let error = soon(lock.acquire_within(Duration::from_secs(9)))
        .await
        .unwrap_err();
    assert_eq!((error.code(), error.name()), (304, "unreachable"));
    let cause = std::error::Error::source(&error).unwrap().to_string();
    let silent =
        "the connection given to Client::from_redis has not answered for 5 s: end it and give another one";
    assert_eq!(cause, silent);
    proxy.order("pass").await;
    // It is the same connection, and it works.
    assert_eq!(ask::<i64>(&theirs, &["CLIENT", "ID"]).await, number);
    soon(soon(lock.acquire()).await.unwrap().release()).await.unwrap();
    soon(client.close()).await.unwrap();
    proxy.close().await;
}

#[tokio::test]
async fn options_that_do_not_belong_to_a_given_connection_are_refused() {
    let anyone = [Acl::new(Permission::ALL, AuthId::anyone())];
    let redis = bare_redis("FENCEPOST_REDIS").await;
    for (option, builder) in [
        ("prefix", Client::builder().prefix("/shop")),
        ("auth", Client::builder().auth("digest", b"u:p")),
        ("acl", Client::builder().acl(anyone)),
    ] {
        let error = builder.from_redis(redis.clone()).unwrap_err();
        assert_eq!((error.code(), error.name()), (108, "unknown-option"));
        assert!(error.to_string().contains(option), "{option}: {error}");
    }
    let zookeeper = bare_zookeeper().await;
    let factory = redis::Client::open("redis://localhost").unwrap();
    for (option, builder) in [
        ("auth", Client::builder().auth("digest", b"u:p")),
        ("subscribe_with", Client::builder().subscribe_with(factory)),
    ] {
        let error = builder.from_zookeeper(zookeeper.clone()).unwrap_err();
        assert_eq!((error.code(), error.name()), (108, "unknown-option"));
        assert!(error.to_string().contains(option), "{option}: {error}");
    }
}

/// In a session that the program made, the first grant comes after a quarter of the session timeout. The client must
/// not refuse a free lock because of this.
#[tokio::test]
async fn a_free_lock_of_a_given_session_is_granted_however_short_the_timeout() {
    let address = variable("FENCEPOST_ZOOKEEPER");
    let connector = || zookeeper_client::Client::connector().with_session_timeout(Duration::from_secs(12));
    for brief in [None, Some(Duration::from_millis(300))] {
        let theirs = connector().connect(&address).await.unwrap();
        let client = Client::builder()
            .prefix(&unique("rs"))
            .from_zookeeper(theirs)
            .unwrap();
        let lock = client.lock("x").unwrap();
        let granted = match brief {
            None => soon(lock.try_acquire()).await,
            Some(limit) => soon(lock.acquire_within(limit)).await,
        };
        soon(granted.unwrap().unwrap().release()).await.unwrap();
        soon(client.close()).await.unwrap();
    }
}

#[tokio::test]
async fn a_connection_that_is_made_again_is_not_to_be_ended() {
    let proxy = Proxy::open("redis-1").await;
    let factory = redis::Client::open(format!("redis://{}", proxy.address)).unwrap();
    let patient = redis::aio::ConnectionManagerConfig::new().set_response_timeout(None);
    let theirs = factory.get_connection_manager_with_config(patient).await.unwrap();
    let client = Client::from_redis(theirs).unwrap();
    let lock = client.lock(&unique("silent")).unwrap();
    proxy.order("hold").await;
    let error = soon(lock.acquire_within(Duration::from_secs(9)))
        .await
        .unwrap_err();
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert!(
        cause.contains("has not answered for 5 s: look whether"),
        "{cause}"
    );
    proxy.order("pass").await;
    soon(soon(lock.acquire()).await.unwrap().release()).await.unwrap();
    soon(client.close()).await.unwrap();
    proxy.close().await;
}

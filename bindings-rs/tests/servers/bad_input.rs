//! Input that a server refuses, and the client's errors for it.

use std::{net::TcpListener, process::Stdio, time::Duration};

use fencepost::{Client, Error, LockOptions};
use zookeeper_client::{Acl, Acls, AuthId, CreateMode, Permission};

use crate::{
    control::{ask, bare_redis, bare_zookeeper, is_watched, path_of, redis, until, variable, zookeeper},
    scenarios::{soon, unique},
};

fn is(error: &Error, code: u16, name: &str) {
    assert_eq!((error.code(), error.name()), (code, name), "{error}");
}

#[tokio::test]
async fn a_lease_has_to_make_sense() {
    let client = fencepost::connect(&redis()).await.unwrap();
    for (ttl, name) in [
        (Duration::ZERO, "not-positive"),
        (Duration::from_millis(1), "lease-too-short"),
        (Duration::MAX, "too-long"),
    ] {
        let error = client.lock_with("x", LockOptions::new().ttl(ttl)).unwrap_err();
        assert_eq!(error.name(), name, "{ttl:?}: {error}");
    }
    // A name that ZooKeeper refuses is a valid key.
    for name in ["a//b", "a/", "a\0b"] {
        let lock = client.lock(&format!("{}{name}", unique("odd"))).unwrap();
        soon(soon(lock.acquire()).await.unwrap().release()).await.unwrap();
    }
    assert_eq!(client.lock(&"n".repeat(5000)).unwrap_err().name(), "invalid-name");
    // In a cluster, the keys of such a lock would be on different servers.
    for name in ["a}b", "a{}b", "{}x"] {
        is(&client.lock(name).unwrap_err(), 102, "invalid-name");
    }
    soon(client.close()).await.unwrap();
}

#[tokio::test]
async fn a_wrong_password_is_an_error_and_the_right_one_works() {
    let address = variable("FENCEPOST_REDIS_AUTH");
    for wrong in ["redis://:wrong@", "redis://nobody:wrong@"] {
        let error = soon(fencepost::connect(&format!("{wrong}{address}")))
            .await
            .unwrap_err();
        is(&error, 306, "auth-failed");
        assert!(!format!("{error:?}").contains(":wrong"), "{error:?}");
    }
    let none = fencepost::connect(&format!("redis://{address}")).await.unwrap();
    let error = soon(none.lock("x").unwrap().acquire()).await.unwrap_err();
    is(&error, 306, "auth-failed");
    let native = std::error::Error::source(&error).unwrap();
    assert!(native.to_string().contains("NOAUTH"), "{native}");
    let password = variable("FENCEPOST_REDIS_AUTH_PASSWORD");
    let right = fencepost::connect(&format!("redis://:{password}@{address}"))
        .await
        .unwrap();
    let grant = soon(right.lock(&unique("auth")).unwrap().acquire())
        .await
        .unwrap();
    soon(grant.release()).await.unwrap();
    soon(none.close()).await.unwrap();
    soon(right.close()).await.unwrap();
}

#[tokio::test]
async fn a_key_of_another_type_is_an_error() {
    let client = fencepost::connect(&redis()).await.unwrap();
    let bare = bare_redis("FENCEPOST_REDIS").await;
    let name = unique("list");
    let _: i64 = ask(&bare, &["LPUSH", &name, "x"]).await;
    let lock = client.lock(&name).unwrap();
    let error = soon(lock.acquire()).await.unwrap_err();
    is(&error, 310, "wrong-type");
    assert!(
        std::error::Error::source(&error)
            .unwrap()
            .is::<redis::RedisError>()
    );
    is(&soon(lock.try_acquire()).await.unwrap_err(), 310, "wrong-type");
    let _: i64 = ask(&bare, &["DEL", &name]).await;
    soon(client.close()).await.unwrap();
}

#[tokio::test]
async fn without_rights_a_user_gets_an_error_and_without_channels_a_user_polls() {
    let bare = bare_redis("FENCEPOST_REDIS").await;
    let address = variable("FENCEPOST_REDIS");
    let (mute, deaf) = (unique("mute"), unique("deaf"));
    let _: String = ask(
        &bare,
        &[
            "ACL", "SETUSER", &mute, "on", ">pw", "~*", "+@all", "-eval", "-evalsha",
        ],
    )
    .await;
    let _: String = ask(
        &bare,
        &[
            "ACL",
            "SETUSER",
            &deaf,
            "on",
            ">pw",
            "~*",
            "&*",
            "+@all",
            "-subscribe",
        ],
    )
    .await;
    let client = fencepost::connect(&format!("redis://{mute}:pw@{address}"))
        .await
        .unwrap();
    let error = soon(client.lock(&unique("acl")).unwrap().acquire())
        .await
        .unwrap_err();
    is(&error, 305, "no-permission");
    soon(client.close()).await.unwrap();

    let client = fencepost::connect(&format!("redis://{deaf}:pw@{address}"))
        .await
        .unwrap();
    let lock = client.lock(&unique("acl")).unwrap();
    let grant = soon(lock.acquire()).await.unwrap();
    let waiting = tokio::spawn(async move { lock.acquire().await });
    soon(grant.release()).await.unwrap();
    soon(soon(waiting).await.unwrap().unwrap().release())
        .await
        .unwrap();
    soon(client.close()).await.unwrap();
    let _: i64 = ask(&bare, &["ACL", "DELUSER", &mute, &deaf]).await;
}

#[tokio::test]
async fn a_server_without_scripts_is_an_error() {
    let port = {
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        free.local_addr().unwrap().port()
    };
    let directory = std::env::temp_dir().join(unique("noscript"));
    std::fs::create_dir(&directory).unwrap();
    let mut server = tokio::process::Command::new("redis-server")
        .args(["--bind", "127.0.0.1", "--save", "", "--port", &port.to_string()])
        .args(["--rename-command", "EVALSHA", "", "--rename-command", "EVAL", ""])
        .current_dir(&directory)
        .stdout(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let client = fencepost::connect(&format!("redis://127.0.0.1:{port}"))
        .await
        .unwrap();
    let error = soon(client.lock("x").unwrap().acquire()).await.unwrap_err();
    is(&error, 311, "unsupported");
    soon(client.close()).await.unwrap();
    server.start_kill().unwrap();
    soon(server.wait()).await.unwrap();
    std::fs::remove_dir_all(&directory).unwrap();
}

#[tokio::test]
async fn foreign_contenders_are_waited_for_and_other_children_ignored() {
    let url = zookeeper();
    let bare = bare_zookeeper().await;
    let everybody = CreateMode::Persistent.with_acls(Acls::anyone_all());
    let directory = format!("{}/x", path_of(&url));
    bare.mkdir(&directory, &everybody).await.unwrap();
    bare.create(&format!("{directory}/readme"), b"", &everybody)
        .await
        .unwrap();
    let client = fencepost::connect(&url).await.unwrap();
    let lock = client.lock("x").unwrap();
    soon(soon(lock.acquire()).await.unwrap().release()).await.unwrap();
    let kazoo = format!("{directory}/0123456789abcdef0123456789abcdef__lock__0000000001");
    bare.create(&kazoo, b"", &everybody).await.unwrap();
    assert!(soon(lock.try_acquire()).await.unwrap().is_none());
    let waiting = tokio::spawn(async move { lock.acquire().await });
    until(|| async { is_watched(&kazoo).await }).await;
    bare.delete(&kazoo, None).await.unwrap();
    let grant = soon(waiting).await.unwrap().unwrap();
    assert_eq!(grant.mixed_layouts().as_deref(), kazoo.rsplit('/').next());
    soon(grant.release()).await.unwrap();
    until(|| async { bare.list_children(&directory).await.unwrap().len() == 1 }).await;
    soon(client.close()).await.unwrap();
}

#[tokio::test]
async fn a_directory_that_may_not_be_written_is_an_error() {
    let url = zookeeper();
    let bare = bare_zookeeper().await;
    let everybody = CreateMode::Persistent.with_acls(Acls::anyone_all());
    let closed = CreateMode::Persistent.with_acls(Acls::anyone_read());
    bare.mkdir(&path_of(&url), &everybody).await.unwrap();
    bare.create(&format!("{}/x", path_of(&url)), b"", &closed)
        .await
        .unwrap();
    let client = fencepost::connect(&url).await.unwrap();
    let error = soon(client.lock("x").unwrap().acquire()).await.unwrap_err();
    is(&error, 305, "no-permission");
    assert!(
        std::error::Error::source(&error)
            .unwrap()
            .is::<zookeeper_client::Error>()
    );
    soon(client.close()).await.unwrap();
}

#[tokio::test]
async fn refused_credentials_are_an_error() {
    let builder = Client::builder().auth("no such scheme", b"x");
    let error = soon(builder.connect(&zookeeper())).await.unwrap_err();
    is(&error, 306, "auth-failed");
}

#[tokio::test]
async fn acls_and_credentials_are_used() {
    let url = zookeeper();
    let acl = [Acl::new(Permission::ALL, AuthId::authed())];
    let builder = Client::builder().auth("digest", b"me:secret").acl(acl);
    let client = builder.connect(&url).await.unwrap();
    let grant = soon(client.lock("x").unwrap().acquire()).await.unwrap();
    let other = fencepost::connect(&url).await.unwrap();
    let error = soon(other.lock("x").unwrap().acquire()).await.unwrap_err();
    is(&error, 305, "no-permission");
    soon(grant.release()).await.unwrap();
    soon(client.close()).await.unwrap();
    soon(other.close()).await.unwrap();
}

#[tokio::test]
async fn a_lease_is_refused_where_sessions_are() {
    let client = fencepost::connect(&zookeeper()).await.unwrap();
    for options in [
        LockOptions::new().ttl(Duration::from_secs(1)),
        LockOptions::new().renew(false),
    ] {
        is(
            &client.lock_with("x", options).unwrap_err(),
            108,
            "unknown-option",
        );
    }
    soon(client.close()).await.unwrap();
}

#[tokio::test]
async fn a_missing_database_is_an_error_at_once() {
    let patient = Client::builder().connect_timeout(Duration::from_secs(3600));
    let error = soon(patient.connect(&format!("{}/99", redis())))
        .await
        .unwrap_err();
    is(&error, 312, "server-error");
    assert!(format!("{error:?}").contains("DB index"), "{error:?}");
}

#[tokio::test]
async fn closing_counts_what_the_server_has_refused_to_take_back() {
    let bare = bare_redis("FENCEPOST_REDIS").await;
    let address = variable("FENCEPOST_REDIS");
    let user = unique("user");
    let _: String = ask(
        &bare,
        &["ACL", "SETUSER", &user, "on", ">pw", "~*", "&*", "+@all"],
    )
    .await;
    let client = fencepost::connect(&format!("redis://{user}:pw@{address}"))
        .await
        .unwrap();
    let grant = soon(client.lock(&unique("kept")).unwrap().acquire())
        .await
        .unwrap();
    let _: String = ask(&bare, &["ACL", "SETUSER", &user, "-eval", "-evalsha"]).await;
    let error = soon(client.close()).await.unwrap_err();
    assert!(matches!(error, Error::CleanupIncomplete { left: 1 }), "{error:?}");
    drop(grant);
    let _: i64 = ask(&bare, &["ACL", "DELUSER", &user]).await;
}

//! The client without a server: `memory:`, and the errors that occur before the client sends anything.

mod attention;
mod recipes;
mod reentry;
mod scenarios;

use std::time::Duration;

use fencepost::{Client, Error, Layout, LockOptions, Refusal};
use scenarios::{soon, unique};

mod on_memory {
    crate::scenarios!(format!("memory:{}", crate::unique("server")));
    crate::recipes!(format!("memory:{}", crate::unique("server")));
    crate::reentry!(format!("memory:{}", crate::unique("server")));
    crate::sides!(format!("memory:{}", crate::unique("server")));
    crate::single!(format!("memory:{}", crate::unique("server")));
    crate::attention!(format!("memory:{}", crate::unique("server")));
}

#[tokio::test]
async fn a_server_without_a_name_is_ones_own() {
    let (a, b) = (
        fencepost::connect("memory:").await.unwrap(),
        fencepost::connect("memory:").await.unwrap(),
    );
    let mine = soon(a.lock("x").unwrap().acquire()).await.unwrap();
    let theirs = soon(b.lock("x").unwrap().acquire()).await.unwrap();
    drop((mine, theirs));
}

/// After a release has begun on one thread, no other thread may use the grant.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_hold_joins_a_grant_that_is_being_released() {
    let client = fencepost::connect("memory:").await.unwrap();
    let stock = client
        .lock_with("x", LockOptions::new().owner("request-17"))
        .unwrap();
    let tasks: Vec<_> = (0..4)
        .map(|_| {
            let stock = stock.clone();
            tokio::spawn(async move {
                let mut entered = 0;
                while entered < 1000 {
                    match stock.acquire().await {
                        Ok(grant) => {
                            assert!(grant.is_valid());
                            grant.release().await.unwrap();
                            entered += 1;
                        }
                        Err(Error::OwnerBusy { .. }) => tokio::task::yield_now().await,
                        Err(error) => panic!("{error}"),
                    }
                }
            })
        })
        .collect();
    for task in tasks {
        soon(task).await.unwrap();
    }
    soon(client.close()).await.unwrap();
}

#[tokio::test]
async fn addresses_are_checked() {
    for (url, name) in [
        ("", "unknown-scheme"),
        ("localhost", "unknown-scheme"),
        ("http://localhost", "unknown-scheme"),
        ("memory:a/b", "invalid-url"),
        ("zk://", "invalid-url"),
        ("zk://localhost:0", "invalid-url"),
        ("zk://localhost?sessions=1", "unknown-option"),
        ("zk://localhost?session_timeout=-5", "not-positive"),
        ("zk://localhost?session_timeout=0", "not-positive"),
        ("redis://", "invalid-url"),
        ("redis://localhost?retries=3", "unknown-option"),
        ("redis://localhost/one", "invalid-url"),
    ] {
        let error = soon(fencepost::connect(url)).await.unwrap_err();
        assert!(matches!(error, Error::Config(_)), "{url}: {error:?}");
        assert_eq!(error.name(), name, "{url}");
    }
    let error = soon(fencepost::connect("redis://user:secret@"))
        .await
        .unwrap_err();
    assert!(!format!("{error} {error:?}").contains("secret"), "{error:?}");
    let builder = Client::builder().connect_timeout(Duration::ZERO);
    assert_eq!(
        soon(builder.connect("memory:")).await.unwrap_err().name(),
        "not-positive"
    );
}

#[tokio::test]
async fn names_are_checked() {
    let client = fencepost::connect("memory:").await.unwrap();
    for name in [
        "a//b",
        "a/",
        "a/./b",
        "a/../b",
        "a\0b",
        "a\u{1}b",
        "a\u{1f512}b",
        "a\u{e000}b",
    ] {
        let error = client.lock(name).unwrap_err();
        assert_eq!(error.name(), "invalid-name", "{name:?}: {error}");
    }
}

#[tokio::test]
async fn options_of_leases_are_checked_as_on_redis() {
    let client = fencepost::connect("memory:").await.unwrap();
    let options = LockOptions::new().ttl(Duration::from_secs(10)).renew(false);
    let grant = soon(client.lock_with("x", options).unwrap().acquire())
        .await
        .unwrap();
    assert!(grant.is_valid());
    soon(grant.release()).await.unwrap();
    let brief = || LockOptions::new().ttl(Duration::from_millis(1));
    let error = client.lock_with("x", brief()).unwrap_err();
    assert_eq!(error.name(), "lease-too-short", "{error}");
    // The client refuses options that no server has.
    let error = client.semaphore_with("x", 2, brief()).unwrap_err();
    assert_eq!(error.name(), "unknown-option", "{error}");
    soon(client.close()).await.unwrap();
}

#[tokio::test]
async fn redis_says_what_only_zookeeper_has() {
    let client = Client::builder().connect_lazily("redis://localhost").unwrap();
    let lock = |options| client.lock_with("x", options).map(drop);
    for (option, refused) in [
        ("read_write_lock", client.read_write_lock("x").map(drop)),
        ("election", client.election("x").map(drop)),
        ("semaphore", client.semaphore("x", 2).map(drop)),
        ("multi_lock", client.multi_lock(["x", "y"]).map(drop)),
        ("layout", lock(LockOptions::new().layout(Layout::Kazoo))),
        ("identifier", lock(LockOptions::new().identifier("till-7"))),
        ("revocable", lock(LockOptions::new().revocable(false))),
        ("fair", lock(LockOptions::new().fair(false))),
    ] {
        let error = refused.unwrap_err();
        assert_eq!((error.code(), error.name()), (108, "unknown-option"));
        let text = error.to_string();
        assert!(text.contains(option) && text.contains("ZooKeeper"), "{text}");
    }
    let other = fencepost::connect("memory:").await.unwrap();
    let held = other.lock("x").unwrap();
    let _grant = soon(held.acquire()).await.unwrap();
    let holder = &soon(held.contenders()).await.unwrap()[0];
    let error = soon(client.lock("x").unwrap().revoke(holder)).await.unwrap_err();
    assert_eq!(error.name(), "unknown-option");
    soon(other.close()).await.unwrap();
    soon(client.close()).await.unwrap();
}

/// Returns a port on which no program listens.
fn nobody() -> u16 {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    taken.local_addr().unwrap().port()
}

#[tokio::test]
async fn a_server_that_is_not_there_is_an_error_and_no_hang() {
    for scheme in ["zk", "redis"] {
        let url = format!("{scheme}://127.0.0.1:{}", nobody());
        let limit = Duration::from_millis(300);
        let refused = |error: Error| {
            let Error::Refused(refused) = &error else {
                panic!("{error:?}")
            };
            assert_eq!(refused.reason(), Refusal::Unreachable);
            assert!(std::error::Error::source(&error).is_some(), "{scheme}: {error:?}");
            let text = error.to_string();
            for part in ["127.0.0.1:", "check the address"] {
                assert!(text.contains(part), "{text}");
            }
        };
        let connecting = Client::builder().connect_timeout(limit).connect(&url);
        refused(soon(connecting).await.unwrap_err());
        let client = Client::builder()
            .connect_timeout(limit)
            .connect_lazily(&url)
            .unwrap();
        let lock = client.lock("x").unwrap();
        refused(soon(lock.acquire()).await.unwrap_err());
        refused(soon(lock.try_acquire()).await.unwrap_err());
        refused(soon(lock.acquire_within(limit)).await.unwrap_err());
        soon(client.close()).await.unwrap();
        assert_eq!(soon(lock.acquire()).await.unwrap_err().name(), "client-closed");
    }
}

#[tokio::test]
async fn options_that_do_not_apply_are_refused() {
    let acl = || {
        let all = zookeeper_client::Permission::ALL;
        vec![zookeeper_client::Acl::new(
            all,
            zookeeper_client::AuthId::anyone(),
        )]
    };
    let subscriber = || redis::Client::open("redis://127.0.0.1:1").unwrap();
    let builder = Client::builder;
    for (option, builder, urls) in [
        (
            "prefix",
            builder().prefix("/shop"),
            &["memory:", "zk://127.0.0.1:1", "redis://127.0.0.1:1"][..],
        ),
        ("auth", builder().auth("digest", b"u:p"), &["redis://127.0.0.1:1"]),
        ("acl", builder().acl(acl()), &["redis://127.0.0.1:1"]),
        (
            "subscribe_with",
            builder().subscribe_with(subscriber()),
            &["memory:", "zk://127.0.0.1:1", "redis://127.0.0.1:1"],
        ),
    ] {
        for url in urls {
            let error = builder.clone().connect_lazily(url).unwrap_err();
            assert_eq!(error.name(), "unknown-option", "{option} {url}");
            assert!(error.to_string().contains(option), "{error}");
        }
    }
    // `memory:` accepts the options of ZooKeeper, so that it can replace ZooKeeper in tests.
    let client = builder().acl(acl()).auth("digest", b"u:p").connect("memory:");
    soon(soon(client).await.unwrap().close()).await.unwrap();
}

#[tokio::test]
async fn errors_and_grants_name_their_lock() {
    let client = fencepost::connect("memory:").await.unwrap();
    let long = "n".repeat(100);
    for (name, shown) in [
        ("stock/42", "stock/42".to_owned()),
        (&long, format!("{}…", "n".repeat(64))),
    ] {
        let options = LockOptions::new().max_hold(Duration::from_millis(1));
        let grant = soon(client.lock_with(name, options).unwrap().acquire())
            .await
            .unwrap();
        assert_eq!(grant.lock(), shown);
        assert!(format!("{grant:?}").contains(&shown), "{grant:?}");
        let lost = soon(grant.lost()).await;
        assert_eq!(lost.lock(), Some(shown.as_str()));
        assert!(lost.to_string().contains(&shown), "{lost}");
        let error = soon(grant.release()).await.unwrap_err();
        assert!(error.to_string().contains(&shown), "{error}");
    }
    soon(client.close()).await.unwrap();
}

#[test]
fn a_client_needs_a_runtime() {
    let error = Client::builder().connect_lazily("memory:").unwrap_err();
    assert_eq!((error.code(), error.name()), (504, "no-runtime"));
}

#[test]
fn no_call_waits_for_a_runtime_that_is_gone() {
    let runtime = || {
        tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap()
    };
    let (theirs, ours) = (runtime(), runtime());
    let url = format!("memory:{}", unique("gone"));
    let (lock, grant) = theirs.block_on(async {
        let client = fencepost::connect(&url).await.unwrap();
        let lock = client.lock("x").unwrap();
        let grant = lock.acquire().await.unwrap();
        (lock, grant)
    });
    let waiting = ours.spawn(async move { (lock.acquire().await.map(drop), lock) });
    ours.block_on(async {
        let other = fencepost::connect(&url).await.unwrap();
        let lock = other.lock("x").unwrap();
        assert!(scenarios::waits(lock.acquire()).await);
        theirs.shutdown_background();
        let (refused, lock_of_the_gone) = soon(waiting).await.unwrap();
        assert_eq!(refused.unwrap_err().name(), "connection-closed");
        assert_eq!(
            soon(grant.lost()).await.reason(),
            fencepost::Loss::ConnectionClosed
        );
        assert_eq!(
            soon(lock_of_the_gone.acquire()).await.unwrap_err().name(),
            "connection-closed"
        );
        let granted = soon(lock.acquire()).await.unwrap();
        soon(granted.release()).await.unwrap();
    });
}

#[cfg(not(feature = "redis-tls"))]
#[tokio::test]
async fn an_address_with_tls_says_what_to_do() {
    let error = soon(fencepost::connect("rediss://user:secret@localhost"))
        .await
        .unwrap_err();
    assert_eq!(error.name(), "invalid-url");
    let text = error.to_string();
    assert!(
        text.contains("redis-tls") && text.contains("from_redis") && !text.contains("secret"),
        "{text}"
    );
}

#[cfg(feature = "redis-tls")]
#[tokio::test]
async fn a_file_without_certificates_is_an_error_at_once() {
    let text = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    for (path, why) in [("/no/such/ca.pem", "No such file"), (text, "no certificate")] {
        let error = soon(fencepost::connect(&format!(
            "rediss://user:secret@localhost?ca={path}"
        )))
        .await
        .unwrap_err();
        assert_eq!(error.name(), "invalid-url");
        let text = error.to_string();
        assert!(
            text.contains(path) && text.contains(why) && !text.contains("secret"),
            "{text}"
        );
    }
}

#[test]
fn the_hub_refuses_what_makes_no_sense() {
    use fencepost::{
        Misuse, clock,
        hub::{
            AcquireTimeout, CommandId, ContenderId, Hub, Intent, Key, Outcome, Output, RawSettings, Reply,
            Settings, settings,
        },
    };

    assert_eq!(Hub::new("sql", 0).unwrap_err().name(), "unknown-option");
    let mut hub = Hub::new("redis", 0).unwrap();
    let foreign = settings::zookeeper_mutex("", "x").unwrap();
    let refused = hub.open(clock::now(), &foreign, ContenderId([0; 16]), 0);
    assert!(matches!(refused, Err(Misuse::WrongFamily { expected: "redis" })));
    let unknown = RawSettings::machine("zookeeper-mutex")
        .with("name", "x")
        .with("layout", "sieve");
    let error = Settings::try_from(unknown).unwrap_err();
    assert_eq!(error.name(), "invalid-option");
    assert!(error.to_string().contains("sieve"), "{error}");
    let ours = settings::redis_string("x", Duration::from_secs(10)).unwrap();
    let key = hub.open(clock::now(), &ours, ContenderId([0; 16]), 0).unwrap();
    assert_eq!(
        hub.intent(clock::now(), key, Intent::Release),
        Err(Misuse::NotHeld)
    );
    assert_eq!(
        hub.intent(clock::now(), Key(99), Intent::Cancel),
        Err(Misuse::UnknownKey { key: 99 })
    );
    let acquire = Intent::Acquire(AcquireTimeout::Forever);
    hub.intent(clock::now(), key, acquire.clone()).unwrap();
    assert_eq!(hub.intent(clock::now(), key, acquire), Err(Misuse::Busy));
    let (_, Output::Command(command)) = hub.poll_output(None) else {
        panic!("there is a command")
    };
    let answer = |hub: &mut Hub, id, reply| hub.handle_outcome(clock::now(), id, Outcome::Redis(reply));
    let never = CommandId(command.id.0 + 1);
    assert!(matches!(
        answer(&mut hub, never, Reply::Nil),
        Err(Misuse::UnknownCommand { .. })
    ));
    let wrong = answer(&mut hub, command.id, Reply::Int(5));
    assert!(matches!(wrong, Err(Misuse::WrongReply { .. })));
    // The outcome of the command is unknown: the same attempt acquires again.
    let (_, Output::Wait(wait)) = hub.poll_output(None) else {
        panic!("nothing at once")
    };
    hub.handle_timeout(wait.until.unwrap());
    let (_, Output::Command(again)) = hub.poll_output(None) else {
        panic!("asked again")
    };
    assert_eq!(again.request.arguments, command.request.arguments);
}

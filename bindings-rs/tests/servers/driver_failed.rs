//! A call that the client library cannot carry out is not a network failure: the client reports it at once, and never
//! retries it.

use std::{
    error::Error as _,
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicUsize, Ordering},
    },
};

use fencepost::{Client, Error, Loss};
use redis::{
    Cmd, ConnectionAddr, ErrorKind, IntoConnectionInfo, Pipeline, RedisError, RedisFuture, Value,
    aio::{ConnectionLike, MultiplexedConnection},
};

use crate::{
    control::bare_redis,
    scenarios::{runs_out, soon, unique},
};

/// A connection type of the program, whose calls can fail in one of the [`KINDS`].
#[derive(Clone)]
struct Misused {
    connection: MultiplexedConnection,
    kind: Arc<AtomicUsize>,
    calls: Arc<AtomicU32>,
}

/// The errors of the library for a wrong call.
const KINDS: [ErrorKind; 5] = [
    ErrorKind::UnexpectedReturnType,
    ErrorKind::Client,
    ErrorKind::InvalidClientConfig,
    ErrorKind::EmptySentinelList,
    ErrorKind::RESP3NotSupported,
];
const NONE: usize = KINDS.len();
const PANICS: usize = NONE + 1;

impl ConnectionLike for Misused {
    fn req_packed_command<'a>(&'a mut self, command: &'a Cmd) -> RedisFuture<'a, Value> {
        Box::pin(async move {
            self.calls.fetch_add(1, Ordering::Relaxed);
            let kind = self.kind.load(Ordering::Relaxed);
            assert!(kind != PANICS, "a defect of the program");
            match KINDS.get(kind) {
                Some(kind) => Err(RedisError::from((*kind, "a wrong call"))),
                None => self.connection.req_packed_command(command).await,
            }
        })
    }

    fn req_packed_commands<'a>(
        &'a mut self,
        commands: &'a Pipeline,
        offset: usize,
        count: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        self.connection.req_packed_commands(commands, offset, count)
    }

    fn get_db(&self) -> i64 {
        self.connection.get_db()
    }
}

async fn misused() -> (Misused, Client) {
    let connection = Misused {
        connection: bare_redis("FENCEPOST_REDIS").await,
        kind: Arc::new(NONE.into()),
        calls: Arc::default(),
    };
    let client = Client::from_redis(connection.clone()).unwrap();
    (connection, client)
}

fn failed(error: &Error) {
    assert_eq!((error.code(), error.name()), (506, "driver-failed"), "{error}");
    assert!(error.source().unwrap().is::<RedisError>(), "{error:?}");
}

#[tokio::test]
async fn a_wrong_call_is_not_repeated() {
    for kind in 0..KINDS.len() {
        let (connection, client) = misused().await;
        let lock = client.lock(&unique("misused")).unwrap();
        soon(soon(lock.acquire()).await.unwrap().release()).await.unwrap();
        connection.kind.store(kind, Ordering::Relaxed);
        let before = connection.calls.load(Ordering::Relaxed);
        failed(&soon(lock.acquire()).await.unwrap_err());
        assert_eq!(connection.calls.load(Ordering::Relaxed), before + 1);
        // Every later call fails in the same way, without a call of the library.
        connection.kind.store(NONE, Ordering::Relaxed);
        failed(&soon(lock.acquire()).await.unwrap_err());
        failed(&client.lock("other").unwrap_err());
        failed(&soon(client.close()).await.unwrap_err());
        assert_eq!(connection.calls.load(Ordering::Relaxed), before + 1);
    }
}

#[tokio::test]
async fn a_connection_that_panics_is_a_wrong_call() {
    let (connection, client) = misused().await;
    let lock = client.lock(&unique("panics")).unwrap();
    soon(soon(lock.acquire()).await.unwrap().release()).await.unwrap();
    connection.kind.store(PANICS, Ordering::Relaxed);
    let error = soon(lock.acquire()).await.unwrap_err();
    assert_eq!(error.code(), 506);
    let cause = error.source().unwrap().to_string();
    assert!(cause.contains("panicked: a defect of the program"), "{cause}");
    assert_eq!(soon(client.close()).await.unwrap_err().code(), 506);
}

#[tokio::test]
async fn everything_ends_with_it() {
    let (connection, client) = misused().await;
    let lock = client.lock(&unique("held")).unwrap();
    let held = soon(lock.acquire()).await.unwrap();
    assert!(runs_out(async |limit| lock.acquire_within(limit).await).await);
    let waiting = tokio::spawn({
        let lock = lock.clone();
        async move { lock.acquire().await.map(drop) }
    });
    connection.kind.store(0, Ordering::Relaxed);
    // The waiter polls at once, and then every 100 ms.
    failed(&soon(waiting).await.unwrap().unwrap_err());
    let lost = soon(held.lost()).await;
    assert_eq!(lost.reason(), Loss::ConnectionClosed);
    assert!(lost.source().unwrap().is::<RedisError>(), "{lost:?}");
    assert!(!held.is_valid());
    assert!(matches!(soon(held.release()).await, Err(Error::Lost(_))));
    failed(&soon(client.close()).await.unwrap_err());
}

#[tokio::test]
async fn a_connection_that_cannot_subscribe_is_an_error_at_once() {
    // The library was built without TLS.
    let address = ConnectionAddr::TcpTls {
        host: "127.0.0.1".into(),
        port: 1,
        insecure: false,
        tls_params: None,
    };
    let cannot = redis::Client::open(address.into_connection_info().unwrap()).unwrap();
    let client = Client::builder()
        .subscribe_with(cannot)
        .from_redis(bare_redis("FENCEPOST_REDIS").await)
        .unwrap();
    let lock = client.lock(&unique("deaf")).unwrap();
    let held = soon(lock.acquire()).await.unwrap();
    failed(&soon(lock.acquire()).await.unwrap_err());
    assert!(!held.is_valid());
    failed(&soon(client.close()).await.unwrap_err());
}

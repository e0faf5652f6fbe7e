//! The connection for commands: made, watched, and made again.

use alloc::sync::Arc;
use core::{
    any::TypeId,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::Duration,
};
use std::{
    io,
    sync::{Mutex, PoisonError},
};

use fencepost_core::{CommandId, Refusal};
use futures_util::future::BoxFuture;
use redis::{
    Cmd, ErrorKind, RedisError, Value,
    aio::{ConnectionLike, MultiplexedConnection},
};
use tokio::{sync::Notify, time};

use super::{
    driver::{Driver, Line},
    outcomes,
    server::Server,
};
use crate::engine::{alarm::within, inputs::Engine, machines::Completed};

/// What a command has come to, as the library says it.
pub(super) type Answer = Result<Value, RedisError>;

/// Anything that commands can be sent on.
pub(super) trait Calls: Send + Sync {
    fn call(&self, id: CommandId, command: Cmd, health: Arc<Health>) -> BoxFuture<'static, Completed>;
}

/// Somebody else's connection.
pub(super) struct Given<C>(pub(super) C);

impl<C: 'static> Given<C> {
    /// Whether the library makes such a connection again when it has ended. A multiplexed connection ends with its socket; managers and
    /// clusters go on, and of a type that the program has made itself it is assumed.
    pub(super) fn is_made_again() -> bool {
        TypeId::of::<C>() != TypeId::of::<MultiplexedConnection>()
    }
}

impl<C: ConnectionLike + Clone + Send + Sync + 'static> Calls for Given<C> {
    fn call(&self, id: CommandId, command: Cmd, health: Arc<Health>) -> BoxFuture<'static, Completed> {
        let mut connection = self.0.clone();
        Box::pin(async move {
            let answer = connection.req_packed_command(&command).await;
            health.answered(&answer);
            outcomes::completed(id, answer)
        })
    }
}

/// Our own.
struct Own(MultiplexedConnection);

impl Calls for Own {
    fn call(&self, id: CommandId, command: Cmd, health: Arc<Health>) -> BoxFuture<'static, Completed> {
        let mut connection = self.0.clone();
        Box::pin(async move {
            let answer = connection.send_packed_command(&command).await;
            health.answered(&answer);
            if outcomes::is_from_replica(&answer) {
                health.leave();
            }
            outcomes::completed(id, answer)
        })
    }
}

/// Whether a connection is worth anything.
#[derive(Default)]
pub(super) struct Health {
    sent: AtomicU64,
    answered: AtomicU64,
    dead: AtomicBool,
    died: Notify,
    /// The connection cannot be used any more once an error has said so: there is nothing that makes it again.
    mortal: bool,
    error: Mutex<Option<RedisError>>,
}

impl Health {
    /// Of a connection that ends with its first fatal error.
    pub(super) fn mortal() -> Self {
        Self {
            mortal: true,
            ..Self::default()
        }
    }

    pub(super) fn is_dead(&self) -> bool {
        self.dead.load(Ordering::Acquire)
    }

    pub(super) fn sent(&self) {
        self.sent.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn answered(&self, answer: &Answer) {
        self.answered.fetch_add(1, Ordering::Relaxed);
        if let Err(error) = answer
            && (error.is_connection_dropped() || error.is_unrecoverable_error())
        {
            *self.error.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.clone());
            if self.mortal {
                self.die();
            } else {
                self.died.notify_one();
            }
        }
    }

    /// The server at the other end is not the one that is wanted any more.
    fn leave(&self) {
        self.died.notify_one();
    }

    /// Completes when a mortal connection has ended, with the error that has said so.
    pub(super) async fn death(&self) -> RedisError {
        while !self.is_dead() {
            self.died.notified().await;
        }
        let error = self.error.lock().unwrap_or_else(PoisonError::into_inner);
        let gone = || io::Error::from(io::ErrorKind::NotConnected).into();
        error.clone().unwrap_or_else(gone)
    }

    fn die(&self) {
        self.dead.store(true, Ordering::Release);
        self.died.notify_one();
    }

    /// Completes when the connection has ended, or has fallen silent.
    async fn over(&self) {
        tokio::select! {
            () = self.died.notified() => {}
            () = self.silence() => {}
        }
    }

    /// Completes when the connection has left a command without any answer for so long that it must be a black hole.
    async fn silence(&self) {
        let mut silent = 0;
        let mut before = self.answered.load(Ordering::Relaxed);
        while silent < SILENT_TICKS {
            tick().await;
            let answered = self.answered.load(Ordering::Relaxed);
            let waiting = self.sent.load(Ordering::Relaxed) != answered;
            silent = if waiting && answered == before {
                silent + 1
            } else {
                0
            };
            before = answered;
        }
    }

    /// Completes when there has been an answer.
    async fn answer(&self) {
        let before = self.answered.load(Ordering::Relaxed);
        while self.answered.load(Ordering::Relaxed) == before {
            tick().await;
        }
    }
}

/// Some time. When it fires late, answers come first.
async fn tick() {
    let _never = within(TICK, core::future::pending::<()>()).await;
}

const TICK: Duration = Duration::from_secs(1);
const SILENT_TICKS: u32 = 5;

/// How long one attempt to connect may take.
pub(super) const CONNECT_WITHIN: Duration = Duration::from_secs(5);

/// Between two attempts to connect: doubled up to the longest.
const RETRY_AFTER: Duration = Duration::from_millis(10);
const RETRY_AT_MOST: Duration = Duration::from_millis(500);

/// Why a call on the program's connection has had no answer.
#[derive(Debug, thiserror::Error)]
#[error("the connection given to Client::from_redis has not answered for {SILENT_TICKS} s: {remedy}")]
struct Silent {
    remedy: &'static str,
}

/// Watches the program's connection until it ends; gives the error that has said so. It is not this client's to end, so its silence is reported.
pub(super) async fn look_after(health: &Health, engine: &Engine) -> RedisError {
    let remedy = if health.mortal {
        "end it and give another one"
    } else {
        "look whether its server answers; the library makes the connection again"
    };
    let watching = async {
        loop {
            health.silence().await;
            engine.connection_failed(Arc::new(Silent { remedy }));
            health.answer().await;
            engine.connected();
        }
    };
    tokio::select! {
        error = health.death() => error,
        never = watching => never,
    }
}

/// Keeps a connection as long as it is polled.
pub(super) async fn run(driver: &Driver, server: &Server, engine: &Engine) {
    let mut wait = RETRY_AFTER;
    loop {
        let health = Arc::new(Health::default());
        match limited(connect(server, &health)).await {
            Ok(connection) => {
                wait = RETRY_AFTER;
                *driver.line() = Line::Up(Arc::new(Own(connection)), Arc::clone(&health));
                engine.connected();
                health.over().await;
                health.die();
                driver.leave_subscriptions();
                // The library's own error comes with the commands that were under way.
                *driver.line() = Line::Down(None);
            }
            Err(error) => {
                let refused = refusal(&error);
                let native: crate::Native = Arc::new(error);
                engine.connection_failed(Arc::clone(&native));
                *driver.line() = match refused {
                    Some((reason, text)) => {
                        engine.rejected(reason, Arc::clone(&native));
                        Line::Refused(text, native)
                    }
                    None => Line::Down(Some(native)),
                };
                time::sleep(wait).await;
                wait = wait.saturating_mul(2).min(RETRY_AT_MOST);
            }
        }
    }
}

/// What a server has said that does not want us, or that we do not want. Over RESP2 the library keeps the server's words to itself.
fn refusal(error: &RedisError) -> Option<(Refusal, String)> {
    if error.kind() == ErrorKind::AuthenticationFailed || matches!(error.code(), Some("WRONGPASS" | "NOAUTH"))
    {
        return Some((Refusal::AuthFailed, format!("WRONGPASS {error}")));
    }
    // The server has answered and will answer so again, whatever the code: the library keeps that to itself.
    let said = error.detail().unwrap_or_default();
    let no_database = ["DB index", "cluster mode", "permissions"]
        .iter()
        .any(|part| said.contains(part));
    let distrusted = error.kind() == ErrorKind::InvalidClientConfig;
    (distrusted || no_database).then(|| (Refusal::ServerError, format!("ERR {error}")))
}

/// Limits the time of something that connects.
pub(super) async fn limited<T>(
    connecting: impl Future<Output = Result<T, RedisError>>,
) -> Result<T, RedisError> {
    let timed_out = || Err(io::Error::from(io::ErrorKind::TimedOut).into());
    within(CONNECT_WITHIN, connecting).await.unwrap_or_else(timed_out)
}

/// One connection, watched until its end.
async fn connect(server: &Server, health: &Arc<Health>) -> Result<MultiplexedConnection, RedisError> {
    let (connection, driver) = server.connect().await?;
    let health = Arc::clone(health);
    // Ends with the connection, or with the last clone of it.
    tokio::spawn(async move {
        driver.await;
        health.die();
    });
    Ok(connection)
}

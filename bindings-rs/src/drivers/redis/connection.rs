//! The connection for commands: the driver makes it, watches it, and reconnects.

use alloc::sync::Arc;
use core::time::Duration;

use fencepost_core::Refusal;
use redis::{ErrorKind, RedisError, aio::MultiplexedConnection};
use tokio::time;

use super::{
    calls::Own,
    health::Health,
    server::{Server, limited},
    state::{ConnectionState, Driver},
};
use crate::engine::driver::Sink;

/// The pause between two attempts to connect. It doubles up to the longest.
const RETRY_AFTER: Duration = Duration::from_millis(10);
const RETRY_AT_MOST: Duration = Duration::from_millis(500);

/// Connects and reconnects, as long as this is polled.
pub(super) async fn run(driver: &Driver, server: &Server, sink: &dyn Sink) {
    let mut wait = RETRY_AFTER;
    loop {
        let health = Arc::new(Health::default());
        match limited(connect(server, &health)).await {
            Ok(connection) => {
                wait = RETRY_AFTER;
                *driver.connection_state() =
                    ConnectionState::Up(Arc::new(Own(connection)), Arc::clone(&health));
                sink.connected();
                health.over().await;
                health.die();
                driver.leave_subscriptions();
                // The commands in flight return the library's error.
                *driver.connection_state() = ConnectionState::Down(None);
            }
            Err(error) => {
                let refused = refusal(&error);
                let native: crate::Native = Arc::new(error);
                sink.connection_failed(Arc::clone(&native));
                *driver.connection_state() = match refused {
                    Some((reason, text)) => {
                        sink.rejected(reason, Arc::clone(&native));
                        ConnectionState::Refused(text, native)
                    }
                    None => ConnectionState::Down(Some(native)),
                };
                time::sleep(wait).await;
                wait = wait.saturating_mul(2).min(RETRY_AT_MOST);
            }
        }
    }
}

/// The refusal, if the server does not accept the client, or the client does not accept the server. Over RESP2, the
/// library does not report the server's text.
fn refusal(error: &RedisError) -> Option<(Refusal, String)> {
    if error.kind() == ErrorKind::AuthenticationFailed || matches!(error.code(), Some("WRONGPASS" | "NOAUTH"))
    {
        return Some((Refusal::AuthFailed, format!("WRONGPASS {error}")));
    }
    // The server would refuse a retry in the same way, for any code. The library does not report the code.
    let detail = error.detail().unwrap_or_default();
    let no_database = ["DB index", "cluster mode", "permissions"]
        .iter()
        .any(|part| detail.contains(part));
    let distrusted = error.kind() == ErrorKind::InvalidClientConfig;
    (distrusted || no_database).then(|| (Refusal::ServerError, format!("ERR {error}")))
}

/// Makes one connection, and watches it until its end.
async fn connect(server: &Server, health: &Arc<Health>) -> Result<MultiplexedConnection, RedisError> {
    let (connection, driver) = server.connect().await?;
    let health = Arc::clone(health);
    // This ends with the connection, or with its last clone.
    tokio::spawn(async move {
        driver.await;
        health.die();
    });
    Ok(connection)
}

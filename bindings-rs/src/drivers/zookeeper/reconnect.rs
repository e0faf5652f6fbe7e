//! Connects the session again when its connection is lost or its server is silent.

use core::time::Duration;

use fencepost_core::{
    SessionId,
    zookeeper::{SessionState as CoreState, handshake_timeout},
};
use zookeeper_client::{Error, SessionInfo};

use super::{
    connection::Made,
    state::{Driver, RETRY_AFTER, session_notice},
};
use crate::{
    clock,
    engine::{alarm::within, driver::Sink},
};

/// A session without a connection.
pub(super) struct Stray {
    pub(super) info: SessionInfo,
    pub(super) timeout: Duration,
}

/// Connects the session again, without a time limit. It first tries the servers to which the session was not connected.
/// Fails if the session has ended.
pub(super) async fn again(driver: &Driver, sink: &dyn Sink, stray: &Stray) -> Result<Made, Error> {
    let order = driver.other_hosts_first();
    let mut failures = 0_u32;
    for host in order.iter().cycle() {
        sink.notice(session_notice(
            CoreState::Connecting,
            SessionId(0),
            Duration::ZERO,
        ));
        match attempt(driver, stray, host, failures).await {
            Err(error @ (Error::SessionExpired | Error::AuthFailed)) => return Err(error),
            Err(error) => sink.connection_failed(alloc::sync::Arc::new(error)),
            Ok(mut made) => {
                made.host = Some(host.clone());
                return Ok(made);
            }
        }
        failures = failures.saturating_add(1);
        // One silent server costs one failure. After a failure for each server, no server replies.
        if usize::try_from(failures).is_ok_and(|failures| failures >= order.len()) {
            tokio::time::sleep(RETRY_AFTER).await;
        }
    }
    Err(Error::NoHosts)
}

/// Tries one server, for as long as a handshake may take.
async fn attempt(driver: &Driver, stray: &Stray, host: &str, failures: u32) -> Result<Made, Error> {
    let until = clock::now().plus(handshake_timeout(stray.timeout, failures));
    let connecting = Made::connect(driver.connector().with_session(stray.info.clone()), host);
    let made = within(until.since(clock::now()), connecting)
        .await
        .unwrap_or(Err(Error::Timeout))?;
    // The library does not report which transactions this session has seen. After this request, the server has seen at
    // least as many.
    let synced = within(until.since(clock::now()), made.connection.client.sync("/")).await;
    match synced.unwrap_or(Err(Error::Timeout)) {
        // The leader also replies to a request that is not permitted.
        Ok(()) | Err(Error::NoNode | Error::NoAuth) => Ok(made),
        Err(error) => {
            made.cut().await;
            Err(error)
        }
    }
}

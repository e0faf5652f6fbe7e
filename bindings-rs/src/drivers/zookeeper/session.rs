//! One session after another, and the notices about them.

use alloc::sync::Arc;
use core::{mem, time::Duration};
#[cfg(target_os = "linux")]
use std::sync::PoisonError;

use fencepost_core::{Instant, Refusal, SessionId, zookeeper::SessionState as CoreState};
use futures_util::FutureExt;
use zookeeper_client::{Client, Error, SessionState};

use super::{
    connection::{Connection, Made},
    reconnect::{self, Stray},
    state::{ConnectionState, Driver, RETRY_AFTER, Source, session_notice},
};
use crate::{
    clock,
    engine::{alarm::within, driver::Sink},
};

/// How long the driver waits for the close of its own session.
const CLOSE_WITHIN: Duration = Duration::from_secs(1);

/// Keeps one session after another, until no session can follow.
pub(super) async fn run(driver: Arc<Driver>, sink: Arc<dyn Sink>) {
    match &driver.source {
        Source::Given(client) => {
            let client = client.clone();
            let end = follow(&driver, &*sink, Made::given(client.clone())).await;
            let expired = matches!(end, End::Over(SessionState::Expired));
            if expired {
                // The driver does not replace a session of the program.
                report(&*sink, &client, CoreState::Closed);
            }
            let why = if expired {
                Error::SessionExpired
            } else {
                Error::ClientClosed
            };
            sink.rejected(Refusal::ConnectionClosed, Arc::new(why));
        }
        Source::Hosts { .. } => {
            while let Some(made) = connect(&driver, &*sink).await {
                if keep_one(&driver, &*sink, made).await != SessionState::Expired {
                    return;
                }
            }
        }
    }
}

/// Keeps a session that the driver made, and reconnects it when necessary. Returns its last state.
async fn keep_one(driver: &Driver, sink: &dyn Sink, mut made: Made) -> SessionState {
    loop {
        let stray = match follow(driver, sink, made).await {
            End::Over(state) => return state,
            End::Cut(stray) => stray,
        };
        let over = |state| session_notice(state, SessionId(stray.info.id().0), stray.timeout);
        made = match reconnect::again(driver, sink, &stray).await {
            Ok(made) => made,
            Err(error @ Error::AuthFailed) => {
                sink.notice(over(CoreState::AuthFailed));
                sink.rejected(Refusal::AuthFailed, Arc::new(error));
                return SessionState::AuthFailed;
            }
            Err(error) => {
                sink.connection_failed(Arc::new(error));
                sink.notice(over(CoreState::Expired));
                return SessionState::Expired;
            }
        };
    }
}

/// Makes a session, without a time limit; `None` if the server has refused the credentials.
async fn connect(driver: &Driver, sink: &dyn Sink) -> Option<Made> {
    let Source::Hosts { hosts, .. } = &driver.source else {
        return None;
    };
    let hosts = hosts.join(",");
    loop {
        sink.notice(session_notice(
            CoreState::Connecting,
            SessionId(0),
            Duration::ZERO,
        ));
        match Made::connect(driver.connector(), &hosts).await {
            Ok(made) => return Some(made),
            Err(error @ Error::AuthFailed) => {
                sink.notice(session_notice(
                    CoreState::AuthFailed,
                    SessionId(0),
                    Duration::ZERO,
                ));
                sink.rejected(Refusal::AuthFailed, Arc::new(error));
                return None;
            }
            // There is no session yet, so the error is about the arguments.
            Err(error @ Error::BadArguments(_)) => {
                sink.fail(Arc::new(error));
                return None;
            }
            Err(error) => sink.connection_failed(Arc::new(error)),
        }
        tokio::time::sleep(RETRY_AFTER).await;
    }
}

/// How a client of the library ended.
enum End {
    /// With its session, or for good.
    Over(SessionState),
    /// The driver has ended it: its server is silent, or its connection was lost. The session may still exist.
    Cut(Stray),
}

/// Reports the state of one session, as long as one client of the library has it.
async fn follow(driver: &Driver, sink: &dyn Sink, mut made: Made) -> End {
    let connection = Arc::clone(&made.connection);
    let client = &connection.client;
    let ours = matches!(driver.source, Source::Hosts { .. });
    let changed = made.states.changed().now_or_never();
    // A client that the driver made was connected at first. A change means that the connection was lost since.
    let mut reconnected = ours && changed.is_some();
    // The present state includes changes from before the watcher existed.
    let mut state = Some(changed.unwrap_or_else(|| client.state()));
    let mut connected = false;
    loop {
        // The watcher sees only the newest state. If the connection was lost and restored, it sees only "connected".
        if mem::take(&mut connected) {
            *driver.connection_state() = ConnectionState::Down;
            // The requests in flight have failed by now, or their outcomes come too late to matter.
            sink.fail_in_flight();
            sink.connection_failed(Arc::new(Error::ConnectionLoss));
            report(sink, client, CoreState::Suspended);
        }
        match state {
            Some(SessionState::SyncConnected) if !reconnected => {
                reconnected = ours;
                look_around(driver, made.host.as_ref());
                // This notification is about an earlier connection.
                let _stale = driver.silent.notified().now_or_never();
                *driver.connection_state() = ConnectionState::Up(Arc::clone(&connection));
                connected = true;
                report(sink, client, CoreState::Connected);
                sink.connected();
            }
            // The library reconnects. A server without a quorum counts as disconnected: it can grant no lock.
            Some(SessionState::Disconnected | SessionState::ConnectedReadOnly) if !ours => {}
            // A reconnect negotiates the session's timeout again, and the library does not report the result. So the
            // driver makes a new client for each connection.
            None
            | Some(
                SessionState::Disconnected | SessionState::ConnectedReadOnly | SessionState::SyncConnected,
            ) => {
                let stray = Stray {
                    info: client.session().clone(),
                    timeout: client.session_timeout(),
                };
                drop(connection);
                made.cut().await;
                return End::Cut(stray);
            }
            Some(SessionState::Expired) => {
                sink.connection_failed(Arc::new(Error::SessionExpired));
                report(sink, client, CoreState::Expired);
                return End::Over(SessionState::Expired);
            }
            Some(SessionState::AuthFailed) => {
                report(sink, client, CoreState::AuthFailed);
                sink.rejected(Refusal::AuthFailed, Arc::new(Error::AuthFailed));
                return End::Over(SessionState::AuthFailed);
            }
            Some(SessionState::Closed) => {
                *driver.connection_state() = ConnectionState::Closed;
                report(sink, client, CoreState::Closed);
                return End::Over(SessionState::Closed);
            }
        }
        state = tokio::select! {
            state = made.states.changed() => Some(state),
            () = abandoned(driver, client) => Some(SessionState::Closed),
            () = driver.silent.notified(), if connected => None,
        };
    }
}

/// Completes when requests fail before they are sent, although the state has not changed: the task that sends them has
/// ended.
async fn abandoned(driver: &Driver, client: &Client) {
    loop {
        driver.in_doubt.notified().await;
        if let Some(Err(Error::UnexpectedError(_))) = client.check_stat("/").now_or_never() {
            return;
        }
    }
}

/// Stores the server of a new connection that the driver made, if the driver has chosen the server.
#[cfg(not(target_os = "linux"))]
fn look_around(driver: &Driver, host: Option<&String>) {
    *driver.near() = host.into_iter().cloned().collect();
}

/// Sets TCP_NODELAY on a new connection that the driver made, and stores its server.
#[cfg(target_os = "linux")]
fn look_around(driver: &Driver, host: Option<&String>) {
    use std::net::ToSocketAddrs;

    let Source::Hosts { hosts, .. } = &driver.source else {
        return;
    };
    *driver.near() = host.into_iter().cloned().collect();
    let is_known = host.is_some();
    let (hosts, near) = (hosts.clone(), Arc::clone(&driver.near));
    // This runs in the background, because a process may have many descriptors, and the look-up of host names may be
    // slow. No call waits for it. The connection also works without it, for example if no thread can be started: then
    // `spawn_blocking` would panic.
    let look = move || {
        let port = |host: &String| host.rsplit(':').next()?.parse().ok();
        let ports: Vec<u16> = hosts.iter().filter_map(port).collect();
        let peers = super::nodelay::set(&ports).unwrap_or_default();
        if is_known || hosts.len() < 2 {
            return;
        }
        let is_near = |host: &String| {
            let addresses = host.to_socket_addrs().into_iter().flatten();
            addresses.into_iter().any(|address| peers.contains(&address))
        };
        let found = hosts.into_iter().filter(is_near).collect();
        *near.lock().unwrap_or_else(PoisonError::into_inner) = found;
    };
    let _no_thread = std::thread::Builder::new()
        .name("fencepost-look".into())
        .spawn(look);
}

fn report(sink: &dyn Sink, client: &Client, state: CoreState) {
    sink.notice(session_notice(
        state,
        SessionId(client.session_id().0),
        client.session_timeout(),
    ));
}

/// Closes a session that the driver made, and waits for the server's confirmation, so that no ephemeral node outlives
/// its client.
pub(super) async fn close(connection: Arc<Connection>, limit: Instant) {
    let mut states = connection.client.state_watcher();
    drop(connection);
    let closed = async { while !states.changed().await.is_terminated() {} };
    let left = limit.since(clock::now()).min(CLOSE_WITHIN);
    let _late = within(left, closed).await;
}

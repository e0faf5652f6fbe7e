//! One session after another, and what is told of them.

use alloc::sync::Arc;
use core::{mem, time::Duration};
#[cfg(target_os = "linux")]
use std::sync::PoisonError;

use fencepost_core::{
    Instant, Refusal, SessionId,
    zookeeper::{SessionState as Told, handshake_timeout},
};
use futures_util::FutureExt;
use zookeeper_client::{Client, Error, SessionState};

use super::{
    connection::{Connection, Made},
    reconnect::{self, Stray},
    state::{Driver, Line, RETRY_AFTER, Source, session_notice},
};
use crate::{
    clock,
    engine::{alarm::within, driver::Sink},
};

/// How long a session of ours may take to close.
const CLOSE_WITHIN: Duration = Duration::from_secs(1);

/// Keeps a session until there will be none any more.
pub(super) async fn run(driver: Arc<Driver>, sink: Arc<dyn Sink>) {
    match &driver.source {
        Source::Given(client) => {
            let client = client.clone();
            let end = follow(&driver, &*sink, Made::given(client.clone())).await;
            let expired = matches!(end, End::Over(SessionState::Expired));
            if expired {
                // Not ours to renew.
                tell(&*sink, &client, Told::Closed);
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

/// Keeps one session of ours, on one server after another if they fall silent; gives its last state.
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
                sink.notice(over(Told::AuthFailed));
                sink.rejected(Refusal::AuthFailed, Arc::new(error));
                return SessionState::AuthFailed;
            }
            Err(error) => {
                sink.connection_failed(Arc::new(error));
                sink.notice(over(Told::Expired));
                return SessionState::Expired;
            }
        };
    }
}

/// Makes a session, however long it takes; `None` if the server has refused the credentials.
async fn connect(driver: &Driver, sink: &dyn Sink) -> Option<Made> {
    let Source::Hosts { hosts, .. } = &driver.source else {
        return None;
    };
    let hosts = hosts.join(",");
    loop {
        sink.notice(session_notice(Told::Connecting, SessionId(0), Duration::ZERO));
        match Made::connect(driver.connector(), &hosts).await {
            Ok(made) => return Some(made),
            Err(error @ Error::AuthFailed) => {
                sink.notice(session_notice(Told::AuthFailed, SessionId(0), Duration::ZERO));
                sink.rejected(Refusal::AuthFailed, Arc::new(error));
                return None;
            }
            // No server has had a part in it.
            Err(error @ Error::BadArguments(_)) => {
                sink.fail(Arc::new(error));
                return None;
            }
            Err(error) => sink.connection_failed(Arc::new(error)),
        }
        tokio::time::sleep(RETRY_AFTER).await;
    }
}

/// How a client of the library's has ended.
enum End {
    /// With its session, or for good.
    Over(SessionState),
    /// The driver has ended it: its server is silent, or the library does not find another one in time. The session may live.
    Cut(Stray),
}

/// Tells of one session for as long as one client of the library's has it.
async fn follow(driver: &Driver, sink: &dyn Sink, made: Made) -> End {
    let connection = Arc::clone(&made.connection);
    let client = &connection.client;
    let mut states = client.state_watcher();
    // What has changed before the watcher was there is in the present state.
    let mut state = Some(client.state());
    let ours = matches!(driver.source, Source::Hosts { .. });
    let mut connected = false;
    loop {
        // Only the newest state is seen: of a connection that was lost and is back, nothing but "connected" remains.
        if mem::take(&mut connected) {
            *driver.line() = Line::Down;
            // What was under way has failed by now, or will be told too late to be of use.
            sink.fail_in_flight();
            sink.connection_failed(Arc::new(Error::ConnectionLoss));
            tell(sink, client, Told::Suspended);
        }
        match state {
            Some(SessionState::SyncConnected) => {
                look_around(driver, made.host.as_ref());
                // What was said of an earlier connection.
                let _stale = driver.silent.notified().now_or_never();
                *driver.line() = Line::Up(Arc::clone(&connection));
                connected = true;
                tell(sink, client, Told::Connected);
                sink.connected();
            }
            // The library knows other servers, and looks for them. A server without a quorum is none: nothing can be locked there.
            Some(SessionState::Disconnected | SessionState::ConnectedReadOnly) if made.host.is_none() => {}
            None | Some(SessionState::Disconnected | SessionState::ConnectedReadOnly) => {
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
                tell(sink, client, Told::Expired);
                return End::Over(SessionState::Expired);
            }
            Some(SessionState::AuthFailed) => {
                tell(sink, client, Told::AuthFailed);
                sink.rejected(Refusal::AuthFailed, Arc::new(Error::AuthFailed));
                return End::Over(SessionState::AuthFailed);
            }
            Some(SessionState::Closed) => {
                *driver.line() = Line::Over;
                tell(sink, client, Told::Closed);
                return End::Over(SessionState::Closed);
            }
        }
        state = tokio::select! {
            state = states.changed() => Some(state),
            () = abandoned(driver, client) => Some(SessionState::Closed),
            () = driver.silent.notified(), if connected => None,
            // The library may be at a silent server, perhaps the one that it comes from, and would wait there for long.
            () = tokio::time::sleep(handshake_timeout(client.session_timeout(), 0)), if ours && !connected => None,
        };
    }
}

/// Completes when requests fail before they are sent, although the state is as it was: the task that sends them is gone.
async fn abandoned(driver: &Driver, client: &Client) {
    loop {
        driver.doubt.notified().await;
        if let Some(Err(Error::UnexpectedError(_))) = client.check_stat("/").now_or_never() {
            return;
        }
    }
}

/// Notes which server a new connection of ours leads to, if the driver has chosen it.
#[cfg(not(target_os = "linux"))]
fn look_around(driver: &Driver, host: Option<&String>) {
    *driver.near() = host.into_iter().cloned().collect();
}

/// Has what is written to a new connection of ours sent at once, and notes which server it leads to.
#[cfg(target_os = "linux")]
fn look_around(driver: &Driver, host: Option<&String>) {
    use std::net::ToSocketAddrs;

    let Source::Hosts { hosts, .. } = &driver.source else {
        return;
    };
    *driver.near() = host.into_iter().cloned().collect();
    let is_known = host.is_some();
    let (hosts, near) = (hosts.clone(), Arc::clone(&driver.near));
    // Aside, as a process may have many descriptors, and names may have to be asked for; nothing waits for it.
    tokio::task::spawn_blocking(move || {
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
    });
}

fn tell(sink: &dyn Sink, client: &Client, state: Told) {
    sink.notice(session_notice(
        state,
        SessionId(client.session_id().0),
        client.session_timeout(),
    ));
}

/// Closes a session of ours, and waits until the server knows, so that nothing ephemeral outlives its client.
pub(super) async fn close(connection: Arc<Connection>, limit: Instant) {
    let mut states = connection.client.state_watcher();
    drop(connection);
    let closed = async { while !states.changed().await.is_terminated() {} };
    let left = limit.since(clock::now()).min(CLOSE_WITHIN);
    let _late = within(left, closed).await;
}

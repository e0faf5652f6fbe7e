//! One session after another, and what is told of them.

use alloc::sync::Arc;
use core::{mem, time::Duration};
#[cfg(target_os = "linux")]
use std::sync::PoisonError;

use fencepost_core::{
    Instant, Refusal, SessionId,
    lowered::Notice,
    zookeeper::{Notice as ZooKeeperNotice, SessionState as Told, handshake_timeout},
};
use futures_util::FutureExt;
use zookeeper_client::{Client, Connector, Error, SessionState};

use super::{
    connection::{Connection, Made},
    driver::{Driver, Line, Source},
    reconnect::{self, Stray},
};
use crate::{
    clock,
    engine::{alarm::within, inputs::Engine},
};

/// Between two attempts to connect.
pub(super) const RETRY_AFTER: Duration = Duration::from_millis(100);

/// How long a session of ours may take to close.
const CLOSE_WITHIN: Duration = Duration::from_secs(1);

/// Keeps a session until there will be none any more.
pub(super) async fn run(driver: Arc<Driver>, engine: Arc<Engine>) {
    match &driver.source {
        Source::Given(client) => {
            let client = client.clone();
            let end = follow(&driver, &engine, Made::given(client.clone())).await;
            let expired = matches!(end, End::Over(SessionState::Expired));
            if expired {
                // Not ours to renew.
                tell(&engine, &client, Told::Closed);
            }
            let why = if expired {
                Error::SessionExpired
            } else {
                Error::ClientClosed
            };
            engine.rejected(Refusal::ConnectionClosed, Arc::new(why));
        }
        Source::Hosts { .. } => {
            while let Some(made) = connect(&driver, &engine).await {
                if keep_one(&driver, &engine, made).await != SessionState::Expired {
                    return;
                }
            }
        }
    }
}

/// Keeps one session of ours, on one server after another if they fall silent; gives its last state.
async fn keep_one(driver: &Driver, engine: &Engine, mut made: Made) -> SessionState {
    loop {
        let stray = match follow(driver, engine, made).await {
            End::Over(state) => return state,
            End::Cut(stray) => stray,
        };
        let over = |state| session(state, SessionId(stray.info.id().0), stray.timeout);
        made = match reconnect::again(driver, engine, &stray).await {
            Ok(made) => made,
            Err(error @ Error::AuthFailed) => {
                engine.notice(over(Told::AuthFailed));
                engine.rejected(Refusal::AuthFailed, Arc::new(error));
                return SessionState::AuthFailed;
            }
            Err(error) => {
                engine.connection_failed(Arc::new(error));
                engine.notice(over(Told::Expired));
                return SessionState::Expired;
            }
        };
    }
}

/// What sessions of ours are made with.
pub(super) fn connector(driver: &Driver) -> Connector {
    let connector = Client::connector().with_fail_eagerly();
    let Source::Hosts {
        session_timeout,
        auth,
        ..
    } = &driver.source
    else {
        return connector;
    };
    let connector = connector.with_session_timeout(*session_timeout);
    auth.iter().fold(connector, |connector, (scheme, credentials)| {
        connector.with_auth(scheme, credentials)
    })
}

/// Makes a session, however long it takes; `None` if the server has refused the credentials.
async fn connect(driver: &Driver, engine: &Engine) -> Option<Made> {
    let Source::Hosts { hosts, .. } = &driver.source else {
        return None;
    };
    let hosts = hosts.join(",");
    loop {
        engine.notice(session(Told::Connecting, SessionId(0), Duration::ZERO));
        match Made::connect(connector(driver), &hosts).await {
            Ok(made) => return Some(made),
            Err(error @ Error::AuthFailed) => {
                engine.notice(session(Told::AuthFailed, SessionId(0), Duration::ZERO));
                engine.rejected(Refusal::AuthFailed, Arc::new(error));
                return None;
            }
            // No server has had a part in it.
            Err(error @ Error::BadArguments(_)) => {
                engine.fail(Arc::new(error));
                return None;
            }
            Err(error) => engine.connection_failed(Arc::new(error)),
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
async fn follow(driver: &Driver, engine: &Engine, made: Made) -> End {
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
            engine.fail_in_flight();
            engine.connection_failed(Arc::new(Error::ConnectionLoss));
            tell(engine, client, Told::Suspended);
        }
        match state {
            Some(SessionState::SyncConnected) => {
                look_around(driver, made.host.as_ref());
                // What was said of an earlier connection.
                let _stale = driver.silent.notified().now_or_never();
                *driver.line() = Line::Up(Arc::clone(&connection));
                connected = true;
                tell(engine, client, Told::Connected);
                engine.connected();
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
                engine.connection_failed(Arc::new(Error::SessionExpired));
                tell(engine, client, Told::Expired);
                return End::Over(SessionState::Expired);
            }
            Some(SessionState::AuthFailed) => {
                tell(engine, client, Told::AuthFailed);
                engine.rejected(Refusal::AuthFailed, Arc::new(Error::AuthFailed));
                return End::Over(SessionState::AuthFailed);
            }
            Some(SessionState::Closed) => {
                *driver.line() = Line::Over;
                tell(engine, client, Told::Closed);
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

fn tell(engine: &Engine, client: &Client, state: Told) {
    engine.notice(session(
        state,
        SessionId(client.session_id().0),
        client.session_timeout(),
    ));
}

pub(super) const fn session(state: Told, session: SessionId, timeout: Duration) -> Notice {
    Notice::ZooKeeper(ZooKeeperNotice::Session {
        state,
        session,
        timeout,
    })
}

/// Closes a session of ours, and waits until the server knows, so that nothing ephemeral outlives its client.
pub(super) async fn close(connection: Arc<Connection>, limit: Instant) {
    let mut states = connection.client.state_watcher();
    drop(connection);
    let closed = async { while !states.changed().await.is_terminated() {} };
    let left = limit.since(clock::now()).min(CLOSE_WITHIN);
    let _late = within(left, closed).await;
}

//! One session after another, and what is told of them.

use alloc::sync::Arc;
use core::{mem, time::Duration};

use fencepost_core::{
    Instant, Refusal, SessionId,
    lowered::Notice,
    zookeeper::{Notice as ZooKeeperNotice, SessionState as Told},
};
use futures_util::FutureExt;
use zookeeper_client::{Client, Error, SessionState};

use super::{Driver, Line, Source};
use crate::{
    clock,
    hub::{alarm::within, engine::Engine},
};

/// Between two attempts to connect.
const RETRY_AFTER: Duration = Duration::from_millis(100);

/// How long a session of ours may take to close.
const CLOSE_WITHIN: Duration = Duration::from_secs(1);

/// Keeps a session until there will be none any more.
pub(super) async fn keep(driver: Arc<Driver>, engine: Arc<Engine>) {
    match &driver.source {
        Source::Given(client) => {
            let client = client.clone();
            let last = follow(&driver, &engine, client.clone()).await;
            if last == SessionState::Expired {
                // Not ours to renew.
                tell(&engine, &client, Told::Closed);
            }
            let why = if last == SessionState::Expired {
                Error::SessionExpired
            } else {
                Error::ClientClosed
            };
            engine.rejected(Refusal::ConnectionClosed, Arc::new(why));
        }
        Source::Hosts { .. } => {
            while let Some(client) = connect(&driver, &engine).await {
                if follow(&driver, &engine, client).await != SessionState::Expired {
                    return;
                }
            }
        }
    }
}

/// Makes a session, however long it takes; `None` if the server has refused the credentials.
async fn connect(driver: &Driver, engine: &Engine) -> Option<Client> {
    let Source::Hosts {
        hosts,
        session_timeout,
        auth,
    } = &driver.source
    else {
        return None;
    };
    let hosts = hosts.join(",");
    loop {
        let mut connector = Client::connector()
            .with_session_timeout(*session_timeout)
            .with_fail_eagerly();
        for (scheme, credentials) in auth {
            connector = connector.with_auth(scheme, credentials);
        }
        engine.notice(session(Told::Connecting, SessionId(0), Duration::ZERO));
        match connector.connect(&hosts).await {
            Ok(client) => return Some(client),
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
            Err(error) => engine.troubled(Arc::new(error)),
        }
        tokio::time::sleep(RETRY_AFTER).await;
    }
}

/// Tells of one session until it is over; gives its last state.
async fn follow(driver: &Driver, engine: &Engine, client: Client) -> SessionState {
    let client = Arc::new(client);
    let mut states = client.state_watcher();
    // What has changed before the watcher was there is in the present state.
    let mut state = client.state();
    let mut connected = false;
    loop {
        // Only the newest state is seen: of a connection that was lost and is back, nothing but "connected" remains.
        if mem::take(&mut connected) {
            *driver.line() = Line::Down;
            // What was under way has failed by now, or will be told too late to be of use.
            engine.forsake();
            engine.troubled(Arc::new(Error::ConnectionLoss));
            tell(engine, &client, Told::Suspended);
        }
        match state {
            SessionState::SyncConnected => {
                #[cfg(target_os = "linux")]
                hurry(driver);
                *driver.line() = Line::Up(Arc::clone(&client));
                connected = true;
                tell(engine, &client, Told::Connected);
                engine.connected();
            }
            // A server without a quorum: nothing can be locked there.
            SessionState::Disconnected | SessionState::ConnectedReadOnly => {}
            SessionState::Expired => {
                engine.troubled(Arc::new(Error::SessionExpired));
                tell(engine, &client, Told::Expired);
                return state;
            }
            SessionState::AuthFailed => {
                tell(engine, &client, Told::AuthFailed);
                engine.rejected(Refusal::AuthFailed, Arc::new(Error::AuthFailed));
                return state;
            }
            SessionState::Closed => {
                *driver.line() = Line::Over;
                tell(engine, &client, Told::Closed);
                return state;
            }
        }
        state = tokio::select! {
            state = states.changed() => state,
            () = abandoned(driver, &client) => SessionState::Closed,
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

/// Has what is written to a new connection of ours sent at once.
#[cfg(target_os = "linux")]
fn hurry(driver: &Driver) {
    if let Source::Hosts { hosts, .. } = &driver.source {
        let ports: Vec<u16> = hosts
            .iter()
            .filter_map(|host| host.rsplit(':').next()?.parse().ok())
            .collect();
        // Aside, as a process may have many descriptors; nothing waits for it.
        tokio::task::spawn_blocking(move || {
            let _as_it_was = super::nodelay::set(&ports);
        });
    }
}

fn tell(engine: &Engine, client: &Client, state: Told) {
    engine.notice(session(
        state,
        SessionId(client.session_id().0),
        client.session_timeout(),
    ));
}

const fn session(state: Told, session: SessionId, timeout: Duration) -> Notice {
    Notice::ZooKeeper(ZooKeeperNotice::Session {
        state,
        session,
        timeout,
    })
}

/// Closes a session of ours, and waits until the server knows, so that nothing ephemeral outlives its client.
pub(super) async fn close(client: Arc<Client>, limit: Instant) {
    let mut states = client.state_watcher();
    drop(client);
    let closed = async { while !states.changed().await.is_terminated() {} };
    let left = limit.since(clock::now()).min(CLOSE_WITHIN);
    let _late = within(left, closed).await;
}

//! The shared state of a driver: the source of its sessions, and the state of the connection.

use alloc::sync::Arc;
use core::time::Duration;
use std::sync::{Mutex, MutexGuard, PoisonError};

use fencepost_core::{
    SessionId,
    lowered::Notice,
    zookeeper::{Notice as ZooKeeperNotice, SessionState as CoreState},
};
use tokio::sync::Notify;
use zookeeper_client::{Acl, AuthId, Client, Connector, Permission};

use super::connection::Connection;

/// The pause between two attempts to connect.
pub(super) const RETRY_AFTER: Duration = Duration::from_millis(100);

/// The source of sessions.
#[derive(Clone)]
pub(crate) enum Source {
    /// A client of the program: one session, which the driver does not replace.
    Given(Client),
    /// Sessions that the driver makes, one after another.
    Hosts {
        hosts: Vec<String>,
        session_timeout: Duration,
        auth: Vec<(String, Vec<u8>)>,
    },
}

/// The driver of one client.
pub(crate) struct Driver {
    pub(super) source: Source,
    pub(super) acl: Arc<[Acl]>,
    state: Mutex<ConnectionState>,
    /// Notified when a request on the program's client has failed without a reply, although the client is connected.
    pub(super) in_doubt: Arc<Notify>,
    /// Notified when the server is silent, and the driver has to connect to another one.
    pub(super) silent: Notify,
    /// The hosts to which the session may be connected. The library does not report which one it has chosen.
    pub(super) near: Arc<Mutex<Vec<String>>>,
}

/// The state of the connection: which requests the driver can send.
#[derive(Default)]
pub(super) enum ConnectionState {
    /// No requests: there is no connection, or the driver has not reported it to the machines yet.
    #[default]
    Down,
    /// Requests of this session. It is shared, because a copy of the library's client is expensive.
    Up(Arc<Connection>),
    /// No requests any more: the client is closed.
    Closed,
}

/// All rights for all clients, as in ZooKeeper's own shell.
pub(super) fn open_acl() -> Vec<Acl> {
    vec![Acl::new(Permission::ALL, AuthId::anyone())]
}

impl Driver {
    pub(crate) fn new(source: Source, acl: Option<Vec<Acl>>) -> Self {
        Self {
            source,
            acl: acl.unwrap_or_else(open_acl).into(),
            state: Mutex::default(),
            in_doubt: Arc::default(),
            silent: Notify::new(),
            near: Arc::default(),
        }
    }

    pub(super) fn connection_state(&self) -> MutexGuard<'_, ConnectionState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn near(&self) -> MutexGuard<'_, Vec<String>> {
        self.near.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The hosts in the order in which the driver tries them. Those to which the session may be connected come last.
    pub(super) fn other_hosts_first(&self) -> Vec<String> {
        let Source::Hosts { hosts, .. } = &self.source else {
            return Vec::new();
        };
        let mut hosts = hosts.clone();
        // Clients that disconnect from a server at the same time should not all connect to the same next server.
        let chance = getrandom::u32().unwrap_or_default();
        let first = usize::try_from(chance)
            .ok()
            .and_then(|chance| chance.checked_rem(hosts.len()));
        hosts.rotate_left(first.unwrap_or_default());
        let near = self.near();
        hosts.sort_by_key(|host| near.contains(host));
        hosts
    }

    /// The settings of the sessions that the driver makes.
    pub(super) fn connector(&self) -> Connector {
        let connector = Client::connector().with_fail_eagerly();
        let Source::Hosts {
            session_timeout,
            auth,
            ..
        } = &self.source
        else {
            return connector;
        };
        let connector = connector.with_session_timeout(*session_timeout);
        auth.iter().fold(connector, |connector, (scheme, credentials)| {
            connector.with_auth(scheme, credentials)
        })
    }
}

/// Reports the state of a session to the machines.
pub(super) const fn session_notice(state: CoreState, session: SessionId, timeout: Duration) -> Notice {
    Notice::ZooKeeper(ZooKeeperNotice::Session {
        state,
        session,
        timeout,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_silent_server_is_asked_last() {
        let hosts = ["a:1", "b:2", "c:3"].map(ToOwned::to_owned);
        let source = Source::Hosts {
            hosts: hosts.to_vec(),
            session_timeout: Duration::from_secs(10),
            auth: Vec::new(),
        };
        let driver = Driver::new(source, None);
        for silent in hosts {
            *driver.near() = vec![silent.clone()];
            for _ in 0..20 {
                let order = driver.other_hosts_first();
                assert_eq!((order.len(), order.last()), (3, Some(&silent)));
            }
        }
    }
}

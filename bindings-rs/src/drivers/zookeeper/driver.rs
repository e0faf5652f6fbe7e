//! The driver: the session that requests go to, and where the next one is looked for.

use alloc::sync::Arc;
use core::time::Duration;
use std::sync::{Mutex, MutexGuard, PoisonError};

use fencepost_core::{
    Command, Failure, Instant, SessionId,
    lowered::{Operation, Outcome, Request},
};
use futures_util::{
    FutureExt,
    future::{self, BoxFuture},
};
use tokio::sync::Notify;
use zookeeper_client::{Acl, Acls, AuthId, Client, Error, Permission, SessionState};

use super::{connection::Connection, requests, session};
use crate::engine::{
    inputs::Engine,
    machines::{Completed, ConnectionTask, Driver as Commands},
};

/// Where sessions come from.
#[derive(Clone)]
pub(crate) enum Source {
    /// The user's own client: one session, not ours to renew.
    Given(Client),
    /// Our own, one after another.
    Hosts {
        hosts: Vec<String>,
        session_timeout: Duration,
        auth: Vec<(String, Vec<u8>)>,
    },
}

/// The driver of one client.
pub(crate) struct Driver {
    pub(super) source: Source,
    acl: Arc<[Acl]>,
    line: Mutex<Line>,
    /// Notified when a request on a user's own client has failed without an answer, though the client says that it is connected.
    pub(super) doubt: Arc<Notify>,
    /// Notified when the server has fallen silent, and another one is wanted.
    pub(super) silent: Notify,
    /// The hosts that the session may be connected to: the library does not say which one it has chosen.
    pub(super) near: Arc<Mutex<Vec<String>>>,
}

/// What can be sent at present.
#[derive(Default)]
pub(super) enum Line {
    /// Nothing: there is no connection, or the machines have not been told of it yet.
    #[default]
    Down,
    /// Requests of this session. A copy of the library's client is not as cheap as it looks.
    Up(Arc<Connection>),
    /// Nothing ever again.
    Over,
}

/// Everything for everybody, as ZooKeeper's own shell has it.
pub(super) fn open_acl() -> Vec<Acl> {
    vec![Acl::new(Permission::ALL, AuthId::anyone())]
}

impl Driver {
    pub(crate) fn new(source: Source, acl: Option<Vec<Acl>>) -> Self {
        Self {
            source,
            acl: acl.unwrap_or_else(open_acl).into(),
            line: Mutex::default(),
            doubt: Arc::default(),
            silent: Notify::new(),
            near: Arc::default(),
        }
    }

    pub(super) fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn near(&self) -> MutexGuard<'_, Vec<String>> {
        self.near.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The hosts in the order in which another server is looked for: those to which the session may be connected come last.
    pub(super) fn other_hosts_first(&self) -> Vec<String> {
        let Source::Hosts { hosts, .. } = &self.source else {
            return Vec::new();
        };
        let mut hosts = hosts.clone();
        // Clients that leave one server at the same time do not all go to the same next one.
        let chance = getrandom::u32().unwrap_or_default();
        let first = usize::try_from(chance)
            .ok()
            .and_then(|chance| chance.checked_rem(hosts.len()));
        hosts.rotate_left(first.unwrap_or_default());
        let near = self.near();
        hosts.sort_by_key(|host| near.contains(host));
        hosts
    }
}

impl Driver {
    /// The library's requests fail for good when the runtime is gone that a user's own client was made in; no state tells of that.
    fn watched(&self, request: BoxFuture<'static, Completed>) -> BoxFuture<'static, Completed> {
        let doubt = Arc::clone(&self.doubt);
        let look = move |completed: Completed| {
            if let Completed::Outcome {
                native: Some(native),
                outcome: Outcome::Failed(_),
                ..
            } = &completed
                && matches!(native.downcast_ref(), Some(Error::UnexpectedError(_)))
            {
                doubt.notify_one();
            }
            completed
        };
        request.map(look).boxed()
    }
}

impl Commands for Driver {
    fn start(&self, command: Command<Request>) -> BoxFuture<'static, Completed> {
        let id = command.id;
        let failure = match &*self.line() {
            Line::Up(_) if command.request.operation == Operation::Reconnect => {
                if let Source::Hosts { .. } = self.source {
                    self.silent.notify_one();
                }
                Failure::NotSent
            }
            Line::Up(connection) if connection.client.state() == SessionState::SyncConnected => {
                let session = SessionId(connection.client.session_id().0);
                let acl = Arc::clone(&self.acl);
                let request = requests::start(Arc::clone(connection), session, acl, command);
                return match self.source {
                    Source::Given(_) => self.watched(request),
                    Source::Hosts { .. } => request,
                };
            }
            Line::Up(_) | Line::Down => Failure::NotSent,
            Line::Over => Failure::Closed,
        };
        Box::pin(future::ready(Completed::Outcome {
            id,
            outcome: Outcome::Failed(failure),
            native: None,
            watch: None,
        }))
    }
}

impl ConnectionTask for Driver {
    fn run(self: Arc<Self>, engine: Arc<Engine>) -> BoxFuture<'static, ()> {
        Box::pin(session::run(self, engine))
    }

    fn finish(self: Arc<Self>, limit: Instant) -> BoxFuture<'static, ()> {
        let last = core::mem::replace(&mut *self.line(), Line::Over);
        Box::pin(async move {
            if let (Line::Up(connection), Source::Hosts { .. }) = (last, &self.source) {
                session::close(connection, limit).await;
            }
        })
    }
}

/// An ACL as requests take it.
pub(super) fn acls(acl: &[Acl]) -> Acls<'_> {
    Acls::new(acl)
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

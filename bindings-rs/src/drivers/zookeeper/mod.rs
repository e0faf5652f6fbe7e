//! ZooKeeper through `zookeeper-client`: conversion, and one session after another.
//!
//! The library sends a request when its method is called, in that order. It never sends again what was under way when a connection broke,
//! but it does keep what is asked of it while there is none, and sends that later: so nothing is asked then.
//!
//! An acquire's two requests go out in one flight only if nothing holds the second back: the library (0.11.2, the newest) writes each by
//! itself and sets no TCP_NODELAY, and it neither gives its sockets out nor takes one. So on Linux the option is set from outside
//! (`nodelay.rs`), on connections of our own clients.

mod errors;
#[cfg(target_os = "linux")]
mod nodelay;
#[cfg(all(test, feature = "servers"))]
mod on_a_server;
mod requests;
mod session;

use alloc::sync::Arc;
use core::time::Duration;
use std::sync::{Mutex, MutexGuard, PoisonError};

use fencepost_core::{
    Command, Failure, Instant, SessionId,
    lowered::{Outcome, Request},
};
use futures_util::{
    FutureExt,
    future::{self, BoxFuture},
};
use tokio::sync::Notify;
use zookeeper_client::{Acl, Acls, AuthId, Client, Error, Permission, SessionState};

use crate::hub::{
    engine::Engine,
    machines::{Driver as Commands, Keep, Landed},
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
    source: Source,
    acl: Arc<[Acl]>,
    line: Mutex<Line>,
    /// Rung when a request on a user's own client has failed without an answer, though the client says that it is connected.
    doubt: Arc<Notify>,
}

/// What can be sent at present.
#[derive(Default)]
enum Line {
    /// Nothing: there is no connection, or the machines have not been told of it yet.
    #[default]
    Down,
    /// Requests of this session. A copy of the library's client is not as cheap as it looks.
    Up(Arc<Client>),
    /// Nothing ever again.
    Over,
}

/// Everything for everybody, as ZooKeeper's own shell has it.
fn open_acl() -> Vec<Acl> {
    vec![Acl::new(Permission::ALL, AuthId::anyone())]
}

impl Driver {
    pub(crate) fn new(source: Source, acl: Option<Vec<Acl>>) -> Self {
        Self {
            source,
            acl: acl.unwrap_or_else(open_acl).into(),
            line: Mutex::default(),
            doubt: Arc::default(),
        }
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Driver {
    /// The library's requests fail for good when the runtime is gone that a user's own client was made in; no state tells of that.
    fn watched(&self, request: BoxFuture<'static, Landed>) -> BoxFuture<'static, Landed> {
        let doubt = Arc::clone(&self.doubt);
        let look = move |landed: Landed| {
            if let Landed::Outcome {
                native: Some(native),
                outcome: Outcome::Failed(_),
                ..
            } = &landed
                && matches!(native.downcast_ref(), Some(Error::UnexpectedError(_)))
            {
                doubt.notify_one();
            }
            landed
        };
        request.map(look).boxed()
    }
}

impl Commands for Driver {
    fn start(&self, command: Command<Request>) -> BoxFuture<'static, Landed> {
        let id = command.id;
        let failure = match &*self.line() {
            Line::Up(client) if client.state() == SessionState::SyncConnected => {
                let session = SessionId(client.session_id().0);
                let request = requests::start(Arc::clone(client), session, Arc::clone(&self.acl), command);
                return match self.source {
                    Source::Given(_) => self.watched(request),
                    Source::Hosts { .. } => request,
                };
            }
            Line::Up(_) | Line::Down => Failure::NotSent,
            Line::Over => Failure::Closed,
        };
        Box::pin(future::ready(Landed::Outcome {
            id,
            outcome: Outcome::Failed(failure),
            native: None,
            watch: None,
        }))
    }
}

impl Keep for Driver {
    fn run(self: Arc<Self>, engine: Arc<Engine>) -> BoxFuture<'static, ()> {
        Box::pin(session::keep(self, engine))
    }

    fn finish(self: Arc<Self>, limit: Instant) -> BoxFuture<'static, ()> {
        let last = core::mem::replace(&mut *self.line(), Line::Over);
        Box::pin(async move {
            if let (Line::Up(client), Source::Hosts { .. }) = (last, &self.source) {
                session::close(client, limit).await;
            }
        })
    }
}

/// An ACL as requests take it.
fn acls(acl: &[Acl]) -> Acls<'_> {
    Acls::new(acl)
}
